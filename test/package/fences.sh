#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# fences.sh SHARED CPU OBJDUMP SOURCE: the library has at least as many fences as
# its sources ask for, each call counted once however often it is inlined; and
# headers of CK that are made for a machine with a stronger order are refused.
set -eu

shared=$1 cpu=$2 objdump=$3 source=$4

# asked PATTERN: how many lines of code in lib/*/*.c call one of these.
asked() {
	find "$source/lib" -name '*.c' -exec cat {} + |
		grep -v '^[[:space:]]*/*\*' | grep -c -E "($1)\\(\\);"
}

full='weir__fence_full|ck_pr_fence_(store_load|memory)'
case $cpu in
# There only what goes from a store to a load takes an instruction.
x86_64) instruction='lock or|mfence' wanted=$(asked "$full") ;;
aarch64) instruction='dmb' wanted=$(asked "$full|ck_pr_fence_[a-z_]+") ;;
# Not `fence iorw,ow`, which is a part of each atomic operation.
riscv64)
	instruction='fence([[:space:]]+rw,rw)?$'
	wanted=$(asked "$full|ck_pr_fence_[a-z_]+")
	;;
*)
	echo "no fences known of $cpu"
	exit 77
	;;
esac
there=$("$objdump" -d "$shared" | grep -c -E "[[:space:]]($instruction)")
echo "$there fences in the library, the sources ask for $wanted"
[ "$wanted" -gt 0 ] && [ "$there" -ge "$wanted" ]

# That of x86 on another machine, and what is right there.
fake=$(mktemp -d)
trap 'rm -rf "$fake"' EXIT
preprocess() {
	echo "#define $1" >"$fake/ck_pr.h"
	cc -E -U__x86_64__ -U__i386__ -I "$fake" -o "$fake/out" \
		"$source/lib/base/fence.h" 2>"$fake/said"
}
preprocess CK_MD_RMO
! preprocess CK_MD_TSO || {
	echo 'headers of another machine are taken'
	exit 1
}
grep -q 'those of another machine' "$fake/said"
