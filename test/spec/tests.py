#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tests.py SOURCE: the test of a file is found by its name. lib/F/X.c is tested by
test/F/X.c or X_part.c, or by the scenarios of test/model/X.c; a test in test/F names a
file of lib/F so, or a public header, and what is about several files is in
test/scenario/. Each of them is in the list of test/meson.build, and headers that define
functions get fewer. The check finds what it is for: it is shown trees that break each
rule. test/flow goes by stems.py.
"""

import pathlib
import re
import sys

FOLDERS = ["base", "lane", "executor", "actor", "sync", "stage",
           "stream", "supervision", "net", "process", "attach", "testkit", "z", "tls",
           "inspect_http", "nats"]
# Files without a test of their stem, each with where it is tested. This list may get
# shorter, and MOST with it.
MOST = 39
ELSEWHERE = {
    "base/forkmark": "scenario/fork",
    "base/membarrier": "model/registry_shards has its fences",
    "base/memory": "whatever runs out of memory, as scenario/supervision_memory",
    "base/own_thread": "executor/blocking, executor/threads",
    "lane/mpsc": "lane/lane_stress, model/lanes",
    "executor/thread": "executor/wait, scenario/executors_nested",
    "sync/channel_port": "sync/channel",
    "actor/check": "scenario/graphs",
    "actor/ending": "actor/actor_lifecycle, model/stop",
    "sync/grant": "sync/semaphore, model/semaphore",
    "sync/join": "sync/completion, model/completion",
    "actor/in_lane": "actor/in, actor/merge",
    "actor/stats": "actor/actor",
    "sync/wake": "sync/channel, sync/semaphore, sync/completion",
    "stream/publisher": "stream/reactive_out, stream/relay",
    "supervision/backoff_calls": "supervision/backoff_supervisor_life",
    "supervision/branch": "supervision/supervisor, model/supervision_tree",
    "supervision/change": "supervision/life, supervision/stop, model/failures",
    "supervision/child": "supervision/restart, model/failures",
    "supervision/death_watch": "supervision/watch, supervision/watch_family",
    "supervision/family": "supervision/spawn, scenario/hierarchy",
    "supervision/lifecycle": "supervision/restart",
    "supervision/position": "supervision/pending",
    "supervision/reference": "supervision/system, supervision/spawn",
    "supervision/termination": "supervision/system",
    "process/command": "process/process_manager",
    "testkit/processor_harness": "testkit/verify_processor",
    "testkit/processor_steps": "testkit/verify_processor",
    "testkit/publisher_expect": "testkit/probes",
    "testkit/publisher_probe": "testkit/probes",
    "testkit/publisher_steps": "testkit/verify_publisher",
    "testkit/subscriber_expect": "testkit/probes",
    "testkit/subscriber_probe": "testkit/probes",
    "testkit/subscriber_steps": "testkit/verify_subscriber",
    "testkit/sync_publisher": "testkit/verify_subscriber",
    "testkit/verify_publisher_signals": "testkit/verify_publisher",
    "testkit/verify_publisher_subscribing": "testkit/verify_publisher",
    "testkit/verify_publisher_subscription": "testkit/verify_publisher",
    "testkit/verify_publisher_threads": "testkit/verify_publisher",
}
# Headers in these folders that define functions, which each test compiles anew that
# includes them: what several tests share is a source of the library kit.
MOST_HEADERS = 12
# Tests of several files that need what stands beside them.
OF_SEVERAL = {"testkit/probes": "both kinds of probes"}


def begins(stem, name):
    return stem == name or stem.startswith(name + "_")


def untested(tree):
    for folder, stem in tree["lib"]:
        names = {test for place, test in tree["tests"] if place in (folder, "model")}
        tested = any(begins(test, stem) for test in names)
        if tested == (f"{folder}/{stem}" in tree["elsewhere"]):
            yield (f"lib/{folder}/{stem}.c has a test, and is in the list of those"
                   " without" if tested else
                   f"lib/{folder}/{stem}.c has no test: write"
                   f" test/{folder}/{stem}.c or {stem}_part.c")
    for name in tree["elsewhere"]:
        if tuple(name.split("/")) not in tree["lib"]:
            yield f"lib/{name}.c is in the list of those without, and is no file"


def growing(tree):
    if len(tree["elsewhere"]) != tree["most"]:
        yield (f"{len(tree['elsewhere'])} files have no test of their stem, not"
               f" {tree['most']}: the list may get shorter, and MOST with it")


def nameless(tree):
    for folder, test in tree["tests"]:
        named = any(begins(test, stem) for place, stem in tree["named"]
                    if place in (folder, "weir"))
        if folder in FOLDERS and named == (f"{folder}/{test}" in OF_SEVERAL):
            yield (f"test/{folder}/{test}.c has the stem of no file in lib/{folder}:"
                   " call it STEM.c or STEM_part.c, or put it into test/scenario")


def where(tree):
    tests = {f"{folder}/{test}" for folder, test in tree["tests"]}
    for name, places in tree["elsewhere"].items():
        for place in re.findall(r"\b[a-z]+/\w+", places):
            if place not in tests:
                yield f"lib/{name}.c is said to be tested by {place}"


def compiled(tree):
    if len(tree["headers"]) != tree["most_headers"]:
        yield (f"{len(tree['headers'])} headers in test/ define functions, not"
               f" {tree['most_headers']}: make it a source of the kit, or lower"
               f" MOST_HEADERS: {' '.join(sorted(tree['headers']))}")


def forgotten(tree):
    for folder, test in tree["tests"]:
        if folder != "model" and f"{folder}/{test}" not in tree["listed"]:
            yield (f"test/{folder}/{test}.c is not in test/meson.build: add"
                   f" ['{folder}/{test}', 'unit', 60], to its tests")


def unsorted(tree):
    for before, test in zip(tree["listed"], tree["listed"][1:]):
        if before.split("/")[0] == test.split("/")[0] and test <= before:
            yield (f"test/meson.build: {test} is behind {before}: tests of a folder"
                   " are in the order of names, each once")


def a_tree(**changes):
    return {"lib": [("base", "a")], "named": [("base", "a")], "elsewhere": {},
            "most": 0, "headers": [], "most_headers": 0, "tests": [("base", "a")], "listed": ["base/a"]} | changes


BROKEN = {
    untested: [a_tree(tests=[]), a_tree(elsewhere={"base/a": ""}),
               a_tree(elsewhere={"base/b": ""})],
    growing: [a_tree(elsewhere={"base/a": ""})],
    nameless: [a_tree(tests=[("base", "b")])],
    where: [a_tree(elsewhere={"base/a": "in base/b"})],
    compiled: [a_tree(headers=["base/a.h"])],
    forgotten: [a_tree(listed=[])],
    unsorted: [a_tree(listed=["base/b", "base/a"])],
}


def read(source):
    tests = [(path.parent.name, path.stem) for path in (source / "test").glob("*/*.c")
             if path.parent.name == "model" or
             path.parent.name in [*FOLDERS, "flow", "scenario", "spec"] and
             re.search(r"^int main\(", path.read_text(), re.M)]
    files = [(path.parent.name, path.stem) for folder in FOLDERS
             for path in (source / "lib" / folder).glob("*.[ch]")]
    headers = [("weir", path.stem) for path in (source / "include/weir").glob("*.h")]
    return {
        "lib": [(path.parent.name, path.stem) for folder in FOLDERS
                for path in (source / "lib" / folder).glob("*.c")],
        "named": files + headers,
        "elsewhere": ELSEWHERE,
        "most": MOST,
        "headers": [f"{path.parent.name}/{path.name}"
                    for path in (source / "test").glob("*/*.h")
                    if path.parent.name in [*FOLDERS, "flow", "scenario"] and
                    re.search(r"\)\n\{$", path.read_text(), re.M)],
        "most_headers": MOST_HEADERS,
        "tests": tests,
        "listed": re.findall(r"^\t\['([\w/]+)',",
                             (source / "test/meson.build").read_text(), re.M),
    }


def main():
    tree = read(pathlib.Path(sys.argv[1]))
    problems = []
    for check, broken in BROKEN.items():
        problems += check(tree)
        problems += [f"{check.__name__} does not see what breaks it"
                     for each in broken if not list(check(each))]
    if len(tree["lib"]) < 90 or len(tree["tests"]) < 190:
        problems.append("only a few files are found: is this the source folder?")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
