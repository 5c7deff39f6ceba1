#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# crashed.sh PROGRAM COMMAND: it says who holds the others up, and dies of the signal.
set -eu

# shellcheck disable=SC3045 # dash and bash have it
ulimit -c 0
status=0
said=$("$1" "$2" 2>&1) || status=$?
case $said in
'2 held up by: ignore < acquire waits for a permit in acquire'*) ;;
*ptrace_scope*) echo "$said" && exit 77 ;;
*) echo "it says: $said" && exit 1 ;;
esac
[ "$status" -eq 134 ] || { echo "its status is $status" && exit 1; }
