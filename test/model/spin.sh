#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Search the models of this directory with Spin: spin.sh [quick|full] [PATTERN]
#
# Prints one line a run and a closing line. A run passes if a model that must
# hold holds in a complete search, or if a mutant that must fail violates the
# assertion it is meant to violate. Anything else (an incomplete search, no
# memory, no time, a model that does not compile) is a failure. Exit status: 0,
# 1 if a run failed, 77 if Spin is not installed. With PATTERN, an extended
# regular expression, only the runs whose model and definitions match it.
#
# quick needs less than a minute on each of two processors, and 4 GB; full is for
# a soak.

set -u

mode=${1:-quick}
pattern=${2:-}

case $mode in
quick) memory=1800 seconds=60 depth=100000 slots=20 jobs=2 ;;
full) memory=4000 seconds=3600 depth=4000000 slots=24 jobs=1 ;;
*)
	echo "usage: spin.sh [quick|full] [PATTERN]" >&2
	exit 2
	;;
esac

if ! command -v spin >/dev/null 2>&1; then
	echo "spin is not installed: skipped"
	echo "0 passed, 0 failed, 1 skipped"
	exit 77
fi

models=$(cd "$(dirname "$0")" && pwd) || exit 1
work=$(mktemp -d) || exit 1
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

runs=0 skipped=0

report() # PASS|FAIL text
{
	echo "$1 $2"
}

# search EXPECTED MODEL DEFINITIONS PAN-ARGUMENTS quick|full
# EXPECTED is `holds` or the text of pan's complaint, a fixed string.
search()
{
	local expected=$1 model=$2 name="$2${3:+ $3}" states complaint status
	local -a definitions arguments flags=(-DSAFETY -O0)
	local child=

	read -r -a definitions <<<"$3"
	read -r -a arguments <<<"$4"
	if [ "$5" = full ]; then
		flags=(-DSAFETY -DCOLLAPSE -O2) # a small search does not repay it
	fi
	if [ -n "$4" ]; then
		flags=(-DCOLLAPSE -O2 -DNFAIR=3)
		name="$name [$4]"
	fi
	trap '[ -z "$child" ] || kill "$child" 2>/dev/null; exit 1' TERM
	if ! spin -a ${definitions[@]+"${definitions[@]}"} \
	    "$models/$model" >spin.log 2>&1 ||
	    ! cc -w -DVECTORSZ=2048 -DMEMLIM="$memory" \
	    "${flags[@]}" -o pan pan.c >>spin.log 2>&1; then
		report FAIL "$name: does not compile: $(grep -m1 rror spin.log)"
		return
	fi
	# in the background, so that a signal ends it as well; by processor time,
	# as others may have the processors
	(
		ulimit -t "$seconds"
		exec ./pan -m"$depth" -w"$slots" -n \
		    ${arguments[@]+"${arguments[@]}"}
	) >pan.log 2>&1 &
	child=$!
	wait "$child"
	status=$?
	child=
	states=$(awk '/states, stored/ { print $1; exit }' pan.log)
	complaint=$(sed -n 's/^pan:1: *//p' pan.log | head -n 1)
	if [ "$status" -eq $((128 + $(kill -l XCPU))) ] ||
	    [ "$status" -eq $((128 + $(kill -l KILL))) ]; then
		report FAIL "$name: incomplete, more than $seconds s"
	elif [ "$status" -ne 0 ] || grep -q -e 'max search depth' \
	    -e 'out of memory' -e 'reached -DMEMLIM' pan.log; then
		report FAIL "$name: incomplete, $(grep -m1 -e 'max search' \
		    -e memory -e MEMLIM pan.log) (status $status)"
	elif [ "$expected" = holds ]; then
		if grep -q 'errors: 0' pan.log &&
		    ! grep -q 'not completed' pan.log; then
			report PASS "$name: holds, $states states"
		else
			report FAIL "$name: must hold: $complaint"
		fi
	elif [ -z "$complaint" ]; then
		report FAIL "$name: must fail, but holds, $states states"
	elif [[ $complaint == *"$expected"* ]]; then
		report PASS "$name: fails as it must: $complaint"
	else
		report FAIL "$name: fails, but otherwise: $complaint"
	fi
}

# The same in a process and a folder of its own, as soon as there is room.
begin()
{
	while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do
		wait -n
	done
	runs=$((runs + 1))
	mkdir "$work/$runs"
	(cd "$work/$runs" && search "$@" >"$work/$runs.log") &
}

# run quick|full EXPECTED MODEL [DEFINITIONS [PAN-ARGUMENTS]]
run()
{
	local name="$3 ${4:-}"

	if [ "$1" = full ] && [ "$mode" = quick ]; then
		skipped=$((skipped + 1))
	elif [[ $name =~ $pattern ]]; then
		begin "$2" "$3" "${4:-}" "${5:-}" "$1"
	else
		skipped=$((skipped + 1))
	fi
}

lost='head[0]=='        # the Monitor finds a token at rest: a lost wake-up

# Two actors, store buffers, signals.
run quick holds base.pml '-DN=1'
run full holds base.pml '-DN=2 -DNSIG=0'
run full holds base.pml '-DN=2 -DNSIG=0 -DBUDGET=2'
run full holds base.pml '-DN=1 -DNSIG=2'
run full holds base.pml '-DN=1 -DNSIG=1 -DLIVE' '-a -f'
run quick "$lost" base.pml '-DN=2 -DNSIG=0 -DNO_ARM_FENCE'
run quick "$lost" base.pml '-DN=2 -DNSIG=0 -DNO_RELOOK'
run quick "$lost" base.pml '-DN=2 -DNSIG=0 -DNO_PUB_FENCE'
run quick "$lost" base.pml '-DN=1 -DNSIG=0 -DUNBLOCK_FIRST'
run quick "$lost" base.pml '-DN=1 -DNSIG=1 -DNO_SKIP'
run quick 'count[' base.pml '-DN=1 -DNSIG=0 -DARM_ORDER'
run quick 'count[' base.pml '-DN=1 -DNSIG=0 -DBLIND_DEC'
run quick '(n>0)' base.pml '-DN=1 -DNO_SPURIOUS'
run quick 'count[a]>=0' base.pml '-DN=1 -DNSIG=0 -DNO_NEGATIVE'
run full 'handled==sent' base.pml '-DN=1 -DNSIG=2 -DSIG_ORDER'

# Links: the fence is owed until the slice that arms.
run quick holds owed.pml
run full holds owed.pml '-DN=3 -DCAP=2'
run full holds owed.pml '-DOUTSIDE'
run quick holds owed.pml '-DOUTSIDE -DCAP=2'
run full holds owed.pml '-DN=3'
run full holds owed.pml '-DOUTSIDE -DN=3'
run full holds owed.pml '-DOUTSIDE -DN=3 -DCAP=2'
run full holds owed.pml '-DOUTSIDE -DN=3 -DBUDGET=1 -DDEPTH=4'
run full holds owed.pml '-DOUTSIDE -DN=3 -DCAP=2 -DRUN=2 -DBUDGET=3 -DDEPTH=6'
for mutant in NO_PAY PAY_NO_FENCE REST_AFTER_RUN FORGET; do
	run full ready_asleep owed.pml "-D$mutant"      # for room
	run quick 'mem[' owed.pml "-DOUTSIDE -DCAP=2 -D$mutant"
done
run quick 'mem[' owed.pml '-DARM_LATE'
run quick 'mem[' owed.pml '-DNO_RELOOK'
run quick 'mem[' owed.pml '-DCAP=2 -DN=3 -DSUBMIT_EARLY'

# One actor: signals, suspension, any, a changing set, several producers.
run quick holds small.pml '-DN0=1 -DN1=1 -DNSIG=2'
run quick 'handled==sent' small.pml '-DN0=1 -DN1=1 -DNSIG=2 -DSIG_ORDER'
run quick holds small.pml '-DSUSP -DN0=1 -DN1=1'
run full holds small.pml '-DSUSP'
run full holds small.pml '-DSUSP -DSR=2 -DNSIG=1 -DN0=1 -DN1=1'
run quick 'g==epoch' small.pml '-DSUSP -DNO_SUSP_LOOK -DN0=1 -DN1=1'
run quick 'count[' small.pml '-DSUSP -DSUSP_EXCHANGE_FIRST'
run quick "$lost" small.pml '-DSUSP -DSUSP_PLAIN_STORE'
run quick holds small.pml '-DANY'
run full holds small.pml '-DANY -DN0=3 -DN1=3 -DNSIG=1'
run quick 'count[' small.pml '-DANY -DANY_FLAG_EACH'
run quick "$lost" small.pml '-DANY -DANY_COUNT_EACH'
run quick holds small.pml '-DBECOME_TURN -DN0=3 -DN1=2'
run quick '>0)' small.pml '-DBECOME_TURN -DN0=3 -DN1=2 -DNO_RELOOK'
run quick holds small.pml '-DBECOME_SIG -DNSIG=1 -DN0=2 -DN1=1 -DEXPECT0=2'
run quick "$lost" small.pml \
    '-DBECOME_SIG -DNSIG=1 -DN0=2 -DN1=1 -DEXPECT0=2 -DIGNORE_LEAVES'
run full holds small.pml '-DBECOME_SIG -DNSIG=2 -DEXPECT0=2'
run quick holds small.pml '-DMPSC -DN0=1 -DN1=2 -DEXPECT0=2'
run full holds small.pml '-DMPSC -DANY -DN0=1 -DN1=2 -DEXPECT0=2 -DNSIG=1'

# Stopping, references, release.
run quick holds stop.pml '-DNP=1 -DNAPUT=1 -DNO_S'
run full holds stop.pml '-DNP=1 -DNAPUT=1'
run full holds stop.pml '-DNP=1 -DNAPUT=2'
run quick 'freed[' stop.pml '-DNP=1 -DNAPUT=1 -DNO_S -DNOREF_P'
run quick 'freed[' stop.pml '-DNP=1 -DNAPUT=1 -DNO_S -DNOREF_LINK'
run quick 'stopped[' stop.pml '-DNP=1 -DNAPUT=1 -DNO_S -DSTOP_COUNT'
run quick 'freed[' stop.pml '-DNP=1 -DNAPUT=1 -DNO_S -DDROP_EARLY'
run quick 'put==' stop.pml '-DNP=1 -DNAPUT=1 -DNO_S -DNO_DRAIN'
run quick 'freed[' stop.pml '-DNP=1 -DNAPUT=1 -DNO_S -DTOUCH_LATE'

# Bursts above 1.
run quick holds burst.pml '-DNO_PUT -DT0=2 -DT1=1'
run quick holds burst.pml '-DT1=0 -DT0=2'
run full holds burst.pml '-DT1=0 -DT0=3'
run full holds burst.pml '-DNO_PUT'
run full holds burst.pml '-DT1=0 -DT0=4'
run full holds burst.pml '-DNO_PUT -DB0=3 -DT0=4 -DT1=2'
run full holds burst.pml '-DT1=0 -DT0=4 -DB1=1 -DB2=3'
run full holds burst.pml '-DNO_PUT -DFILTER'
run quick less_than_burst burst.pml '-DT1=0 -DT0=4 -DCAP=2'
run quick 'idle<' burst.pml '-DNO_PUT -DARM_EMPTY'
run quick 'idle<' burst.pml '-DNO_PUT -DRELOOK_ANY'
run quick less_than_burst burst.pml '-DNO_PUT -DRELOOK_MORE'
run quick turn_is_certain burst.pml '-DNO_PUT -DLOOK_ANY'
run quick less_than_burst burst.pml '-DNO_PUT -DFILTER_EQUAL'
run quick less_than_burst burst.pml '-DNO_PUT -DFILTER_FIRST'

# The end of a stream.
run quick holds eos.pml
run quick holds eos.pml '-DT0=0 -DT1=0'
run quick holds eos.pml '-DT0=2 -DT1=3'
run quick holds eos.pml '-DT0=2 -DT1=2 -DBUDGET=2'
run full holds eos.pml '-DT0=4 -DT1=6 -DBUDGET=3'
run quick 'ends==1' eos.pml '-DNO_END_SIGNAL'
run quick 'ends==1' eos.pml '-DT1=1 -DEND_UNBLOCKS'
run quick 'ends==1' eos.pml '-DSIGNAL_FIRST'
run quick 'ends==1' eos.pml '-DT0=2 -DEND_APART'
run quick 'ends==1' eos.pml '-DONLY_SIGNALLED'
run quick 'ends==1' eos.pml '-DT1=1 -DNO_LAST_LOOK'
run quick 'head[1]==' eos.pml '-DEND_LEAVES'
run quick holds eos.pml '-DB=2 -DT0=3 -DT1=3 -DNSIG'
run full holds eos.pml '-DB=3 -DT0=5 -DT1=4 -DNSIG -DBUDGET=2'
run full holds eos.pml '-DB=2 -DT0=3 -DT1=3 -DNSIG -DEND_BOTH'
run quick 'ends==1' eos.pml '-DB=2 -DT0=1 -DT1=1 -DREST_STAYS'
run quick 'ends==1' eos.pml '-DB=2 -DT0=1 -DT1=1 -DNSIG -DCOUNT_STAYS'

# Several ports behind one fence.
run full holds publish.pml
run quick holds publish.pml '-DTOGETHER'
run full holds publish.pml '-DTOGETHER -DN=3 -DCAP=2'
run full holds publish.pml '-DOWED'
run full 'mem[' publish.pml '-DOWED -DNO_PAY'
run full 'mem[' publish.pml '-DOWED -DFORGET'
run full 'mem[' publish.pml '-DOWED -DNO_ARM_FENCE'
run full 'mem[' publish.pml '-DOWED -DNO_RELOOK'
run full holds publish.pml '-DN=4'
run full holds publish.pml '-DN=6'
run full holds publish.pml '-DN=4 -DCAP=2'
run quick 'mem[' publish.pml '-DLAST_PLAIN'
run quick 'mem[' publish.pml '-DFIRST_EXCHANGE'
run quick 'mem[' publish.pml '-DNO_ARM_FENCE'
run quick 'mem[' publish.pml '-DNO_RELOOK'
run quick 'mem[' publish.pml '-DTOGETHER -DN=3 -DCAP=2 -DNO_ARM_FENCE'
run quick 'mem[' publish.pml '-DTOGETHER -DN=3 -DCAP=2 -DFENCE_BETWEEN'
run quick 'mem[' publish.pml '-DTOGETHER -DN=3 -DCAP=2 -DNO_RELOOK'

# Timers.
run quick holds timer.pml
run full holds timer.pml '-DARMS=3 -DSIGNALS=2'
run full holds timer.pml '-DARMS=4 -DSIGNALS=3'
run quick holds timer.pml '-DLATE -DGENERATION -DFIRERS=1 -DARMS=3'
run quick 'fired==arming' timer.pml '-DLATE'
run quick nothing_lost timer.pml '-DLATE -DGENERATION'
run quick 'fired==arming' timer.pml '-DARM_LEAVES'
run quick 'freed[' timer.pml '-DNO_REF'
run quick 'freed[' timer.pml '-DOWNER_DROPS'
run quick 'freed[' timer.pml '-DDROP_FIRST'
run quick nothing_lost timer.pml '-DUNBLOCK_FIRST'
run quick nothing_lost timer.pml '-DFIRERS=1 -DNO_FIRE_FENCE'

# A shared semaphore.
run quick holds semaphore.pml '-DP=1'
run quick holds semaphore.pml '-DP=1 -DGIVE_BACK -DNO_STOP'
run full holds semaphore.pml '-DP=1 -DMARK_LATE'
run full holds semaphore.pml '-DP=2 -DMARK_LATE'
run full holds semaphore.pml '-DP=2'
run full holds semaphore.pml
run full holds semaphore.pml '-DP=1 -DGIVE_BACK'
run full holds semaphore.pml '-DP=1 -DGIVE_BACK -DTURNS=2'
run full holds semaphore.pml '-DP=3 -DTURNS=2 -DNO_STOP'
run quick permits_kept semaphore.pml '-DDOUBLE'
run quick permit_is_certain semaphore.pml '-DP=1 -DHINT'
run quick none_stuck semaphore.pml '-DGRANT_APART'
run quick 'ahead[' semaphore.pml '-DLIFO'
run quick permits_kept semaphore.pml '-DSTOP_FORGETS'
run quick none_stuck semaphore.pml '-DSTOP_LEAVES'
run quick none_stuck semaphore.pml '-DSTOP_APART'
run quick none_stuck semaphore.pml '-DNO_STOP -DGIVE_UP_APART'
run quick none_stuck semaphore.pml '-DNO_STOP -DUNBLOCK_FIRST'
run quick none_stuck semaphore.pml '-DNO_STOP -DNO_GRANT_FENCE'
run quick none_stuck semaphore.pml '-DNO_STOP -DNO_RELOOK'
run quick 'freed[' semaphore.pml '-DNO_REF'
run quick 'freed[' semaphore.pml '-DDROP_FIRST'
run quick permits_kept semaphore.pml '-DP=1 -DMARK_LATE -DABANDON_FORGETS'
run quick on_stack semaphore.pml '-DTOUCH_STACK'

# Parking.
run quick holds parking.pml '-DLONG'
run quick holds parking.pml '-DLONG -DN1=0 -DSPAWN=2'
run full holds parking.pml
run full holds parking.pml '-DEPOCH_SECOND'
run full holds parking.pml '-DLONG -DN1=2'
run full holds parking.pml '-DLONG -DSPAWN=1'
run full holds parking.pml '-DLONG -DN1=2 -DLOSER_LEAVES'
run full holds parking.pml '-DLONG -DN0=2 -DN1=2'
run quick all_taken parking.pml '-DNO_SUBMIT_FENCE'
run quick all_taken parking.pml '-DNO_PARK_FENCE'
run quick all_taken parking.pml '-DNO_RELOOK'
run quick all_taken parking.pml '-DEPOCH_LAST'
run quick all_taken parking.pml '-DNO_EPOCH'
run quick all_taken parking.pml '-DWAKE_FIRST'
run quick all_taken parking.pml '-DLONG -DN1=2 -DBIT_STAYS'
run quick all_taken parking.pml '-DLONG -DFOUND_STAYS'
run quick all_taken parking.pml '-DLONG -DNO_PASS_ON'
run quick all_taken parking.pml '-DLONG -DLOOK_INBOX'
run quick all_taken parking.pml '-DLONG -DN1=0 -DSPAWN=1 -DSPAWN_SILENT'

wait
for ((i = 1; i <= runs; i++)); do
	cat "$work/$i.log"
done | tee "$work/log"
# A run that was ended says nothing.
passed=$(grep -c '^PASS ' "$work/log")
echo "$passed passed, $((runs - passed)) failed, $skipped skipped"
[ "$passed" -eq "$runs" ]
