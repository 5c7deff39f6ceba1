#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# copy.sh PROGRAM: all is copied; where there is nothing to copy, what was there
# stays, and nothing is beside it.
set -eu

program=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

seq 100000 >"$dir/from"
echo old >"$dir/to"
"$program" "$dir/from" "$dir/to" >"$dir/out"
cmp "$dir/from" "$dir/to"
[ "$(cat "$dir/out")" = '588895 bytes' ]
rm "$dir/out"
! "$program" "$dir/missing" "$dir/to" 2>"$dir/err" || exit 1
cmp "$dir/from" "$dir/to"
rm "$dir/err" "$dir/from" "$dir/to"
rmdir "$dir"
trap - EXIT
