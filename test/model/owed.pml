/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Links published without a fence: the owner owes it, and pays when it arms.
 *
 * Covers rules 1 to 4 and 9 as ports with one link follow them. A slice that
 * has run turns publishes its indices by plain stores, looks at the peers'
 * `blocked` without a fence and is submitted again. A slice that finds nothing
 * arms, does one full fence, looks at the peers again if it owes, looks at its
 * own ports again, and rests by the last swap. Leaves out: signals; ports that
 * publish with the fence at once, see base.pml and publish.pml; the order of
 * aarch64.
 *
 * M has in-port 0 and out-port 1, a ring of CAP; C has in-port 2, the other end
 * of that ring. Port 0 holds N tokens; with OUTSIDE a thread puts them, with the
 * fence at once. A turn uses each port of its actor once, so that the number of
 * turns is the index of each. Two workers take either actor. Each has an x86
 * store buffer: first in, first out, DEPTH entries, seen by its own loads, empty
 * before any read-modify-write or fence goes on. To submit again is a plain
 * store too: the other worker takes the actor only when it is out, its own any
 * time. A submission after a swap needs no entry: nothing is before it.
 *
 * -DN=, -DCAP=, -DBUDGET=, -DRUN=, -DDEPTH=   sizes; RUN: turns a run
 * -DOUTSIDE                                   as above
 * Mutants, each must fail:
 * -DNO_PAY          who arms does not look at the peers again
 * -DPAY_NO_FENCE    it does, but before the fence
 * -DREST_AFTER_RUN  a slice that has run arms and rests, with the fence for the
 *                   arming, but without paying
 * -DFORGET          who runs again forgets that it owes
 * -DARM_LATE        it pays behind the fence, but arms behind it as well
 * -DNO_RELOOK       rule 3 without the second look
 * -DSUBMIT_EARLY    the submission may overtake the indices
 */
#define NA 2
#define M 0
#define C 1
#include "gate.prom.h"

#ifndef N
#define N 2
#endif
#ifndef CAP
#define CAP 1
#endif
#ifndef BUDGET
#define BUDGET 2
#endif
#ifndef RUN
#define RUN 1
#endif
#ifndef DEPTH
#define DEPTH 3
#endif

#define OWNER(p) (p == 2 -> C : M)
#define FIRST(a) (a == M -> 0 : 2)
#define LAST(a) (a == M -> 1 : 2)
#define PEER(p) (3 - p) /* port 0 has none */

/* Memory: each port's published index (0: what was put), and its flag. */
#define INDEX(p) (p)
#define BLOCKED(p) (3 + p)
#define SUBMIT(a) (6 + a)       /* in a buffer only */
byte mem[6];
chan buffer[2] = [DEPTH] of { byte, byte };

byte done[NA];          /* turns, the private cursor of each port */
bit owes[NA];
byte alive;             /* threads that still run */

/* what worker w reads: the newest of its own stores, or memory */
#define PENDING(w, p, i) (buffer[w]??[eval(INDEX(p)),i])
#define LOAD(w, p) (PENDING(w, p, 3) -> 3 : (PENDING(w, p, 2) -> 2 : \
	(PENDING(w, p, 1) -> 1 : mem[INDEX(p)])))

/* turns that port p allows, as worker w sees it */
#define ALLOWS(w, p) (p == 0 -> mem[0] - done[M] : \
	(p == 1 -> CAP - (done[M] - LOAD(w, 2)) : LOAD(w, 1) - done[C]))

#define fence(w) empty(buffer[w])

active proctype Flusher()
{
	byte at, v;

end:	do
	:: atomic {
		if
		:: buffer[0]?at,v
		:: buffer[1]?at,v
		fi;
		if
		:: at < SUBMIT(0) -> mem[at] = v
		:: else
		fi;
		at = 0;
		v = 0
	   }
	od
}

/* worker w loads `blocked`; if 1, the exchange (rule 2) */
inline unblock(w, p)
{
	if
	:: mem[BLOCKED(p)] == 1 ->
		atomic {
			empty(buffer[w]);
			x = mem[BLOCKED(p)];
			mem[BLOCKED(p)] = 0
		}
		if
		:: x == 1 -> x = 0; gate_dec(OWNER(p), f)
		:: else
		fi
	:: else
	fi
}

/* every link peer */
inline unblock_peers(w)
{
	p = FIRST(a);
	do
	:: p <= LAST(a) ->
		if
		:: p > 0 -> unblock(w, PEER(p))
		:: else
		fi;
		p++
	:: else -> break
	od
}

inline arm(w)
{
	p = FIRST(a);
	do
	:: p <= LAST(a) ->
		if
		:: atomic {
			nfull(buffer[w]) && ALLOWS(w, p) == 0 &&
			    mem[BLOCKED(p)] == 0 ->
			mine[p] = 1;
			k++;
			buffer[w]!BLOCKED(p),1
		   }
		:: ALLOWS(w, p) > 0 || mem[BLOCKED(p)] == 1
		fi;
		p++
	:: else -> break
	od
}

#ifdef OUTSIDE
proctype Producer()
{
	bit f, x;
	byte i;

	do
	:: i < N ->
		i++;
		mem[0]++;       /* read-modify-write: a full fence too */
		if
		:: mem[BLOCKED(0)] == 1 ->
			d_step { x = mem[BLOCKED(0)]; mem[BLOCKED(0)] = 0 }
			if
			:: x == 1 -> x = 0; gate_dec(M, f)
			:: else
			fi
		:: else
		fi
	:: else -> break
	od;
	skip;
	d_step { alive--; i = 0 }
}
#endif

#define TAKES(w, a) (queued[a] > 0 && !buffer[1 - w]??[eval(SUBMIT(a)),1])

proctype Worker(byte w)
{
	byte a, n, certain, p, b, v, k;
	bit f, x;
	bit mine[3];

end:	do
	:: atomic {
		if
		:: TAKES(w, M) -> a = M
		:: TAKES(w, C) -> a = C
		fi;
		if
		:: buffer[w]??[eval(SUBMIT(a)),1] ->
			buffer[w]??eval(SUBMIT(a)),1
		:: else
		fi;
		queued[a]--;
		assert(inslice[a] == 0 && sched[a]);
		inslice[a]++;
		b = BUDGET
		};
		/* look, a run, publish, look at the peers without a fence */
		do
		:: true ->
			certain = N;
			p = FIRST(a);
			do
			:: p <= LAST(a) ->
				d_step {
					v = ALLOWS(w, p);
					if
					:: v < certain -> certain = v
					:: else
					fi;
					p++;
					v = 0
				}
			:: else -> break
			od;
			n = certain;
			d_step {
				if :: n > RUN -> n = RUN :: else fi;
				if :: n > b -> n = b :: else fi
			}
			if :: n == 0 -> break :: else fi;
			d_step {
				done[a] = done[a] + n;
				b = b - n;
				owes[a] = 1
			}
			p = FIRST(a);
			do
			:: p <= LAST(a) ->
				if
				:: p > 0 -> buffer[w]!INDEX(p),done[a];
					unblock(w, PEER(p))
				:: else
				fi;
				p++
			:: else -> break
			od;
			if
			:: n == certain -> break        /* used up */
			:: else
			fi
		od;
		if
#ifndef REST_AFTER_RUN
		:: b < BUDGET ->        /* has run: keeps SCHEDULED */
#ifdef FORGET
			owes[a] = 0;
#endif
#ifdef SUBMIT_EARLY
			gate_keep(a)
#else
			atomic {
				nfull(buffer[w]) ->
				buffer[w]!SUBMIT(a),1;
				gate_keep(a)
			}
#endif
		:: else ->
#else
		:: true ->
#endif
			/* arm, one fence, pay, look again, the last swap */
#ifdef ARM_LATE
			fence(w);
			if
			:: owes[a] -> unblock_peers(w)
			:: else
			fi;
			arm(w);
#else
			arm(w);
#ifdef PAY_NO_FENCE
			if
			:: owes[a] -> unblock_peers(w)
			:: else
			fi;
#endif
			fence(w);
#if !defined(NO_PAY) && !defined(PAY_NO_FENCE) && !defined(REST_AFTER_RUN)
			if
			:: owes[a] -> unblock_peers(w)
			:: else
			fi;
#endif
#endif
			p = FIRST(a);
			do
			:: p <= LAST(a) ->
#ifndef NO_RELOOK
				if
				:: mine[p] && ALLOWS(w, p) > 0 ->
					atomic {
						empty(buffer[w]);
						x = mem[BLOCKED(p)];
						mem[BLOCKED(p)] = 0;
						k = k - x;
						x = 0
					}
				:: else
				fi;
#endif
				d_step { mine[p] = 0; p++ }
			:: else -> break
			od;
			owes[a] = 0;    /* still ours, nobody else reads it */
			empty(buffer[w]);
			gate_last(a, k, f)
		fi;
		d_step { p = 0; a = 0; b = 0; n = 0; certain = 0 }
	od
}

#define ASLEEP(p) (mem[BLOCKED(p)] == 1 && ALLOWS(0, p) > 0)
bit ready_asleep;

active proctype Monitor()
{
	timeout;
	assert(alive == 0);
	assert(empty(buffer[0]) && empty(buffer[1]));
	assert(mem[INDEX(0)] == N && mem[INDEX(1)] == N && mem[INDEX(2)] == N);
	assert(done[M] == N && done[C] == N);
	assert(queued[M] == 0 && queued[C] == 0 && !sched[M] && !sched[C]);
	/* at rest the count is exactly the number of blocked ports */
	assert(count[M] == mem[BLOCKED(0)] + mem[BLOCKED(1)]);
	assert(count[C] == mem[BLOCKED(2)]);
	/* nor is one of these ready, were it only for room */
	ready_asleep = (ASLEEP(0) || ASLEEP(1) || ASLEEP(2));
	assert(!ready_asleep)
}

init {
	atomic {
#ifdef OUTSIDE
		mem[BLOCKED(0)] = 1; count[M] = 1;
		alive = 1;
		run Producer();
#else
		mem[0] = N;
		sched[M] = 1; queued[M] = 1;
#endif
		mem[BLOCKED(2)] = 1; count[C] = 1;
		run Worker(0);
		run Worker(1)
	}
}
