#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# chart.sh SOURCE: what bench/chart.py makes of made-up results; and that docs/charts
# is drawn from the results that are kept there.
set -eu

chart=$1/bench/chart.py
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PYTHONDONTWRITEBYTECODE=1

# row WORKLOAD STYLE WHO WINDOW FIGURES
row() {
	printf '{"workload": "%s", "style": "%s", "who": "%s", ' "$1" "$2" "$3"
	printf '"stages": %d, "window": %d, "workers": 1, ' "${stages:-0}" "$4"
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
	stages=1
	row W1 actors weir 16 '"median": 2500000, "min": 1, "max": 9'
	row W1 peer tbb.flow 16 '"median": 1000000, "min": 1, "max": 9'
	row W1 peer tbb.serial 16 '"median": 300000, "min": 1, "max": 9'
	row W1 peer erlang 16 '"median": 2000, "min": 1, "max": 9'
} >"$dir/results"
"$chart" "$dir/results" "$dir/charts" >"$dir/out"

echo 'a table has the ratios, or the figures where there is no rate'
has out 'cell workers best limit weir actors other tbb.flow tbb.serial erlang'
has out 'T0 W16 1 4M 0.250 0.125 - - -'
has out 'T0 W256 1 1k 2.000 - - - -'
has out 'busy 1 (50/60/70) 0.250 (200/300/400)'
has out 'idle (u: CPU/ns/calls)'
has out 'actors 1 - (7/8/0)'

# says FILE WORDS: a text of this chart is that.
says() {
	grep -qF ">$2</text>" "$dir/charts/$1.svg" || {
		echo "$1.svg does not say '$2':"
		cat "$dir/charts/$1.svg"
		exit 1
	}
}

echo 'a chart compares with the fastest program of each library'
says pipelines 'Items through 3 stages: weir is 2.5 times as fast as the next best'
says pipelines '2.5 million items/s'
says pipelines '1 million items/s'
says pipelines '2 thousand items/s'
[ "$(grep -c '>oneTBB<' "$dir/charts/pipelines.svg")" -eq 1 ]

echo 'or with the best limit, and a bar is as long as that says'
says limits '25 %'
says limits '200 %'
grep -q 'width="420" height="13"' "$dir/charts/limits.svg"
grep -q 'width="52" height="13"' "$dir/charts/limits.svg"

echo 'there is none of what was not measured'
[ "$(cd "$dir/charts" && echo ./*)" = \
	'./limits.svg ./pipelines.svg ./results.json' ]

echo 'the charts can be drawn again from what is kept with them'
"$chart" "$dir/charts/results.json" "$dir/again" >/dev/null
diff -r "$dir/charts" "$dir/again"
"$chart" "$1/docs/charts/results.json" "$dir/docs" >/dev/null
diff -r "$dir/docs" "$1/docs/charts" || {
	echo 'run bench/chart.py docs/charts/results.json docs/charts'
	exit 1
}

echo 'garbage is an error'
echo 'who?' >>"$dir/results"
if "$chart" "$dir/results" "$dir/charts" >"$dir/out" 2>&1; then
	echo 'no error'
	exit 1
fi
grep -q 'not a line of weir-bench --json: who?' "$dir/out"
