#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# inspected.sh PROGRAM: what it serves says who holds the others up. Skipped where curl is
# not installed, or a machine has not even a loopback device.
set -eu

command -v curl >/dev/null || { echo 'curl is not installed' && exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkfifo "$folder/in"
"$1" "unix:$folder/sock" <"$folder/in" >"$folder/out" &
exec 3>"$folder/in"
expected='held up by: ignore < permits waits for a permit in permits'
until curl -s --max-time 5 --unix-socket "$folder/sock" http://localhost/why |
	grep -q "$expected"; do
	kill -0 $!
done
curl -s --max-time 5 --unix-socket "$folder/sock" http://localhost/ |
	grep -q '<title>weir: a look inside</title>'
exec 3>&-
wait $!
[ "$(cat "$folder/out")" = "http://unix:$folder/sock/" ]
[ ! -e "$folder/sock" ]
