#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# compare.sh SOURCE: what bench/compare.py makes of made-up results.
set -eu

[ "$(nproc)" -gt 1 ] || exit 77 # cells with two workers are part of it

compare=$1/bench/compare.py
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PYTHONDONTWRITEBYTECODE=1

# Takes weir-bench's place: prints what stands in rows, or, the first time, what
# stands in first.
cat >"$dir/weir-bench" <<'END'
#!/bin/sh
dir=$(dirname "$0")
rows=$dir/rows
for workload in W1 W3 W4; do
	case $* in *--workload=$workload*) break ;; esac
done
case $* in *--workers=1*) workers=1 ;; *) workers=2 ;; esac
[ ! -e "$dir/first" ] || rows=$dir/first
[ -s "$rows" ] || { echo 'no rows' >&2; exit 1; }
grep "^{\"workload\": \"$workload\".*\"workers\": $workers," "$rows"
[ "$workload$workers" != W42 ] || rm -f "$dir/first"
END
chmod +x "$dir/weir-bench"

# row WORKLOAD STYLE WHO STAGES WINDOW WORKERS RATE
row() {
	printf '{"workload": "%s", "style": "%s", "who": "%s", "stages": %d, ' \
		"$1" "$2" "$3" "$4"
	printf '"window": %d, "workers": %d, "unit": "items/s", ' "$5" "$6"
	printf '"median": %d, "ok": true}\n' "$7"
}

# rows WEIR1 WEIR2 PERCENT [STREAMS]: weir's rates with one and with two workers;
# how fast the machine is; weir.streams' rate with one worker.
rows() {
	row W1 limit L1.batch 8 256 1 $((1000 * $3))
	row W1 limit L1.ring1 8 256 1 $((400 * $3))
	row W1 actors weir 8 256 1 $(($1 * $3))
	row W1 actors weir 8 256 2 $(($2 * $3))
	row W1 actors weir.streams 8 256 1 $((${4:-$1} * $3))
	row W1 actors weir.streams 8 256 2 $(($2 * $3))
	row W3 ping-pong bare 0 1 1 $((1000 * $3))
	row W3 ping-pong weir 0 1 1 $((500 * $3))
	row W3 ping-pong weir 0 1 2 $((500 * $3))
	row W4 jobs L1.ring1 0 64 1 $((100 * $3))
	for who in weir weir.pool; do
		row W4 jobs $who 0 64 1 $((80 * $3))
		row W4 jobs $who 0 64 2 $((160 * $3))
	done
}

# expect STATUS TEXT: it ends so (- for either way) and says that.
expect() {
	status=0
	"$compare" "$dir/weir-bench" "$dir/results" >"$dir/out" 2>&1 ||
		status=$?
	if [ "$1" != - ] && [ "$1" -ne "$status" ] ||
		! grep -q -- "$2" "$dir/out"; then
		echo "not status $1 with '$2', but $status with:"
		cat "$dir/out"
		exit 1
	fi
}

# refuses WORKLOAD RESULTS: to record it there.
refuses() {
	if "$compare" --record "$1" "$dir/weir-bench" "$2" 2>"$dir/out"; then
		echo "$1 was recorded in $2"
		exit 1
	fi
}

rows 600 600 100 >"$dir/rows"
"$compare" --record "$dir/weir-bench" "$dir/results"
grep -qx '"W1 actors T8 W256 1w": {"rate": 60000, "ratio": 0.6},' \
	"$dir/results"

echo 'unchanged, or a slower machine: passes'
expect 0 ' 0 fell'
rows 600 600 50 >"$dir/rows"
expect 0 ' 0 fell'

echo 'a fall of 10 % passes, one of 20 % is named'
rows 540 600 100 >"$dir/rows"
expect 0 ' 0 fell'
rows 480 600 100 >"$dir/rows"
expect 1 '^fell: W1 actors T8 W256 1w, from 0.6 to 0.48'

echo 'a fall that is gone when measured again passes'
cp "$dir/rows" "$dir/first"
rows 600 600 100 >"$dir/rows"
expect 0 ' 0 fell'
[ ! -e "$dir/first" ]

if grep -q 2w "$dir/results"; then
	echo 'a fall with two workers is named, judged or not'
	rows 600 480 100 >"$dir/rows"
	expect - ': W1 actors T8 W256 2w, from 0.6 to 0.48'
fi

echo 'streams may lose 4 % of what links reach in the same run, not 6 %'
rows 600 600 100 576 >"$dir/rows"
expect 0 ' 0 fell'
rows 600 600 100 564 >"$dir/rows"
expect 1 '^fell: W1 streams T8 W256 1w, from 1 to 0.94'
rows 600 600 100 | grep -v 'streams.*"workers": 1' >"$dir/rows"
expect 1 '^missing: W1 streams T8 W256 1w'
if grep streams "$dir/results"; then
	echo 'streams were recorded'
	exit 1
fi

echo 'each way to do jobs is a cell'
rows 600 600 100 | sed 's/\(weir.pool.*"workers": 1.*\) 8000,/\1 6000,/' \
	>"$dir/rows"
expect 1 '^fell: W4 jobs.pool T0 W64 1w, from 0.8 to 0.6'

echo 'one workload is recorded alone; the others keep their machine'
rows 300 600 100 >"$dir/rows"
sed -i 's/"ratio": 0.8/"ratio": 0.2/; s/^\("W[0-9]": .*\)"cpus": /\1"cpus": 1/' \
	"$dir/results"
"$compare" --record W4 "$dir/weir-bench" "$dir/results"
grep -qx '"W4 jobs T0 W64 1w": {"rate": 8000, "ratio": 0.8},' "$dir/results"
grep -qx '"W1 actors T8 W256 1w": {"rate": 60000, "ratio": 0.6},' \
	"$dir/results"
refuses W2 "$dir/results"
refuses W4 "$dir/nothing"
rows 600 600 100 >"$dir/rows"
expect 0 '^W1, W3: recorded on another machine'

echo 'a missing cell is named'
rows 600 600 100 | grep -v 'ping-pong.*weir.*"workers": 1' >"$dir/rows"
expect 1 '^missing: W3 ping-pong T0 W1 1w'

echo 'a new one too'
rows 600 600 100 >"$dir/rows"
row W1 actors weir 8 16 1 5 >>"$dir/rows"
row W1 limit L1.batch 8 16 1 5 >>"$dir/rows"
expect 0 '^new: W1 actors T8 W16 1w'

echo 'wrong results, garbage and a failure are errors'
rows 600 600 100 | sed '3s/true/false/' >"$dir/rows"
expect 1 'a wrong result'
rows 600 600 100 | sed '3s/"unit"/"knit"/' >"$dir/rows"
expect 1 'not a line of weir-bench'
: >"$dir/rows"
expect 1 '^no rows'

rows 600 600 100 >"$dir/rows"
for garbage in '' '{' '[]' '{"cells": {}, "machines": {}}' \
	'{"cells": {"W1": {"ratio": 1}}, "machines": {"W1": 0}}' \
	'{"cells": {"a b T1 W1 1w": {"ratio": 1}}, "machines": {}}' \
	'{"cells": {"a b T1 W1 1w": {"ratio": "x"}}, "machines": {"a": 0}}'; do
	printf '%s\n' "$garbage" >"$dir/results"
	expect 1 'no recorded results'
done
rm "$dir/results"
expect 1 'no recorded results'
