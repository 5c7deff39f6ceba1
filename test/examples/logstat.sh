#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# logstat.sh PROGRAM: what it counts is what awk counts, of a file, of a pipe,
# second by second when it is simulated, and of what it has read when it is
# interrupted. 5 million lines in a soak.
set -eu
export LC_ALL=C

program=$1
make=$(dirname "$0")/accesslog.sh
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
status=0
lines=100000
if [ "${WEIR_SOAK:-0}" = 1 ]; then
	lines=5000000
fi

fail() {
	echo "logstat: $1"
	status=1
}

# The last lines of ours, by other means: of FILE, or its first N lines.
reference() {
	head -n "${2:-1000000000}" "$1" | awk -F '"' '
	NF < 7 { malformed++; next }
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
	}'
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

# The reports come to the total: nothing is counted twice, or in none.
adds_up() {
	awk '
	{ for (i = 3; i <= NF; i++) if ($i ~ /^[0-9]+$/) n[$1 i] += $i }
	END {
		for (i = 4; i <= 16; i += 2)
			if (n["second" i] != n["total" i])
				exit 1
	}' "$dir/out" || fail "$1: the seconds do not add up"
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
# shellcheck disable=SC2002 # a pipe is what we want
cat "$dir/log" | "$program" >"$dir/out" 2>/dev/null || fail 'exit status, a pipe'
same "$whole" 'a pipe'
adds_up 'a pipe'

run --simulate "$dir/log"
same "$whole" 'simulated'
adds_up 'simulated'
awk '/^second/ { n = 0
	for (i = 4; i <= 12; i += 2)
		n += $i
	if (n) print $2 + 0, n }' "$dir/out" >"$dir/ours"
seconds "$dir/log" | diff - "$dir/ours" >"$dir/diff" || {
	fail 'simulated: other seconds'
	head -n 20 "$dir/diff"
}

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

# interrupt LINES: after so many were written, while the pipe stays open: what
# it has counted is the beginning of the log, whole lines of it but the last.
mkfifo "$dir/fifo"
interrupt() {
	"$program" "$dir/fifo" >"$dir/out" 2>"$dir/err" &
	pid=$!
	exec 3>"$dir/fifo"
	head -n "$1" "$dir/log" >&3
	kill -INT $pid
	wait $pid || fail "exit status $? when interrupted"
	exec 3>&-
	n=$(ours | sed -n '1s/^total \([0-9]*\):.*/\1/p')
	[ "$n" -le "$1" ] || fail "counted $n of $1 lines"
	adds_up "interrupted after $n"
	[ "$(ours)" = "$(reference "$dir/log" "$n")" ] ||
		# the last one was cut off where the pipe was
		[ "$(ours | sed 's/malformed.*//')" = \
			"$(reference "$dir/log" $((n - 1)) |
				sed "s/total $((n - 1))/total $n/
					s/malformed.*//")" ] ||
		fail "interrupted after $n of $1 lines: another result"
}
interrupt 1
interrupt 1000
interrupt 20000
interrupt $lines

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
exit $status
