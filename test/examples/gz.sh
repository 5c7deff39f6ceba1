#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# gz.sh PROGRAM: gzip understands what it makes, and it what gzip makes; what is
# spoilt is told, and leaves nothing.
set -eu

program=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

seq 300000 >"$dir/text"
: >"$dir/empty"
for name in text empty; do
	"$program" "$dir/$name" "$dir/gz"
	gzip -dc "$dir/gz" | cmp - "$dir/$name"
	gzip -c "$dir/$name" >"$dir/gz"
	"$program" -d "$dir/gz" "$dir/back"
	cmp "$dir/back" "$dir/$name"
	rm "$dir/back"
done
# two members, and a half of one
gzip -c "$dir/text" >"$dir/gz"
cat "$dir/gz" "$dir/gz" >"$dir/two"
"$program" -d "$dir/two" "$dir/back"
cat "$dir/text" "$dir/text" | cmp - "$dir/back"
rm "$dir/back"
head -c 1000 "$dir/gz" >"$dir/half"
! "$program" -d "$dir/half" "$dir/back" 2>"$dir/err" || exit 1
grep -q '^gz: inflate: the bytes end within a member$' "$dir/err"
! "$program" -d "$dir/text" "$dir/back" 2>"$dir/err" || exit 1
grep -q '^gz: inflate: incorrect header check$' "$dir/err"
[ ! -e "$dir/back" ]
