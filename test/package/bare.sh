#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# bare.sh SOURCE: on a Debian with nothing installed, what README says works as
# it stands there, line by line and in that order: ./dev demo, the installation,
# the first program. But for ./dev test, which is what runs this. In a soak, as
# root and where debootstrap finds its mirror.
set -eu

source=$1
skip() {
	echo "bare: $1"
	exit 77
}

[ "${WEIR_SOAK:-0}" = 1 ] || skip 'only in a soak'
[ "$(id -u)" -eq 0 ] || skip 'not root'
command -v debootstrap >/dev/null || skip 'no debootstrap'
bare=$(mktemp -d)
trap 'rm -rf "$bare"' EXIT
debootstrap --variant=minbase bookworm "$bare" >"$bare.log" 2>&1 || {
	tail -n 3 "$bare.log"
	rm "$bare.log"
	skip 'debootstrap failed'
}
rm "$bare.log"

mkdir "$bare/weir"
(cd "$source" && tar -cf - --exclude=./build --exclude=./.git .) |
	tar -xf - -C "$bare/weir"
{
	echo 'set -eux'
	echo 'sudo() { "$@"; }' # there is none, and we are root
	awk '/^```/ { block = !block; plain = $0 == "```" }
	block && plain && /^(\.\/dev|meson|sudo|cc) / && !/^\.\/dev test/' \
		"$source/README.md"
} >"$bare/readme"
cat "$bare/readme"
# Nothing stays mounted.
# shellcheck disable=SC2016 # they are for the shell within
unshare -m sh -c 'mount -t proc proc "$1/proc" &&
	chroot "$1" sh -c "cd /weir && sh /readme"' sh "$bare" \
	>"$bare/said" 2>&1 || {
	tail -n 30 "$bare/said"
	exit 1
}
# What the first program prints is the last there is.
[ "$(tail -n 1 "$bare/said")" = 333833500 ] || {
	tail -n 30 "$bare/said"
	exit 1
}
