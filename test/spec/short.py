#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""short.py SOURCE: the smallest programs stay small. Counted are the lines of a
program in docs/examples that are neither blank nor comment."""

import pathlib
import re
import sys

MOST = {"calls": 35, "pair": 45, "pool": 45}


def count(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return sum(1 for line in text.split("\n") if line.strip())


# The check counts what it is to count.
assert count("/* a\n * b */\nint x; /* c */\n\nint y;\n") == 2

examples = pathlib.Path(sys.argv[1]) / "docs/examples"
status = 0
for name, most in MOST.items():
    n = count((examples / f"{name}.c").read_text())
    print(f"{name}: {n} lines of {most}")
    status |= n > most
sys.exit(status)
