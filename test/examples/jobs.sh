#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# jobs.sh PROGRAM: three members run commands while one of them is killed with -9 and
# one stands still for longer than its commands wait, drawn by WEIR_TEST_SEED. Each
# command is run; twice at most those that these two had, and no member has more than
# its share at a time. Then a member is drained and replaced: nothing is run twice.
# Eight times in a soak. Skipped where nats-server is not installed.
set -eu
export LC_ALL=C

command -v nats-server >/dev/null ||
	{ echo 'nats-server is not installed' && exit 77; }
if [ "${WEIR_SOAK:-0}" = 1 ] && [ -z "${WEIR_TEST_SEED-}" ]; then
	for seed in 1 2 3 4 5 6 7 8; do
		WEIR_TEST_SEED=$(($$ + seed)) "$0" "$1"
	done
	exit
fi
program=$1
folder=$(mktemp -d)
max=2
members=
trap 'kill -9 $members $server 2>/dev/null || :; wait 2>/dev/null; rm -rf "$folder"' EXIT
nats-server -a 127.0.0.1 -p -1 --ports_file_dir "$folder" -js -sd "$folder/store" \
	>"$folder/log" 2>&1 &
server=$!
ports=$folder/nats-server_$server.ports
until grep -q '}' "$ports" 2>/dev/null; do kill -0 $server; done
url=$(sed 's/.*"\(nats:[^"]*\)".*/\1/' "$ports")
seed=${WEIR_TEST_SEED:-$$}
echo "WEIR_TEST_SEED=$seed"

# ask SUBJECT [ANSWER]: publishes each line of the input, and prints the answers; with
# ANSWER each again and again until its answer has that.
ask() {
	python3 -c '
import socket
import sys
import time
server = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
lines = server.makefile("rb")
server.sendall(b"CONNECT {\"verbose\":false}\r\nSUB inbox 1\r\n")
for text in sys.stdin.read().splitlines():
    for again in range(300):
        time.sleep(0.1 if again else 0)
        server.sendall(f"PUB {sys.argv[2]} inbox {len(text)}\r\n{text}\r\n".encode())
        while not lines.readline().startswith(b"MSG inbox"):
            pass
        answer = lines.readline().decode().strip()
        if sys.argv[3] in answer:
            break
    print(answer)
' "${url##*:}" "$1" "${2-}"
}

# all_done: waits until nothing is in the stream.
all_done() {
	echo | ask "\$JS.API.STREAM.INFO.JOBS" '"messages":0,' |
		grep -q '"messages":0,' && return
	echo "all of this has run:" && cat "$folder/runs" && return 1
}

# member: one more, whose number is $pid.
member() {
	"$program" "$url" $max &
	pid=$!
	members="$members $pid"
}

# publish FIRST LAST: jobs; each writes when it begins and ends, and by whom it was begun.
publish() {
	for i in $(seq "$1" "$2"); do
		echo "echo + $i \$PPID >>'$folder/runs'; sleep 0.$((i % 3 + 2));" \
			"echo - $i \$PPID >>'$folder/runs'"
	done | ask JOBS >"$folder/answers"
	grep -c '"stream":"JOBS"' "$folder/answers" | grep -qx $(($2 - $1 + 1))
}

# check N BOUND HARMED...: of the runs of 1 to N.
check() {
	n=$1 bound=$2
	shift 2
	awk -v n="$n" -v bound="$bound" -v max=$max -v harmed=" $* " '
	$1 == "+" { runs[$2]++; if (++at[$3] > max) { print $3 " has " at[$3]; bad = 1 }
		if (index(harmed, " " $3 " ")) had[$2] = 1 }
	$1 == "-" { at[$3]--; ended[$2]++ }
	END {
		for (i = 1; i <= n; i++) {
			if (!ended[i]) { print i " has not ended"; bad = 1 }
			if (runs[i] > 1 && !had[i]) { print i " ran " runs[i]; bad = 1 }
			more += runs[i] - 1
		}
		if (more > bound) { print more " runs too many"; bad = 1 }
		exit bad
	}' "$folder/runs" || { cat "$folder/runs" && exit 1; }
}

"$program" 2>&1 | grep -q '^usage: '
: >"$folder/runs"
member && one=$pid
member && two=$pid
member && three=$pid
all_done

# One is killed, and one stands still until the others have done all.
publish 1 24
sleep "0.$((seed % 5))"
case $((seed % 3)) in
0) killed=$one stopped=$two well=$three ;;
1) killed=$two stopped=$three well=$one ;;
*) killed=$three stopped=$one well=$two ;;
esac
kill -9 "$killed"
sleep "0.$((seed / 5 % 5))"
kill -STOP "$stopped"
all_done
kill -CONT "$stopped"

# It is drained, also of what it was given while it stood still, and another one comes.
kill -TERM "$stopped"
wait "$stopped"
check 24 $((2 * max)) "$killed" "$stopped"
member
: >"$folder/runs"

# Members are drained one after the other, while there is work, and replaced.
publish 1 12
for pid in $well $pid; do
	old=$pid
	member
	kill -TERM "$old"
	wait "$old"
done
# One is given again, and one is not.
printf '%s\n%s\n' "test -e '$folder/again' || { touch '$folder/again'; exit 75; }" \
	'exit 3' | ask JOBS >"$folder/answers"
all_done
for pid in $members; do
	kill -TERM "$pid" 2>/dev/null && wait "$pid"
done
check 12 0
test -e "$folder/again"
echo | ask "\$JS.API.STREAM.INFO.DEAD" | grep -q '"messages":1,'
