#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# printed.sh PROGRAM FILE: the program ends well and prints exactly that.
set -eu

out=$("$1")
printf '%s\n' "$out" | diff "$2" -
