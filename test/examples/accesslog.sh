#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# accesslog.sh LINES [PER_SECOND]: an access log in the combined format, the
# same each time: paths as often as in life, some lines that are none, seconds
# without any.
set -eu

awk -v lines="$1" -v rate="${2:-1000}" '
function random(n) { return int(rand() * n) }
BEGIN {
	srand(1)
	split("200 200 200 200 200 200 304 301 404 500 503 206 100", status)
	split("GET GET GET GET POST HEAD", method)
	time = 86390
	for (i = 0; i < lines; i++) {
		if (random(rate) == 0)
			time += random(10) ? 1 : 3
		if (random(1000) == 0) {
			print "not a line of a log " i
			continue
		}
		path = "/page/" int(2000 ^ (random(10000) / 10000))
		if (random(5) == 0)
			path = path "?query=" random(100)
		day = 10 + int(time / 86400)
		bytes = random(20) ? random(100000) : "-"
		printf "192.0.2.%d - %s [%02d/Oct/2000:%02d:%02d:%02d -0700] " \
			"\"%s %s HTTP/1.1\" %d %s \"%s\" \"Mozilla/5.0 (X11)\"\n",
			random(256), random(4) ? "-" : "frank", day,
			int(time % 86400 / 3600), int(time % 3600 / 60),
			time % 60, method[1 + random(6)], path,
			status[1 + random(13)], bytes,
			random(3) ? "-" : "http://example.com/a?b"
	}
}'
