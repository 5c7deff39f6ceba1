#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# compile.sh JAR ARGUMENT...: javac with these, sources all at once, as they
# know each other.
set -eu

jar=$(readlink -f "$1")
shift
rm -rf "$jar.d"
javac -d "$jar.d" "$@"
jar --create --file "$jar" -C "$jar.d" .
