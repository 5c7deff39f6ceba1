#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# pgz.sh PROGRAM: what it makes is one gzip stream that gives the input back, at
# every border of its blocks, of a file and through pipes, in bounded memory; an
# error is told of; and neither that nor a signal leaves a file behind. A soak
# has files of 1 GiB, and takes 3 GB of disk for that.
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

block=131072 large=3000000
[ "${WEIR_SOAK:-0}" != 1 ] || large=10000000
for n in 0 1 $((block - 1)) $block $((block + 1)) $((2 * block)) $large; do
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
size=$("$program" <"$dir/text$large" | wc -c)
limit=$(($(gzip -6 -c "$dir/text$large" | wc -c) * 101 / 100))
[ "$size" -le "$limit" ] || fail "$size bytes, more than $limit"

# exits CODE WHAT: how the last one in the background has ended.
exits() {
	code=0
	wait $pid 2>/dev/null || code=$?
	[ $code -eq "$1" ] || fail "exit status $code and not $1: $2"
}

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
cp "$dir/random$large" "$dir/errors/input"
echo old >"$dir/errors/input.gz"
: >"$dir/errors/taken"
echo secret >"$dir/errors/unreadable"
chmod 000 "$dir/errors/unreadable"
run=$(readlink -f "$program")
quoted="'$run'" # as the lines below are for a shell
refused 'No such file or directory' "$quoted none"
refused 'none' "$quoted none"
refused 'Is a directory' "$quoted folder"
refused 'input.gz: File too large' "ulimit -f 100; $quoted input"
[ "$(cat "$dir/errors/input.gz")" = old ] || fail 'the old file is gone'
refused 'taken.gz: Is a directory' "$quoted taken"
refused 'standard output: No space left on device' "$quoted <input >/dev/full"
refused 'standard output: No space left on device' "$quoted </dev/null >/dev/full"
refused 'standard output: Bad file descriptor' "$quoted <input >&-"
refused 'standard input: Bad file descriptor' "$quoted <&-"
refused 'standard input: Is a directory' "$quoted <folder"
refused 'standard input: Input/output error' "$quoted </proc/self/mem"
refused 'out of range' "$quoted -b 1 input"
refused 'out of range' "$quoted -p none input"
refused 'invalid option' "$quoted -x input"
refused 'Argument list too long' "$quoted input input"
# Root may read anything, unless it is without that capability.
as=
[ ! -r "$dir/errors/unreadable" ] ||
	as='setpriv --bounding-set=-dac_override,-dac_read_search'
if $as true 2>/dev/null; then
	refused 'unreadable: Permission denied' "$as $quoted unreadable"
else
	echo 'no file that cannot be read to try'
fi
# A file system that is too small, where one may be made.
small="mount -t tmpfs -o size=$((large * 6 / 5)) none folder &&
	cp input folder && cd folder"
if unshare -rm sh -c "cd '$dir/errors' && $small" 2>/dev/null; then
	refused 'input.gz: No space left on device' \
		"unshare -rm sh -c '$small && { \"$run\" input; code=\$?; } &&
			[ \$(ls) = input ] && exit \$code'"
else
	echo 'no small file system to try'
fi
# A socket tells a peer that is gone from one that is done.
refused 'standard input: Connection reset by peer' "python3 -c '
import socket, subprocess, sys
ours, its = socket.socketpair()
its.send(b\"never read\")
with subprocess.Popen(sys.argv[1], stdin=its) as pgz:
    ours.sendall(bytes(10000000))
    ours.close()
sys.exit(pgz.returncode)' $quoted"

# A pipe that is closed: head ends after one byte, ours must as well.
mkfifo "$dir/fifo"
code=0
head -c 1 "$dir/fifo" >/dev/null &
"$program" <"$dir/random$large" >"$dir/fifo" 2>"$dir/err" || code=$?
wait
[ "$code" -eq 1 ] || fail "exit status $code for a closed pipe"
grep -qF 'standard output: Broken pipe' "$dir/err" || fail 'a closed pipe'

# A pipe does not tell: what a writer had to say before it was killed is whole.
"$program" <"$dir/fifo" >"$dir/cut.gz" &
pid=$!
exec 3>"$dir/fifo"
sh -c 'cat "$1" >&3; kill -KILL $$' sh "$dir/text98304" 2>/dev/null || :
exec 3>&-
exits 0 'a writer that was killed'
is_gzip_of "$dir/cut.gz" "$dir/text98304"

# Signals. `sh` lets what is in the background ignore some, nohup what it starts.
mkdir "$dir/signal"
mkfifo "$dir/signal/fifo"
start() {
	env --default-signal=HUP,INT,TERM "$@" &
	pid=$!
}

# signalled NAME CODE FILE: when that has been read, and the input goes on, it
# dies of the signal, and leaves nothing.
signalled() {
	start "$program" -p 2 "$dir/signal/fifo"
	exec 3>"$dir/signal/fifo"
	cat "$3" >&3
	kill -"$1" $pid
	exits "$2" "SIG$1"
	exec 3>&-
	[ "$(ls "$dir/signal")" = fifo ] || fail "SIG$1 leaves a file"
}
for n in 0 1 $((2 * block)) $large; do
	signalled TERM 143 "$dir/random$n"
	signalled INT 130 "$dir/text$n"
	signalled HUP 129 "$dir/text$n"
done

# Before there is a writer, it waits for one, and dies as well.
start "$program" "$dir/signal/fifo"
until [ "$(readlink "/proc/$pid/exe")" = "$run" ] &&
	grep -qs '^State:.S' "/proc/$pid/status"; do
	:
done
kill -TERM $pid
exits 143 'SIGTERM, without a writer'

# What it was told to ignore does it no harm.
start env --ignore-signal=HUP "$program" "$dir/signal/fifo"
exec 3>"$dir/signal/fifo"
cat "$dir/text$large" >&3
kill -HUP $pid
exec 3>&-
exits 0 'SIGHUP, ignored'
is_gzip_of "$dir/signal/fifo.gz" "$dir/text$large"
rm "$dir/signal/fifo.gz"

# Whenever it comes: all is there, or nothing.
ln "$dir/text$large" "$dir/signal/file"
i=0 whole=0
while [ $i -lt 20 ]; do
	start "$program" -p 2 "$dir/signal/file"
	j=0
	while [ $j -lt $((i * 4000)) ]; do
		j=$((j + 1))
	done
	kill -TERM $pid 2>/dev/null || :
	code=0
	wait $pid 2>/dev/null || code=$?
	if [ $code -eq 0 ]; then
		is_gzip_of "$dir/signal/file.gz" "$dir/signal/file"
		rm "$dir/signal/file.gz"
		whole=$((whole + 1))
	else
		[ $code -eq 143 ] || fail "exit status $code for SIGTERM"
	fi
	[ "$(ls "$dir/signal")" = "fifo
file" ] || fail 'SIGTERM leaves a file'
	i=$((i + 1))
done
echo "20 times SIGTERM, $whole too late"

# long FILE KIB: through a pipe, and the most memory that took: looked at when
# everything has been read, but before the end is.
long() {
	"$program" -p 2 <"$dir/fifo" >"$dir/long.gz" &
	pid=$!
	exec 3>"$dir/fifo"
	cat "$1" >&3
	peak=$(awk '/^VmHWM/ { print $2 }' "/proc/$pid/status")
	exec 3>&-
	exits 0 'a long input'
	is_gzip_of "$dir/long.gz" "$1"
	[ "$peak" -le "$2" ] || fail "$1 took $peak KiB"
	echo "$(wc -c <"$1") bytes took $peak KiB"
	rm "$dir/long.gz"
}

# Sanitizers need memory of their own: the bound is for plain builds.
limit=16384
if grep -q __asan_init "$program"; then
	limit=4194304
fi
text 50000000 >"$dir/long"
long "$dir/long" $limit
if [ "${WEIR_SOAK:-0}" = 1 ]; then
	{ text 536870912; random 536870912; } >"$dir/long"
	long "$dir/long" $limit
	whole "$dir/long" -p 2
fi
exit $status
