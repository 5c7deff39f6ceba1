#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# sysroot.sh MACHINE FOLDER: what a build for that machine needs beside Debian's
# cross compiler: headers of CK, cmocka, zlib. Debian's packages are unpacked
# there; this system's own list of packages stays as it is.
set -eu

machine=$1 folder=$2
lists=/etc/apt
case $machine in
aarch64) packages='libcmocka0 zlib1g zlib1g-dev' ;;
# Debian 12 has no packages for it. arm64's headers do, as CK's depend on no
# more than how weak the order of memory is; cmocka is compiled; no zlib.
riscv64) packages='' ;;
*)
	echo "sysroot: no packages for $machine"
	exit 1
	;;
esac
rm -rf "$folder"
mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial"
cd "$folder/apt"
: >status
get() {
	apt-get -q -o Dir::State="$folder/apt" -o Dir::Cache="$folder/apt" \
		-o Dir::State::status="$folder/apt/status" \
		-o Dir::Etc::sourcelist="$lists/sources.list" \
		-o Dir::Etc::sourceparts="$lists/sources.list.d" \
		-o APT::Architecture=arm64 -o APT::Architectures=arm64 "$@"
}

# Where the system takes packages from, it takes their sources as well.
list_sources() {
	lists=$folder/apt
	mkdir "$lists/sources.list.d"
	for list in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
		[ ! -f "$list" ] || sed -e 's/^Types: *deb *$/Types: deb deb-src/' \
			-e 's/^deb \(.*\)/&\ndeb-src \1/' "$list" \
			>"$lists/${list#/etc/apt/}"
	done
}

# What was unpacked, for the machine that it is not from.
adapt() {
	mv "$folder/usr/lib/aarch64-linux-gnu" "$folder/usr/lib/$machine-linux-gnu"
	cd "$folder/usr/lib/$machine-linux-gnu"
	rm ./*.a
	# ck_pr.h takes the compiler's atomic operations where it knows no machine.
	sed -i -e 's/-D__aarch64__//' -e "s/aarch64/$machine/g" pkgconfig/*.pc
	cd "$folder/apt"
	get source --download-only cmocka
	tar -xf cmocka_*.orig.tar.?z
	"$machine-linux-gnu-gcc" -O2 -fPIC -shared -Wl,-soname,libcmocka.so.0 \
		-D_GNU_SOURCE -DHAVE_GCC_THREAD_LOCAL_STORAGE \
		-DHAVE_SIGNAL_H -DHAVE_STRSIGNAL -DHAVE_SIGLONGJMP \
		-DHAVE_MALLOC_H -DHAVE_STRINGS_H -DHAVE_INTTYPES_H \
		-DHAVE_STRUCT_TIMESPEC -DHAVE_CLOCK_REALTIME \
		-I cmocka-*/include cmocka-*/src/cmocka.c \
		-o "$folder/usr/lib/$machine-linux-gnu/libcmocka.so.0"
}

[ -n "$packages" ] || list_sources
get update
# shellcheck disable=SC2086 # several words
get download libck-dev libcmocka-dev $packages
for package in *.deb; do
	dpkg -x "$package" "$folder"
done
[ -n "$packages" ] || adapt
cd "$folder"
rm -r apt
cat >machine.ini <<END
[constants]
machine = '$machine'
sysroot = '$folder'
END
