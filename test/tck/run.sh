#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# run.sh skip WHY
# run.sh smoke JAVA BRIDGE JAR...: tries the bridge, with Java looking at each
# of its calls; what Java complains of is a failure.
set -euo pipefail

java() {
	local java=$1 bridge=$2 classpath

	shift 2
	classpath=$(IFS=: && echo "${*:2}")
	exec "$java" -Xcheck:jni -Xmx256m -Dweir.bridge="$(readlink -f "$bridge")" \
		-cp "$classpath" "$1"
}

case $1 in
skip)
	echo "skipped: $2"
	exit 77
	;;
smoke)
	log=$(mktemp)
	trap 'rm -f "$log"' EXIT
	(java "$2" "$3" weir.Smoke "${@:4}") 2>&1 | tee "$log"
	if grep -q -E '^(WARNING|FATAL)' "$log"; then
		exit 1
	fi
	;;
esac
