#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""seeds.py SOURCE: each loop over seeds in test/ is a for_each_seed() of support.h,
which tells the seed when the test fails. A loop is one over seeds if its variable is
called so; or if it goes up to a test_count() and becomes what something random
begins with: a field `seed` or `random`, a random state, or an argument that the
function names so. First the check is held to loops of its own: those in BAD it must
find, and none in GOOD.
"""
import pathlib
import re
import sys

NOT_CODE = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", re.S)
FOR = re.compile(r"\b(?:for|while) \(")
DEFINITION = re.compile(r"^[\w *]*?\b(\w+)\(([^(){}]*)\)\n\{", re.M)
SEED = r"(?:seed|random|drawn)\w*"

BAD = [
    "for (seed = 1; seed <= n; seed++) { }",
    "for (uint64_t seed_now = 0; seed_now < n; seed_now++)\n\tf();",
    "for (w->seed = 1; w->seed <= n; w->seed++)\n\tf();",
    "while (seed < n) { seed++; }",
    "for (i = 0; i < test_count(9); i++) { weir_sim_new(&sim, i + 1, NULL); }",
    "n = test_count(9);\nfor (i = 0; i < n; i++)\n\tfor (;;)\n\t\trun(k, i);",
    "for (i = 0; i < test_count(9); i++) { *x = (struct x){.seed = 2 * i}; }",
    "for (i = 0; i < test_count(9); i++) { random_state = i; }",
]
GOOD = [
    "for_each_seed(seed, n) { run(0, seed); }",
    "for (i = 0; i < test_count(9); i++) { run(i, 7); }",
    "for (i = 0; i < test_count(9); i++) { x[i].random = draw(&random); }",
    "for (i = 0; i < N_ROWS; i++) { run(0, i + 1); }",
    "/* for (seed = 1; seed <= n; seed++) */",
]
OWN = "static void run(int i, uint64_t seed)\n{\n}\n"


def closing(text, at):
    """Where the bracket ends that begins at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] in "({[") - (text[i] in ")}]")
        if depth == 0:
            return i
    return len(text)


def statement(text, at):
    """The end of the statement that begins at `at`."""
    while at < len(text):
        if text[at] in "({":
            end = closing(text, at)
            if text[at] == "{":
                return end
            at = end
        elif text[at] == ";":
            return at
        at += 1
    return at


def arguments(text):
    """What stands between the commas of a list."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter in "({[") - (letter in ")}]")
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return found


def seeded(text):
    """The functions that are given a seed, with the places of it."""
    found = {}
    for name, given in DEFINITION.findall(text):
        places = [i for i, each in enumerate(given.split(","))
                  if re.search(rf"(?<!\*)\b{SEED}$", each)]
        if places:
            found.setdefault(name, places)
    return found


def is_over_seeds(before, head, body, functions):
    if re.search(r"\bseed\w*\s*(?:=|<|\+\+)", head):
        return True
    variable = re.match(r"\s*(?:\w+ )?([\w.>-]+) = ", head)
    last = re.search(r";[^;]*<=? (\w+)", head)
    if not variable or not last:
        return False
    if last[1] != "test_count" and not re.search(
            rf"\b{last[1]} = test_count\(", before):
        return False
    name = rf"\b{re.escape(variable[1])}\b"
    # together with a seed it only tells threads apart
    begins = re.findall(rf"\b{SEED} = ([^;,}}]*)", body)
    for call in re.finditer(r"\b(\w+)\(", body):
        given = arguments(body[call.end():closing(body, call.end() - 1)])
        begins += [given[i] for i in functions.get(call[1], []) if i < len(given)]
    return any(re.search(name, each) and not re.search(r"\bseed\b|&|\(", each)
               for each in begins)


def loops(text, functions):
    """The numbers of the lines that begin a loop over seeds."""
    code = NOT_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    functions = {**functions, **seeded(code)}
    for found in FOR.finditer(code):
        end = closing(code, found.end() - 1)
        head = code[found.end():end]
        body = code[end + 1:statement(code, end + 1) + 1]
        before = code[code.rfind("\n}\n", 0, found.start()) + 1:found.start()]
        if is_over_seeds(before, head, body, functions):
            yield code.count("\n", 0, found.start()) + 1


def check_itself():
    functions = {"weir_sim_new": [1]}
    for text in BAD:
        if not list(loops(OWN + text, functions)):
            yield f"it does not see: {text}"
    for text in GOOD:
        if list(loops(OWN + text, functions)):
            yield f"it takes for a loop over seeds: {text}"


def main():
    source = pathlib.Path(sys.argv[1]) / "test"
    problems = list(check_itself())
    functions = {"weir_sim_new": [1]}
    for path in source.rglob("*.h"):
        functions.update(seeded(NOT_CODE.sub(" ", path.read_text())))
    n = 0
    for path in sorted(source.rglob("*.[ch]")):
        name, text = str(path.relative_to(source)), path.read_text()
        n += text.count("for_each_seed(")
        if name != "support.h":
            problems += [f"test/{name}:{line}: a loop over seeds that does not "
                         "tell them: say for_each_seed()" 
                         for line in loops(text, functions)]
    if n < 100:
        problems.append(f"only {n} for_each_seed() are found below {source}")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
