#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""traced.py PROGRAM: what the program test/inspect/traced.c writes is in Chrome's format,
as the importer of Perfetto takes it, and has what the program has done. (Debian has no
Perfetto: the rules are those of its importer and of the format's description.) First the
rules are shown traces that break them.
"""

import json
import subprocess
import sys
import tempfile

NEEDS = {"X": ("ts", "pid", "tid", "dur", "name"), "b": ("ts", "pid", "id", "cat", "name"),
         "e": ("ts", "pid", "id", "cat", "name"), "i": ("ts", "pid", "tid", "s", "name"),
         "C": ("ts", "pid", "name", "args"), "M": ("pid", "name", "args")}


def broken(trace):
    """What is wrong with a trace, one line for each."""
    ends, opened, named, used = {}, {}, set(), set()
    for event in trace["traceEvents"]:
        phase = event.get("ph")
        missing = [key for key in NEEDS.get(phase, ("?",)) if key not in event]
        if missing:
            yield f"{event}: no {missing}"
            continue
        if not isinstance(event["name"], str) or not isinstance(event["pid"], int):
            yield f"{event}: name or pid"
        for key in ("ts", "dur"):
            if key in event and not (isinstance(event[key], (int, float))
                                     and event[key] >= 0):
                yield f"{event}: {key}"
        if "tid" in event:
            (named if phase == "M" else used).add(event["tid"])
        if phase == "X":
            # in thousandths, as floats cannot be added
            start = round(event["ts"] * 1000)
            if start < ends.get(event["tid"], 0):
                yield f"{event}: begins before the slice before has ended"
            ends[event["tid"]] = start + round(event["dur"] * 1000)
        key = (event.get("cat"), event.get("id"))
        if phase == "b":
            if key in opened:
                yield f"{event}: its id is open"
            opened[key] = event
        if phase == "e":
            began = opened.pop(key, None)
            if not began or began["name"] != event["name"]:
                yield f"{event}: ends what has not begun"
            elif event["ts"] < began["ts"]:
                yield f"{event}: ends before it begins"
        if phase == "i" and event["s"] not in ("g", "p", "t"):
            yield f"{event}: scope"
        if phase == "C" and not all(isinstance(value, (int, float))
                                    for value in event["args"].values()):
            yield f"{event}: a counter of no numbers"
    for event in opened.values():
        yield f"{event}: never ends"
    if used - named:
        yield f"threads without a name: {used - named}"


def shows_itself():
    thread = {"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": "t"}}
    slice_ = {"ph": "X", "name": "a", "pid": 1, "tid": 2, "ts": 1, "dur": 2}
    begin = {"ph": "b", "name": "w", "cat": "c", "pid": 1, "id": "0x1", "ts": 1}
    end = dict(begin, ph="e", ts=2)
    counter = {"ph": "C", "name": "n", "pid": 1, "ts": 1, "args": {"n": 1}}
    well = [thread, slice_, dict(slice_, ts=3), begin, end, begin, end, counter]
    assert not list(broken({"traceEvents": well}))
    for events in ([slice_], [thread, slice_, dict(slice_, ts=2.999)], [begin],
                   [end], [begin, begin, end], [begin, dict(end, name="v")],
                   [begin, dict(end, ts=0.5)], [thread, dict(slice_, dur=-1)],
                   [{"ph": "B", "name": "a", "pid": 1}], [dict(counter, args={"n": "1"})],
                   [thread, {"ph": "i", "name": "a", "pid": 1, "tid": 2, "ts": 1, "s": "x"}],
                   [dict(counter, ts="1")], [dict(counter, name=1)]):
        assert list(broken({"traceEvents": events})), events


def of_phase(trace, phase, category):
    return [event for event in trace["traceEvents"]
            if event["ph"] == phase and event.get("cat") == category]


def check(trace, mode):
    yield from broken(trace)
    counts = trace["otherData"]
    if counts["unsafe"]:
        yield "unsafe"
    slices, waits = of_phase(trace, "X", "slice"), of_phase(trace, "b", "wait")
    n_open = sum("open" in event["args"] for event in slices)
    n = (len(slices) - n_open + len(of_phase(trace, "i", "lost"))
         + len(of_phase(trace, "i", "restart")) + len(of_phase(trace, "C", "request")))
    if n != counts["events"]:
        yield f"{counts['events']} events, {n} are there"
    told = sum(event["args"]["events"] for event in of_phase(trace, "i", "lost"))
    if told > counts["lost"]:
        yield f"{counts['lost']} lost, {told} are told"
    names = {event["name"] for event in slices}
    if not {name for name in names if "say \"?\"" in name}:
        yield f"no flow: {names}"
    if not waits:
        yield "no waits"
    if "(name lost)" in names:
        yield "a name is lost"
    # of a recorder the first events may be overwritten, of a file some lost
    if counts["overwritten"] or counts["lost"]:
        return
    if len(of_phase(trace, "i", "restart")) != 3:
        yield "not three restarts"
    if sum(event["args"]["requested"] for event in
           of_phase(trace, "C", "request")) < 100:
        yield "not 100 items are requested"


def main():
    shows_itself()
    bad = 0
    for mode in ("recorder", "running", "file"):
        with tempfile.NamedTemporaryFile() as file:
            done = subprocess.run([sys.argv[1], mode, file.name], timeout=50,
                                  capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"{mode}: {done.returncode}: {done.stderr}")
                bad = 1
                continue
            for line in check(json.load(open(file.name, encoding="utf-8")), mode):
                print(f"{mode}: {line}")
                bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
