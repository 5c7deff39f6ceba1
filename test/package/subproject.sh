#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# subproject.sh SOURCE: another Meson project can take weir as a subproject, gets
# it and its test kit by their names as dependencies, and installs what its
# programs need to run: nothing where default_library is static, else the shared
# library; never the rest.
set -eu

here=$(dirname "$0") source=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

mkdir "$tree/subprojects"
cp "$here/use.c" "$tree"
ln -s "$source" "$tree/subprojects/weir"
cat >"$tree/meson.build" <<'END'
project('user', 'c')
subproject('weir')
test('use', executable('use', 'use.c', dependencies: dependency('weir'),
	install: true))
test('kit', executable('kit', 'use.c', dependencies: dependency('weir-testkit')))
END
cd "$tree"

# quietly COMMAND...: what it says is of interest if it fails.
quietly() {
	"$@" >log 2>&1 || {
		cat log
		exit 1
	}
}

# The second time the same is compiled.
! command -v ccache >/dev/null || export CC='ccache cc' CCACHE_NOHASHDIR=1
for library in shared static; do
	inst=$tree/$library
	quietly meson setup -Dbuildtype=plain -Ddefault_library=$library \
		--prefix="$inst" --libdir=lib build-$library
	quietly ninja -C build-$library
	quietly meson test -C build-$library
	quietly meson install -C build-$library
	rm -rf build-$library
	# Only the programs that are linked to it want it.
	case $library in
	shared)
		LD_LIBRARY_PATH=$inst/lib "$inst/bin/use"
		rm "$inst/lib"/libweir.so*
		;;
	static) "$inst/bin/use" ;;
	esac
	[ -z "$(find "$inst" -name '*weir*')" ]
done
