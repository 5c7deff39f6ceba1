#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# chart.sh SOURCE: what bench/chart.py makes of made-up results. Another gnuplot
# takes the place of the real one and keeps what it is told.
set -eu

chart=$1/bench/chart.py
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PYTHONDONTWRITEBYTECODE=1

mkdir "$dir/bin"
printf '#!/bin/sh\ncat >>"%s/told"\n' "$dir" >"$dir/bin/gnuplot"
chmod +x "$dir/bin/gnuplot"
PATH=$dir/bin:$PATH

# row WORKLOAD STYLE WHO WINDOW FIGURES
row() {
	printf '{"workload": "%s", "style": "%s", "who": "%s", ' "$1" "$2" "$3"
	printf '"stages": 0, "window": %d, "workers": 1, ' "$4"
	printf '"unit": "u", %s, "rounds": 3, "ok": true}\n' "$5"
}

# has FILE LINE: it has this line, whatever the space between its words.
has() {
	tr -s ' ' <"$dir/$1" | grep -qxF -- "$2" || {
		echo "no line '$2':"
		cat "$dir/$1"
		exit 1
	}
}

{
	row W1 limit L1.batch 16 '"median": 4000000, "min": 1, "max": 9'
	row W1 limit L1.ring1 16 '"median": 2000000, "min": 1, "max": 9'
	row W1 actors weir 16 '"median": 1000000, "min": 1, "max": 9'
	row W1 peer other 16 '"median": 500000, "min": 1, "max": 9'
	row W1 limit L1.batch 256 '"median": 1000, "min": 1, "max": 9'
	row W1 actors weir 256 '"median": 2000, "min": 1, "max": 9'
	row W5 busy L1.spin 1 '"p50": 50, "p99": 60, "p99.9": 70'
	row W5 busy weir 1 '"p50": 200, "p99": 300, "p99.9": 400'
	row idle actors weir 1 '"CPU": 7, "ns": 8, "calls": 0'
} >"$dir/results"
"$chart" "$dir/results" "$dir/charts" >"$dir/out"

echo 'a table has the ratios, or the figures where there is no rate'
has out 'cell workers best limit weir actors other'
has out 'W16 1 4M 0.250 0.125'
has out 'W256 1 1k 2.000 -'
has out 'busy 1 (50/60/70) 0.250 (200/300/400)'
has out 'idle (u: CPU/ns/calls)'
has out 'actors 1 - (7/8/0)'

echo 'a chart has the same; there is none without a limit'
has told '"W16" 0.25 0.125'
has told '"W256" 2 -'
has told '"busy" 0.25'
has told "set output '$dir/charts/w5.svg'"
[ "$(grep -c '^set output' "$dir/told")" -eq 2 ]

echo 'garbage is an error'
echo 'who?' >>"$dir/results"
if "$chart" "$dir/results" "$dir/charts" >"$dir/out" 2>&1; then
	echo 'no error'
	exit 1
fi
grep -q 'not a line of weir-bench --json: who?' "$dir/out"
