#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# pgz.sh PROGRAM [MEGABYTES [ROUNDS]]: docs/examples/pgz.c against pigz, both
# with two threads, level 6 and blocks of 128 KiB, in turns: medians of the time
# that passes and of that of all CPUs, in seconds, and the ratios. Fails if the
# first is more than 10 % longer.
set -euo pipefail
export LC_ALL=C

program=$1
megabytes=${2:-100}
rounds=${3:-7}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Words as often as in a language, and numbers: gzip makes a third of it.
awk -v bytes="$((megabytes * 1000000))" 'BEGIN {
	srand(1)
	for (i = 0; i < 20000; i++) {
		word[i] = ""
		for (j = 2 + int(rand() * 8); j > 0; j--)
			word[i] = word[i] sprintf("%c", 97 + int(rand() ^ 2 * 26))
	}
	while (n < bytes) {
		line = int(rand() * 1000000)
		for (j = 0; j < 10; j++)
			line = line " " word[int(20000 ^ rand())]
		print line
		n += length(line) + 1
	}
}' >"$dir/text"

# Two numbers: the seconds that a command takes, and those of its CPUs.
seconds() {
	local TIMEFORMAT='%R %U %S'

	{ time "$@" <"$dir/text" >/dev/null; } 2>&1 |
		awk '{ print $1, $2 + $3 }'
}

# median FILE COLUMN
median() {
	awk -v column="$2" '{ print $column }' "$1" | sort -n |
		sed -n "$(((rounds + 1) / 2))p"
}

for ((i = 0; i < rounds; i++)); do
	seconds "$program" -p 2 -b 128 >>"$dir/pgz"
	seconds pigz -p 2 -b 128 -6 >>"$dir/pigz"
done
echo "gzip of $megabytes MB, medians of $rounds in seconds:"
for column in 1 2; do
	awk -v what="$column" -v a="$(median "$dir/pgz" $column)" \
		-v b="$(median "$dir/pigz" $column)" 'BEGIN {
		printf "%-8s pgz %6.2f  pigz %6.2f  ratio %4.2f\n",
			what == 1 ? "elapsed" : "CPU", a, b, a / b }'
done
awk -v a="$(median "$dir/pgz" 1)" -v b="$(median "$dir/pigz" 1)" \
	'BEGIN { exit a > 1.1 * b }' || {
	echo 'pgz.sh: pgz took more than 10 % longer than pigz' >&2
	exit 1
}
