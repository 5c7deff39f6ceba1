#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# gzip.sh PROGRAM: what is compressed is what was there; where a file is missing
# the program says so, and nothing is left beside it.
set -eu

program=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

for i in 1 2 3 4 5 6; do
	seq "${i}00000" >"$dir/$i"
done
: >"$dir/empty"
"$program" "$dir/1" "$dir/2" "$dir/3" "$dir/4" "$dir/5" "$dir/6" "$dir/empty"
for name in 1 2 3 4 5 6 empty; do
	gzip -dc "$dir/$name.gz" | cmp - "$dir/$name"
	rm "$dir/$name.gz" "$dir/$name"
done
! "$program" "$dir/missing" 2>"$dir/err" || exit 1
grep -q '^gzip: read_file: ' "$dir/err"
rm "$dir/err"
rmdir "$dir"
trap - EXIT
