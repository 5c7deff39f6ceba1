/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several ports published, and armed, behind one full fence.
 *
 * Covers rules 2 and 3 where the owner publishes all its indices by plain
 * stores but the last, which is an exchange (a store and a full fence), then
 * loads `blocked` of every peer; and arms all its ports by plain stores and one
 * full fence. Leaves out: signals and all else of base.pml; the order of
 * aarch64, where the exchange needs a fence after it.
 *
 * A has two out-ports, rings 0 and 1 to M, which has an out-port, ring 2 to C;
 * each ring holds CAP. A turn uses each port of its actor once, so that the
 * number of turns is the index of each. A does N turns. Every actor has a worker
 * of its own with an x86 store buffer: first in, first out, six entries, empty
 * before any read-modify-write or fence goes on.
 *
 * With TOGETHER all stores are plain and a full fence follows them. A run is
 * published before the next, and the last one together with the arming: the
 * flags, the indices, one fence, the peers, the second look.
 *
 * With OWED, as links do it, all stores are plain and no fence follows; a slice
 * that has run is submitted again; one that finds nothing arms, and behind the
 * one fence for that it looks at the peers as well.
 *
 * -DN=, -DCAP=      sizes
 * -DTOGETHER, -DOWED   as above
 * Mutants, each must fail:
 * -DLAST_PLAIN      the last index is a plain store as well
 * -DFIRST_EXCHANGE  the first index is the exchange, the others follow plain
 * -DNO_ARM_FENCE    the ports are armed without the fence
 * -DNO_RELOOK       the ports are not looked at again
 * -DNO_PAY          with OWED: who arms does not look at the peers again
 * -DFORGET          with OWED: who runs again forgets that it owes
 * -DFENCE_BETWEEN   with TOGETHER: the fence is between flags and indices
 */
#define NA 3
#define A 0
#define M 1
#define C 2
#include "gate.prom.h"

#ifndef N
#define N 2
#endif
#ifndef CAP
#define CAP 1
#endif

/* Ports: 0, 1 A's out; 2, 3 M's in; 4 M's out; 5 C's in. */
#define FIRST(a) (a == A -> 0 : (a == M -> 2 : 5))
#define LAST(a) (a == A -> 1 : (a == M -> 4 : 5))
#define OWNER(p) (p <= 1 -> A : (p <= 4 -> M : C))
#define PEER(p) (p <= 1 -> p + 2 : (p <= 3 -> p - 2 : (p == 4 -> 5 : 4)))
#define OUT(p) (p <= 1 || p == 4)

/* Memory: each port's published index, and its flag. */
#define INDEX(p) (p)
#define BLOCKED(p) (6 + p)
byte mem[12];
chan buffer[3] = [6] of { byte, byte };

/* turns that port p of its owner, i turns done, allows */
#define ALLOWS(p, i) (OUT(p) -> CAP - (i - mem[INDEX(PEER(p))]) : \
	mem[INDEX(PEER(p))] - i)

active proctype Flusher()
{
	byte at, v;

end:	do
	:: atomic { buffer[A]?at,v -> mem[at] = v; at = 0; v = 0 }
	:: atomic { buffer[M]?at,v -> mem[at] = v; at = 0; v = 0 }
	:: atomic { buffer[C]?at,v -> mem[at] = v; at = 0; v = 0 }
	od
}

/* all indices: plain stores but the last, or (TOGETHER) plain stores */
inline publish()
{
	published = i;
	p = FIRST(a);
	do
	:: p <= LAST(a) ->
		if
#if defined(LAST_PLAIN) || defined(TOGETHER) || defined(OWED)
		:: true -> buffer[a]!INDEX(p),i
#elif defined(FIRST_EXCHANGE)
		:: p != FIRST(a) -> buffer[a]!INDEX(p),i
		:: p == FIRST(a) ->
			atomic { empty(buffer[a]) -> mem[INDEX(p)] = i }
#else
		:: p != LAST(a) -> buffer[a]!INDEX(p),i
		:: p == LAST(a) ->      /* exchange */
			atomic { empty(buffer[a]) -> mem[INDEX(p)] = i }
#endif
		fi;
		p++
	:: else -> break
	od
}

inline wake_peers()
{
	p = FIRST(a);
	do
	:: p <= LAST(a) ->
		if
		:: mem[BLOCKED(PEER(p))] == 1 ->
			empty(buffer[a]);
			d_step {
				x = mem[BLOCKED(PEER(p))];
				mem[BLOCKED(PEER(p))] = 0
			}
			if
			:: x == 1 ->
				x = 0;
				v = OWNER(PEER(p));
				gate_dec(v, f);
				v = 0
			:: else
			fi
		:: else
		fi;
		p++
	:: else -> break
	od
}

inline arm()
{
	p = FIRST(a);
	do
	:: p <= LAST(a) ->
		if
		:: ALLOWS(p, i) == 0 && mem[BLOCKED(p)] == 0 ->
			mine[p] = 1;
			k++;
			buffer[a]!BLOCKED(p),1
		:: else
		fi;
		p++
	:: else -> break
	od
}

proctype Worker(byte a)
{
	byte i, published, n, p, k, v;
	bit f, x, wake, ran;
	bit mine[6];

end:	do
	:: atomic {
		queued[a] > 0 ->
		queued[a]--;
		assert(inslice[a] == 0 && sched[a]);
		inslice[a]++
		};
		do
		:: true ->
			/* look: each port once */
			n = (a == A -> N - i : 1);
			p = FIRST(a);
			do
			:: p <= LAST(a) ->
				d_step {
					v = ALLOWS(p, i);
					if :: v < n -> n = v :: else fi;
					p++;
					v = 0
				}
			:: else -> break
			od;
			if :: n == 0 -> break :: else fi;
#ifdef TOGETHER
			/* the last run, before the next; the end does its own */
			if
			:: i != published ->
				publish();
				empty(buffer[a]);
				wake_peers()
			:: else
			fi;
#endif
			i = i + n;
#ifndef TOGETHER
			publish();
			wake_peers()
#endif
#ifdef OWED
			;
			ran = 1;
			wake = 1
#endif
		od;
#ifdef OWED
		/* keeps SCHEDULED; the debt stays in `wake` */
		if
		:: ran ->
#ifdef FORGET
			wake = 0;
#endif
			d_step { ran = 0; p = 0; n = 0 }
			gate_keep(a);
			goto end
		:: else
		fi;
		/* the flags, one fence, the peers, look again */
		arm();
#ifndef NO_ARM_FENCE
		empty(buffer[a]);
#endif
#ifndef NO_PAY
		if :: wake -> wake_peers() :: else fi;
#endif
#else
#ifndef TOGETHER
		if
		:: a == A && i == N -> break    /* keeps SCHEDULED */
		:: else
		fi;
#endif
#ifdef FENCE_BETWEEN
		wake = (i != published);
		arm();
		empty(buffer[a]);
		if :: wake -> publish() :: else fi;
		if :: wake -> wake_peers() :: else fi;
#elif defined(TOGETHER)
		/* the flags, the indices, one fence, the peers, look again */
		wake = (i != published);
		arm();
		if :: wake -> publish() :: else fi;
#ifndef NO_ARM_FENCE
		empty(buffer[a]);
#endif
		if :: wake -> wake_peers() :: else fi;
#else
		/* the flags, one fence, look again */
		arm();
#ifndef NO_ARM_FENCE
		empty(buffer[a]);
#endif
#endif
#endif
		p = FIRST(a);
		do
		:: p <= LAST(a) ->
#ifndef NO_RELOOK
			if
			:: mine[p] && ALLOWS(p, i) > 0 ->
				empty(buffer[a]);
				d_step {
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
#if defined(TOGETHER) || defined(OWED)
		if
		:: a == A && i == N -> break    /* keeps SCHEDULED */
		:: else
		fi;
#endif
		empty(buffer[a]);
		gate_last(a, k, f);
		d_step { p = 0; n = 0; wake = 0 }
	od
}

active proctype Monitor()
{
	timeout;
	assert(mem[INDEX(0)] == N && mem[INDEX(1)] == N);
	assert(mem[INDEX(2)] == N && mem[INDEX(3)] == N);
	assert(mem[INDEX(4)] == N && mem[INDEX(5)] == N);
	assert(!sched[M] && !sched[C])
}

init {
	atomic {
		mem[BLOCKED(2)] = 1; mem[BLOCKED(3)] = 1; count[M] = 2;
		mem[BLOCKED(5)] = 1; count[C] = 1;
		sched[A] = 1; queued[A] = 1;
		run Worker(A);
		run Worker(M);
		run Worker(C)
	}
}
