#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# spaced.sh SCRIPT PROGRAM ARGUMENT...: runs the script with a copy of the
# program and with temporary files on a path with a space, beside the libraries
# of the build: trees and home folders have such names.
set -eu

script=$1 program=$2
shift 2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/a tree/docs" "$dir/a tree/tmp"
ln -s "$(readlink -f "$(dirname "$program")/../lib")" "$dir/a tree/lib"
ln -s "$(readlink -f "$(dirname "$script")")" "$dir/a tree/examples"
copy="$dir/a tree/docs/${program##*/}"
cp "$program" "$copy"
if [ -n "${MESON_EXE_WRAPPER-}" ]; then # a program of another machine
	mv "$copy" "$copy.other"
	# shellcheck disable=SC2016 # for the shell that runs it
	printf '#!/bin/sh\nexec %s "$0.other" "$@"\n' \
		"$MESON_EXE_WRAPPER" >"$copy"
	chmod +x "$copy"
fi
TMPDIR="$dir/a tree/tmp" "$dir/a tree/examples/${script##*/}" \
	"$copy" "$@"
