#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# tsan.sh BUILD: what a build for ThreadSanitizer installs is enough for a user's
# program under ThreadSanitizer: it sees a race of the program's own, and none
# where the library hands memory over.
set -eu

here=$(dirname "$0") build=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

DESTDIR=$tree meson install -C "$build" --no-rebuild --quiet
pc=$(find "$tree" -name weir.pc)
lib=$(dirname "$(dirname "$pc")")
# shellcheck disable=SC2046 # the flags are a list
cc -fsanitize=thread -g -o "$tree/handed" "$here/handed.c" \
	$(PKG_CONFIG_LIBDIR=$(dirname "$pc") PKG_CONFIG_SYSROOT_DIR=$tree \
		pkg-config --cflags --libs weir)
export LD_LIBRARY_PATH="$lib" TSAN_OPTIONS=halt_on_error=0:exitcode=66

"$tree/handed" || exit 1
status=0
"$tree/handed" race 2>"$tree/said" || status=$?
[ "$status" -eq 66 ]
grep -q "Location is global 'shared'" "$tree/said"
