#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# subproject.sh SOURCE: another Meson project can take weir as a subproject, gets
# it by its name as a dependency, and does not install it.
set -eu

here=$(dirname "$0") source=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

mkdir "$tree/subprojects"
cp "$here/use.c" "$tree"
ln -s "$source" "$tree/subprojects/weir"
cat >"$tree/meson.build" <<'EOF'
project('user', 'c')
subproject('weir')
test('use', executable('use', 'use.c', dependencies: dependency('weir')))
EOF
cd "$tree"
if ! { meson setup build && ninja -C build && meson test -C build; } >log; then
	cat log
	exit 1
fi
DESTDIR=$tree/installed meson install -C build --quiet
! find installed -name '*weir*' 2>/dev/null | grep .
