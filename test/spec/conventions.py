#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""conventions.py SOURCE: the public headers keep to docs/conventions.md, and each
check here finds what it is for: it is shown a header that breaks its rule.
"""
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
PAGE = (source / "docs/conventions.md").read_text()
LAYOUT = (source / "test/header/layout.c").read_text()


def table(title):
    """The first column of the table below that heading, without its marks."""
    part = PAGE.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| *`([^|]+)` *\|", part, re.M)
    return {word for row in rows for word in re.findall(r"[\w.]+", row)}


POINTS, DURATIONS = table("Points in time"), table("Durations")
NOUNS, ENDS = table("Nouns that are no struct"), table("Ending")
REGISTERS = table("What is registered, not asked")
# Verbs that other libraries end with, and this one does not.
OTHER_ENDS = set("""close finish shutdown abort drain terminate destroy delete
    dispose quit exit""".split())


class Header:
    """What a header declares, without comments and bodies."""

    def __init__(self, name, text):
        self.name, self.text = name, text
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        text = re.sub(r"^#.*?(?<!\\)$", "", text, flags=re.M | re.S)
        self.enums = [(m[1], re.findall(r"\bWEIR_\w+(?=\s*[,=}\n])", m[2]))
                      for m in re.finditer(r"\benum (weir_\w+) \{(.*?)\}", text,
                                           re.S)]
        self.structs = dict(re.findall(r"\bstruct (weir_\w+) \{(.*?)^\}", text,
                                       re.S | re.M))
        self.calls = []
        for m in re.finditer(r"(?:WEIR_API|static inline)\s([^;{]*?)"
                             r"\b(weir_(?!_)\w+)\(", text):
            end = close(text, m.end() - 1)
            self.calls.append((m[2], " ".join(m[1].split()),
                               arguments(text[m.end():end])))
        self.pointers = []
        for m in re.finditer(r"\(\*(\w+)\)\(|typedef [^;(]*?\b(\w+)\(", text):
            end = close(text, m.end() - 1)
            self.pointers.append((m[1] or m[2], arguments(text[m.end():end])))


def close(text, at):
    depth = 0
    for i in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i
    raise ValueError(text[at:at + 60])


def arguments(text):
    out, depth = [""], 0
    for char in text:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and depth == 0:
            out.append("")
        else:
            out[-1] += char
    return [" ".join(one.split()) for one in out]


def name_of(argument):
    pointer = re.search(r"\(\*(\w+)\)", argument)
    return pointer[1] if pointer else (re.findall(r"\w+", argument) or [""])[-1]


def is_function(argument):
    return "(*" in argument or re.search(r"_(functions|ops) \*", argument)


def callbacks(headers):
    """The object or item first, `context` last; in a call after its function."""
    for h in headers:
        for name, args in h.pointers:
            names = [name_of(a) for a in args]
            if "context" in names[:-1]:
                yield f"{h.name}: {name}: context is not last"
        for name, _, args in h.calls:
            for before, arg in zip([""] + args, args):
                if (name_of(arg) == "context" and arg.startswith("void *")
                        and not name.startswith("weir_demand_")
                        and name not in ("weir_strategy_decide_default",
                                         "weir_strategy_decide_stop")
                        and not is_function(before)):
                    yield f"{h.name}: {name}: context is not behind a function"


def times(headers):
    """A name in _ns is a duration or a point, as the two tables say."""
    for h in headers:
        text = re.sub(r"/\*.*?\*/", "", h.text, flags=re.S)
        for name in sorted(set(re.findall(r"\buint64_t (\w+_ns)\b", text))):
            if name not in POINTS | DURATIONS:
                yield f"{h.name}: {name}: neither a duration nor a point"
    if POINTS & DURATIONS:
        yield f"both a duration and a point: {POINTS & DURATIONS}"


def verbs(headers):
    """_wait blocks and takes a timeout, _async takes what is called, try_ neither."""
    asked = {name for h in headers for name, body in h.structs.items()
             if re.match(r"\s*(?:void|int) \(\*\w+\)\(\s*struct %s \*" % name,
                         body)} - REGISTERS
    plain = {name for h in headers for name, _, _ in h.calls}
    objects = {m for h in headers for m in re.findall(r"struct (weir_\w+)", h.text)}
    for h in headers:
        for name, _, args in h.calls:
            takes = {m for a in args[1:] for m in
                     re.findall(r"^struct (weir_\w+) \*\w+$", a)} & asked
            takes_back = re.search(r"_(cancel|remove)(_\w+)?$", name)
            timeout = any(a.endswith(" timeout_ns") for a in args)
            flow = args[0] == "struct weir_flow *flow" # an operator
            if takes and not takes_back and not name.endswith("_async"):
                yield f"{h.name}: {name}: asks, and does not end in _async"
            if name.endswith("_async") and not takes and not flow:
                yield f"{h.name}: {name}: _async, and nothing is called"
            if timeout and not flow and not name.endswith("_wait"):
                yield f"{h.name}: {name}: waits, and does not end in _wait"
            if name.endswith("_wait") and not timeout:
                yield f"{h.name}: {name}: _wait without a timeout_ns"
            if "_try_" in name and (timeout or takes):
                yield f"{h.name}: {name}: try_ waits or asks"
            stem = re.sub(r"_(wait|async)$", "", name)
            if stem != name and stem in plain - objects and not stem.endswith(
                    ("_wait", "_stop_actor", "weir_pool_queue", "weir_pool_run")):
                yield f"{h.name}: {stem}: the plain verb beside {name}"


def ends(headers):
    """One verb for each way to end."""
    for h in headers:
        for name, _, _ in h.calls:
            words = set(name.split("_")) & OTHER_ENDS
            if words:
                yield f"{h.name}: {name}: {words} is no verb of ours"
    for verb in "end stop cancel free fini unref".split():
        if verb not in ENDS:
            yield f"the table of ends has no row for {verb}"


def nouns(headers):
    """A function begins with its struct's name, or with a noun of the table."""
    known = {name for h in headers for name in
             re.findall(r"\bstruct (weir_(?!_)\w+)", h.text)}
    known |= {f"weir_{noun}" for noun in NOUNS}
    for h in headers:
        for name, _, _ in h.calls:
            fit = [k for k in known if name == k or name.startswith(k + "_")]
            if not fit:
                yield f"{h.name}: {name}: begins with no struct's name, and no noun's"
            elif any(re.search(r"(?:^|_)(\w+)_\1$", k + name[len(k):])
                     for k in fit):
                yield f"{h.name}: {name}: says its noun twice"


def constants(headers):
    """An enum's constants begin with its name, less what kind of enum it is."""
    for h in headers:
        for name, values in h.enums:
            short = re.sub(r"_(kind|type|rule|law|mode)$", "", name)
            for value in values:
                if not value.startswith((name.upper() + "_", short.upper() + "_")):
                    yield f"{h.name}: {value}: not of enum {name}"


def constructors(headers):
    """_new gives an object by its first argument and an errno; allocators last."""
    for h in headers:
        for name, result, args in h.calls:
            if name.endswith("_new"):
                kind = name[:-len("_new")]
                if not re.search(r"\bint$", result) or not re.match(
                        rf"struct {kind} \*\*\w+$", args[0]):
                    yield f"{h.name}: {name}: no int {name}(struct {kind} **, ...)"
                if "WEIR_MUST_CHECK" not in result:
                    yield f"{h.name}: {name}: not WEIR_MUST_CHECK"
            at = [i for i, a in enumerate(args) if "weir_allocator *" in a]
            if at and at[0] != len(args) - 1 and args[-1] != "...":
                yield f"{h.name}: {name}: its allocator is not last"
            for i, a in enumerate(args):
                if re.search(r"\bweir_\w*options \*", a) and not re.match(
                        r"const struct weir_\w*options \*options$", a):
                    yield f"{h.name}: {name}: options are not `const ... *options`"


def options(headers):
    """Every struct of options can grow, and says so in one way."""
    for h in headers:
        for name, body in h.structs.items():
            if name.endswith("_options") and not re.search(
                    r"uint64_t reserved\[\d\];\s*$", body):
                yield f"{h.name}: struct {name} does not end in `reserved`"


def counts(headers):
    """Numbers of things are size_t; permits, demand and tries int64_t."""
    for h in headers:
        for name, body in h.structs.items():
            if name.endswith("_options"):
                for m in re.finditer(r"\bu?int(8|16|32)_t (\w+)", body):
                    if m[2] != "flags":
                        yield f"{h.name}: {name}.{m[2]}: a count of {m[1]} bits"
        for name, _, args in h.calls:
            for a in args:
                if re.match(r"(u?int(?:32|16)_t|unsigned|int) (n|capacity|max|"
                            r"limit|permits|prefetch|refill|breadth)$", a):
                    yield f"{h.name}: {name}: {a}: a count of few bits"


def private(headers):
    """What is only the library's stands in private.h or behind `private_`."""
    for h in headers:
        if h.name == "private.h":
            continue
        first = "\n".join(h.text.splitlines()[1:6])
        if "Private" in first:
            yield f"{h.name}: a private header"
        for name, body in re.findall(r"\bstruct (weir_(?!_)\w+) \{(.*?)^\}",
                                     h.text, re.S | re.M):
            open_ = re.sub(r"\bstruct \{.*\} WEIR_PRIVATE;", "", body,
                           flags=re.S)
            for word in re.findall(r"\bstruct weir__\w+(?= \**\w+;)|\bprivate\b|"
                                   r"\batomic(?:ally)?\b|the owner's|"
                                   r"under the lock", open_):
                yield f"{h.name}: struct {name}: {word} is not in WEIR_PRIVATE"
    for program in sorted((source / "docs/examples").glob("*.c")):
        if "private_" in program.read_text():
            yield f"{program.name}: reads what is private"


def layouts(headers):
    """test/header/layout.c states the size of each struct that is open."""
    stated = set(re.findall(r"^SIZE\((\w+),", LAYOUT, re.M))
    there = {name for h in headers for name in h.structs}
    for name in sorted(there - stated):
        home = next(h.name for h in headers if name in h.structs)
        yield f"{home}: struct {name}: no size in test/header/layout.c"
    if len(headers) > 1:
        for name in sorted(stated - there):
            yield f"layout.c: struct {name} is not open"


CHECKS = {
    callbacks: "struct weir_x { void (*done)(void *context, int rc); };",
    times: "struct weir_x { uint64_t soon_ns; };",
    verbs: "WEIR_API int weir_x_get(struct weir_x *x, uint64_t timeout_ns);",
    ends: "struct weir_x; WEIR_API int weir_x_shutdown(struct weir_x *x);",
    nouns: "WEIR_API int weir_hop(int n);",
    constants: "enum weir_x { WEIR_X_A, WEIR_Y_B, };",
    constructors: "WEIR_API struct weir_x *weir_x_new(void);",
    options: "struct weir_x_options {\n\tsize_t n;\n};",
    counts: "WEIR_API int weir_x_a(struct weir_x *x, uint32_t capacity);",
    layouts: "struct weir_x {\n\tint a;\n};\n",
    private: "struct weir_x {\n\tuint32_t gate; /* any thread, atomically */\n};",
}

headers = [Header(p.name, p.read_text())
           for p in sorted((source / "include/weir").glob("*.h"))]
problems = []
for check, broken in CHECKS.items():
    problems += [f"{check.__name__}: {problem}" for problem in check(headers)]
    if not any("broken.h" in p for p in check([Header("broken.h", broken)])):
        problems.append(f"{check.__name__} does not see what breaks it")
there = {name for h in headers for name in re.findall(r"\w+", h.text)}
for old, new in re.findall(r"^\| `(\w+)` \| `(\w+)` \|$",
                           (source / "docs/changes.md").read_text(), re.M):
    if old in there or new not in there:
        problems.append(f"docs/changes.md: {old} is still there, or not {new}")
if len((source / "docs/architecture.md").read_text().splitlines()) > 260:
    problems.append("docs/architecture.md has more than 260 lines")
if len(headers) < 40:
    problems.append(f"only {len(headers)} headers are found in {source}/include/weir")
if problems:
    problems.append("docs/conventions.md has these rules, and lists of exceptions")
print("\n".join(problems))
sys.exit(bool(problems))
