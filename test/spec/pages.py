#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""pages.py SOURCE [--write]: every page of docs/ can be found and left again, and
has the functions of its header. docs/README.md lists all pages in reading order.
Below its title each page has one line: the way up to that list, to its header and
to the next page. The last section of a header's page is "Functions", the
signatures that the header has, and where the other functions are that the page
names. Blocks of C have the line breaks that their program has. This compares these
with the list, the headers and the programs, or writes them, and docs/operators.md and
the tables of life.py with them: after functions have been renamed in all files, say. What a page or a
source refers to is there, and each public header has a page. The pages of decisions are numbered from 1 on, and
docs/decisions/README.md lists them in that order.
"""

import os
import pathlib
import re
import subprocess
import sys
import textwrap

ORDER = "## In reading order\n"
# Headers that other pages speak of, or of which users use nothing.
WITHOUT_PAGE = {"api", "private", "version", "weir"}
WAY = "[All pages]("
FUNCTIONS = "\n## Functions\n"
COMMENT = re.compile(r"/\*.*?\*/", re.S)
DECLARED = re.compile(
    r"^(?:WEIR_API\b[^;{]*;|static inline\b[^;{]*?\)\s*(?=\{))", re.M | re.S
)
# what the compiler is told of a declaration, and no caller needs to know
ATTRIBUTE = re.compile(
    r"\b(?:WEIR_(?:API|MUST_CHECK)|static inline)\b\s*|\s*WEIR_PRINTF\(.*\)"
)
NAME = re.compile(r"\b(weir_\w+)\(")
MACRO = re.compile(r"^#define (WEIR_(?:TURN|FLOW_\w+)\(\w+\))", re.M)
BLOCK = re.compile(r"(?<=^```c\n).*?(?=^```$)", re.M | re.S)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def signatures(header):
    """Of each public function of the header: name and signature, in order."""
    found = {}
    for declared in DECLARED.findall(COMMENT.sub("", header.read_text())):
        text = ATTRIBUTE.sub("", " ".join(declared.rstrip(";").split()))
        name = NAME.search(text)[1]
        if not name.startswith("weir__"):
            found[name] = text.replace("( ", "(") + ";"
    return found


def wrapped(signature):
    """Its lines, each parameter in one piece where that is possible."""
    head, rest = signature.split("(", 1)
    parameters, depth = [""], 0
    for character in rest:
        parameters[-1] += character
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parameters.append("")
    lines = [head + "("]
    for parameter in map(str.strip, parameters):
        space = "" if lines[-1].endswith("(") else " "
        if len(lines[-1] + space + parameter) <= 80:
            lines[-1] += space + parameter
        else:
            lines += textwrap.wrap(parameter, 80, initial_indent=8 * " ",
                                   subsequent_indent=12 * " ")
    return lines


class Program:
    """A program of docs/examples, in which a block is found whatever its breaks."""

    def __init__(self, text):
        self.text = text
        self.at = [i for i, c in enumerate(text) if not c.isspace()]
        self.dense = "".join(text.split())

    def find(self, block):
        """The lines that the block is, or None."""
        dense = "".join(block.split())
        found = self.dense.find(dense)
        if found < 0:
            return None
        first = self.text.rfind("\n", 0, self.at[found]) + 1
        last = self.text.find("\n", self.at[found + len(dense) - 1])
        return self.text[first : last + 1]


class Pages:
    def __init__(self, source):
        self.docs = source / "docs"
        self.headers = source / "include/weir"
        self.programs = [
            Program(path.read_text())
            for path in sorted((self.docs / "examples").glob("*.c"))
        ]
        index = (self.docs / "README.md").read_text()
        listed = index.split(ORDER)[1].split("\n## ")[0]
        self.order = re.findall(r"\]\(([\w/]+\.md)\)", listed)
        index = (self.docs / "decisions/README.md").read_text()
        self.decisions = [
            f"decisions/{name}"
            for name in re.findall(r"^- \[\d+\]\((\d+-[\w-]+\.md)\) ", index, re.M)
        ]
        self.known = {
            header.stem: signatures(header)
            for header in sorted(self.headers.glob("*.h"))
        }

    def header_of(self, name):
        path = self.headers / (pathlib.Path(name).stem + ".h")
        return path if "/" not in name and path.exists() else None

    def way(self, name):
        """The line below the title of a page."""
        up = "../" * name.count("/")
        parts = [f"{WAY}{up}README.md)"]
        header = self.header_of(name)
        if header:
            parts.append(f"header: [{header.name}](../include/weir/{header.name})")
        order = self.order
        if name in self.decisions:
            order = self.decisions
            parts.append("[decisions](README.md)")
        at = order.index(name) + 1
        if at < len(order):
            page = order[at]
            title = page.removesuffix(".md").removesuffix("/README")
            if name in self.decisions:
                title = pathlib.Path(page).name[:3]
            target = os.path.relpath(page, pathlib.Path(name).parent)
            parts.append(f"next: [{title}]({target})")
        return " · ".join(parts)

    def with_way(self, name, text):
        title, _, rest = text.split("\n", 2)
        if rest.startswith(WAY):
            rest = rest.split("\n", 2)[2]
        return f"{title}\n\n{self.way(name)}\n\n{rest}"

    def elsewhere(self, text, stem):
        """What the text names of other headers, by page."""
        named = set(re.findall(r"\bweir_\w+", text)) - set(self.known[stem])
        lines = []
        for other, found in self.known.items():
            functions = [f"`{name}`" for name in found if name in named]
            page = f"{other}.md#functions"
            if not (self.docs / f"{other}.md").exists():
                page = f"../include/weir/{other}.h"
            if functions:
                lines.append(f"- [{other}]({page}): " + ", ".join(functions))
        return lines

    def functions(self, name, text):
        """The section "Functions" of a header's page."""
        header = self.header_of(name)
        found = self.known[header.stem]
        lines = [line for each in found.values() for line in wrapped(each)]
        lines += MACRO.findall(header.read_text())
        parts = [FUNCTIONS]
        if lines:
            parts += ["```c", *lines, "```"]
        others = self.elsewhere(text, header.stem)
        if others:
            parts += [""] if lines else []
            parts += ["This page also names functions of other headers:", ""]
            for line in others:
                parts += textwrap.wrap(line, 84, subsequent_indent="  ",
                                       break_on_hyphens=False)
        return "\n".join(parts) + "\n"

    def with_breaks(self, text):
        """Where several programs have the block, it is that of any."""

        def broken(block):
            found = [program.find(block[0]) for program in self.programs]
            return block[0] if block[0] in found else next(
                filter(None, found), block[0])

        return BLOCK.sub(broken, text)

    def should_be(self, name, text):
        text = self.with_breaks(self.with_way(name, text))
        if self.header_of(name):
            text = re.sub(FUNCTIONS + r".*?(?=\n## |\Z)", "", text, flags=re.S)
            text += self.functions(name, text)
        return text


def check_decisions(pages, problems):
    numbers = [int(pathlib.Path(name).name[:3]) for name in pages.decisions]
    if numbers != list(range(1, len(numbers) + 1)):
        problems.append(f"docs/decisions/README.md: not 1, 2, 3 ...: {numbers}")


def anchors(page):
    """What a link to a heading of the page can say."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    found = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading.strip().lower())
        found.add(re.sub(r"[^\w\- ]", "", heading).replace(" ", "-"))
    return found


def check_links(page, problems):
    for link in LINK.findall(page.read_text()):
        path, _, anchor = link.partition("#")
        if re.match(r"\w+:", link):
            continue
        target = page.parent / path if path else page
        if not target.exists():
            problems.append(f"{page}: no {link}")
        elif anchor and anchor not in anchors(target):
            problems.append(f"{page}: no heading {link}")


def check_comments(source, problems):
    for folder in ("include", "lib", "test", "bench"):
        for path in (source / folder).rglob("*.[ch]"):
            for page in re.findall(r"\bdocs/[\w/]+\.md\b", path.read_text()):
                if not (source / page).exists():
                    problems.append(f"{path}: no {page}")


def check_headers(source, pages, problems):
    for header in sorted((source / "include/weir").glob("*.h")):
        if f"{header.stem}.md" not in pages.order and header.stem not in WITHOUT_PAGE:
            problems.append(f"include/weir/{header.name} has no page in docs/README.md")


def main():
    source = pathlib.Path(sys.argv[1])
    pages = Pages(source)
    problems = []
    there = sorted(
        str(path.relative_to(pages.docs)) for path in pages.docs.rglob("*.md")
    )
    listed = pages.order + pages.decisions
    if sorted(listed + ["README.md"]) != there:
        wrong = sorted(set(there) ^ set(listed + ["README.md"]))
        problems.append(f"docs/README.md, or that of the decisions, does not list "
                        f"each page once: {wrong}")
    for path in [source / "README.md", *sorted(pages.docs.rglob("*.md"))]:
        name = os.path.relpath(path, pages.docs)
        text = path.read_text()
        wanted = pages.with_breaks(text)
        if name in listed:
            wanted = pages.should_be(name, text)
        if "--write" in sys.argv[2:]:
            path.write_text(wanted)
        elif text != wanted:
            problems.append(f"{path}: the line below its title, its functions, or "
                            "line breaks: run test/spec/pages.py . --write")
        check_links(path, problems)
    if "--write" in sys.argv[2:]:
        for name in ("operators.py", "life.py"):
            script = pathlib.Path(__file__).with_name(name)
            subprocess.run([script, source, "--write"], check=True)
    check_comments(source, problems)
    check_decisions(pages, problems)
    check_headers(source, pages, problems)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
