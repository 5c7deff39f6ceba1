#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# must_check.sh COMPILER INCLUDE_DIR: a free or a fini that is refused,
# -EBUSY, leaks what it was to end; the compiler warns of a program that does not
# look.
set -eu

compiler=$1 include=$2
command -v "$compiler" >/dev/null || exit 77 # skipped

frees=$(grep -hoE '\bint weir_[a-z_]+_(free|fini)\(' "$include"/weir/*.h |
	grep -oE 'weir_[a-z_]+')
[ -n "$frees" ]
status=0
for name in $frees; do
	program="#include <weir/weir.h>
#include <weir/inspect_http.h>
#include <weir/nats.h>
#include <weir/testkit.h>
void ignores(void);
void ignores(void) { $name(0); }"
	case $(printf '%s\n' "$program" | "$compiler" -x c -std=c11 \
		-I "$include" -S -o /dev/null - 2>&1) in
	*unused-result*) ;;
	*)
		echo "$compiler says nothing where $name() is ignored"
		status=1
		;;
	esac
done
exit $status
