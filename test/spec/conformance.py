#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""conformance.py SOURCE: the pages of docs/conformance tell the truth. Each rule has
one row. Each test named there exists, in the file that it stands behind. Each test
with a rule's number is in that rule's row. Each mutant is in a row with a test
that rejects it, and in no other row. A source that has a rule's number in a comment
says on which of these pages the rule stands. Users' pages have neither rows nor tests.
"""
import pathlib
import re
import sys

STREAMS = {"1.": 11, "2.": 13, "3.": 17, "4.": 2}
SUPERVISION = {
    **{"A2.": 9, "A3.": 11, "B1.": 8, "B2.": 6, "B3.": 5, "B4.": 7},
    **{"B5.": 5, "B6.": 11, "B7.": 4, "B8.": 13, "B9.": 5, "B10.": 6},
    **{"C": 15, "D1.": 6, "E": 16},
}
PROCESSES = {"A4.": 12, "A5.": 8, "A6": 0, "A7.": 7}
OF_MANAGERS = ["E1", "E13", "E14"]
POOLS = {"D2": 0, "D3.": 16, "D4.": 3, "D5.": 10}
OF_POOLS = ["E11", "E12"]
# Tests of the suites that reject no mutant, each with the reason why.
REJECTS_NONE = {
    "spec_2_07_calls_do_not_overlap": "two calls would have to meet",
    "spec_3_09_request_inside_on_next_is_refused_once": "others reject those of 3.9",
    "spec_3_17_greatest_demand": "others reject those of 3.17",
}
SUITE = re.compile(r'\{"(spec_\d_\d\d_\w+)",')
CASE = re.compile(r"^(?:static void (?=\w+\(\s*void \*\*)|\t\tRULE\(\s*)(\w+)", re.M)
SCENARIO = re.compile(r'\.name = "([^"]*)"')
MUTANT = re.compile(r'MISTAKE\(([A-Z_]+),[^"]*"(\w+)"')
COMMENT = re.compile(r"/\*.*?\*/", re.S)
IN_COMMENT = re.compile(
    r"(?<![\w/.])(?:A[2-57]\.\d+|A[567]|B\d+(?:\.\d+)?|[CE]\d{1,2}|D[1-5](?:\.\d+)?)\b"
)
MENTIONED = re.compile(r"`([A-Z][A-Z_]+)`")
NUMBER = re.compile(r"(?:spec_([1-4])_(\d\d)|(a[2-57]|b\d+|d[1345])_(\d+)|([ced])(\d+))_")

source = pathlib.Path(sys.argv[1])
problems = []


def names(cell):
    return re.findall(r"`([^`]+)`", cell)


def rules_of(sections):
    """0: a section that is one rule."""
    return [rule for s, last in sections.items() for rule in
            ([f"{s}{n + 1}" for n in range(last)] if last else [s])]


def rule_of(test):
    """The rule that the test's name begins with, or None."""
    found = NUMBER.match(test)
    if not found:
        return None
    section, number = (group for group in found.groups() if group)
    dot = "" if section in "ced" else "."
    return f"{section.upper()}{dot}{int(number)}"


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
            (source / f"test/testkit/verify_{kind}.c").read_text()
        )
    }


def read_tests(cell, suites):
    """The names in a row; "none" [and why], or [FILE:] `NAME`, ...; ..."""
    found = set()
    for part in cell.split("; ") if not cell.startswith("none") else []:
        file = re.match(r"[a-z_]+/[a-z_]+", part)
        known = read_cases(file[0]) if file else suites
        tests = set(names(part))
        if known is not None:
            problems.extend(f"no test {test}" for test in tests - known)
        if not file and not tests:
            problems.append(f"neither tests nor a file: {part}")
        found |= tests
    return found


def check_rows(rows, rules, suites):
    """The tests of each rule."""
    seen = [row[0] for row in rows]
    if seen != rules:
        wrong = sorted(set(rules) ^ set(seen))
        problems.append(f"not one row for each rule, in order: {wrong}")
    return {row[0]: read_tests(row[1], suites) for row in rows}


def check_mutants(page, rows, tests, pairs):
    missing = set(pairs)
    for rule, _, cell in rows:
        mutants = names(cell)
        rejected = {pair for pair in pairs if pair[1] in tests[rule]}
        missing -= {pair for pair in rejected if pair[0] in mutants}
        for mutant in set(mutants) - {pair[0] for pair in rejected}:
            problems.append(f"{rule}: no test there rejects {mutant}")
    problems.extend("%s is in no row with %s" % pair for pair in missing)
    for mutant in set(MENTIONED.findall(page)) - {pair[0] for pair in pairs}:
        if not mutant.startswith("WEIR_"):
            problems.append(f"no mutant {mutant}")


def check_streams(suites):
    page = (source / "docs/conformance/stream.md").read_text()
    rows = re.findall(r"^\| (\d\.\d+) \| .* \| (.*) \| (.*) \|$", page, re.M)
    pairs = read_mutants()
    tests = check_rows(rows, rules_of(STREAMS), suites)
    check_mutants(page, rows, tests, pairs)
    for test in suites ^ {test for _, test in pairs} ^ set(REJECTS_NONE):
        problems.append(f"{test} rejects no mutant in test/testkit/verify_*.c,"
                        " or does and is in REJECTS_NONE")
    if min(len(suites), len(pairs)) < 50:
        problems.append("tests or mutants are not found in the sources")
    return tests


def check_page(name, rules):
    page = (source / "docs/conformance" / name).read_text()
    rows = re.findall(r"^\| ([A-E][\d.]+) \| .* \| (.*) \|$", page, re.M)
    for rule, cell in rows:
        if cell.startswith("none") and not cell.startswith("none: "):
            problems.append(f"{rule}: no tests, and no word why")
    return check_rows(rows, rules, set())


def check_users_pages():
    for path in (source / "docs").glob("*.md"):
        for row in re.findall(r"^\| [A-E]\d*\.?\d+ \||`\w\d_\d_\w*", path.read_text(), re.M):
            problems.append(f"{path.name} is for users, and has {row}")


def check_comments(pages):
    """Whoever reads a rule's number in a comment must find the rule."""
    page_of = {
        number: f"docs/conformance/{page}"
        for page, rules in pages.items()
        for rule in rules
        for number in (rule, rule.split(".")[0])
    }
    paths = [*(source / "lib").rglob("*.[ch]"), *(source / "test").rglob("*.[ch]")]
    n = 0
    for path in paths:
        if "model" in path.parts: # C11 is the language there
            continue
        text = path.read_text()
        for number in {n for c in COMMENT.findall(text) for n in IN_COMMENT.findall(c)}:
            n += 1
            if page_of.get(number, "a page that has it") not in text:
                problems.append(f"{path} says {number} and not where that stands")
    if n < 50:
        problems.append("numbers of rules are not found in comments")


def main():
    suites = read_suites()
    others = OF_MANAGERS + OF_POOLS
    pages = {
        "supervision.md": [
            rule for rule in rules_of(SUPERVISION) if rule not in others
        ],
        "process_manager.md": rules_of(PROCESSES) + OF_MANAGERS,
        "worker_pool.md": rules_of(POOLS) + OF_POOLS,
    }
    tests = check_streams(suites)
    for page, rules in pages.items():
        tests |= check_page(page, rules)
    check_comments(pages)
    numbered = set(suites)
    for path in (source / "test").glob("*/*.c"):
        numbered |= {
            case for case in CASE.findall(path.read_text()) if rule_of(case)
        }
    for test in numbered:
        if test not in tests.get(rule_of(test), ()):
            problems.append(f"{test} is not in the row of its rule")
    check_users_pages()
    return "\n".join(sorted(problems)) or 0


sys.exit(main())
