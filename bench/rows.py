# SPDX-License-Identifier: BSD-2-Clause
"""What weir-bench --json prints, read and grouped."""
import json
import math
import sys

FIELDS = {"workload": str, "style": str, "who": str, "stages": int,
          "window": int, "workers": int, "unit": str}


def die(text):
    sys.exit(f"{sys.argv[0]}: {text}")


def read(lines):
    """One dict for each line; ends the program at the first that is none.

    What weir-bench prints in its three columns becomes "figures", and the first
    of them "speed", where more is better: it is a median rate, or something of
    which less is better.
    """
    rows = []
    for line in lines:
        try:
            row = json.loads(line)
            keys = list(row)
            first = keys.index("unit") + 1
            row["figures"] = {key: row[key] for key in keys[first:first + 3]}
            value = float(row[keys[first]])
            row["speed"] = (value if keys[first] == "median" else
                            1 / value if value else math.inf)
            good = all(isinstance(row[key], what)
                       for key, what in FIELDS.items())
        except (ValueError, TypeError, KeyError, IndexError):
            good = False
        if not good:
            die(f"not a line of weir-bench --json: {line.strip()[:80]}")
        if row.get("ok") is not True:
            die(f"a wrong result: {line.strip()}")
        rows.append(row)
    return rows


def cells(rows):
    """{(workload, scene, stages, window, workers): {label: row}}

    Limits that serve several styles have one of their own; without it a style
    is a scene, a cell with limits of its own. The label is unique in a cell.
    """
    shared = {row["workload"] for row in rows if row["style"] == "limit"}
    result = {}
    for row in rows:
        style = row["style"]
        scene = "" if row["workload"] in shared else style
        label = row["who"]
        if style not in ("limit", "peer", scene):
            label += " " + style
        key = (row["workload"], scene, row["stages"], row["window"],
               row["workers"])
        result.setdefault(key, {})[label] = row
    return result


def best_limit(cell):
    """The row of the best L1 of a cell, else of bare; None if there is none."""
    for prefix in "L1.", "bare":
        limits = [row for row in cell.values()
                  if row["who"].startswith(prefix)]
        if limits:
            return max(limits, key=lambda row: row["speed"])
    return None
