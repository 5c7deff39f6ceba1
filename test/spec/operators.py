#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""operators.py SOURCE [--write]: docs/operators.md says of each operator what its
header says. Every public function of flow_*.h that makes a flow has a contract in
four words, `Emits: ... Completes: ... Cancels: ... Holds: ...`; the page is made of
those, and this compares the two, or writes the page."""

import pathlib
import re
import sys

sys.dont_write_bytecode = True  # next to the sources
import pages

WORDS = ("Emits", "Completes", "Cancels", "Holds")
TITLES = {
    "flow": "Everywhere",
    "flow_source": "Sources",
    "flow_element": "One item after the other",
    "flow_sink": "One result of all",
    "flow_async": "Several things at once",
    "flow_substream": "Parts of a stream, each through a flow",
    "flow_rate": "Buffers, rates and time",
    "flow_fan": "Several flows, several outlets",
    "flow_graph": "Graphs",
    "flow_switch": "Kill switches",
    "flow_error": "Errors",
    "flow_io": "Bytes",
    "flow_operator": "Your own",
    "flow_bridge": "What is not a flow",
}
HEAD = """# Operators

What each operator promises, taken from its header by `test/spec/operators.py
. --write`; a test compares the two. *Emits*: when it puts an item out.
*Completes*: when it ends well; it fails when upstream does, behind the items
before that, unless its header says otherwise. *Cancels*: when it wants no more
from upstream. *Holds*: what it has taken and not put out, at most.

[flow](flow.md) says how they are composed and run; the page of each header, how
they are used.
"""
# A comment, and the declaration right behind it.
DECLARED = re.compile(r"/\*(.*?)\*/\s*((?:WEIR_API[^;]*?;\s*)+)", re.S)
NAME = re.compile(r"\b(weir_flow_\w+)\(")


def words(comment):
    """The four, or None; without the comment's stars, on one line."""
    text = " ".join(re.sub(r"^\s*\* ?", "", line) for line in comment.split("\n"))
    text = re.sub(r"\s+", " ", text)
    found = re.search(r"\b" + r"\s*(.*?)\s*".join(w + ":" for w in WORDS) + r"(.*)$", text)
    if not found:
        return None
    return [part.strip().rstrip(".") for part in found.groups()]


def makes_flow(declaration):
    return re.match(r"WEIR_API (WEIR_MUST_CHECK )?struct weir_flow \*", declaration)


def read(header, problems):
    rows = []
    # settings of a flow, and what only looks at one, are no operators
    settings = {"weir_flow_name", "weir_flow_items", "weir_flow_supervise"}
    for comment, declarations in DECLARED.findall(header.read_text()):
        if "*/" in comment:
            comment = comment.rsplit("*/", 1)[1]
        contract = words(comment)
        names = NAME.findall(declarations)
        if contract:
            rows.append((names[0], contract))
        elif makes_flow(declarations) and not settings & set(names):
            problems.append(f"{header.name}: {names[0]} has no contract")
    return rows


def page(source, problems):
    parts = [pages.Pages(source).with_way("operators.md", HEAD)]
    folder = source / "include/weir"
    found = {path.stem for path in folder.glob("flow*.h")}
    for stem in found - TITLES.keys():
        problems.append(f"{stem}.h has no title in operators.py")
    for stem, title in TITLES.items():
        rows = read(folder / f"{stem}.h", problems) if stem in found else []
        if not rows:
            continue
        parts.append(f"\n## {title}: [{stem}.h]({stem}.md)\n")
        parts.append("| operator | emits | completes | cancels | holds |")
        parts.append("|---|---|---|---|---|")
        for name, contract in rows:
            short = name.replace("weir_flow_", "")
            parts.append(f"| `{short}` | " + " | ".join(contract) + " |")
    return "\n".join(parts) + "\n"


def main():
    source = pathlib.Path(sys.argv[1])
    problems = []
    text = page(source, problems)
    target = source / "docs/operators.md"
    if "--write" in sys.argv[2:]:
        target.write_text(text)
    elif not target.exists() or target.read_text() != text:
        problems.append("docs/operators.md is not what the headers say: "
                        "run test/spec/operators.py . --write")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
