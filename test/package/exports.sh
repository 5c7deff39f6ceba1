#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# exports.sh SHARED STATIC HEADER...: the shared library exports exactly what
# these headers declare and needs nothing but libc, or weir, or what is in the
# environment as MAY_NEED, a pattern; no global name in either library begins with
# anything but weir_.
set -eu

shared=$1 static=$2
shift 2
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
	cat "$@" | tr '\n' ' ' | grep -o 'WEIR_API [^(;[]*[(;[]' |
		sed 's/ *.$//; s/.*[^a-z0-9_]//' | grep '^weir_' | sort -u
}

lists=$(mktemp -d)
trap 'rm -rf "$lists"' EXIT
names -D --defined-only "$shared" >"$lists/exported"
declared "$@" >"$lists/declared"

wrong=$(comm -13 "$lists/exported" "$lists/declared")
[ -z "$wrong" ] || fail 'declared, but not exported:' "$wrong"
wrong=$(comm -23 "$lists/exported" "$lists/declared")
[ -z "$wrong" ] || fail 'exported, but not declared with WEIR_API:' "$wrong"
wrong=$(names -g --defined-only "$static" | grep -v '^weir_') ||
	wrong=
[ -z "$wrong" ] || fail 'global names of others:' "$wrong"
wrong=$(readelf -d "$shared" | grep NEEDED |
	grep -v -e '\[libc\.' -e '\[ld-linux' -e '\[libweir\.' \
		-e "\[${MAY_NEED:-libc}\.") ||
	wrong=
[ -z "$wrong" ] || fail 'libraries that should not be needed:' "$wrong"
exit $status
