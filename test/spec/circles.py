#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""circles.py SOURCE ARCHIVE...: the files of lib/ stand one upon the other. A file,
which is a source and its header, needs another if it uses a symbol that the other
defines, or if its header includes the other's. Files that need each other, on
whatever way, are a circle: no part of it can be read, tested or replaced alone.
And no file needs or includes one of a folder that docs/architecture.md lists below
its own, and leaves include nothing of what is composed of them, on whatever way."""

import collections
import pathlib
import re
import subprocess
import sys

# Of each folder: leaves, which know one another at most, and what they do not know.
LEAVES = {
    "supervision/cell": """backoff cell_timer life lifecycle limit names part position
    slots strategy system_lock tree walk watch watching""",
}

# Calls that go upwards: from which file, and what.
UPWARDS = {("executor/living", "weir__inspector_begin")}

INCLUDE = re.compile(r'^#include "([\w/]+)\.h"', re.M)


def circles(needs):
    """The largest sets of which each member needs each other one."""

    def all_needed(start):
        found, open_ends = set(), [start]
        while open_ends:
            for one in needs.get(open_ends.pop(), set()) - found:
                found.add(one)
                open_ends.append(one)
        return found

    reach = {one: all_needed(one) for one in needs}
    found = {frozenset(other for other in reach[one] if one in reach.get(other, ()))
             for one in reach if one in reach[one]}
    return sorted(map(sorted, found))


def by_object(lib):
    """Of the name of each object, after its path from its meson.build: the file."""
    found = {}
    for path in lib.rglob("*.c"):
        top = next(up for up in path.parents if (up / "meson.build").exists())
        name = "_".join(path.relative_to(top).parts) + ".o"
        found[name] = str(path.relative_to(lib).with_suffix(""))
    return found


def used_symbols(lib, archives, needs):
    files = by_object(lib)
    defined, used = {}, collections.defaultdict(set)
    for archive in archives:
        out = subprocess.run(["nm", "-gA", archive], capture_output=True,
                             check=True, text=True).stdout
        for line in out.splitlines():
            where, _, symbol = line.rpartition(":")
            name = files.get(re.split("[:/]", where)[-1])
            if not name:  # made while it is built
                continue
            *_, kind, symbol = symbol.split()
            if kind == "U":
                used[symbol].add(name)
            else:
                defined[symbol] = name
    for name, symbol in UPWARDS:
        assert name in used[symbol], f"{name} does not use {symbol}"
        used[symbol].remove(name)
    for symbol, names in used.items():
        for name in names:
            if symbol in defined:
                needs[name].add(defined[symbol])
    return {(name, defined[symbol], symbol)
            for symbol in used.keys() & defined.keys() for name in used[symbol]}


def included_headers(lib, needs):
    """All of them, of which those of headers are needs."""
    found = set()
    for path in lib.rglob("*.[ch]"):
        name = str(path.relative_to(lib).with_suffix(""))
        for other in INCLUDE.findall(path.read_text()):
            found.add((name, other, f"{other}.h"))
            if path.suffix == ".h":
                needs[name].add(other)
    return found


def downwards(order, uses):
    """What files use of a folder that comes later in the order."""
    for name, other, what in sorted(uses):
        folder, below = (file.split("/")[0] for file in (name, other))
        if order.index(below) > order.index(folder):
            yield (f"lib/{name} uses {what} of {below}/, which docs/architecture.md"
                   " lists below its folder")


def known_by(name, includes):
    """All that is included by the source or the header, or by what these include."""
    found, open_ends = set(), [name]
    while open_ends:
        one = open_ends.pop()
        new = {other for who, other, _ in includes if who == one} - found
        found |= new
        open_ends += new
    return found


def knowing_leaves(includes):
    """What leaves know that they are not to know."""
    for whole, leaves in LEAVES.items():
        for leaf in leaves.split():
            leaf = f"{whole.split('/')[0]}/{leaf}"
            known = known_by(leaf, includes)
            if whole in known:
                yield f"lib/{leaf}, a leaf in LEAVES, includes {whole}.h on some way"
            if not known:
                yield f"lib/{leaf}, in LEAVES, is no file, or includes nothing"


def main():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == [["b", "c"]]
    assert circles({"a": {"b", "c"}, "b": {"c"}}) == []
    assert list(downwards(["a", "b"], {("a/x", "b/y", "f"), ("b/y", "a/x", "g")})) == [
        "lib/a/x uses f of b/, which docs/architecture.md lists below its folder"]
    assert known_by("a", {("a", "b", ""), ("b", "c", ""), ("d", "e", "")}) == {"b", "c"}
    lib = pathlib.Path(sys.argv[1]) / "lib"
    needs = collections.defaultdict(set)
    symbols = used_symbols(lib, sys.argv[2:], needs)
    headers = included_headers(lib, needs)
    page = (lib.parent / "docs/architecture.md").read_text()
    order = re.findall(r"^- `lib/(\w+)/`:", page, re.M)
    found = circles(needs)
    for each in found:
        print("a circle:", *each, file=sys.stderr)
        for one in each:
            print(f"    {one} needs", *sorted(needs[one] & set(each)),
                  file=sys.stderr)
    problems = list(downwards(order, symbols | headers)) + list(knowing_leaves(headers))
    for problem in problems:
        print(problem, file=sys.stderr)
    few = len(symbols) < 500 or len(headers) < 300
    if few:
        print(f"only {len(symbols)} symbols and {len(headers)} #includes are found",
              file=sys.stderr)
    return 1 if found or problems or few else 0


if __name__ == "__main__":
    sys.exit(main())
