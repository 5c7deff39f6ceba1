#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# shown.sh SOURCE: each block of C, C++ and CMake in README.md and docs is, line by
# line, a part of a file in docs/examples; README has the first two whole, and they are
# short, as is the flow of a real one. Each header of flows has a page that shows
# one. Signatures, in sections "Functions", are for spec/pages. C stands in no other
# kind of block.
set -eu

source=$1
status=0

# Blocks of a page, each into a file of its own.
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
blocks() {
	rm -f "$dir"/block*
	awk -v dir="$dir" '
	/^## / { functions = $0 == "## Functions" }
	/^```(c|cpp|cmake)$/ && !functions { file = dir "/block" ++n; inside = 1; next }
	/^```/ { inside = 0 }
	inside { print > file }' "$1"
}

# part BLOCK FILE...: its lines are in one of them, in one piece.
part() {
	awk 'NR == FNR { block[n++] = $0; next }
	FNR == 1 { m = 0 }
	{
		text[m++] = $0
		for (i = 0; m >= n && i < n && text[m - n + i] == block[i]; i++)
			;
		if (m >= n && i == n) {
			found = 1
			exit
		}
	}
	END { exit !found }' "$@"
}

for page in "$source"/README.md "$source"/docs/*.md "$source"/docs/*/*.md; do
	blocks "$page"
	awk '
	/^```$/ && !inside { inside = plain = 1; next }
	/^```/ { inside = !inside; plain = 0; next }
	(plain || !inside && /^(\t|    )/) && /[;{]$/ { print FILENAME ": " $0; n++ }
	END { exit n > 0 }' "$page" || status=1
	for block in "$dir"/block*; do
		[ -e "$block" ] || continue
		part "$block" "$source"/docs/examples/*.* || {
			echo "$page: not a part of any program:"
			cat "$block"
			status=1
		}
	done
done

for header in "$source"/include/weir/flow*.h; do
	name=$(basename "$header" .h)
	page=$source/docs/$name.md
	if ! grep -q "^# $name.h: " "$page" || ! grep -q '^```c$' "$page"; then
		echo "$page: not a page about $name.h that shows code"
		status=1
	fi
done

# short NAME COMMAND...: what that prints has at most 40 lines.
short() {
	name=$1
	shift
	n=$("$@" | wc -l)
	if [ "$n" -eq 0 ] || [ "$n" -gt 40 ]; then
		echo "$name has $n lines"
		status=1
	fi
}

examples=$source/docs/examples
blocks "$source/README.md"
cmp "$examples/first.c" "$dir/block1" || status=1
cmp "$examples/subscribe.c" "$dir/block2" || status=1
short first.c cat "$examples/first.c"
short subscribe.c cat "$examples/subscribe.c"
short 'the flow of wordfreq.c' sed -n '/^static.*wordfreq_flow/,/^}/p' \
	"$examples/wordfreq.c"
exit $status
