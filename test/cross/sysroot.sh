#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# sysroot.sh MACHINE FOLDER: what a build for that machine needs beside Debian's
# cross compiler: headers of CK, cmocka, zlib. Debian's packages are unpacked
# there; this system's own list of packages stays as it is.
set -eu

machine=$1 folder=$2
case $machine in
aarch64) arch=arm64 ;;
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
		-o APT::Architecture=$arch -o APT::Architectures=$arch "$@"
}
get update
get download libck-dev libcmocka-dev libcmocka0 zlib1g zlib1g-dev
for package in *.deb; do
	dpkg -x "$package" "$folder"
done
cd "$folder"
rm -r apt
cat >constants.ini <<END
[constants]
sysroot = '$folder'
END
