#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""operators.py SOURCE [--write]: docs/operators.md says of each operator what its
header says. Every public function that makes a flow has a contract in
four words, `Emits: ... Completes: ... Cancels: ... Holds: ...`; the page is made of
those, and this compares the two, or writes the page."""

import pathlib
import re
import sys

sys.dont_write_bytecode = True  # next to the sources
import marbles
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
    "flow_combine": "Flows that decide about each other",
    "flow_graph": "Graphs",
    "flow_switch": "Kill switches",
    "flow_error": "Errors",
    "flow_io": "Bytes",
    "flow_child": "Other programs",
    "flow_event": "Signals, readiness, files, datagrams",
    "flow_compress": "Compression",
    "connection": "Sockets",
    "nats": "NATS JetStream",
    "flow_operator": "Your own",
    "flow_bridge": "What is not a flow",
    "flow_hub": "Between runs",
}
HEAD = """# Operators

What each operator promises, taken from its header by `test/spec/operators.py
. --write`; a test compares the two. *Emits*: when it emits an item.
*Completes*: when it ends well; it fails when upstream does, behind the items
before that, unless its header says otherwise. *Cancels*: when it wants no more
from upstream. *Holds*: the most items it has taken and not emitted.

[flow](flow.md) says how they are composed and run; the page of each header, how
they are used: an operator's name leads there.

What an operator does to time and order is shown by a *picture* (`test/spec/marbles.py
. --write` draws it from `test/flow/marbles.c`, which tests it). Time goes from left to
right; above the call are the flows that go in, below it is what comes out. A bar is an
end, a cross an error; what is pale is not taken any more. A triangle that points up
asks for one item: without any, items are taken as they come.
"""
# A comment, and the declaration right behind it.
DECLARED = re.compile(r"/\*(.*?)\*/\s*((?:WEIR_API[^;]*?;\s*)+)", re.S)
NAME = re.compile(r"\b(weir_\w+)\(")


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
    settings = {"weir_flow_name", "weir_flow_items", "weir_flow_same_items",
                "weir_flow_supervise", "weir_flow_delay_errors", "weir_flow_invalid"}
    for comment, declarations in DECLARED.findall(header.read_text()):
        if "*/" in comment:
            comment = comment.rsplit("*/", 1)[1]
        contract = words(comment)
        names = NAME.findall(declarations)
        if contract:
            rows.append((names[0], contract))
        elif makes_flow(declarations) and not settings & set(names):
            problems.append(f"{header.name}: {names[0]} has no contract: say in its"
                            " comment what it Emits, Completes, Cancels and Holds")
    return rows


def section(text, name):
    """Where a header's page says most of the operator: a heading's anchor, or ""
    where that is the top of the page."""
    top, *parts = re.split(r"^## (.*)\n", text, flags=re.M)
    for title, body in zip(parts[::2], parts[1::2]):
        if re.search("Errors|[Ll]ifetime|Functions", title):
            continue
        if re.search(rf"\b{name}\b", body):
            return "#" + re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
    return "" if re.search(rf"\b{name}\b", top) else "#functions"


def name_in_table(name):
    return name.removeprefix("weir_flow_").removeprefix("weir_")


def row(source, stem, name, contract, pictures):
    short = name_in_table(name)
    anchor = section((source / f"docs/{stem}.md").read_text(), name)
    cell = f"[`{short}`]({stem}.md{anchor})"
    if short in pictures:
        cell += f" [picture](#{short})"
    return f"| {cell} | " + " | ".join(contract) + " |"


def pictures_of(source):
    """Of each operator: the file and the call."""
    found = {}
    for name, picture in marbles.pictures(source).items():
        line = f"![{picture['call']}](marbles/{name}.svg)"
        found.setdefault(picture["operator"], []).append(line)
    return found


def page(source, problems):
    pictures = pictures_of(source)
    parts = [pages.Pages(source).with_way("operators.md", HEAD)]
    folder = source / "include/weir"
    found = {path.stem for path in folder.glob("*.h")
             if path.stem.startswith("flow") or "Emits:" in path.read_text()}
    for stem in found - TITLES.keys():
        problems.append(f"{stem}.h has no title: add one to TITLES in"
                        " test/spec/operators.py")
    for stem, title in TITLES.items():
        rows = read(folder / f"{stem}.h", problems) if stem in found else []
        if not rows:
            continue
        parts.append(f"\n## {title}: [{stem}.h]({stem}.md)\n")
        parts.append("| operator | emits | completes | cancels | holds |")
        parts.append("|---|---|---|---|---|")
        for name, contract in rows:
            parts.append(row(source, stem, name, contract, pictures))
        for name, _ in rows:
            short = name_in_table(name)
            for line in pictures.get(short, []):
                heading = f"\n### {short}\n" * (line == pictures[short][0])
                parts.append(f"{heading}\n{line}")
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
