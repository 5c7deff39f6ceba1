#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""short.py SOURCE: the smallest programs stay small, and so do the recipes, which are
those in the table of docs/guide.md. Counted are the lines of a program in docs/examples
that are neither blank nor comment."""

import pathlib
import re
import sys

MOST = {"calls": 35, "echod": 25, "pair": 45, "pool": 45}
RECIPE = 60


def count(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return sum(1 for line in text.split("\n") if line.strip())


def recipes(guide):
    """The programs of the section."""
    section = re.search(r"^## Recipes$.*?(?=^## )", guide, flags=re.S | re.M)
    return re.findall(r"^\| .* \| `(\w+)\.c` \|", section[0], flags=re.M)


# The checks see what they are to see.
assert count("/* a\n * b */\nint x; /* c */\n\nint y;\n") == 2
assert recipes("| a | `b.c` |\n## Recipes\n| a | `c.c` | d |\n## E\n") == ["c"]

source = pathlib.Path(sys.argv[1])
most = dict.fromkeys(recipes((source / "docs/guide.md").read_text()), RECIPE)
status = not most
for name, lines in {**most, **MOST}.items():
    n = count((source / f"docs/examples/{name}.c").read_text())
    print(f"{name}: {n} lines of {lines}")
    status |= n > lines
sys.exit(status)
