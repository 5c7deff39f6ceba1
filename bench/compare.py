#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""compare.py [--record [WORKLOAD]] WEIR-BENCH RESULTS.json

Measures the cells that matter and compares them with the recorded results:
names each cell that fell by more than 15 % or is missing, and exits 1 then.
--record writes the results instead, the medians of three runs; of one workload
only, if it is named, and the others' stay as they are.

What is compared is the part of the best limit with one worker. That is counted
in CPU time, which other programs hardly change. Two workers are counted by the
clock, without limits of their own: what these reach depends on how far apart
the two cores are today. Cells that fell are measured again with more rounds as
long as there is time, and the best try counts: others can make a cell slower,
but not faster. Two workers that were never alone on the machine are not judged.

Publishers and subscribers that became links are compared with links of the same
run instead, and not recorded: they may lose 5 %.
"""
import json
import os
import platform
import statistics
import subprocess
import sys
import time

import rows as bench

CELLS = [
    ["--workload=W1", "--style=actors,actors-call", "--stages=0,1,8",
     "--window=1,16,256"],
    ["--workload=W3"],
    ["--workload=W4", "--style=jobs"],
]
WHOS = "weir,weir.streams,weir.later,weir.actors,weir.pool"
LIMITS = "L1.batch,L1.staged,L1.ring1,L1.lanes,L1.slab,bare"
FALL, STREAMS_FALL = 0.15, 0.05
BUSY = 0.05  # of all CPUs; from there on others disturb two workers
TRIES, TRY_S = 5, 60  # no further try after so many seconds
RUNS = 3
ROUNDS, MORE_ROUNDS = 7, 11


def machine():
    model = "unknown"
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            for line in info:
                if line.startswith("model name"):
                    model = line.split(":", 1)[1].strip()
                    break
    except OSError:
        pass
    return {"arch": platform.machine(), "cpus": n_cpus(), "model": model}


def n_cpus():
    return len(os.sched_getaffinity(0))


class Others:
    """with Others() as others: ...; others.share is what part of all CPUs was
    meanwhile taken by others, the host of a virtual machine among them."""

    @staticmethod
    def _ticks():
        """Total, not idle, ours."""
        try:
            with open("/proc/stat", encoding="utf-8") as stat:
                # user nice system idle iowait irq softirq steal; guests are
                # in user already
                ticks = [int(n) for n in stat.readline().split()[1:9]]
        except OSError:
            return 0, 0, 0
        own = os.times()
        return (sum(ticks), sum(ticks) - ticks[3] - ticks[4],
                (own.children_user + own.children_system)
                * os.sysconf("SC_CLK_TCK"))

    def __enter__(self):
        self.start = self._ticks()
        return self

    def __exit__(self, *_):
        total, used, own = (b - a for a, b in zip(self.start, self._ticks()))
        self.share = max(0, used - own) / total if total else 0


def run(program, args):
    done = subprocess.run([program, "--json", "--round-ms=30", *args],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        bench.die(f"{program} {' '.join(args)} failed:\n{done.stderr}")
    return bench.read(done.stdout.splitlines())


def name(row):
    style, variant = row["style"], row["who"].partition(".")[2]
    if variant == "streams":
        style = variant
    elif variant:
        style += "." + variant
    return (f"{row['workload']} {style} T{row['stages']} "
            f"W{row['window']} {row['workers']}w")


def measure(program, selection, rounds):
    """{cell: {"rate": ..., "ratio": ..., "others": ...}, ...}"""
    args = [*selection, f"--rounds={rounds}"]
    found = run(program, [*args, "--workers=1", "--cpu-time",
                          f"--who={WHOS},{LIMITS}"])
    with Others() as others:
        if n_cpus() > 1:
            found += run(program, [*args, "--workers=2",
                                   f"--who={WHOS}"])
    cells = bench.cells(found)
    limits = {key[:4]: bench.best_limit(cell)
              for key, cell in cells.items() if key[4] == 1}
    result = {}
    for key, cell in cells.items():
        limit = limits.get(key[:4])
        for row in cell.values():
            base = limit
            if row["who"] == "weir.streams":
                base = cell.get("weir actors")
            if base and row["who"].startswith("weir"):
                result[name(row)] = {
                    "rate": round(row["speed"]),
                    "ratio": round(row["speed"] / base["speed"], 4),
                    "others": others.share if row["workers"] > 1 else 0}
    return result


def measure_all(program, selections, rounds):
    result = {}
    for selection in selections:
        result.update(measure(program, selection, rounds))
    return result


def around(cells):
    """Selections with these cells, and no more than all combinations."""
    groups = {}
    for cell in cells:
        workload, style, stages, window, _ = cell.split()
        style = style.replace("streams", "actors").partition(".")[0]
        group = groups.setdefault(workload, ({}, {}, {}))
        for values, value in zip(group, (style, stages[1:], window[1:])):
            values[value] = True
    return [[f"--workload={workload}", f"--style={','.join(styles)}",
             f"--stages={','.join(stages)}", f"--window={','.join(windows)}"]
            for workload, (styles, stages, windows) in groups.items()]


def with_streams(old):
    """What streams should reach, beside what was recorded."""
    return old | {cell.replace("actors", "streams"): {"ratio": 1}
                  for cell in old if cell.startswith("W1 actors ")}


def is_streams(cell):
    return cell.split()[1] == "streams"


def fallen(old, now):
    return [cell for cell in sorted(old.keys() & now.keys()) if
            now[cell]["ratio"] < old[cell]["ratio"] *
            (1 - (STREAMS_FALL if is_streams(cell) else FALL))]


def measure_against(program, old):
    """Everything once, what fell once more and once more."""
    start = time.monotonic()
    now = measure_all(program, CELLS, ROUNDS)
    for _ in range(TRIES - 1):
        low = fallen(old, now)
        if not low or time.monotonic() - start > TRY_S:
            break
        again = measure_all(program, around(low), MORE_ROUNDS)
        for cell in low:
            one, two = now[cell], again.get(cell, now[cell])
            now[cell] = dict(max(one, two, key=lambda r: r["ratio"]),
                             others=min(one["others"], two["others"]))
    return now


def report(old, now):
    """Prints all cells and what is wrong with them; whether nothing is."""
    print("streams: part of links; the others:")
    print(f"{'part of the best limit with 1 worker':38} {'recorded':>9} "
          f"{'now':>9} {'change':>8}")
    for cell in sorted(old.keys() & now.keys()):
        was, is_now = old[cell]["ratio"], now[cell]["ratio"]
        print(f"{cell:38} {was:9.4f} {is_now:9.4f} "
              f"{100 * (is_now / was - 1):+7.1f}%")
    print()
    for cell in sorted(now.keys() - old.keys()):
        print(f"new: {cell}; --record takes it up")
    missing = sorted(old.keys() - now.keys())
    if n_cpus() < 2:
        print("one CPU: cells with two workers are not compared")
        missing = [cell for cell in missing if not cell.endswith(" 2w")]
    for cell in missing:
        print(f"missing: {cell}")
    n_wrong, n_open = len(missing), 0
    for cell in fallen(old, now):
        what = f"{cell}, from {old[cell]['ratio']} to {now[cell]['ratio']}"
        others = now[cell]["others"]
        if others > BUSY:
            print(f"not judged: {what}; others took {others:.0%} of the CPUs")
            n_open += 1
        else:
            print(f"fell: {what}")
            n_wrong += 1
    print(f"{len(old)} cells: {n_wrong} fell by more than {FALL:.0%} "
          f"(streams: {STREAMS_FALL:.0%}) or are missing, "
          f"{n_open} could not be judged")
    return n_wrong == 0


def workload_of(cell):
    return cell.split()[0]


def load(path):
    """The recorded cells, and the machine of each workload."""
    try:
        with open(path, encoding="utf-8") as file:
            results = json.load(file)
        cells, machines = results["cells"], results["machines"]
        good = bool(cells) and all(
            cell["ratio"] > 0 and len(key.split()) == 5
            and workload_of(key) in machines for key, cell in cells.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        bench.die(f"{path}: no recorded results ({error!r}); "
                  "--record writes them")
    if not good:
        bench.die(f"{path}: no recorded results; --record writes them")
    return cells, machines


def tell_others(machines):
    """Which workloads were recorded on another machine."""
    away = [workload for workload in sorted(machines)
            if machines[workload] != machine()]
    if away:
        print(f"{', '.join(away)}: recorded on another machine, "
              f"{machines[away[0]]}; ratios hold here only roughly\n")


def write(path, cells, machines):
    def lines(items):
        return ",\n".join(f"{json.dumps(key)}: "
                          f"{json.dumps(items[key], sort_keys=True)}"
                          for key in sorted(items))

    with open(path, "w", encoding="utf-8") as file:
        file.write('{\n"cells": {\n' + lines(cells) + '\n},\n"machines": {\n'
                   + lines(machines) + "\n}\n}\n")


def record(program, path, workload):
    selections = [args for args in CELLS
                  if workload in (None, args[0].partition("=")[2])]
    if not selections:
        bench.die(f"{workload} is not compared")
    cells, machines = load(path) if workload else ({}, {})
    cells = {cell: recorded for cell, recorded in cells.items()
             if workload_of(cell) != workload}
    runs = [measure_all(program, selections, MORE_ROUNDS) for _ in range(RUNS)]
    now = {cell: {what: statistics.median(run[cell][what] for run in runs)
                  for what in ("rate", "ratio")}
           for cell in runs[0] if not is_streams(cell)}
    write(path, cells | now,
          machines | {workload_of(cell): machine() for cell in now})
    print(f"{len(now)} cells recorded in {path}")
    others = max(cell["others"] for run in runs for cell in run.values())
    if others > BUSY:
        print(f"others took {others:.0%} of the machine meanwhile: record again "
              "when it has nothing else to do")


def main():
    args = sys.argv[1:]
    recording = args[:1] == ["--record"]
    if len(args) not in ((3, 4) if recording else (2,)):
        bench.die("usage: compare.py [--record [WORKLOAD]] "
                  "WEIR-BENCH RESULTS.json")
    program, path = args[-2:]
    if recording:
        record(program, path, args[1] if len(args) == 4 else None)
        return
    old, machines = load(path)
    tell_others(machines)
    old = with_streams(old)
    if not report(old, measure_against(program, old)):
        sys.exit(1)


main()
