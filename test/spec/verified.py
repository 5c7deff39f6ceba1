#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""verified.py SOURCE: each operator of docs/operators.md is held to the rules of
Reactive Streams and to its items: it is named by a row of a table in
test/flow/verify_operators.c, _sources.c or _sinks.c, which the suites and ownership.c
go through; sources by one of sources."""

import pathlib
import re
import sys

# Operators without a row, each with the reason why.
LEFT_OUT = {}

ROW = re.compile(r'^\t\{"([^"]+)",', re.M)


def operators(source):
    """Of each header: the names."""
    found = {}
    for line in (source / "docs/operators.md").read_text().splitlines():
        header = re.match(r"## .*: \[(\w+)\.h\]", line)
        name = re.match(r"\| \[`(\w+)`\]", line)
        if header:
            found[header[1]] = []
        elif name:
            found[list(found)[-1]].append(name[1])
    return found


def rows(source, stem):
    text = (source / f"test/flow/verify_{stem}.c").read_text()
    return {word for row in ROW.findall(text) for word in re.findall(r"\w+", row)}


def main():
    source = pathlib.Path(sys.argv[1])
    problems = []
    known = operators(source)
    sources = rows(source, "sources")
    named = sources | rows(source, "operators") | rows(source, "sinks")
    if not known or not named:
        problems.append("found no operators, or no rows")
    for header, names in known.items():
        for name in names:
            there = name in (sources if header == "flow_source" else named)
            if there and name in LEFT_OUT:
                problems.append(f"{name} has a row and is left out")
            elif not there and name not in LEFT_OUT:
                where = "sources" if header == "flow_source" else "operators"
                problems.append(f"{name} has no row: add one to the table in"
                                f" test/flow/verify_{where}.c")
    for name in LEFT_OUT.keys() - {name for names in known.values() for name in names}:
        problems.append(f"{name} is left out and is no operator")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
