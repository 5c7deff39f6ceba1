#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# stored.sh PROGRAM: it prints what is published, and what it has printed is not given to
# it again. Skipped where nats-server is not installed.
set -eu

command -v nats-server >/dev/null ||
	{ echo 'nats-server is not installed' && exit 77; }
folder=$(mktemp -d)
trap 'kill $server 2>/dev/null; wait 2>/dev/null; rm -rf "$folder"' EXIT
nats-server -a 127.0.0.1 -p -1 --ports_file_dir "$folder" -js -sd "$folder" \
	>"$folder/log" 2>&1 &
server=$!
ports=$folder/nats-server_$server.ports
until grep -q '}' "$ports" 2>/dev/null; do kill -0 $server; done
url=$(sed 's/.*"\(nats:[^"]*\)".*/\1/' "$ports")

# publish TEXT...: each as a message, which the server has stored then.
publish() {
	python3 - "${url##*:}" "$@" <<'END'
import socket
import sys
server = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
lines = server.makefile("rb")
server.sendall(b'CONNECT {"verbose":false}\r\nSUB inbox 1\r\n')
for text in sys.argv[2:]:
    server.sendall(f"PUB ORDERS inbox {len(text)}\r\n{text}\r\n".encode())
answers = 0
while answers < len(sys.argv) - 2:
    answers += b'"stream":"ORDERS"' in lines.readline()
END
}

"$1" 2>&1 | grep -q '^usage: '
"$1" "$url" 0 # makes the stream
publish one two three
"$1" "$url" 2 >"$folder/out"
printf 'one\ntwo\n' | cmp - "$folder/out"
publish four
# "three" may have been on its way to the program that was over
"$1" "$url" 2 | sort >"$folder/out"
printf 'four\nthree\n' | cmp - "$folder/out"
