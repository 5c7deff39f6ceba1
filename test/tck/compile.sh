#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# compile.sh JAR CLASSPATH SOURCE...: all at once, as they know each other.
set -eu

jar=$(readlink -f "$1")
classpath=$2
shift 2
rm -rf "$jar.d"
javac -d "$jar.d" -cp "$classpath" -Xlint:all -Werror "$@"
jar --create --file "$jar" -C "$jar.d" .
