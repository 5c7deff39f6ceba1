#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""prometheus.py PROGRAM: a real Prometheus scrapes the page of PROGRAM
(test/examples/staged.c), and then knows its actors. Waits for states. Skipped where
prometheus or a loopback device is missing."""

import json
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

PATIENCE = 40  # seconds, for what takes some five


def skip(why):
    print(why)
    sys.exit(77)


def until(what):
    end = time.monotonic() + PATIENCE
    while True:
        value = what()
        if value:
            return value
        assert time.monotonic() < end, what.__doc__
        time.sleep(0.05)


def main():
    if not shutil.which("prometheus"):
        skip("prometheus is not installed")
    try:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
    except OSError as error:
        skip(f"there is no loopback device: {error}")
    program = subprocess.Popen([sys.argv[1], "stalled"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    address = program.stdout.readline().strip()
    folder = tempfile.TemporaryDirectory()
    config = pathlib.Path(folder.name, "prometheus.yml")
    config.write_text("global: {scrape_interval: 1s, scrape_timeout: 1s}\n"
                      "scrape_configs: [{job_name: weir, static_configs: "
                      f"[{{targets: ['{address}']}}]}}]\n")
    server = subprocess.Popen(
        ["prometheus", f"--config.file={config}", "--log.level=error",
         f"--storage.tsdb.path={folder.name}/data",
         f"--web.listen-address=127.0.0.1:{port}"])

    def ask(path):
        try:
            url = f"http://127.0.0.1:{port}/api/v1/{path}"
            with urllib.request.urlopen(url, timeout=10) as answer:
                return json.load(answer)["data"]
        except urllib.error.URLError:
            assert server.poll() is None, "prometheus has ended"
            return None

    def target():
        """Prometheus scrapes the program, and finds no fault."""
        found = (ask("targets") or {"activeTargets": []})["activeTargets"]
        assert all(one["health"] != "down" for one in found), found
        return [one for one in found if one["health"] == "up"]

    def series():
        """Prometheus knows the actors."""
        match = urllib.parse.quote('{job="weir",__name__=~"weir_.*"}')
        return ask(f"series?match[]={match}")

    try:
        until(target)
        names = {value for one in until(series) for value in one.values()}
        assert "database" in names and "parse" in names, names
    finally:
        server.terminate()
        server.wait(PATIENCE)
        program.stdin.close()
        assert program.wait(PATIENCE) == 0


if __name__ == "__main__":
    main()
