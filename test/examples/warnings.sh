#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# warnings.sh COMPILER SOURCE: COMPILER has nothing to say about any program of
# docs/examples, with the warnings that most people turn on and no other flags.
set -eu

compiler=$1 source=$2
command -v "$compiler" >/dev/null || exit 77 # skipped

ccache=
! command -v ccache >/dev/null || ccache=ccache
object=$(mktemp)
trap 'rm -f "$object"' EXIT
status=0
for program in "$source"/docs/examples/*.c; do
	package=
	case $program in # what it needs besides
	*/embed_event.c) package=libevent_core ;;
	*/embed_glib.c) package=glib-2.0 ;;
	*/embed_sd.c) package=libsystemd ;;
	*/embed_uv.c | */uv_read.c) package=libuv ;;
	*/pgz.c) package=zlib ;;
	esac
	flags=
	if [ -n "$package" ]; then
		flags=$(pkg-config --cflags "$package" 2>/dev/null) || continue
	fi
	# shellcheck disable=SC2086 # a list
	$ccache "$compiler" -Wall -Wextra -Werror -O2 -I "$source/include" \
		$flags -c -o "$object" "$program" || status=1
done
exit $status
