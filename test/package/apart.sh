#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# apart.sh STATIC STATIC: no global name is defined in both, as programs link the
# two together.
set -eu

names() {
	nm -g --defined-only "$1" | awk 'NF == 3 { print $3 }' | sort -u
}

lists=$(mktemp -d)
trap 'rm -rf "$lists"' EXIT
names "$1" >"$lists/first"
names "$2" >"$lists/second"
[ -s "$lists/first" ] && [ -s "$lists/second" ]
wrong=$(comm -12 "$lists/first" "$lists/second")
[ -z "$wrong" ] || {
	printf 'defined in both:\n%s\n' "$wrong"
	exit 1
}
