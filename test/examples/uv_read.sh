#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# uv_read.sh PROGRAM: all lines of a pipe are numbered, in order; libuv was stopped
# meanwhile, as the pipe holds more than the channel; an error of the flow ends it.
set -eu

program=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

seq 100000 | "$program" >"$dir/out" 2>"$dir/err"
seq 100000 | awk '{ print NR, $0 }' | cmp - "$dir/out"
cat "$dir/err"
grep -q '^uv_read: done, stopped [1-9][0-9]* times$' "$dir/err"

"$program" </dev/null >"$dir/out" 2>"$dir/err" && exit 1 # not a pipe
: | "$program" >"$dir/out" 2>"$dir/err"
[ ! -s "$dir/out" ]
grep -q 'done, stopped 0 times' "$dir/err"

# A line that is too long ends the flow; who writes on gets SIGPIPE.
status=0
{ yes | tr -d '\n' || :; } | "$program" >"$dir/out" 2>"$dir/err" || status=$?
[ "$status" -eq 1 ]
grep -q 'Message too long' "$dir/err"
