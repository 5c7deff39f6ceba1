#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""chart.py RESULTS FOLDER: from the lines of weir-bench --json, a table of
each workload on stdout, and in the folder a chart, drawn by gnuplot, of those
that have limits.

A line of a table, and a group of a chart, is a cell; a column, and a colour,
is who took part. Of the limits there is only the best.
"""
import math
import pathlib
import subprocess
import sys

import rows as bench

# Readable on white and on black.
GREY = "#808080"
WEIR = ["#2f81f7", "#79b8ff", "#1f5fbf", "#a5d0ff", "#4a6fdc", "#5b8fa8"]
OTHERS = ["#8c8c8c", "#b08d57", "#e5534b", "#f4a09a", "#e8833a", "#2da44e",
          "#7bc96f", "#a371f7", "#db61a2", "#1f9ea8", "#d4a72c", "#6b4f3a",
          "#c9d14b"]


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


def panel(cells, names, colours):
    """gnuplot's commands for some cells: {key: {who: ratio}}."""
    whos = [who for who in colours if any(who in cell
                                          for cell in cells.values())]
    workers = next(iter(cells))[4]
    lines = ["$data << EOD", "cell " + " ".join(f'"{who}"' for who in whos)]
    for key, cell in cells.items():
        parts = (f"{cell[who]:.4g}" if who in cell else "-" for who in whos)
        lines.append(f'"{names[key]}" ' + " ".join(parts))
    lines += ["EOD", f"set title '{workers} worker{'s'[:workers - 1]}'"]
    plots = [f"$data using {i}:xtic(1) title columnheader({i}) "
             f"linecolor rgb '{colours[who]}'" for i, who in enumerate(whos, 2)]
    return lines + ["plot " + ", ".join(plots)]


def draw(workload, cells, colours, folder):
    names = {key: cell_name(key, cells).replace(" ", "\\n") for key in cells}
    parts = {key: {who: ratio(cell.get(who), bench.best_limit(cell))
                   for who in colours} for key, cell in cells.items()}
    parts = {key: {who: part for who, part in cell.items() if part}
             for key, cell in parts.items()}
    parts = {key: cell for key, cell in parts.items() if cell}
    if not parts:
        return
    every = [1, *(part for cell in parts.values() for part in cell.values())]
    workers = sorted({key[4] for key in parts})
    lines = [
        f"set terminal svg size 960,{320 * len(workers)} "
        "font 'sans-serif,12'",
        f"set output '{folder / workload.lower()}.svg'",
        "set datafile missing '-'",
        "set style data histograms",
        "set style histogram clustered gap 1.5",
        "set style fill solid noborder",
        f"set border 3 linecolor rgb '{GREY}'",
        f"set tics nomirror textcolor rgb '{GREY}'",
        "set xtics noenhanced scale 0",
        f"set grid ytics linecolor rgb '{GREY}' linewidth 0.3",
        f"set key outside right top textcolor rgb '{GREY}' noenhanced",
        f"set title textcolor rgb '{GREY}'",
        f"set xlabel 'cells of {workload}' textcolor rgb '{GREY}' offset 0,-1",
        f"set ylabel 'speed, best limit = 1' textcolor rgb '{GREY}'",
        "set logscale y; set format y '%g'",
        f"set yrange [{0.7 * min(every)}:{1.4 * max(every)}]",
        "set arrow from graph 0, first 1 to graph 1, first 1 nohead "
        f"linecolor rgb '{GREY}' linewidth 1.5",
        f"set multiplot layout {len(workers)},1",
    ]
    for n in workers:
        lines += panel({key: cell for key, cell in parts.items()
                        if key[4] == n}, names, colours)
    subprocess.run(["gnuplot"], input="\n".join(lines) + "\n", text=True,
                   check=True)


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
    others = [who for who in columns(cells) if not who.startswith("weir")]
    for workload in dict.fromkeys(key[0] for key in cells):
        some = {key: cell for key, cell in cells.items() if key[0] == workload}
        weir = [who for who in columns(some) if who.startswith("weir")]
        # Others have the same colour in all charts.
        colours = {who: palette[i % len(palette)]
                   for palette, group in ((WEIR, weir), (OTHERS, others))
                   for i, who in enumerate(group)}
        print_table(workload, some)
        draw(workload, some, colours, folder)


main()
