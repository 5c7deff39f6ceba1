#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""stems.py SOURCE: what belongs to an operator is found by its name. The functions of
include/weir/flow_X.h are defined in lib/flow/operators/X.c or X_part.c, those of
flow.h in the engine; test/flow/X.c or X_part.c tests them, and docs/flow_X.md is their
page. Operators of one header include nothing of another's: what several share is in
lib/flow/shared/. There and in the engine each header declares what its own source
defines. Each check here finds what it is for: it is shown files that break its rule.
"""

import pathlib
import re
import sys

# Functions that are defined elsewhere, each with the reason why.
ELSEWHERE = {
    "weir_flow_async": ("engine/async", "a nested flow asks where it would run"),
    "weir_flow_list_free": ("shared/list", "grouped makes lists, too"),
    "weir_flow_list_items": ("shared/list", "grouped makes lists, too"),
}
# Headers of libraries of their own, whose files are in another folder of lib/.
OTHERS = {"flow_compress"}
# Tests of many operators, or of all.
OF_MANY = {
    "conversation": "none keeps an item back that it need not hold",
    "end_at_rest": "an end is told without demand",
    "end_behind": "an end is told behind items that were held",
    "marbles": "the pictures of the pages",
    "memory": "all of them without memory",
    "names": "errors tell where they begin",
    "ownership": "all items of all of them are dropped once",
    "process": "flows of commands",
    "random": "any of them upon each other",
    "verify_processor": "the rules of Reactive Streams",
    "verify_publisher": "the same",
    "verify_subscriber": "the same",
    "words": "what errors say",
}
PUBLIC = re.compile(r"\bWEIR_API\b[^;{]*?\b(weir_(?!_)\w+)\(")
DEFINED = re.compile(r"^(?!static\b)\w[^;{}=#]*?\b(weir_\w+)\([^;{}]*\)\s*\{", re.M)
DECLARED = re.compile(r"^(?!static\b|#)\w[^;{}]*?\b(weir__\w+)\([^;{}]*\);", re.M)
INCLUDED = re.compile(r'^#include "flow/(\w+)/(\w+)\.h"', re.M)


class Tree:
    """The headers by stem, the files of lib/flow by folder, and what there is of
    tests and of pages."""

    def __init__(self, headers, files, tests=(), pages=()):
        self.headers = {stem: code(text) for stem, text in headers.items()}
        self.files = {tuple(path.split("/")): code(text)
                      for path, text in files.items()}
        self.tests, self.pages = tests, pages

    def stems(self):
        """Of the public headers, but that of all flows."""
        return {stem.removeprefix("flow_") for stem in self.headers} - {"flow"}

    def family(self, stem):
        """The header that a file's stem begins with, or None."""
        return next((one for one in self.stems() if begins(stem, one)), None)


def code(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def begins(stem, family):
    return stem == family or stem.startswith(family + "_")


def split(name):
    stem, kind = name.split(".")
    return stem, kind


def functions(tree):
    where = {name: (folder, split(file)[0])
             for (folder, file), text in tree.files.items()
             for name in DEFINED.findall(text)}
    for header, text in tree.headers.items():
        family = header.removeprefix("flow_")
        for name in PUBLIC.findall(text):
            folder, stem = where.get(name, ("nowhere", ""))
            if name in ELSEWHERE:
                right = f"{folder}/{stem}" == ELSEWHERE[name][0]
            elif header == "flow":
                right = folder == "engine"
            else:
                right = folder == "operators" and begins(stem, family)
            if not right:
                yield (f"{header}.h: {name} is defined in {folder}/{stem}: define it"
                       f" in operators/{family}.c or {family}_part.c (what is in flow.h:"
                       " in the engine), or say in ELSEWHERE why not")


def operators(tree):
    for (folder, file), text in tree.files.items():
        family = tree.family(split(file)[0])
        if folder != "operators":
            continue
        if not family:
            yield (f"operators/{file}: begins with the stem of no header: call it"
                   " X.c or X_part.c for flow_X.h")
        for other, stem in INCLUDED.findall(text):
            if other == "operators" and tree.family(stem) != family:
                yield (f"operators/{file}: includes {stem}.h of another header: put"
                       " what they share into lib/flow/shared")


def layers(tree):
    order = ["engine", "shared", "operators"]
    for (folder, file), text in tree.files.items():
        for other, stem in INCLUDED.findall(text):
            if order.index(other) > order.index(folder):
                yield (f"{folder}/{file}: includes {other}/{stem}.h, which is above"
                       " it: operators, shared, engine is the order")


def shared(tree):
    """By several headers, be it through another header of the folder."""
    users = {file: INCLUDED.findall(text) for file, text in tree.files.items()}

    def families(stem, seen=()):
        found = set()
        for (folder, file), includes in users.items():
            own = split(file)[0]
            if ("shared", stem) not in includes or own in (stem, *seen):
                continue
            if folder == "operators":
                found.add(tree.family(own))
            elif file.endswith(".h"):
                found |= families(own, (stem, *seen))
            else:
                found.add(own)
        return found

    for folder, file in tree.files:
        if folder == "shared" and file.endswith(".h"):
            found = families(split(file)[0])
            if len(found) < 2:
                yield (f"shared/{file}: is used by {found or 'nothing'} alone: put it"
                       " into operators/")


def declared(tree):
    for (folder, file), text in tree.files.items():
        stem, kind = split(file)
        source = tree.files.get((folder, stem + ".c"), "")
        if kind != "h":
            continue
        bodies = re.compile(r"\{[^{}]*\}")
        while bodies.search(text):
            text = bodies.sub("", text)
        for name in DECLARED.findall(text):
            if name not in DEFINED.findall(source):
                yield (f"{folder}/{file}: {name} is not defined in {stem}.c: declare"
                       " it in the header of its source")


def tests(tree):
    for stem in tree.stems() | {"flow"}:
        if not any(begins(test, stem) for test in tree.tests):
            yield f"test/flow: no {stem}.c or {stem}_part.c"
    known = {split(file)[0] for folder, file in tree.files if folder != "operators"}
    for test in tree.tests:
        named = tree.family(test) or any(begins(test, one) for one in known | {"flow"})
        if bool(named) == (test in OF_MANY):
            yield (f"test/flow/{test}.c: its stem says what it tests, and OF_MANY, too"
                   if named else
                   f"test/flow/{test}.c: call it X.c or X_part.c for flow_X.h or a file"
                   " of the engine, or add it to OF_MANY")


def pages(tree):
    for header in tree.headers:
        if header not in tree.pages:
            yield f"docs/{header}.md is missing"


A = {"flow_a": "WEIR_API struct weir_flow *weir_flow_a(void);"}
A_DEFINED = "struct weir_flow *weir_flow_a(void)\n{\n}\n"
CHECKS = {
    functions: Tree(A, {"operators/b.c": A_DEFINED}),
    operators: Tree(A, {"operators/b.c": A_DEFINED}),
    layers: Tree(A, {"engine/op.c": '#include "flow/shared/list.h"'}),
    shared: Tree(A, {"shared/list.h": "", "operators/a.c":
                     '#include "flow/shared/list.h"'}),
    declared: Tree(A, {"engine/op.h": "void weir__op_end(void);", "engine/op.c": "",
                       "engine/run.c": "void weir__op_end(void)\n{\n}\n"}),
    tests: Tree(A, {}, ["b"]),
    pages: Tree(A, {}, [], ["flow_b"]),
}


def read(source):
    files = {"/".join(path.parts[-2:]): path.read_text()
             for path in (source / "lib/flow").glob("*/*.[ch]")}
    headers = {path.stem: path.read_text()
               for path in (source / "include/weir").glob("flow*.h")
               if path.stem not in OTHERS}
    return Tree(headers, files,
                [path.stem for path in (source / "test/flow").glob("*.c")
                 if re.search(r"\bint main\(", path.read_text())],
                [path.stem for path in (source / "docs").glob("flow*.md")])


def main():
    tree = read(pathlib.Path(sys.argv[1]))
    problems = []
    for check, broken in CHECKS.items():
        problems += check(tree)
        if not list(check(broken)):
            problems.append(f"{check.__name__} does not see what breaks it")
    n = sum(len(PUBLIC.findall(text)) for text in tree.headers.values())
    if n < 100 or len(tree.files) < 60:
        problems.append("only a few files are found: is this the source folder?")
    for problem in sorted(problems):
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
