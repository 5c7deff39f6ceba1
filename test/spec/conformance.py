#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""conformance.py SOURCE: docs/conformance.md tells the truth. Each rule has one
row. Each test named there exists, in the file that it stands behind. Each test
with a rule's number is in that rule's row. Each mutant is in a row with a test
that rejects it, and in no other row.
"""
import pathlib
import re
import sys

RULES = {1: 11, 2: 13, 3: 17, 4: 2}
SUITE = re.compile(r'\{"(spec_\d_\d\d_\w+)",')
CASE = re.compile(r"^static void (\w+)\(void \*\*", re.M)
SCENARIO = re.compile(r'\.name = "([^"]*)"')
MUTANT = re.compile(r'MISTAKE\(([A-Z_]+),[^"]*"(\w+)"')
MENTIONED = re.compile(r"`([A-Z][A-Z_]+)`")

source = pathlib.Path(sys.argv[1])
problems = []


def names(cell):
    return re.findall(r"`([^`]+)`", cell)


def rule_of(test):
    _, section, number, *_ = test.split("_")
    return f"{int(section)}.{int(number)}"


def read_suites():
    paths = (source / "lib/testkit").glob("verify_*.c")
    return {test for path in paths for test in SUITE.findall(path.read_text())}


def read_cases(file):
    path = source / "test" / f"{file}.c"
    if not path.exists():
        problems.append(f"no file {path}")
        return None
    text = path.read_text()
    return set(CASE.findall(text) + SCENARIO.findall(text))


def read_mutants():
    """All (mutant, test that rejects it)."""
    return {
        pair
        for kind in ("publisher", "subscriber", "processor")
        for pair in MUTANT.findall(
            (source / f"test/testkit/{kind}.c").read_text()
        )
    }


def read_tests(cell, suites):
    """The names in a row; "none", or [FILE:] `NAME`, ...; ..."""
    found = set()
    for part in cell.split("; ") if cell != "none" else []:
        file = re.match(r"[a-z_]+/[a-z_]+", part)
        known = read_cases(file[0]) if file else suites
        tests = set(names(part))
        if known is not None:
            problems.extend(f"no test {test}" for test in tests - known)
        if not file and not tests:
            problems.append(f"neither tests nor a file: {part}")
        found |= tests
    return found


def check_rows(page, suites, pairs):
    rows = re.findall(r"^\| (\d\.\d+) \| .* \| (.*) \| (.*) \|$", page, re.M)
    seen = [rule for rule, _, _ in rows]
    if seen != [f"{s}.{n + 1}" for s in RULES for n in range(RULES[s])]:
        problems.append(f"not all rules, in their order: {seen}")
    tests, missing = {}, set(pairs)
    for rule, cell, mutants in rows:
        tests[rule] = read_tests(cell, suites)
        mutants = names(mutants)
        rejected = {pair for pair in pairs if pair[1] in tests[rule]}
        missing -= {pair for pair in rejected if pair[0] in mutants}
        for mutant in set(mutants) - {pair[0] for pair in rejected}:
            problems.append(f"{rule}: no test there rejects {mutant}")
    problems.extend("%s is in no row with %s" % pair for pair in missing)
    return tests


def main():
    page = (source / "docs/conformance.md").read_text()
    suites, pairs = read_suites(), read_mutants()
    tests = check_rows(page, suites, pairs)
    numbered = set(suites)
    for path in (source / "test").glob("*/*.c"):
        numbered |= {
            case
            for case in CASE.findall(path.read_text())
            if re.match(r"spec_[1-4]_\d\d_", case)
        }
    for test in numbered:
        if test not in tests.get(rule_of(test), ()):
            problems.append(f"{test} is not in the row of its rule")
    for mutant in set(MENTIONED.findall(page)) - {pair[0] for pair in pairs}:
        if not mutant.startswith("WEIR_"):
            problems.append(f"no mutant {mutant}")
    if min(len(suites), len(pairs)) < 50:
        problems.append("tests or mutants are not found in the sources")
    return "\n".join(sorted(problems)) or 0


sys.exit(main())
