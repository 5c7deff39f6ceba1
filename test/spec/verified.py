#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""verified.py SOURCE: each operator of docs/operators.md is held to the rules of
Reactive Streams and to its items: it is named by a row of a table in
test/flow/verify_operators.c, _sources.c or _sinks.c, which the suites and ownership.c
go through; sources by one of sources. Each that takes items is named by a row of
test/flow/items_said.c, too, which has what it emits."""

import pathlib
import re
import sys

# Operators without a row, each with the reason why.
LEFT_OUT = {
    "child": "other programs work in real time: flow/child has its rules",
    "signals": "they come to the process, not to a test: flow/event has its rules",
    "inotify": "the kernel makes one of several changes: flow/event_inotify has its rules",
}
# Operators without a row in items_said.c, of which nobody needs to know.
# Headers of libraries of their own, each with the tests that hold its operators to
# their items.
OTHERS = {"flow_compress": "test/z", "nats": "test/nats"}
SOURCES = {"read", "read_file", "operator_source", "from_publisher", "from_out",
           "from_channel", "from_hub", "from_share", "restart",
           "signals", "fd", "inotify", "tail", "datagrams", "listen", "connect",
           "connection_read", "connection_run", "connection_pipe"}
EMIT_NOTHING = {"into", "into_in", "to_actor", "into_channel", "into_hub"}

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


def ours(source):
    """Those of the library itself."""
    return {header: names for header, names in operators(source).items()
            if header not in OTHERS}


def rows(source, stem):
    text = (source / f"test/flow/{stem}.c").read_text()
    return {word for row in ROW.findall(text) for word in re.findall(r"\w+", row)}


def unsaid(source, known):
    """Operators of which items_said.c does not have what they emit, or needs not."""
    said = rows(source, "items_said")
    left_out = SOURCES | EMIT_NOTHING
    problems = []
    for header, names in known.items():
        for name in names:
            if header != "flow_source" and name not in said | left_out:
                problems.append(f"{name} has no row: say what it emits in the table"
                                " of test/flow/items_said.c")
    problems += [f"{name} has a row in items_said.c and is left out"
                 for name in sorted(said & left_out)]
    return problems


def main():
    source = pathlib.Path(sys.argv[1])
    problems = []
    known = ours(source)
    sources = rows(source, "verify_sources")
    named = sources | rows(source, "verify_operators") | rows(source, "verify_sinks")
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
    problems += unsaid(source, known)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
