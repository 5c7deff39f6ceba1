#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# embed_poll.sh PROGRAM: the result is right; held back, the pipeline takes no
# more than fits into it and leaves the rest to the socket; and when nothing
# can move, nothing wakes the program's own loop.
set -eu

file=$(mktemp)
trap 'rm -f "$file"' EXIT
threads=0
# Again if it had ended before the first look, on a machine that is busy.
while [ "$threads" -eq 0 ]; do
	"$1" >"$file" &
	pid=$!
	# Nothing when it has ended, be it waited for or not.
	while n=$(awk '/^State:.*Z/ { exit } /^Threads:/ { print $2 }' \
		"/proc/$pid/status" 2>/dev/null) && [ -n "$n" ]; do
		[ "$n" -le "$threads" ] || threads=$n
	done
	wait "$pid"
done
out=$(cat "$file")
printf '%s\n' "$out"
[ "$threads" -eq 1 ] || { echo "$threads threads"; exit 1; }

# limited WHAT LIMIT: a line "held: N ... WHAT M" has 0 < N <= LIMIT, or M.
limited() {
	printf '%s\n' "$out" | awk -v what="$1" -v limit="$2" '
	index($0, what) {
		if (limit == "") limit = $NF + 0
		found = $2 > 0 && $2 <= limit
	}
	END { exit !found }' || { echo "not so: $1"; exit 1; }
}

limited 'bytes received' 2048
limited 'bytes in the socket, it takes' ''
for line in 'held: 0 wake-ups' 'idle: 0 wake-ups' \
	'sum of 200000 numbers: 20000100000'; do
	printf '%s\n' "$out" | grep -qx "$line" ||
		{ echo "missing: $line"; exit 1; }
done
