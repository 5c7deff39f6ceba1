#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# lines.sh PROGRAM: the lines of a file are numbered, the last one with or
# without a newline; a file that is not there is an error.
set -eu

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

printf 'to be\n\nor not' >"$dir/in"
printf '1 to be\n2 \n3 or not\n' >"$dir/expected"
"$1" "$dir/in" >"$dir/out" 2>"$dir/said"
cmp "$dir/out" "$dir/expected"
[ "$(cat "$dir/said")" = '20 bytes' ]
if "$1" "$dir/none" >/dev/null 2>"$dir/said"; then
	echo 'no error'
	exit 1
fi
grep -q '^lines: ' "$dir/said"
