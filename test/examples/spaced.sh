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
cp "$program" "$dir/a tree/docs"
TMPDIR="$dir/a tree/tmp" "$dir/a tree/examples/${script##*/}" \
	"$dir/a tree/docs/${program##*/}" "$@"
