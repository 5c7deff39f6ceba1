#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""count.py TESTLOG.json: prints how many test cases passed, failed and were
skipped, as Meson's log has them.

A program that speaks cmocka's language counts its cases; any other counts as
one. A program that ended badly has at least one failure: the case that was
running when it crashed or timed out wrote no line.
"""
import json
import re
import sys

OK = re.compile(r"\[       OK \] ")
FAILED = re.compile(r"\[  FAILED  \] (\d+) test\(s\), listed")
SKIPPED = re.compile(r"\[  SKIPPED \] (\d+) test\(s\), listed")
CMOCKA = re.compile(r"\[==========\] Running ")


def count(test):
    text = test.get("stdout", "") + "\n" + test.get("stderr", "")
    good = test["result"] in ("OK", "SKIP", "EXPECTEDFAIL")
    if not CMOCKA.search(text):
        return test["result"] == "OK", not good, test["result"] == "SKIP"
    failed = sum(map(int, FAILED.findall(text)))
    skipped = sum(map(int, SKIPPED.findall(text)))
    return len(OK.findall(text)), max(failed, not good), skipped


def main():
    total = [0, 0, 0]
    with open(sys.argv[1], encoding="utf-8") as log:
        for line in log:
            total = [a + b for a, b in zip(total, count(json.loads(line)))]
    print(*map(int, total))


main()
