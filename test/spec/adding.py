#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""adding.py SOURCE: what docs/adding.md says is to be done besides, and no compiler and
no other test misses: a kind of port, an executor, an operator or a peer stands in the
tables that go through all of them, a page is found, and one place calls turns. Each
check finds what it is for: it is shown this tree with one such thing taken away.
"""

import pathlib
import re
import sys

# Pages that the guide's table need not name.
NOT_IN_GUIDE = {
    "guide": "it is the guide",
    "allocator": "the questions have it",
    "conformance/": "conformance/README is there",
    "conventions": "for who changes the library",
    "adding": "the same",
    "changes": "the same",
}
# Headers whose pages answer no question of docs/README.md.
NOT_ASKED = {
    "port": "actor and stage lead there",
    "in": "the same",
    "out": "the same",
    "any": "port leads there",
    "items": "flow answers, in its section on items",
    "fd": "flow_io answers, and port leads there",
    "request": "stream leads there",
    "backoff_supervisor": "supervision leads there",
}
# Operators that no random flow has, each with the test that has it.
NOT_RANDOM = {
    "for_each_n": "sink", "all": "fan_out",
    "read": "io", "read_file": "io", "write": "io_write", "write_file": "io_write_file",
    "delimited": "io", "child": "child", "signals": "event", "fd": "event",
    "inotify": "event_inotify", "tail": "event_tail",
    "datagrams": "event_datagrams", "datagrams_send": "event_datagrams",
    "into": "bridge_calls", "from_out": "bridge_calls", "into_in": "bridge_calls",
    "to_actor": "bridge_calls", "from_channel": "bridge_calls",
    "into_channel": "bridge_calls", "into_hub": "hub", "from_hub": "hub",
    "from_share": "hub_share",
    "listen": "../net/listen", "connect": "../net/connect",
    "each_connection": "../net/serve", "connection_run": "../net/serve",
    "connection_read": "../net/half_random", "connection_write": "../net/write",
    "connection_pipe": "../net/splice_random",
    "deflate": "../z/kit", "inflate": "../z/kit", "zstd": "../z/kit",
    "unzstd": "../z/kit",
    "from_nats": "../nats/kit", "nats_done": "../nats/nats_source",
    "into_nats": "../nats/nats_sink", "nats_process": "../nats/nats_sink",
    "nats_give": "../nats/boundary", "nats_take": "../nats/boundary",
}
# Kinds of ports that no scenario of the explorer has.
NOT_EXPLORED = {
    "channel_in": "lib/sync/grant.c wakes it as it does semaphore_port",
    "channel_out": "the same",
}
# Executors that the suites of the test kit do not run on.
NO_ENVIRONMENT = {"blocking": "its threads come and go: none can be waited for"}

PORT = re.compile(
    r"^struct weir_(?!_)(\w+) \{(?:(?!^\};).)*?\b"
    r"struct (?:weir_port port|weir__grant_port grant);", re.M | re.S)
EXECUTOR = re.compile(r"struct weir_executor \*weir_(\w+)_executor\(")


class Tree:
    """The files, one of which may be without each place that a pattern matches."""

    def __init__(self, source, changed="", pattern=""):
        self.source, self.changed, self.pattern = source, changed, pattern

    def text(self, path):
        text = (self.source / path).read_text()
        if path != self.changed:
            return text
        less, n = re.subn(self.pattern, "", text)
        assert n, f"{path}: no {self.pattern}"
        return less

    def texts(self, pattern):
        for path in sorted(self.source.glob(pattern)):
            name = str(path.relative_to(self.source))
            yield name, self.text(name)

    def all_of(self, pattern):
        return "".join(text for _, text in self.texts(pattern))


def guide(tree):
    listed = tree.text("docs/README.md").split("## In reading order\n")[1]
    for page in re.findall(r"\]\(([\w/]+)\.md\)", listed.split("\n## ")[0]):
        if f"]({page}.md)" not in tree.text("docs/guide.md") and not any(
                page.startswith(one) for one in NOT_IN_GUIDE):
            yield (f"docs/guide.md: the table at its end does not name {page}.md:"
                   " add it, or say in NOT_IN_GUIDE why not")


def questions(tree):
    asked = tree.text("docs/README.md").split("## How do I")[1]
    for path, _ in tree.texts("include/weir/*.h"):
        page = pathlib.Path(path).stem
        there = (tree.source / f"docs/{page}.md").exists()
        if there and page not in NOT_ASKED and f"({page}.md" not in asked:
            yield (f"docs/README.md: no question leads to {page}.md: add one, or say"
                   " in NOT_ASKED who answers")


def calls(text):
    return set(re.findall(r"\bweir_(?:flow_)?(\w+)\b", text))


def random_flows(tree):
    used = calls(tree.all_of("test/flow/random*.c"))
    for name in re.findall(r"^\| \[`(\w+)`\]", tree.text("docs/operators.md"), re.M):
        if name not in used and name not in NOT_RANDOM:
            yield (f"test/flow/random_kinds.c: no random flow has {name}: add a row,"
                   " or name its test in NOT_RANDOM")
    for name, test in NOT_RANDOM.items():
        if name not in calls(tree.text(f"test/flow/{test}.c")):
            yield f"test/flow/{test}.c: it does not have {name}, which NOT_RANDOM says"


def ports(tree):
    table = tree.text("docs/port.md")
    explored = tree.all_of("test/model/*.c")
    for path, text in tree.texts("include/weir/*.h"):
        for name in PORT.findall(text):
            if f"\n| [{name}](" not in table:
                yield f"docs/port.md: the table has no row for {name} of {path}"
            if f"weir_{name}_init(" not in explored and name not in NOT_EXPLORED:
                yield (f"test/model: no scenario has a {name}: write one in ports.c"
                       " in which its wake meets the slice that arms it")


def executors(tree):
    for name in EXECUTOR.findall(tree.all_of("include/weir/*.h")):
        for path, wanted in {
                "test/executor/places.h": f"extern const struct kind {name};",
                "include/weir/testkit.h": f" weir_test_env_{name}(",
                "test/stream/verify.h": f" place_{name}("}.items():
            left_out = name in NO_ENVIRONMENT and "places" not in path
            if wanted not in tree.text(path) and not left_out:
                yield f"{path}: an executor of the kind {name} is missing"


def turns(tree):
    """So that a hook around turns has one place."""
    found = [path for path, text in tree.texts("lib/**/*.[ch]")
             for _ in re.findall(r"->turns\(", text)]
    if found != ["lib/actor/firing.c"]:
        yield f"turns are called in {found}: only fire() in lib/actor/firing.c may"


def peers(tree):
    rows = re.findall(r'\{"\w+", [\w"-]+, "([\w.]+)", \w+, (\w+), true\}',
                      tree.text("bench/who.c"))
    tests = tree.text("test/meson.build").split("test('bench/peers'")[1]
    if len(rows) < 10:
        yield "bench/who.c: no rows of peers found"
    for path in tree.source.glob("bench/peers/*.cc"):
        if not any(call.startswith(path.stem) for _, call in rows):
            yield f"bench/who.c: no row runs {path.name}"
        if not re.search(rf"^cxx .*\b{path.stem}\b", tree.text("dev"), re.M):
            yield f"dev: needs_peers does not say what {path.name} is built with"
    for name in sorted({name for name, _ in rows}):
        if name not in re.split(r"[',]", tests):
            yield f"test/meson.build: bench/peers does not check what {name} answers"
        if name not in tree.text("docs/performance.md"):
            yield f"docs/performance.md: no numbers of {name}"


BROKEN = {
    guide: [("docs/guide.md", r"\(tell\.md\)")],
    questions: [("docs/README.md", r"\[tell\]\(tell\.md.*")],
    random_flows: [("test/flow/random_kinds.c", r"weir_flow_peek\b")],
    ports: [("docs/port.md", r"\| \[delay\].*\n"),
            ("test/model/ports.c", r"weir_delay_init")],
    executors: [("test/executor/places.h", r".* blocking;"),
                ("include/weir/testkit.h", r"weir_test_env_loop"),
                ("test/stream/verify.h", r"place_sim")],
    turns: [("lib/actor/firing.c", r"->turns\(")],
    peers: [("bench/who.c", r".*uv_(work|net|net_each), true.*"), ("dev", r"cxx uv.*\n"),
            ("test/meson.build", r"erlang.lists"),
            ("docs/performance.md", r"caf\.stream")],
}


def main():
    source = pathlib.Path(sys.argv[1])
    problems = []
    for check, broken in BROKEN.items():
        found = list(check(Tree(source)))
        problems += found
        for path, pattern in broken:
            if not found and not list(check(Tree(source, path, pattern))):
                problems.append(f"{check.__name__} does not see {path} without"
                                f" {pattern}")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
