#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# pgz.sh PROGRAM: what it makes is one gzip stream that gives the input back, at
# every border of its blocks, of a file and through pipes, in bounded memory (1
# GB in a soak); and an error is told of and leaves no file behind.
set -eu
export LC_ALL=C

program=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
status=0

fail() {
	echo "pgz: $1"
	status=1
}

# One stream: gzip says so of itself, and the lengths are those of one member.
is_gzip_of() {
	gzip -t <"$1" || fail "gzip -t $1"
	gzip -dc <"$1" | cmp - "$2" || fail "$1 is not $2"
	[ "$(tail -c 4 "$1" | od -An -tu4 | tr -d ' ')" = \
		"$(wc -c <"$2" | tr -d ' ')" ] || fail "$1 has a wrong length"
}

# whole FILE [ARGUMENT...]: as a file, through pipes, with that name and with -.
whole() {
	file=$1
	shift
	"$program" "$@" "$file" 2>"$dir/err" || fail "exit status $? for $file"
	is_gzip_of "$file.gz" "$file"
	[ "$(stat -c %a "$file")" = "$(stat -c %a "$file.gz")" ] ||
		fail "another mode: $file"
	# shellcheck disable=SC2002 # a pipe is what we want
	cat "$file" | "$program" "$@" | cat >"$dir/piped.gz"
	cmp "$file.gz" "$dir/piped.gz" || fail "another result by a pipe: $file"
	"$program" "$@" - <"$file" >"$dir/piped.gz"
	cmp "$file.gz" "$dir/piped.gz" || fail "another result by -: $file"
	[ ! -s "$dir/err" ] || fail "something to say about $file"
	rm "$file.gz" "$dir/piped.gz"
}

random() {
	head -c "$1" /dev/urandom
}

# Lines that repeat themselves across the borders of blocks.
text() {
	awk 'BEGIN { for (i = 0; ; i++)
		print i * 7919 % 1000, "the quick brown fox", i }' |
		head -c "$1"
}

block=131072
for n in 0 1 $((block - 1)) $block $((block + 1)) $((2 * block)) 10000000; do
	random "$n" >"$dir/random$n"
	text "$n" >"$dir/text$n"
	whole "$dir/random$n"
	whole "$dir/text$n" -p 3
done
for n in 32767 32768 32769 98304; do
	text "$n" >"$dir/text$n"
	whole "$dir/text$n" -b 32 -p 1
done
chmod 640 "$dir/text1"
whole "$dir/text1" -b 65536

# The dictionary is used: not one percent more than gzip makes of it.
size=$("$program" <"$dir/text10000000" | wc -c)
limit=$(($(gzip -6 -c "$dir/text10000000" | wc -c) * 101 / 100))
[ "$size" -le "$limit" ] || fail "$size bytes, more than $limit"

# refused MESSAGE COMMAND: exit status 1, MESSAGE is said, no file is left.
refused() {
	message=$1
	shift
	before=$(ls "$dir/errors")
	code=0
	(cd "$dir/errors" && eval "$*") >"$dir/out" 2>"$dir/err" || code=$?
	[ "$code" -eq 1 ] || fail "exit status $code for $*"
	grep -qF "$message" "$dir/err" || {
		fail "does not say of $*: $message"
		cat "$dir/err"
	}
	[ "$(ls "$dir/errors")" = "$before" ] || fail "leaves a file: $*"
}

mkdir "$dir/errors" "$dir/errors/folder" "$dir/errors/taken.gz"
cp "$dir/random10000000" "$dir/errors/input"
echo old >"$dir/errors/input.gz"
: >"$dir/errors/taken"
run=$(readlink -f "$program")
refused 'No such file or directory' "$run none"
refused 'none' "$run none"
refused 'Is a directory' "$run folder"
refused 'input.gz: File too large' "ulimit -f 100; $run input"
[ "$(cat "$dir/errors/input.gz")" = old ] || fail 'the old file is gone'
refused 'taken.gz: Is a directory' "$run taken"
refused 'standard output: No space left on device' "$run <input >/dev/full"
refused 'standard output: No space left on device' "$run </dev/null >/dev/full"
refused 'standard output: Bad file descriptor' "$run <input >&-"
refused 'standard input: Bad file descriptor' "$run <&-"
refused 'standard input: Is a directory' "$run <folder"
refused 'out of range' "$run -b 1 input"
refused 'out of range' "$run -p none input"
refused 'invalid option' "$run -x input"
refused 'Argument list too long' "$run input input"
# A pipe that is closed: head ends after one byte, ours must as well.
mkfifo "$dir/fifo"
code=0
head -c 1 "$dir/fifo" >/dev/null &
"$program" <"$dir/random10000000" >"$dir/fifo" 2>"$dir/err" || code=$?
wait
[ "$code" -eq 1 ] || fail "exit status $code for a closed pipe"
grep -qF 'standard output: Broken pipe' "$dir/err" || fail 'a closed pipe'

# A signal, when its input goes on: it dies of it, and leaves nothing.
mkdir "$dir/signal"
mkfifo "$dir/signal/fifo"
"$program" "$dir/signal/fifo" &
pid=$!
exec 3>"$dir/signal/fifo"
cat "$dir/random10000000" >&3
kill -TERM $pid
code=0
wait $pid 2>/dev/null || code=$?
exec 3>&-
[ $code -eq 143 ] || fail "exit status $code for SIGTERM"
[ "$(ls "$dir/signal")" = fifo ] || fail 'a signal leaves a file'

# long BYTES: so many through a pipe, and the most memory that took: looked at
# when everything has been read, but before the end is.
long() {
	"$program" -p 2 <"$dir/fifo" >"$dir/long.gz" &
	pid=$!
	exec 3>"$dir/fifo"
	text "$1" >&3
	peak=$(awk '/^VmHWM/ { print $2 }' "/proc/$pid/status")
	exec 3>&-
	wait $pid || fail 'a long input'
	[ "$(gzip -dc "$dir/long.gz" | cksum)" = "$(text "$1" | cksum)" ] ||
		fail "$1 bytes: not the same"
	[ "$peak" -le "$2" ] || fail "$1 bytes took $peak KiB"
	echo "$1 bytes took $peak KiB"
}

# Sanitizers need memory of their own: the bound is for plain builds.
limit=16384
if grep -q __asan_init "$program"; then
	limit=4194304
fi
long 50000000 $limit
if [ "${WEIR_SOAK:-0}" = 1 ]; then
	long 1000000000 $limit
fi
exit $status
