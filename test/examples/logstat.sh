#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# logstat.sh PROGRAM: what it counts is what awk counts, of a file, of a pipe,
# second by second when it is simulated, and of what it has read, to the byte,
# when it is interrupted; each report has its line of progress. 5 million lines,
# and more interrupts, in a soak.
set -eu
export LC_ALL=C

program=$1
make=$(dirname "$0")/accesslog.sh
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
status=0
lines=100000 interrupts=10
if [ "${WEIR_SOAK:-0}" = 1 ]; then
	lines=5000000 interrupts=500
fi

fail() {
	echo "logstat: $1"
	status=1
}

# The last line of ours, by other means, of FILE, whose last line may be cut off.
reference() {
	awk -F '"' '
	NF < 4 || !/"$/ { malformed++; next }
	{
		split($3, answer, " ")
		class[int(answer[1] / 100)]++
		bytes += answer[2]
	}
	END {
		printf "total %d:", NR
		for (i = 1; i < 6; i++)
			printf " %dxx %d", i, class[i]
		printf " bytes %.0f malformed %d\n", bytes, malformed
	}' "$1"
}

# The same of each second: its number and its requests, if there were any.
seconds() {
	awk '
	/\[/ {
		split($4, time, /[\[\/:]/)
		now = ((time[2] * 24 + time[5]) * 60 + time[6]) * 60 + time[7]
		if (!first)
			first = now
		second = now - first
	}
	/\[/ { n[second + 1]++ }
	END { for (s in n) print s, n[s] }' "$1" | sort -n
}

ours() {
	sed -n '/^total/,$p' "$dir/out"
}

same() {
	[ "$(ours)" = "$1" ] || {
		fail "$2: another result"
		printf '%s\n' "$1" | diff - "$dir/out" | tail -n 30
	}
}

# The reports come to the total, nothing is counted twice or in none; and the
# progress behind each is what they come to so far.
adds_up() {
	awk '
	FNR == NR && /^logstat:/ { said[++n_said] = $2 " " $4; next }
	{ for (i = 3; i <= NF; i++) if ($i ~ /^[0-9]+$/) n[$1 i] += $i }
	/^second/ {
		for (i = 4; i <= 12; i += 2)
			sum += $i
		sum += $16
		if (said[++n_reports] != $2 + 0 " " sum)
			exit 1
	}
	END {
		if (n_said != n_reports)
			exit 1
		for (i = 4; i <= 16; i += 2)
			if (n["second" i] != n["total" i])
				exit 1
	}' "$dir/err" "$dir/out" || fail "$1: the reports do not add up"
}

run() {
	"$program" "$@" >"$dir/out" 2>"$dir/err" || {
		fail "exit status $? for $*"
		cat "$dir/err"
	}
}

sh "$make" $lines >"$dir/log"
whole=$(reference "$dir/log")
run "$dir/log"
same "$whole" 'a file'
adds_up 'a file'
grep -q "^logstat: .* $lines lines$" "$dir/err" || fail 'no progress'
run --simulate "$dir/log"
same "$whole" 'simulated'
adds_up 'simulated'
# by_seconds FILE: so are its reports; there is one each second.
by_seconds() {
	awk '/^second/ { n = 0
		for (i = 4; i <= 12; i += 2)
			n += $i
		if (n) print $2 + 0, n }' "$dir/out" >"$dir/ours"
	seconds "$1" | diff - "$dir/ours" >"$dir/diff" || {
		fail "$1: other seconds"
		head -n 20 "$dir/diff"
	}
	awk '/^second/ && $2 + 0 != ++n { exit 1 }' "$dir/out" ||
		fail "$1: not a report each second"
}
by_seconds "$dir/log"

# Of no lines, of one without an end, of one that is cut off.
: >"$dir/short"
run "$dir/short"
same "$(reference "$dir/short")" 'no lines'
head -n 1 "$dir/log" | tr -d '\n' >"$dir/short"
run "$dir/short"
same "$(reference "$dir/short")" 'one line'
run --simulate "$dir/short"
same "$(reference "$dir/short")" 'one line, simulated'
head -c 60 "$dir/log" >"$dir/short"
run "$dir/short"
same "$(reference "$dir/short")" 'a part of a line'

mkfifo "$dir/fifo"
begin() {
	"$program" "$@" "$dir/fifo" >"$dir/out" 2>"$dir/err" &
	pid=$!
	exec 3>"$dir/fifo"
}

# A pipe; and the most memory that takes, looked at when all has been written,
# but before the end is read. Sanitizers need memory of their own.
begin
cat "$dir/log" >&3
peak=$(awk '/^VmHWM/ { print $2 }' "/proc/$pid/status")
exec 3>&-
wait $pid || fail "exit status $?, a pipe"
same "$whole" 'a pipe'
adds_up 'a pipe'
echo "$lines lines took $peak KiB"
grep -q __asan_init "$program" || [ "$peak" -le 8192 ] ||
	fail "$lines lines took $peak KiB"

# interrupt BYTES [SIGNAL]: after so many were written, while the pipe stays
# open: what it has counted is what it has read, that is, what is not left there.
interrupt() {
	begin
	head -c "$1" "$dir/log" >&3
	exec 4<"$dir/fifo"
	kill -"${2:-INT}" $pid
	wait $pid || fail "exit status $? when interrupted"
	exec 3>&-
	head -c $(($1 - $(wc -c <&4))) "$dir/log" >"$dir/read"
	exec 4<&-
	same "$(reference "$dir/read")" "interrupted after $1 bytes"
	adds_up "interrupted after $1 bytes"
}
interrupt 0
interrupt 1
interrupt 100000 TERM
interrupt "$(wc -c <"$dir/log")"
awk -v n=$interrupts 'BEGIN {
	srand(5)
	for (; n; n--)
		print int(4000000 * rand())
}' >"$dir/points"
while read -r n; do
	interrupt "$n"
done <"$dir/points"

# The same simulated, after so many lines: the seconds that it has counted are
# whole, and the rest of the log is not counted.
interrupt_simulated() {
	begin --simulate
	head -n "$1" "$dir/log" >&3
	kill -INT $pid
	tail -n "+$(($1 + 1))" "$dir/log" >&3 2>/dev/null || :
	exec 3>&-
	wait $pid || fail "exit status $? when interrupted, simulated"
	n=$(ours | sed -n '1s/^total \([0-9]*\):.*/\1/p')
	[ "$n" -gt 0 ] || fail "interrupted after $1 lines: counted none"
	[ "$n" -lt "$lines" ] || fail "interrupted after $1 lines: counted all"
	head -n "$n" "$dir/log" >"$dir/read"
	same "$(reference "$dir/read")" "interrupted after $1 lines, simulated"
	adds_up "interrupted after $1 lines, simulated"
	by_seconds "$dir/read"
	awk -v n="$n" '/\[/ { now = $4 }
		NR == n { last = now }
		NR == n + 1 { exit now == last }' "$dir/log" ||
		fail "interrupted after $1 lines: a part of a second, $n lines"
}
for n in 1000 12345 $(seq 5000 2500 50000); do
	interrupt_simulated "$n"
done

# refused MESSAGE ARGUMENT...
refused() {
	message=$1
	shift
	code=0
	"$program" "$@" >"$dir/out" 2>"$dir/err" || code=$?
	[ "$code" -eq 1 ] || fail "exit status $code for $*"
	grep -qF "$message" "$dir/err" || fail "does not say: $message"
}
refused 'No such file or directory' "$dir/none"
refused 'Is a directory' "$dir"
refused 'Input/output error' --simulate "$dir"
head -c 100000 /dev/zero | tr '\0' x >"$dir/short"
refused 'Message too long' "$dir/short"
code=0
"$program" "$dir/log" >/dev/full 2>"$dir/err" || code=$?
[ "$code" -eq 1 ] || fail "exit status $code when it cannot write"
grep -qF 'standard output: No space left on device' "$dir/err" ||
	fail 'does not say that it cannot write'
exit $status
