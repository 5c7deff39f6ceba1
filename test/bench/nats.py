#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""nats.py WEIR_BENCH: the workload nats has its rows, all results are right, and
with a consumer that stands still no more is made than the boundary holds, and
nothing grows. Skipped where nats-server is not installed."""

import json
import os
import shutil
import subprocess
import sys

WINDOW = 8
CAPACITY = 4 * WINDOW  # of the boundary, in nats_weir.c
MOST_GROWN = 4096  # bytes: libnats' own threads come and go
STYLES = ("source-file", "source-memory", "sink-file", "sink-memory", "process-file",
          "process-memory", "request", "members")


def main():
    if not shutil.which("nats-server", path=os.environ["PATH"] + ":/usr/sbin"):
        print("nats-server is not installed")
        return 77
    out = subprocess.run(
        [sys.argv[1], "--workload", "nats", "--json", "--items", "600", "--rounds",
         "1", "--window", str(WINDOW)],
        check=True, capture_output=True, text=True).stdout
    rows = {(row["style"], row["who"]): row for row in map(json.loads, out.splitlines())}
    for row in rows.values():
        assert row["ok"], row
    for style in STYLES:
        assert (style, "bare") in rows, style
        assert (style, "weir") in rows, style
    stopped = rows["stopped", "weir"]
    assert CAPACITY / 2 <= stopped["taken"] <= CAPACITY, stopped
    assert abs(stopped["grown"]) <= MOST_GROWN, stopped
    return 0


if __name__ == "__main__":
    sys.exit(main())
