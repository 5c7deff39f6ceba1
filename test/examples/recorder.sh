#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# recorder.sh PROGRAM: what it writes can be read, and has slices of the flow.
set -eu

cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
"$1" trace.json >said
grep -qx '100000 items' said
python3 - <<END
import json

trace = json.load(open("trace.json"))
names = {event["name"] for event in trace["traceEvents"] if event["ph"] == "X"}
assert any("map" in name for name in names), names
END
[ ! -e recorder-crash.json ]
