#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""chart.py RESULTS FOLDER: from the lines of weir-bench --json, a table of
each workload on stdout, and in the folder the charts that docs/performance.md
shows. What these are made of is kept in results.json there, of which the same
charts can be drawn again: chart.py docs/charts/results.json docs/charts.

A line of a table is a cell; a column is who took part. Of the limits there is
only the best. A chart has one message, which is its title.
"""
import json
import math
import pathlib
import sys

import bars
import rows as bench

# Who takes part in charts; of several programs of one library the fastest.
PEERS = {"tbb": "oneTBB", "caf": "CAF", "erlang": "Erlang", "libuv": "libuv"}
STAGES = {0: "2 stages", 1: "3 stages", 8: "10 stages"}


def columns(cells):
    """Who took part, without the limits that the others are compared with."""
    found = {label: None for cell in cells.values() for label in cell
             if not label.startswith(("L0.", "L1."))}
    return sorted(found, key=lambda label: not label.startswith("weir"))


def cell_name(key, cells):
    """What sets a cell apart in its workload, the workers left out."""
    _, scene, stages, window, _ = key
    alike = [other for other in cells if other[1] == scene]
    parts = [scene] if scene else []
    if any(other[2] != stages for other in alike):
        parts.append(f"T{stages}")
    if any(other[3] != window for other in alike):
        parts.append(f"W{window}")
    return " ".join(parts)


def ratio(row, limit):
    if not row or not limit or not math.isfinite(row["speed"]):
        return None
    return row["speed"] / limit["speed"]


def human(value):
    for unit in "", "k", "M":
        if value < 999.5:
            return f"{value:.3g}{unit}"
        value /= 1000
    return f"{value:.3g}G"


def text(row, limit):
    """The ratio, and whatever makes a figure that is no rate."""
    if not row:
        return "-"
    part = ratio(row, limit)
    part = "" if part is None else f"{part:.3f}"
    if "median" in row["figures"]:
        return part or human(row["speed"])
    return part + " (" + "/".join(map(human, row["figures"].values())) + ")"


def print_table(workload, cells):
    whos = columns(cells)
    rows = [row for cell in cells.values() for row in cell.values()]
    unit = ", ".join(dict.fromkeys(row["unit"] for row in rows))
    if "median" not in rows[0]["figures"]:
        unit += ": " + "/".join(rows[0]["figures"])
    limits = {key: bench.best_limit(cell) for key, cell in cells.items()}
    lines = [["cell", "workers", "best limit", *whos]]
    for key, cell in cells.items():
        lines.append([cell_name(key, cells), str(key[4]),
                      text(limits[key], None),
                      *(text(cell.get(who), limits[key]) for who in whos)])
    widths = [max(map(len, column)) for column in zip(*lines)]
    if any(limits.values()):
        unit += "; the others as a part of the best limit"
    print(f"\n{workload} ({unit})")
    for line in lines:
        print("  ".join([line[0].ljust(widths[0])] +
                        [item.rjust(width) for item, width in
                         zip(line[1:], widths[1:])]))


# --- Charts --------------------------------------------------------------------


def library(who):
    """What a program is called in a chart, or None."""
    if who in ("weir", "weir actors"):
        return "weir"
    return PEERS.get(who.split(".")[0])


class Results:
    """What charts are made of, with 1 worker; notes what was asked for."""

    def __init__(self, cells):
        self.cells = cells
        self.used = {}

    def use(self, key, label):
        row = self.cells[key][label]
        self.used[(key, label)] = row
        return row["speed"]

    def cell(self, workload, stages=0, window=1, scene=""):
        key = (workload, scene, stages, window, 1)
        return key if key in self.cells else None

    def libraries(self, key):
        """{library: speed of its fastest program}, weir first, or {}."""
        best = {}
        for label in self.cells.get(key, ()):
            name = library(label)
            if name:
                best[name] = max(best.get(name, 0), self.use(key, label))
        order = ["weir", *PEERS.values()]
        return {name: best[name] for name in order if name in best} \
            if len(best) > 1 and "weir" in best else {}

    def limit(self, key):
        row = bench.best_limit(self.cells.get(key, {}))
        if not row:
            return None
        label = next(label for label, other in self.cells[key].items()
                     if other is row)
        return self.use(key, label)


def room(window):
    return f"room for {window} item{'s' if window > 1 else ''} between stages"


def times(value):
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"


def span(values):
    low, high = times(min(values)), times(max(values))
    return low if low == high else f"{low} to {high}"


def per_second(value, what):
    return f"{human(value).replace('M', ' million').replace('k', ' thousand')}" \
        f" {what}"


def ahead(groups):
    """weir's speed as a multiple of the next best, of each group."""
    return [rows["weir"] / max(speed for name, speed in rows.items()
                               if name != "weir") for _, rows in groups]


def compared(groups, title, below, apart=False, unit="items/s"):
    """A chart of {library: speed} in each group, or None."""
    groups = [(name, rows) for name, rows in groups if rows]
    if not groups:
        return None
    chart = bars.Chart({"weir"}, apart=apart)
    drawn = [(name, [(who, speed, per_second(speed, unit))
                     for who, speed in rows.items()]) for name, rows in groups]
    return chart.draw(title.format(span(ahead(groups))), below, drawn)


def pipelines(results, stages):
    groups = [(room(window), results.libraries(results.cell("W1", stages, window)))
              for window in (1, 16, 256, 1024)]
    return compared(
        groups, f"Items through {STAGES[stages]}: weir is {{}} times as fast as the "
        "next best",
        "1 worker. Of each library the fastest way to do it.")


def actors(results):
    scenes = {"to and fro between two actors, one at a time": ("ping-pong", 1),
              "from 8 actors to one": ("fan-in", 256),
              "actors made, each of which gets one": ("create", 1)}
    groups = [(name, results.libraries(results.cell("W3", 0, window, scene)))
              for name, (scene, window) in scenes.items()]
    return compared(
        groups, "Actors and messages: weir is {} times as fast as the next best",
        "1 worker. Each of the three has a scale of its own.", apart=True,
        unit="a second")


def limits(results):
    groups = []
    for window in (1, 16, 256, 1024):
        rows = []
        for stages, name in STAGES.items():
            key = results.cell("W1", stages, window)
            limit = key and results.limit(key)
            if limit and "weir actors" in results.cells[key]:
                part = results.use(key, "weir actors") / limit
                rows.append((name, part, f"{100 * part:.0f} %"))
        groups += [(room(window), rows)] * bool(rows)
    if not groups:
        return None
    parts = [part for name, rows in groups[1:] or groups for _, part, _ in rows]
    return bars.Chart(STAGES.values(), (1, "the fastest program without weir")).draw(
        f"weir reaches {100 * min(parts):.0f} to {100 * max(parts):.0f} % of what the "
        "machine can do, with room for some items",
        "Items through a pipeline, 1 worker: part of the speed of the fastest loop "
        "over rings, written for this.", groups)


def flows(results):
    groups = []
    for stages, name in STAGES.items():
        key = results.cell("W1", stages, 256)
        cell = results.cells.get(key, {})
        if "L0.calls" not in cell:
            continue
        loop = results.use(key, "L0.calls")
        rows = [(what, results.use(key, label) / loop) for label, what in
                (("weir flow-fused", "one by one"),
                 ("weir.arrays flow-fused", "over arrays")) if label in cell]
        groups += [(name, [(what, part, times(part))
                           for what, part in rows])] * bool(rows)
    if not groups:
        return None
    single, arrays = ([rows[i][1] for _, rows in groups] for i in (0, -1))
    return bars.Chart({"one by one", "over arrays"}, (1, "a loop of calls")).draw(
        f"A flow is {span(single)} times as fast as a loop of calls, over arrays "
        f"{span(arrays)}",
        "Operators in one actor, which call a function for each item, or for many at "
        "once. 1 worker.", groups)


def jobs(results):
    key = results.cell("W4", 0, 64, "jobs")
    libraries, limit = results.libraries(key), results.limit(key)
    if not libraries or not limit:
        return None
    rows = [(name, speed / limit, f"{100 * speed / limit:.0f} %")
            for name, speed in libraries.items()]
    return bars.Chart({"weir"}, (1, "a ring of jobs, without a library")).draw(
        f"Jobs of a microsecond: weir does {rows[0][2]} of those that a CPU could do",
        "1 worker, 64 jobs under way. Of each library the fastest way to do it.",
        [("jobs a second", rows)])


def charts(results):
    return {
        "pipelines": pipelines(results, 1),
        "pipelines_long": pipelines(results, 8),
        "limits": limits(results),
        "flows": flows(results),
        "actors": actors(results),
        "jobs": jobs(results),
    }


def write(results, folder):
    for name, chart in charts(results).items():
        if chart:
            (folder / f"{name}.svg").write_text(chart)
    with open(folder / "results.json", "w", encoding="utf-8") as kept:
        for row in results.used.values():
            row = {key: value for key, value in row.items()
                   if key not in ("figures", "speed")}
            kept.write(json.dumps(row) + "\n")


def main():
    if len(sys.argv) != 3:
        bench.die("usage: chart.py RESULTS FOLDER")
    try:
        with open(sys.argv[1], encoding="utf-8") as lines:
            cells = bench.cells(bench.read(lines))
    except OSError as error:
        bench.die(error)
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(exist_ok=True)
    for workload in dict.fromkeys(key[0] for key in cells):
        print_table(workload, {key: cell for key, cell in cells.items()
                               if key[0] == workload})
    write(Results(cells), folder)


main()
