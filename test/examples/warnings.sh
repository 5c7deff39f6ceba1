#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# warnings.sh COMPILER SOURCE: COMPILER has nothing to say about any program of
# docs/examples, with the warnings that most people turn on and no other flags.
set -eu

compiler=$1 source=$2
command -v "$compiler" >/dev/null || exit 77 # skipped

status=0
for program in "$source"/docs/examples/*.c; do
	case $program in
	*/pgz.c) # needs zlib
		echo '#include <zlib.h>' |
			"$compiler" -x c -fsyntax-only - 2>/dev/null || continue
		;;
	esac
	"$compiler" -Wall -Wextra -Werror -O2 -I "$source/include" -c \
		-o /dev/null "$program" || status=1
done
exit $status
