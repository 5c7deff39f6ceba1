#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""names.py SOURCE: what a page in docs/ calls weir_... or WEIR_... is in a public
header: one that weir.h includes, or for testkit.md the testkit's. So what stands
in a table can be copied into a program.
"""
import pathlib
import re
import sys

NAME = re.compile(r"\b(?:weir|WEIR)_(?!_)\w+(?![\w*]|\.\.\.|-)")
# of the build, the tests and the tools, and pages that say how it is inside
OTHERS = {"WEIR_SHIM_TSAN", "WEIR_TEST_SEED", "WEIR_TEST_NAME",
          "WEIR_TEST_DIVISOR", "WEIR_SOAK"}
# and those of names that are no more, or stand for any
INSIDE = {"architecture.md", "performance.md", "conformance/stream.md",
          "changes.md", "conventions.md"}

source = pathlib.Path(sys.argv[1])
headers = source / "include/weir"
known = {False: set(), True: set()}
for header in headers.glob("*.h*"):
    found = NAME.findall(header.read_text())
    if header.name != "testkit.h":
        known[False].update(found)
    known[True].update(found)
problems = []
n = 0
for page in sorted((source / "docs").glob("**/*.md")):
    if str(page.relative_to(source / "docs")) in INSIDE:
        continue
    for number, line in enumerate(page.read_text().splitlines(), 1):
        # not the names of tests, in tables of rules
        for text in re.findall(r"`([^`]*)`", line) if "|" in line else [line]:
            for name in NAME.findall(text):
                n += 1
                if name not in known[page.name == "testkit.md"] | OTHERS:
                    problems.append(f"{page}:{number}: {name} is in no public header:"
                                    " say what there is")
if n < 500:
    problems.append(f"only {n} names are found on the pages of {source}")
print("\n".join(problems))
sys.exit(bool(problems))
