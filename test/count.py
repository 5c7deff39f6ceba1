#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""count.py TESTLOG.json [FAILURES]: prints how many test cases passed, failed
and were skipped, as Meson's log has them, and appends to the file FAILURES what
each test that failed said last.

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
PASSING = ("[ RUN      ] ", "[       OK ] ")
CMOCKA = re.compile(r"\[==========\] Running ")


def count(test):
    text = test.get("stdout", "") + "\n" + test.get("stderr", "")
    good = test["result"] in ("OK", "SKIP", "EXPECTEDFAIL")
    if not CMOCKA.search(text):
        return test["result"] == "OK", not good, test["result"] == "SKIP"
    failed = sum(map(int, FAILED.findall(text)))
    skipped = sum(map(int, SKIPPED.findall(text)))
    return len(OK.findall(text)), max(failed, not good), skipped


def said(test):
    """The lines that tell of a failure, and the last ones."""
    out = test.get("stdout", "").splitlines()
    err = test.get("stderr", "").splitlines()
    told = [line for line in out if not line.startswith(PASSING)]
    return told[-10:] + err[-30:]


def main():
    total = [0, 0, 0]
    failures = []
    with open(sys.argv[1], encoding="utf-8") as log:
        for test in map(json.loads, log):
            counts = count(test)
            total = [a + b for a, b in zip(total, counts)]
            if counts[1]:
                failures.append((test, said(test)))
    print(*map(int, total))
    if failures and len(sys.argv) > 2:
        with open(sys.argv[2], "a", encoding="utf-8") as out:
            for test, lines in failures:
                print(f"\n{test['name']}: {test['result']} in {sys.argv[1]}",
                      *lines, sep="\n", file=out)


main()
