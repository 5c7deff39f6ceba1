#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""life.py SOURCE [--write]: docs/supervision.md shows the states of an actor and what
can happen in each, in two tables. These are made of lib/supervision/life.c, where the
rows stand, and of life.h, whose comments say what the names in the rows mean.
"""

import pathlib
import re
import sys

STATES = "| state | an actor in it |\n|---|---|\n"
STEPS = "| what happens | in | next | what is done |\n|---|---|---|---|\n"
COMMENT = re.compile(r"/\*.*?\*/", re.S)
DEFINE = re.compile(r"^#define (\w+)(?:\((\w+)\))? (.*?)(?<!\\)$", re.M | re.S)
# The comment of a constant stands behind it, or on the line before.
CONSTANT = re.compile(
    r"^\t(?:/\*([^*]*)\*/\s*\n\t)?WEIR__(CELL|LIFE|DO)_(\w+)[^,\n]*,"
    r"[ \t]*(?:/\*(.*?)\*/)?", re.M | re.S)


def meanings(header):
    """Of each constant, by kind and name: what its comment says."""
    found = {}
    for before, kind, name, behind in CONSTANT.findall(header):
        text = " ".join((behind or before).replace("\n\t * ", " ").split())
        found[kind, name] = re.sub(r"\n\s*\*", " ", text)
    return found


def calls(text):
    """Each NAME(arguments) of the text, as a list of strings."""
    for start in re.finditer(r"\b(ROWS_TO_END|ROW|ORDER)\(", text):
        parts, depth = [""], 1
        for character in text[start.end():]:
            depth += (character == "(") - (character == ")")
            if depth == 0:
                break
            if character == "," and depth == 1:
                parts.append("")
            else:
                parts[-1] += character
        yield [start[1]] + [" ".join(part.split()) for part in parts]


def rows(source):
    """Of each row: state, event, next state, orders and deeds."""
    source = COMMENT.sub("", source)
    defines = {name: (argument, body.replace("\\\n", " "))
               for name, argument, body in DEFINE.findall(source)}
    table = source.split("weir__life_table[", 1)[1].split("};", 1)[0]

    def deeds(text):
        for name, (argument, body) in defines.items():
            if not argument:
                text = re.sub(rf"\b{name}\b", body, text)
        return re.findall(r"DO\((\w+)\)", text)

    for kind, *parts in calls(table):
        if kind == "ROWS_TO_END":
            argument, body = defines[kind]
            body = re.sub(rf"\b{argument}\b", parts[0], body)
            for _, state, event, to, what in calls(body):
                yield state, event, to, [], deeds(what)
        elif kind == "ORDER":
            yield *parts[:3], [parts[3]], []
        else:
            yield *parts[:3], [], deeds(parts[3])


def tables(folder):
    says = meanings((folder / "life.h").read_text())
    states = [name for kind, name in says if kind == "CELL"]
    order = {name: i for i, name in enumerate(says)}
    grouped = {}
    for state, event, to, orders, what in rows((folder / "life.c").read_text()):
        if state == to and not orders and not what:
            continue
        done = [says["DO", deed] for deed in
                sorted(what, key=lambda deed: order["DO", deed])]
        done += [f"it gets the order {name}" for name in orders]
        grouped.setdefault((event, to, "; ".join(done)), []).append(state)
    lines = [f"| `{name}` | {says['CELL', name]} |" for name in states]
    steps = []
    for (event, to, done), of in sorted(
            grouped.items(), key=lambda item: order["LIFE", item[0][0]]):
        of = " ".join(f"`{state}`" for state in sorted(of, key=states.index))
        steps.append(f"| {says['LIFE', event]} | {of} | `{to}` | {done} |")
    return STATES + "\n".join(lines) + "\n", STEPS + "\n".join(steps) + "\n"


def main():
    source = pathlib.Path(sys.argv[1])
    page = source / "docs/supervision.md"
    text = page.read_text()
    wanted = text
    for table in tables(source / "lib/supervision"):
        head = re.escape("\n".join(table.split("\n")[:2]) + "\n")
        wanted, n = re.subn(head + r"(?:\|.*\n)*", lambda _, new=table: new, wanted)
        if n != 1:
            print(f"{page}: where is the table of {table.split(chr(10))[0]}",
                  file=sys.stderr)
            return 1
    if "--write" in sys.argv[2:]:
        page.write_text(wanted)
    elif text != wanted:
        print(f"{page}: not what lib/supervision/life.c says: "
              "run test/spec/pages.py . --write", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
