#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# exports.sh SHARED STATIC: both libraries define only our names, and the shared
# one needs nothing but libc.
set -eu

status=0

foreign() {
	nm "$@" | awk 'NF == 3 && $3 !~ /^weir_/ { print; found = 1 }
		END { exit !found }'
}

if foreign -D --defined-only "$1"; then
	echo "$1 exports names that do not begin with weir_"
	status=1
fi
if foreign -g --defined-only "$2"; then
	echo "$2 defines global names that do not begin with weir_"
	status=1
fi
if readelf -d "$1" | grep NEEDED | grep -v -e '\[libc\.' -e '\[ld-linux'; then
	echo "$1 needs these libraries"
	status=1
fi
exit $status
