/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ports whose turns may take or put more than one token: bursts above 1.
 *
 * Covers rules 2, 3 and 4 where a port is ready iff available >= burst, and
 * available / burst turns are certain. Leaves out: fences (the model is
 * sequentially consistent), signals, the end of a stream (eos.pml), the rest.
 *
 * Two threads put T0 and T1 single tokens into in-port 0 of M, burst B0. M has
 * out-port 1, burst B1, a ring of CAP to in-port 2 of C, burst B2. A turn takes
 * 1 or burst tokens and puts 0, 1 or burst (-DNO_PUT: 0). Each actor has a
 * worker of its own.
 *
 * What is left at rest must be less than a burst, on each in-port. That needs
 * CAP >= B1 + B2 - 1: with less, M can lack room while C lacks tokens.
 *
 * A producer may ask whether what it sees makes the burst full, and not touch
 * `blocked` otherwise (-DFILTER): an old head makes it see too many, never too
 * few, so it is only a saving.
 *
 * -DT0=, -DT1=, -DB0=, -DB1=, -DB2=, -DCAP=, -DBUDGET=   sizes
 * -DFILTER           as above
 * Mutants, each must fail:
 * -DARM_EMPTY        arms a port only if it is empty: a busy loop
 * -DRELOOK_ANY       the second look is content with one token: a busy loop
 * -DRELOOK_MORE      the second look asks for more than a burst
 * -DLOOK_ANY         the look counts tokens, not bursts
 * -DFILTER_EQUAL     the filter asks for exactly a burst
 * -DFILTER_FIRST     the filter asks whether the port was empty
 * -DCAP= B1 + B2 - 2 the small ring
 */
#define NA 2
#define M 0
#define C 1
#include "gate.prom.h"

#ifndef T0
#define T0 2
#endif
#ifndef T1
#define T1 2
#endif
#ifndef B0
#define B0 2
#endif
#ifndef B1
#define B1 2
#endif
#ifndef B2
#define B2 2
#endif
#ifndef CAP
#define CAP (B1 + B2 - 1)
#endif
#ifndef BUDGET
#define BUDGET 2
#endif

#define OWNER(p) (p == 2 -> C : M)
#define FIRST(a) (a == M -> 0 : 2)
#define LAST(a) (a == M -> 1 : 2)
#define BURST(p) (p == 0 -> B0 : (p == 1 -> B1 : B2))
#define AVAILABLE(p) (p == 0 -> tail[0] - head[0] : \
	(p == 1 -> CAP - (tail[1] - head[1]) : tail[1] - head[1]))

byte tail[2], head[2];          /* 0: M's in-port, 1: the ring to C */
bit blocked[3];
byte alive;
/* Ghost: slices that found nothing since something was last published */
byte idle;

inline unblock(p, f, x)
{
	if
	:: blocked[p] == 1 ->
		d_step { x = blocked[p]; blocked[p] = 0 }
		if
		:: x == 1 -> x = 0; gate_dec(OWNER(p), f)
		:: else
		fi
	:: else
	fi
}

proctype Producer(byte n)
{
	bit f, x;
	byte t, h;

	do
	:: n > 0 ->
		d_step { n--; tail[0]++; t = tail[0]; idle = 0 };
#if defined(FILTER) || defined(FILTER_EQUAL) || defined(FILTER_FIRST)
		if :: h = head[0] :: skip fi;   /* or an old one */
#endif
#if defined(FILTER)
		if :: t >= h + B0 -> unblock(0, f, x) :: else fi
#elif defined(FILTER_EQUAL)
		if :: t == h + B0 -> unblock(0, f, x) :: else fi
#elif defined(FILTER_FIRST)
		if :: t == h + 1 -> unblock(0, f, x) :: else fi
#else
		unblock(0, f, x)
#endif
	:: else -> break
	od;
	skip;
	d_step { alive--; t = 0; h = 0 }
}

proctype Worker(byte a)
{
	byte n, p, b, v, k, take, put;
	bit f, x, some;
	bool turn_is_certain = true;
	bit mine[3];

end:	do
	:: atomic {
		queued[a] > 0 ->
		queued[a]--;
		assert(inslice[a] == 0 && sched[a]);
		inslice[a]++;
		b = BUDGET;
		some = 0
		};
		do
		:: b > 0 ->
			/* look: each port once */
			n = b;
			p = FIRST(a);
			do
			:: p <= LAST(a) ->
				d_step {
#ifdef LOOK_ANY
					v = AVAILABLE(p);
#else
					v = AVAILABLE(p) / BURST(p);
#endif
					if :: v < n -> n = v :: else fi;
					p++;
					v = 0
				}
			:: else -> break
			od;
			if :: n == 0 -> break :: else fi;
			b = b - n;
			some = 1;
			/* n turns on private copies, then publish */
			take = 0;
			put = 0;
			do
			:: n > 0 ->
				atomic {
					if
					:: a == M ->
						/* all that a turn may do, is */
						turn_is_certain = (AVAILABLE(0) >= take + B0);
						assert(turn_is_certain);
						turn_is_certain = (AVAILABLE(1) >= put + B1);
						assert(turn_is_certain);
						if
						:: take++
						:: take = take + B0
						fi;
						if
						:: skip
#ifndef NO_PUT
						:: put++
						:: put = put + B1
#endif
						fi
					:: else ->
						turn_is_certain = (AVAILABLE(2) >= take + B2);
						assert(turn_is_certain);
						if
						:: take++
						:: take = take + B2
						fi
					fi;
					n--
				}
			:: else -> break
			od;
			if
			:: a == M ->
				d_step {
					head[0] = head[0] + take;
					take = 0;
					idle = 0
				};
				d_step { tail[1] = tail[1] + put; put = 0 };
				unblock(2, f, x)
			:: else ->
				d_step {
					head[1] = head[1] + take;
					take = 0;
					idle = 0
				};
				unblock(1, f, x)
			fi
		:: else -> break
		od;
		skip;
		d_step {
			n = 0;
			if :: some -> idle = 0 :: else -> idle++ fi;
			assert(idle < 6)
		};
		/* arm */
		p = FIRST(a);
		do
		:: p <= LAST(a) ->
			if
#ifdef ARM_EMPTY
			:: AVAILABLE(p) == 0 && blocked[p] == 0 ->
#else
			:: AVAILABLE(p) < BURST(p) && blocked[p] == 0 ->
#endif
				mine[p] = 1;
				k++;
				blocked[p] = 1
			:: else
			fi;
			p++
		:: else -> break
		od;
		p = FIRST(a);
		do
		:: p <= LAST(a) ->
			if
#if defined(RELOOK_ANY)
			:: mine[p] && AVAILABLE(p) > 0 ->
#elif defined(RELOOK_MORE)
			:: mine[p] && AVAILABLE(p) > BURST(p) ->
#else
			:: mine[p] && AVAILABLE(p) >= BURST(p) ->
#endif
				d_step {
					x = blocked[p];
					blocked[p] = 0;
					k = k - x;
					x = 0
				}
			:: else
			fi;
			d_step { mine[p] = 0; p++ }
		:: else -> break
		od;
		gate_last(a, k, f);
		d_step { p = 0; b = 0; some = 0 }
	od
}

active proctype Monitor()
{
	bool less_than_burst;

	timeout;
	assert(alive == 0);
	less_than_burst = (AVAILABLE(0) < B0 && AVAILABLE(2) < B2);
	assert(less_than_burst);
	assert(queued[M] == 0 && queued[C] == 0 && !sched[M] && !sched[C]);
	assert(count[M] == blocked[0] + blocked[1] && count[C] == blocked[2])
}

init {
	atomic {
		blocked[0] = 1; count[M] = 1;
		blocked[2] = 1; count[C] = 1;
		alive = 2;
		run Producer(T0);
		run Producer(T1);
		run Worker(M);
		run Worker(C)
	}
}
