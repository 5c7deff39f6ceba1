#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""words.py SOURCE: one word has one meaning. In lib/ and include/ no two structs,
unions or enums have the same name, and no two files the same stem, but for a
source with its header and a public header with its source. docs/glossary.md has
60 words at most, each with one sentence that names it, and the field that the word
is from. No identifier or file is made of a word that the glossary says is retired
where it stands."""

import collections
import pathlib
import re
import sys

MOST = 60
TAG = re.compile(r"^(?:struct|union|enum) (?:__attribute__\(.*\) )?(\w+) \{", re.M)
NOT_CODE = re.compile(
    r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|#include[^\n]*", re.S
)
# Stems of several files that are neither, each with the reason why.
ALLOWED = {
    "look": "what a look asks of a port, and of an executor",
    "reactive": "what the two sources of weir/reactive.h know of each other",
}


def sources(source):
    for folder in ("lib", "include"):
        for path in sorted((source / folder).rglob("*.[ch]")):
            yield path.relative_to(source), path.read_text()


def check_tags(files, problems):
    found = collections.defaultdict(list)
    for path, text in files:
        for tag in TAG.findall(text):
            found[tag].append(str(path))
    for tag, paths in found.items():
        if len(paths) > 1:
            problems.append(f"{', '.join(paths)}: each has a {tag}: give it one"
                            " meaning, and the others another name")
    return len(found)


def check_stems(files, problems):
    found = collections.defaultdict(set)
    for path, _ in files:
        found[path.stem].add(path)
    for stem, paths in found.items():
        private = {path for path in paths if path.parts[0] == "lib"}
        folders = {path.parent for path in private}
        # a private header beside a public one needs their source
        alone = private and private != paths and not any(
            path.suffix == ".c" for path in private)
        if (len(folders) > 1 or bool(alone)) != (stem in ALLOWED):
            problems.append(f"{', '.join(sorted(map(str, paths)))}: one stem, several"
                            " files: call them differently, or say in ALLOWED why not;"
                            " what is there and is one file comes off it")


def table(page, heading):
    """The rows of the first table below the heading, without its two first."""
    text = page.read_text().split(heading, 1)[1]
    rows = re.search(r"(?:^\|.*\n)+", text, re.M)[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def check_glossary(page, problems):
    words = []
    for word, meaning, field in table(page, "# Glossary"):
        words += word.split(", ")
        if not field:
            problems.append(f"{page.name}: no field for {word}")
        if not re.fullmatch(r"[A-Z][^.]*\.", meaning):
            problems.append(f"{page.name}: not one sentence: {word}")
        for each in word.split(", "):
            if each not in meaning.lower():
                problems.append(f"{page.name}: the sentence does not name {each}")
    if words != sorted(set(words), key=str.lower) or len(words) > MOST:
        problems.append(f"{page.name}: {len(words)} words, which are not in order,"
                        f" or more than {MOST}")
    return len(words)


def parts(name):
    """What an identifier is made of: weir__dead_letters -> dead letters."""
    return " " + " ".join(name.lower().strip("_").replace("__", "_").split("_")) + " "


def check_retired(page, files, problems):
    rows = table(page, "## Retired words")
    for word, instead, where in rows:
        places = tuple(re.findall(r"`([\w/.]+)`", where))
        kept = re.findall(r"but `(\w+)`", where)
        wanted = re.compile(rf" {parts(word.strip('`')).strip()}s? ")
        for path, text in files:
            if not str(path).startswith(places):
                continue
            names = set(re.findall(r"\b[A-Za-z_]\w*", NOT_CODE.sub(" ", text)))
            for name in sorted(names | {path.stem}):
                made = parts(name)
                for keep in kept:
                    made = made.replace(parts(keep).rstrip(), "")
                if wanted.search(made):
                    problems.append(f"{path}: {name}: {word} is retired, say {instead}")
    return len(rows)


def main():
    source = pathlib.Path(sys.argv[1])
    files = list(sources(source))
    page = source / "docs/glossary.md"
    problems = []
    n = check_tags(files, problems), check_glossary(page, problems)
    check_stems(files, problems)
    n += (check_retired(page, files, problems),)
    if any(found < least for found, least in zip(n, (300, 40, 10))):
        problems.append(f"only {n} structs, words and retired words are found")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
