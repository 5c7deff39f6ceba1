/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two actors, a ring, a semaphore, signals and x86 store buffers.
 *
 * Covers rules 1 to 5 and 9. Leaves out: suspension (6) and a changing set of
 * ports (7), see small.pml; stopping and references (8), see stop.pml; bursts
 * above 1, see burst.pml; several indices behind one fence, see publish.pml;
 * links, which publish without a fence and owe it, see owed.pml; the order of
 * aarch64. Here all publish with the fence at once, but a slice that has run
 * keeps SCHEDULED, as in the library.
 *
 * M has in-ports 0 and 1 and out-port 2, a ring of CAP; C has in-port 3, the
 * other end of that ring. A producer puts N tokens into port 0. Port 1 is a
 * semaphore with two releasers, N permits in all. S signals M NSIG times. Two
 * workers take either actor. Each worker has a store buffer of one entry for
 * `blocked`; with NO_PUB_FENCE each producer has one for its index.
 *
 * -DN=, -DCAP=, -DBUDGET=, -DNSIG=    sizes
 * -DLIVE                              with pan -a -f: all is done eventually
 * Mutants, each must fail:
 * -DNO_ARM_FENCE   rule 3 without the fence
 * -DNO_RELOOK      rule 3 without the second look
 * -DNO_SKIP        rule 3 arms, and counts, a port whose flag reads 1
 * -DARM_ORDER      rule 3 adds the count only after the last swap
 * -DNO_PUB_FENCE   rule 2 publishes by a plain store
 * -DUNBLOCK_FIRST  rule 2 unblocks before it publishes
 * -DBLIND_DEC      rule 2 decrements whatever the exchange read
 * -DSIG_ORDER      rule 5 reads the payload, then clears SIGNALLED
 * -DNO_SPURIOUS    asserts that only a slice after one that has run finds
 *                  nothing (rule 4 says that any may)
 * -DNO_NEGATIVE    asserts that the count is never negative (rule 3 allows it)
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
#define BUDGET 1
#endif
#ifndef NSIG
#define NSIG 1
#endif

#define OWNER(p) (p == 3 -> C : M)
#define FIRST(a) (a == M -> 0 : 3)
#define LAST(a) (a == M -> 2 : 3)

byte tail[3], head[3];
bit blocked[4];
byte sent, handled;     /* signal payloads */
byte alive;             /* threads that still run */

#ifdef NO_SPURIOUS
bit ran[NA];            /* the last slice has run a turn */
#endif

bit sbv[2]; byte sbp[2];        /* worker w: blocked[sbp[w]] = 1 is pending */
bit pbv[3];                     /* producer: tail += 1 is pending */

#define AVAILABLE(p) (p == 2 -> CAP - (tail[2] - head[2]) : \
	(p == 3 -> tail[2] - head[2] : tail[p] - head[p]))

inline unblock(p, f, x)
{
	if
	:: blocked[p] == 1 ->
		d_step { x = blocked[p]; blocked[p] = 0 }
		if
#ifdef BLIND_DEC
		:: true -> x = 0; gate_dec(OWNER(p), f)
#else
		:: x == 1 -> x = 0; gate_dec(OWNER(p), f)
		:: else
#endif
		fi
	:: else
	fi
}

#ifdef NO_PUB_FENCE
inline unblock_buffered(id, p, f, x)
{
	if
	:: blocked[p] == 1 -> !pbv[id];         /* the exchange drains */
		d_step { x = blocked[p]; blocked[p] = 0 }
		if
		:: x == 1 -> x = 0; gate_dec(OWNER(p), f)
		:: else
		fi
	:: else
	fi
}
#endif

proctype Producer(byte id; byte p; byte n)
{
	bit f, x;
	byte i;

	do
	:: i < n ->
		i++;
#if defined(NO_PUB_FENCE)
		atomic { !pbv[id] -> pbv[id] = 1 }
		unblock_buffered(id, p, f, x)
#elif defined(UNBLOCK_FIRST)
		unblock(p, f, x);
		tail[p]++
#else
		tail[p]++;      /* exchange or fetch-and-add: a full fence too */
		unblock(p, f, x)
#endif
	:: else -> break
	od;
	skip;
	d_step { alive--; i = 0 }
}

proctype Signaller(byte n)
{
	bit f;
	byte i;

	do
	:: i < n -> i++; sent++; gate_signal(M, f)
	:: else -> break
	od;
	skip;
	d_step { alive--; i = 0 }
}

active proctype Flusher()
{
end:	do
	:: atomic { sbv[0] -> blocked[sbp[0]] = 1; sbv[0] = 0 }
	:: atomic { sbv[1] -> blocked[sbp[1]] = 1; sbv[1] = 0 }
#ifdef NO_PUB_FENCE
	:: atomic { pbv[0] -> tail[0]++; pbv[0] = 0 }
	:: atomic { pbv[1] -> tail[1]++; pbv[1] = 0 }
	:: atomic { pbv[2] -> tail[1]++; pbv[2] = 0 }
#endif
	od
}

proctype Worker(byte w)
{
	byte a, n, p, b, v, k;
	bit f, x, s;
	bit mine[4];

end:	do
	:: atomic {
		if
		:: queued[M] > 0 -> a = M
		:: queued[C] > 0 -> a = C
		fi;
		queued[a]--;
		assert(inslice[a] == 0 && sched[a]);
		inslice[a]++;
		b = BUDGET;
		s = 0
		};
		/* signals first */
		if
		:: sig[a] ->
#ifdef SIG_ORDER
			d_step { handled = sent };
			d_step { sig[a] = 0 };
#else
			d_step { sig[a] = 0 };
			d_step { handled = sent };
#endif
			s = 1
		:: else
		fi;
		/* look, turns, publish */
		do
		:: b > 0 ->
			n = b;
			p = FIRST(a);
			do
			:: p <= LAST(a) ->
				d_step {
					v = AVAILABLE(p);
					if :: v < n -> n = v :: else fi;
					p++;
					v = 0
				}
			:: else -> break
			od;
#ifdef NO_SPURIOUS
			assert(s || n > 0 || b < BUDGET || ran[a]);
			ran[a] = 0;
#endif
			if :: n == 0 -> break :: else fi;
			b = b - n;
			p = FIRST(a);
			do
			:: p <= LAST(a) ->
				if
				:: p == 2 -> tail[2] = tail[2] + n;
					unblock(3, f, x)
				:: p == 3 -> head[2] = head[2] + n;
					unblock(2, f, x)
				:: else -> head[p] = head[p] + n
				fi;
				p++
			:: else -> break
			od
		:: else -> break
		od;
		n = 0;
		/* a slice that has run a turn keeps SCHEDULED */
		if
		:: b < BUDGET ->
#ifdef NO_SPURIOUS
			ran[a] = 1;
#endif
			gate_keep(a);
			goto over
		:: else
		fi;
		/* arm: the flags, one fence, look again, the last swap */
		p = FIRST(a);
		do
		:: p <= LAST(a) ->
			if
#ifdef NO_SKIP
			:: AVAILABLE(p) == 0 ->
#else
			:: AVAILABLE(p) == 0 && blocked[p] == 0 ->
#endif
				mine[p] = 1;
				k++;
				atomic { !sbv[w] -> sbv[w] = 1; sbp[w] = p }
			:: else
			fi;
			p++
		:: else -> break
		od;
#ifndef NO_ARM_FENCE
		if :: k > 0 -> !sbv[w] :: else fi;
#endif
		p = FIRST(a);
		do
		:: p <= LAST(a) ->
#ifndef NO_RELOOK
			if
			:: mine[p] && AVAILABLE(p) > 0 -> !sbv[w];
				d_step {
					x = blocked[p];
					blocked[p] = 0;
					k = k - x;
					x = 0
				}
			:: else
			fi;
#endif
			d_step { mine[p] = 0; p++ }
		:: else -> break
		od;
		!sbv[w];
#ifdef NO_NEGATIVE
		assert(count[a] >= 0);
#endif
#ifdef ARM_ORDER
		p = k;
		k = 0;
		gate_last(a, k, f);
		d_step { count[a] = count[a] + p };
#else
		gate_last(a, k, f);
#endif
over:		p = 0;
		d_step { a = 0; b = 0; s = 0 }
	od
}

active proctype Monitor()
{
	timeout;
	assert(alive == 0);
	assert(head[2] == N && tail[2] == N && head[0] == N && head[1] == N);
	assert(handled == sent && sent == NSIG);
	assert(queued[M] == 0 && queued[C] == 0 && !sched[M] && !sched[C]);
	/* at rest the count is exactly the number of blocked ports */
	assert(count[M] == blocked[0] + blocked[1] + blocked[2]);
	assert(count[C] == blocked[3])
}

init {
	atomic {
		blocked[0] = 1; blocked[1] = 1; count[M] = 2;
		blocked[3] = 1; count[C] = 1;
		alive = 4;
		run Producer(0, 0, N);
		run Producer(1, 1, 1);
		run Producer(2, 1, N - 1);
		run Signaller(NSIG);
		run Worker(0);
		run Worker(1)
	}
}

#ifdef LIVE
ltl live { <> (head[2] == N && handled == NSIG && alive == 0) }
#endif
