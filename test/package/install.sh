#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# install.sh SOURCE BUILD: what is installed is enough to build and run a
# program, in C and C++, with the shared and with the static library; and the
# first programs of README, as it says, and as the guide says with CMake.
set -eu

here=$(dirname "$0") build=$2
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

DESTDIR=$tree meson install -C "$build" --no-rebuild --quiet
pc=$(find "$tree" -name weir.pc)
lib=$(dirname "$(dirname "$pc")")

# Nothing else is there to be found: weir requires no other package.
flags() {
	PKG_CONFIG_LIBDIR=$(dirname "$pc") PKG_CONFIG_SYSROOT_DIR=$tree \
		pkg-config "$@" weir
}

# The flags are a list; mktemp's names have no spaces.
# shellcheck disable=SC2046
try() {
	compiler=$1 language=$2 std=$3
	command -v "$compiler" >/dev/null || return 0
	"$compiler" -x "$language" -std="$std" -o "$tree/shared" "$here/use.c" \
		$(flags --cflags --libs)
	LD_LIBRARY_PATH=$lib "$tree/shared"
	"$compiler" -x "$language" -std="$std" $(flags --cflags) \
		-o "$tree/static" "$here/use.c" -x none "$lib/libweir.a" \
		$(flags --static --libs | sed 's/-lweir//')
	"$tree/static"
}

[ "$(flags --modversion)" = "$(sed -n "s/^.version: '\(.*\)',/\1/p" \
	"$1/meson.build")" ]

# gdb looks for it under the name of the library, with all that leads there.
real=$(readlink -f "$lib/libweir.so")
[ -f "$(find "$tree" -path '*/share/gdb/auto-load')${real#"$tree"}-gdb.py" ]

# The test kit brings weir with it.
PKG_CONFIG_LIBDIR=$(dirname "$pc") PKG_CONFIG_SYSROOT_DIR=$tree \
	pkg-config --libs weir-testkit | grep -q -e '-lweir-testkit.* -lweir'
[ -f "$lib/libweir-testkit.so" ] && [ -f "$lib/libweir-testkit.a" ]

# Where compression is built it brings weir with it, too, and a program that uses
# it runs; where it is not, nothing of it is installed.
if [ -f "$lib/libweir-z.so" ]; then
	zflags() {
		PKG_CONFIG_PATH=$(dirname "$pc") PKG_CONFIG_SYSROOT_DIR=$tree \
			pkg-config "$@" weir-z
	}
	zflags --libs | grep -q -e '-lweir-z.* -lweir'
	# shellcheck disable=SC2046
	cc "$1/docs/examples/gz.c" -o "$tree/gz" $(zflags --cflags --libs)
	LD_LIBRARY_PATH=$lib "$tree/gz" "$1/LICENSE" "$tree/LICENSE.gz"
	gzip -dc "$tree/LICENSE.gz" | cmp - "$1/LICENSE"
	[ -f "$lib/libweir-z.a" ]
else
	[ -z "$(find "$tree" -name '*weir-z*' -o -name flow_compress.h)" ]
fi

# The same of TLS; its program says how it is used.
if [ -f "$lib/libweir-tls.so" ]; then
	tlsflags() {
		PKG_CONFIG_PATH=$(dirname "$pc") PKG_CONFIG_SYSROOT_DIR=$tree \
			pkg-config "$@" weir-tls
	}
	tlsflags --libs | grep -q -e '-lweir-tls.* -lweir.* -lssl'
	# shellcheck disable=SC2046
	cc "$1/docs/examples/httpsd.c" -o "$tree/httpsd" \
		$(tlsflags --cflags --libs)
	LD_LIBRARY_PATH=$lib "$tree/httpsd" 2>&1 | grep -q '^usage: '
	[ -f "$lib/libweir-tls.a" ]
else
	[ -z "$(find "$tree" -name '*weir-tls*' -o -name tls.h)" ]
fi

# And of the look inside.
if [ -f "$lib/libweir-inspect-http.so" ]; then
	httpflags() {
		PKG_CONFIG_PATH=$(dirname "$pc") PKG_CONFIG_SYSROOT_DIR=$tree \
			pkg-config "$@" weir-inspect-http
	}
	httpflags --libs | grep -q -e '-lweir-inspect-http.* -lweir'
	# shellcheck disable=SC2046
	cc "$1/docs/examples/inspected.c" -o "$tree/inspected" \
		$(httpflags --cflags --libs)
	LD_LIBRARY_PATH=$lib "$tree/inspected" 127.0.0.1:0 </dev/null |
		grep -q '^http://127.0.0.1:'
	[ -f "$lib/libweir-inspect-http.a" ]
else
	[ -z "$(find "$tree" -name '*weir-inspect-http*' -o \
		-name inspect_http.h)" ]
fi

# And of NATS; its program says how it is used.
if [ -f "$lib/libweir-nats.so" ]; then
	natsflags() {
		PKG_CONFIG_PATH=$(dirname "$pc") PKG_CONFIG_SYSROOT_DIR=$tree \
			pkg-config "$@" weir-nats
	}
	# shellcheck disable=SC2046
	cc "$1/docs/examples/stored.c" -o "$tree/stored" \
		$(natsflags --cflags --libs)
	LD_LIBRARY_PATH=$lib "$tree/stored" 2>&1 | grep -q '^usage: '
	[ -f "$lib/libweir-nats.a" ]
else
	[ -z "$(find "$tree" -name '*weir-nats*' -o -name nats.h)" ]
fi

try gcc c c11
try g++ c++ c++17

for name in first subscribe; do
	# shellcheck disable=SC2046
	cc "$1/docs/examples/$name.c" -o "$tree/$name" $(flags --cflags --libs)
	LD_LIBRARY_PATH=$lib "$tree/$name" |
		cmp - "$1/test/examples/$name.out"
done

if command -v cmake >/dev/null && command -v g++ >/dev/null; then
	PKG_CONFIG_LIBDIR=$(dirname "$pc") PKG_CONFIG_SYSROOT_DIR=$tree \
		cmake -S "$1/docs/examples" -B "$tree/cmake" >/dev/null
	cmake --build "$tree/cmake" >/dev/null
	for name in first first_cc; do
		LD_LIBRARY_PATH=$lib "$tree/cmake/$name" |
			cmp - "$1/test/examples/first.out"
	done
fi
