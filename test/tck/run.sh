#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# run.sh JAVA BRIDGE CLASSPATH CLASS [ARGUMENT...]: runs a class with the
# bridge. Java looks at each call of it, and what it complains of is a failure.
# run.sh skip WHY
set -euo pipefail

if [ "$1" = skip ]; then
	echo "skipped: $2"
	exit 77
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$1" -Xcheck:jni -Xmx256m -Dweir.bridge="$2" -cp "$3" "${@:4}" 2>&1 |
	tee "$log"
if grep -q -E '^(WARNING|FATAL)' "$log"; then
	exit 1
fi
