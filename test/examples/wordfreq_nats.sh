#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# wordfreq_nats.sh PROGRAM: its counts are those of tr, sort and uniq; also when each of
# its programs is killed with -9 at any time and started again, and every second time the
# server, too: twice, twenty times in a soak. Skipped where nats-server is not installed.
set -eu
export LC_ALL=C

command -v nats-server >/dev/null ||
	{ echo 'nats-server is not installed' && exit 77; }
program=$1
folder=$(mktemp -d)
trap 'kill -9 $server 2>/dev/null || :; wait 2>/dev/null; rm -rf "$folder"' EXIT

# serve PORT STORE
serve() {
	nats-server -a 127.0.0.1 -p "$1" --ports_file_dir "$folder" -js -sd "$2" \
		>"$folder/log" 2>&1 &
	server=$!
	ports=$folder/nats-server_$server.ports
	until grep -q '}' "$ports" 2>/dev/null; do kill -0 $server; done
	url=$(sed 's/.*"\(nats:[^"]*\)".*/\1/' "$ports")
}

awk 'BEGIN { for (i = 0; i < 2000; i++) {
	n = i * 7919 % 3000; w = ""
	do { w = w substr("etaoinshrdlucmfwypvbgkqjxz", n % 26 + 1, 1)
		n = int(n / 26) } while (n)
	printf "The %s, and%d %s%s", w, i, toupper(w), i % 3 ? "; " : "\n" } }' \
	>"$folder/text"
tr -cs 'A-Za-z' '\n' <"$folder/text" | tr '[:upper:]' '[:lower:]' | grep . |
	sort | uniq -c | awk '{ print $1, $2 }' | sort >"$folder/expected"

# insist KILL ARGUMENT...: runs the program until it has ended well; with KILL above 0
# the first run is killed after so many hundredths of a second.
insist() {
	after=$1
	shift
	if [ "$after" -gt 0 ]; then
		"$program" "$url" "$@" &
		pid=$!
		sleep "0.$(printf %02d "$after")"
		kill -9 $pid 2>/dev/null || :
		wait $pid 2>/dev/null && return
	fi
	# what is asked of a server that dies is not answered
	for _ in 1 2 3; do
		"$program" "$url" "$@" && return
	done
	return 1
}

# count KILL_OF_EACH: read, split, and count by two members.
count() {
	rm -f "$folder"/result.*
	insist "$1" read "$folder/text" &
	read=$!
	insist "$2" split &
	split=$!
	insist "$3" count 0 "$folder/result.0" &
	zero=$!
	insist "$4" count 1 "$folder/result.1" &
	one=$!
	if [ "$5" -gt 0 ]; then
		sleep "0.$(printf %02d "$5")"
		kill -9 $server
		wait $server 2>/dev/null || :
		serve "${url##*:}" "$store"
	fi
	for pid in $read $split $zero $one; do
		wait "$pid"
	done
	sort "$folder/result.0" "$folder/result.1" | cmp - "$folder/expected"
}

rounds=2
[ "${WEIR_SOAK:-0}" = 1 ] && rounds=20
i=0
while [ $i -le $rounds ]; do
	store=$folder/store$i
	serve -1 "$store"
	if [ $i -eq 0 ]; then
		count 0 0 0 0 0
	else
		count $((i * 7 % 20 + 1)) $((i * 11 % 23 + 1)) \
			$((i * 5 % 30 + 1)) $((i * 13 % 17 + 1)) \
			$(((i + 1) % 2 * (i * 3 % 20 + 5)))
	fi
	kill -9 $server
	wait $server 2>/dev/null || :
	i=$((i + 1))
done
