#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# complete.sh INCLUDE_DIR HEADER...: these are all the public headers there are,
# and <weir/weir.h> includes every other one, except those of libraries of their
# own.
set -eu

include=$1
shift
status=0
for path in "$include"/weir/*.h; do
	header=${path##*/}
	case " $* " in
	*" $header "*) ;;
	*)
		echo "$header is not listed in include/weir/meson.build"
		status=1
		;;
	esac
	case $header in
	weir.h | testkit.h | flow_compress.h | tls.h | inspect_http.h | \
		nats.h) continue ;;
	esac
	if ! grep -q "#include <weir/$header>" "$include/weir/weir.h"; then
		echo "$header is not included by weir.h"
		status=1
	fi
done
exit $status
