#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# exports.sh SHARED STATIC INCLUDE: the shared library exports exactly what the
# public headers declare and needs nothing but libc; no global name in either
# library begins with anything but weir_.
set -eu

status=0
fail() {
	printf '%s\n%s\n' "$1" "$2"
	status=1
}

names() {
	nm "$@" | awk 'NF == 3 { print $3 }' | sort -u
}

# What follows WEIR_API, up to the last word before ( or ; or [.
declared() {
	cat "$1"/weir/*.h | tr '\n' ' ' | grep -o 'WEIR_API [^(;[]*[(;[]' |
		sed 's/ *.$//; s/.*[^a-z0-9_]//' | grep '^weir_' | sort -u
}

lists=$(mktemp -d)
trap 'rm -rf "$lists"' EXIT
names -D --defined-only "$1" >"$lists/exported"
declared "$3" >"$lists/declared"

wrong=$(comm -13 "$lists/exported" "$lists/declared")
[ -z "$wrong" ] || fail 'declared, but not exported:' "$wrong"
wrong=$(comm -23 "$lists/exported" "$lists/declared")
[ -z "$wrong" ] || fail 'exported, but not declared with WEIR_API:' "$wrong"
wrong=$(names -g --defined-only "$2" | grep -v '^weir_') ||
	wrong=
[ -z "$wrong" ] || fail 'global names of others:' "$wrong"
wrong=$(readelf -d "$1" | grep NEEDED | grep -v -e '\[libc\.' -e '\[ld-linux') ||
	wrong=
[ -z "$wrong" ] || fail 'libraries that should not be needed:' "$wrong"
exit $status
