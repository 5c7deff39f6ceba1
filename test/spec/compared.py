#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""compared.py SOURCE: docs/compared.md is true of this tree. Each row says have,
composed or no, and how or why not. A row that says have names a function or a type,
each function and type that it names is declared in a public header, and no two rows
have the same feature. Each operator of the public headers is named on the page. Each
check finds what it is for: it is shown the page with one such thing taken away.
"""

import pathlib
import re
import sys

sys.dont_write_bytecode = True  # next to the sources
import operators
import pages

PAGE = "docs/compared.md"
ROW = re.compile(r"^\| (.+?) \| (\S*) \| (.*?) ?\|$", re.M)
NAME = re.compile(r"\bweir_\w+")
TYPE = re.compile(r"^(?:struct|enum) (weir_\w+)(?: \{|;)", re.M)
LEAST = 120  # rows, so that they are found at all


def declared(source):
    """The public functions and types, and of the functions the operators."""
    known, ours = set(), []
    for header in sorted((source / "include/weir").glob("*.h")):
        known.update(pages.signatures(header))
        known.update(TYPE.findall(header.read_text()))
        if header.stem in operators.TITLES:
            ours += [name for name, _ in operators.read(header, [])]
    return known, ours


def check(text, known, ours):
    rows = [row for row in ROW.findall(text) if row[0] != "feature"]
    if len(rows) < LEAST:
        yield f"only {len(rows)} rows are found"
    features = [feature for feature, _, _ in rows]
    for feature, word, how in rows:
        names = NAME.findall(how)
        if word not in ("have", "composed", "no"):
            yield f'"{feature}": say have, composed or no, not "{word}"'
        if not how:
            yield f'"{feature}": say how, or why not'
        if word == "have" and not names:
            yield f'"{feature}": name the function that does it'
        for name in names:
            if name not in known:
                yield f'"{feature}": {name} is declared in no public header'
        if features.count(feature) > 1:
            yield f'"{feature}": two rows have it'
    for name in ours:
        if name not in NAME.findall(text):
            yield f"no row names {name}: add it to the row of its feature"


# What is changed in the page, and what is said then.
BROKEN = [
    (r"`weir_flow_unfold`", "`weir_flow_fold_out`", "in no public header"),
    (r"\| have \| `weir_flow_amb` \|", "| have | here |", "name the function"),
    (r"`weir_flow_amb`", "`weir_flow_merge`", "no row names weir_flow_amb:"),
    (r"\| no \| weir is for one process \|", "| no |  |", "or why not"),
    (r"\| no \| weir is for", "| none | weir is for", "composed or no"),
    (r"^\| scan \|", "| intersperse |", "two rows"),
    (r"^\| ", "|", "only 0 rows"),
]


def main():
    source = pathlib.Path(sys.argv[1])
    text = (source / PAGE).read_text()
    known, ours = declared(source)
    problems = list(check(text, known, ours))
    for pattern, instead, said in BROKEN:
        changed, n = re.subn(pattern, instead, text, flags=re.M)
        if not n or not any(said in one for one in check(changed, known, ours)):
            problems.append(f'"{said}" is not said when {pattern} is {instead}')
    for problem in problems:
        print(f"{PAGE}: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
