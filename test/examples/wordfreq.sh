#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# wordfreq.sh PROGRAM: its counts are those of tr, sort and uniq, at every
# border; it says what is wrong with its input; and it takes no more memory for
# a long input (1 GB in a soak) than for a short one.
set -eu
export LC_ALL=C

program=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
status=0

fail() {
	echo "wordfreq: $1"
	status=1
}

# The same by other means, each file by itself: words end with it.
reference() {
	for file; do
		tr -cs 'A-Za-z' '\n' <"$file" | fold -b -w 1000
		echo
	done | tr '[:upper:]' '[:lower:]' | grep . | sort | uniq -c |
		sort -k1,1nr -k2,2 | head -n 20 | awk '{ print $1, $2 }'
}

# The words are printed up to the first empty line, then the stages.
words() {
	sed '/^$/,$d' "$dir/out"
}

same() {
	"$program" "$@" >"$dir/out" 2>"$dir/err" || {
		fail "exit status $? for $*"
		cat "$dir/err"
	}
	[ "$(words)" = "$(reference "$@")" ] || {
		fail "another result for $*"
		reference "$@" | diff -y -W 60 - "$dir/out"
	}
	[ ! -s "$dir/err" ] || fail "something to say about $*"
	[ "$(sed '1,/^$/d' "$dir/out" | wc -l)" -eq 5 ] ||
		fail "no table of stages for $*"
}

# refused MESSAGE FILE...: exit status 1, and MESSAGE is among its words.
refused() {
	message=$1
	shift
	code=0
	"$program" "$@" >"$dir/out" 2>"$dir/err" </dev/null || code=$?
	[ "$code" -eq 1 ] || fail "exit status $code for $*"
	grep -qF "$message" "$dir/err" || {
		fail "does not say: $message"
		cat "$dir/err"
	}
}

letters() {
	head -c "$1" /dev/zero | tr '\0' "$2"
}

: >"$dir/empty"
printf 'no newline at the end' >"$dir/noeol"
printf 'beginning' >"$dir/next"
printf 'a B A b c C\nc-c_c1c\n\n\n zebra Zebra ZEBRA' >"$dir/mixed"
letters 100000 Q >"$dir/huge"
letters 1000 q >"$dir/thousand"
letters 1001 q >"$dir/more"
printf ' ... 123 \n' >"$dir/wordless"
# Every byte, NUL and those above 127 too.
awk 'BEGIN { for (i = 0; i < 256; i++) printf "%cx%cyz", i, i }' >"$dir/binary"
# The border of a page at every place of a word.
for i in 0 1 2 3 4 5 6; do
	{ letters $((16384 - i)) .; printf 'border. and so on'; } >"$dir/border$i"
	{ letters $((16380 - i)) 'x' | sed 's/xxxxx/xxxx /g'
		printf 'border and so on'; } >"$dir/full$i"
done
# Many different words, of many lengths.
awk 'BEGIN { for (i = 0; i < 60000; i++) {
	w = ""; n = i * 7919 % 30000
	do { w = w substr("etaoinshrdlucmfwypvbgkqjxz", n % 26 + 1, 1)
		n = int(n / 26) } while (n)
	printf "%s%s", w, i % 11 ? " " : "\n" } }' >"$dir/many"

for file in noeol mixed huge thousand more binary many; do
	same "$dir/$file"
done
for i in 0 1 2 3 4 5 6; do
	same "$dir/border$i"
	same "$dir/full$i"
done
same "$dir/empty" "$dir/noeol" "$dir/next" "$dir/wordless" "$dir/mixed" \
	"$dir/many" "$dir/more" "$dir/binary"
same /usr/share/common-licenses/[A-Z]* 2>/dev/null ||
	echo 'no license texts to try'

refused 'No such file or directory' "$dir/none"
refused "$dir/none" "$dir/none" "$dir/mixed"
[ "$(words)" = "$(reference "$dir/mixed")" ] || fail 'does not go on'
refused 'Is a directory' "$dir"
refused 'no words in the input' "$dir/empty"
refused 'no words in the input' "$dir/wordless"
refused 'no words in the input'
"$program" <"$dir/mixed" >"$dir/out"
[ "$(words)" = "$(reference "$dir/mixed")" ] || fail 'not from a pipe'
code=0
"$program" "$dir/mixed" >/dev/full 2>"$dir/err" || code=$?
[ "$code" -eq 1 ] || fail "exit status $code when it cannot write"

# long LINES MEGABYTES: so many lines through a pipe, and the most memory that
# took. Looked at when everything has been read, but before the end is.
long() {
	line='The quick brown fox jumps over the lazy dog. So does THE other.'
	mkfifo "$dir/fifo"
	"$program" "$dir/fifo" >"$dir/out" &
	pid=$!
	exec 3>"$dir/fifo"
	yes "$line" | head -n "$1" >&3
	peak=$(awk '/^VmHWM/ { print $2 }' "/proc/$pid/status")
	exec 3>&-
	wait "$pid" || fail 'a long input'
	rm "$dir/fifo"
	[ "$(sed -n 1p "$dir/out")" = "$(($1 * 3)) the" ] ||
		fail "miscounted $1 lines: $(sed -n 1p "$dir/out")"
	[ "$peak" -le $(($2 * 1024)) ] || fail "$1 lines took $peak KiB"
	echo "$1 lines took $peak KiB"
}

# Sanitizers need memory of their own: the bound is for plain builds.
limit=16
if grep -q __asan_init "$program"; then
	limit=4096
fi
long 100000 $limit
if [ "${WEIR_SOAK:-0}" = 1 ]; then
	long 16777216 $limit # 1 GB
fi
exit $status
