/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One actor with one feature: suspension, a changing set of ports, or an any.
 *
 * Covers rules 1, 2, 3, 5, 6 and 7, and ports fed by several producers. Leaves
 * out: fences (the model is sequentially consistent), links between actors,
 * stopping (8), suspension by a parent (a second bit like the first).
 *
 * M has in-ports 0 and 1 with N0 and N1 tokens to come; two workers take it.
 *
 * -DSUSP         two threads suspend and resume it, one SR times
 * -DBECOME_TURN  turns switch port 1 off and on again
 * -DBECOME_SIG   a signal handler does
 * -DANY          the ports are members of one any: a turn needs one token
 * -DMPSC         port 0 has two producers that reserve, fill and commit
 * -DN0=, -DN1=, -DBUDGET=, -DNSIG=, -DSR=, -DNS=       sizes
 * -DEXPECT0=     tokens taken from port 0 in the end, if not N0
 * Mutants, each must fail:
 * -DNO_SUSP_LOOK         rule 6: the look does not read the bit
 * -DSUSP_EXCHANGE_FIRST  suspension as a port: exchange, then count
 * -DSUSP_PLAIN_STORE     suspension as a port: count, then a plain store
 * -DNO_RELOOK            rule 7: the bare loop goes on with the old set
 * -DIGNORE_LEAVES        rule 7: switching off leaves the port counted
 * -DANY_FLAG_EACH        rule 7: a flag per member, each of them decrements
 * -DANY_COUNT_EACH       rule 7: every member is counted
 * -DSIG_ORDER            rule 5: reads the payload, then clears SIGNALLED
 */
#define NA 1
#define M 0
#include "gate.prom.h"

#ifndef N0
#define N0 2
#endif
#ifndef N1
#define N1 2
#endif
#ifndef BUDGET
#define BUDGET 2
#endif
#ifndef NSIG
#define NSIG 0
#endif
#ifndef SR
#define SR 1
#endif
#ifndef NS
#define NS 2
#endif

byte tail[2], head[2];
bit blocked[2];
bit on[2];
byte turns, alive, sent, handled;
/* Ghosts: resumptions so far, and (the mutants) suspension as a port */
byte epoch;
bit suspended_port;

#ifdef MPSC
bit filled[8];
byte res;
#define AVAILABLE(p) (p == 0 -> filled[head[0]] : tail[1] - head[1])
#else
#define AVAILABLE(p) (tail[p] - head[p])
#endif

#if defined(ANY) && !defined(ANY_FLAG_EACH) && !defined(ANY_COUNT_EACH)
#define FLAG(p) 0       /* the members share one word */
#else
#define FLAG(p) (p)
#endif

#if defined(ANY) && !defined(ANY_COUNT_EACH)
#define TOKENS(p) (AVAILABLE(0) + AVAILABLE(1))
#else
#define TOKENS(p) AVAILABLE(p)
#endif

#if defined(SUSP_EXCHANGE_FIRST) || defined(SUSP_PLAIN_STORE)
#define SUSPENDED suspended_port
#else
#define SUSPENDED susp[M]
#endif

inline unblock(p, f, x)
{
	if
	:: blocked[FLAG(p)] == 1 ->
		d_step { x = blocked[FLAG(p)]; blocked[FLAG(p)] = 0 }
		if
		:: x == 1 -> x = 0; gate_dec(M, f)
		:: else
		fi
	:: else
	fi
}

/* store blocked = 1, look again, undo; k: the ports still counted (rule 3) */
inline arm(p)
{
	k++;
	blocked[p] = 1;
	if
	:: TOKENS(p) > 0 ->
		d_step {
			x = blocked[p];
			blocked[p] = 0;
			k = k - x;
			x = 0
		}
	:: else
	fi
}

/* switch a port off, inside a slice (rule 7) */
inline ignore(p)
{
	on[p] = 0;
#ifndef IGNORE_LEAVES
	d_step { x = blocked[p]; blocked[p] = 0 };
	if
	:: x == 1 -> x = 0; gate_dec(M, f)
	:: else
	fi
#endif
}

proctype Producer(byte p; byte n)
{
	bit f, x;
	byte i, my;

	do
	:: i < n ->
		i++;
#ifdef MPSC
		if
		:: p == 0 ->
			d_step { my = res; res++ };
			filled[my] = 1          /* exchange */
		:: else -> tail[p]++
		fi;
#else
		tail[p]++;
#endif
		unblock(p, f, x)
	:: else -> break
	od;
	skip;
	d_step { alive--; i = 0; my = 0 }
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

proctype Suspender(byte n)
{
	bit f, x;
	byte i;

	do
	:: i < n ->
		i++;
#if defined(SUSP_EXCHANGE_FIRST)
		d_step { x = suspended_port; suspended_port = 1 };
		if :: x == 0 -> d_step { count[M]++ } :: else fi;
		d_step { x = suspended_port; suspended_port = 0; epoch++ };
		if :: x == 1 -> x = 0; gate_dec(M, f) :: else fi
#elif defined(SUSP_PLAIN_STORE)
		d_step { count[M]++ };
		suspended_port = 1;
		d_step { x = suspended_port; suspended_port = 0; epoch++ };
		if :: x == 1 -> x = 0; gate_dec(M, f) :: else fi
#else
		d_step { susp[M] = 1 };
		d_step {
			susp[M] = 0;
			epoch++;
			f = READY(M) && !sched[M];
			if :: f -> sched[M] = 1 :: else fi
		};
		submit_if(M, f)
#endif
	:: else -> break
	od;
	skip;
	d_step { alive--; i = 0; x = 0 }
}

proctype Worker()
{
	byte n, p, b, v, k;
	bit f, x;
	byte g; bit sg;         /* ghosts: suspended before this slice? */

end:	do
	:: atomic {
		queued[M] > 0 ->
		queued[M]--;
		assert(inslice[M] == 0 && sched[M]);
		inslice[M]++;
		b = BUDGET;
		g = epoch;
		sg = SUSPENDED
		};
		/* signals first */
		if
		:: sig[M] ->
#ifdef SIG_ORDER
			d_step { v = handled; handled = sent };
			d_step { sig[M] = 0 };
#else
			d_step { sig[M] = 0 };
			d_step { v = handled; handled = sent };
#endif
#ifdef BECOME_SIG
			if
			:: v < handled && handled == 1 -> ignore(1)
			:: v < handled && handled == 2 -> on[1] = 1
			:: else
			fi;
#endif
			v = 0
		:: else
		fi;
		/* look, turns */
		do
		:: b > 0 ->
			n = b;
			p = 0;
			v = 0;
#ifndef NO_SUSP_LOOK
			if :: SUSPENDED -> n = 0 :: else fi;
#endif
#ifdef ANY
			if
			:: n > 0 ->
				v = AVAILABLE(0);
				v = v + AVAILABLE(1);
				if :: v < n -> n = v :: else fi
			:: else
			fi;
#else
			do
			:: p <= 1 ->
				if
				:: on[p] ->
					d_step {
						v = AVAILABLE(p);
						if :: v < n -> n = v :: else fi
					}
				:: else
				fi;
				p++
			:: else -> break
			od;
#endif
			v = 0;
			if :: n == 0 -> break :: else fi;
			do
			:: n > 0 ->
#ifdef ANY
				if
				:: AVAILABLE(0) > 0 -> head[0]++
				:: AVAILABLE(0) == 0 && AVAILABLE(1) > 0 ->
					head[1]++
				:: else -> assert(false)
				fi;
#else
				d_step {
					assert(AVAILABLE(0) > 0);
					head[0]++;
					if
					:: on[1] ->
						assert(AVAILABLE(1) > 0);
						head[1]++
					:: else
					fi
				};
#endif
				d_step {
					assert(!(sg && g == epoch));
					n--;
					b--;
					turns++
				};
#ifdef BECOME_TURN
				if
				:: turns == 1 -> ignore(1)
				:: turns == 2 -> on[1] = 1
				:: else
				fi;
#ifndef NO_RELOOK
				break   /* another set: the bare loop ends */
#endif
#endif
			:: else -> break
			od;
			n = 0
		:: else -> break
		od;
		n = 0;
		/* arm */
#if defined(ANY)
		if
#if defined(ANY_FLAG_EACH)
		:: AVAILABLE(0) == 0 && AVAILABLE(1) == 0 &&
		   (blocked[0] == 0 || blocked[1] == 0) ->
			blocked[1] = 1;
			arm(0)
#elif defined(ANY_COUNT_EACH)
		:: AVAILABLE(0) == 0 && AVAILABLE(1) == 0 ->
			if :: blocked[0] == 0 -> arm(0) :: else fi;
			if :: blocked[1] == 0 -> arm(1) :: else fi
#else
		:: AVAILABLE(0) == 0 && AVAILABLE(1) == 0 && blocked[0] == 0 ->
			arm(0)
#endif
		:: else
		fi;
#else
		p = 0;
		do
		:: p <= 1 ->
			if
			:: on[p] && AVAILABLE(p) == 0 && blocked[p] == 0 ->
				arm(p)
			:: else
			fi;
			p++
		:: else -> break
		od;
#endif
		gate_last(M, k, f);
		d_step { p = 0; b = 0; n = 0; v = 0; x = 0; g = 0; sg = 0 }
	od
}

active proctype Monitor()
{
	timeout;
	assert(alive == 0 && !sched[M] && queued[M] == 0);
#if defined(EXPECT0)
	assert(head[0] == EXPECT0);
#ifdef ANY
	assert(head[1] == N1);
#endif
#else
	assert(head[0] == N0 && head[1] == N1);
#endif
	assert(handled == sent);
	assert(!susp[M])
}

init {
	atomic {
		on[0] = 1; on[1] = 1;
#if defined(ANY) && !defined(ANY_COUNT_EACH)
		blocked[0] = 1; count[M] = 1;
#ifdef ANY_FLAG_EACH
		blocked[1] = 1;
#endif
#else
		blocked[0] = 1; blocked[1] = 1; count[M] = 2;
#endif
		run Producer(0, N0); alive++;
#ifdef MPSC
		run Producer(0, 1); alive++;
#endif
		if :: N1 > 0 -> run Producer(1, N1); alive++ :: else fi;
		if :: NSIG > 0 -> run Signaller(NSIG); alive++ :: else fi;
#ifdef SUSP
		run Suspender(SR); alive++;
		if :: NS > 1 -> run Suspender(1); alive++ :: else fi;
#endif
		run Worker();
		run Worker()
	}
}
