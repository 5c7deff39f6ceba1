#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# check.sh COMPILER INCLUDE_DIR HEADER: <weir/HEADER> compiles alone, without a
# warning, as C11 or as C++17 by the compiler's name, and includes no CK.
set -eu

compiler=$1 include=$2 header=$3
command -v "$compiler" >/dev/null || exit 77 # skipped

case $compiler in
*++) language='-x c++ -std=c++17' ;;
*) language='-x c -std=c11 -pedantic' ;;
esac

# Twice, so that the include guard is tried as well; the struct is there because
# pedantic C wants a declaration. $language is a list.
# shellcheck disable=SC2086
included=$(printf '#include <weir/%s>\n#include <weir/%s>\nstruct any;\n' \
	"$header" "$header" |
	"$compiler" $language -Wall -Wextra -Werror -I "$include" \
		-H -fsyntax-only - 2>&1) || {
	printf '%s\n' "$included"
	exit 1
}

if printf '%s\n' "$included" | grep '^\.* .*/ck_[a-z_]*\.h$'; then
	echo "$header includes CK"
	exit 1
fi
