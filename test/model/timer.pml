/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A delay port and the executor's timers.
 *
 * Covers rules 2, 3, 5, 8 and 9 where a timer fires. Leaves out: time and the
 * order of the wheel (a timer in the wheel fires whenever it likes), fences but
 * the firing thread's, other ports, waking the thread that waits for the wheel.
 *
 * Firing: under the wheel's lock remove the timer and set `expired`; full fence,
 * for the unlock is none; unblock by rule 2; drop the reference. Arming, by the
 * owner in a turn or a handler: take a reference, then under the lock clear
 * `expired` and insert. Cancelling, by the owner: under the lock remove; whoever
 * removed the timer drops its reference, so the owner does if it was there, and
 * the firing thread, after its last touch, if not. A timer may be armed again
 * while the old one still fires: all that is to come of that is an unblock too
 * many, which rule 4 allows.
 *
 * With LATE the firing thread sets `expired` after it has unlocked. Then it must
 * be a generation, of which the port is ready only for the last, and no two
 * threads may fire timers at once: an old store could cover a new one.
 *
 * A thread signals M SIGNALS times; the handler cancels, arms anew or leaves be.
 * M arms its timer up to ARMS times. Z stops M, or does not.
 *
 * -DARMS=, -DSIGNALS=, -DFIRERS=1 or 2   sizes
 * -DLATE -DGENERATION -DFIRERS=1         as above
 * Mutants, each must fail:
 * -DLATE                        late and a flag: expires early
 * -DLATE -DGENERATION           late with two firing threads: an expiry is lost
 * -DARM_LEAVES                  arming does not clear `expired`
 * -DNO_REF                      the timer holds no reference
 * -DOWNER_DROPS                 the canceller drops though it removed nothing
 * -DDROP_FIRST                  the firing thread drops, then unblocks
 * -DUNBLOCK_FIRST               it unblocks, then sets `expired`
 * -DNO_FIRE_FENCE               no fence between `expired` and `blocked`
 *
 * A final slice that does not cancel breaks nothing, since the timer has its
 * reference, but the release then waits for the expiry.
 */
#define NA 1
#define M 0
#include "gate.prom.h"

#ifndef ARMS
#define ARMS 2
#endif
#ifndef SIGNALS
#define SIGNALS 1
#endif
#ifndef FIRERS
#define FIRERS 2
#endif

bit in_wheel;           /* under the lock */
byte arming;            /* under the lock; 0: none */
byte expired;           /* a flag, or with GENERATION the arming */
bit armed;              /* the owner's: an expiry is awaited */
byte arms;
bit blocked;
byte refs, released;
bit stop_asked, stopped;
byte alive;
byte fired;             /* ghost: the arming that was removed to fire, last */
bit pending;            /* NO_FIRE_FENCE: `expired` is in a store buffer */

#ifdef GENERATION
#define READY_TIMER (armed && expired == arming)
#define MARK(g) g
#else
#define READY_TIMER (armed && expired)
#define MARK(g) 1
#endif

inline drop_ref()
{
	d_step {
		assert(refs > 0);
		refs--;
		if
		:: refs == 0 ->
			assert(stopped && !freed[M]);
			freed[M] = 1;
			released++
		:: else
		fi
	}
}

inline unblock(f, x)
{
	d_step { TOUCH(M); x = blocked };
	if
	:: x == 1 ->
		atomic {
			!pending ->
			d_step { TOUCH(M); x = blocked; blocked = 0 }
		}
		if
		:: x == 1 -> x = 0; gate_dec(M, f)
		:: else
		fi
	:: else
	fi
}

proctype Firer()
{
	bit f, x;
	byte g;

end:	do
	:: atomic {             /* under the lock */
		in_wheel && !pending ->
		TOUCH(M);
		in_wheel = 0;
		g = arming;
		fired = g;
#if defined(NO_FIRE_FENCE)
		pending = 1
#elif !defined(LATE) && !defined(UNBLOCK_FIRST)
		expired = MARK(g)
#endif
		};
#ifdef DROP_FIRST
		drop_ref();
#endif
#ifdef LATE
		d_step { TOUCH(M); expired = MARK(g) };
#endif
		unblock(f, x);
#ifdef UNBLOCK_FIRST
		d_step { TOUCH(M); expired = MARK(g) };
#endif
#if !defined(NO_REF) && !defined(DROP_FIRST)
		drop_ref();
#endif
		g = 0
	od
}

#ifdef NO_FIRE_FENCE
active proctype Flusher()
{
end:	do
	:: atomic { pending -> expired = 1; pending = 0 }
	od
}
#endif

inline arm_timer()
{
#ifndef NO_REF
	refs++;
#endif
	atomic {                /* under the lock */
		!pending ->
		assert(!in_wheel);
		arming++;
#if !defined(ARM_LEAVES) && !defined(GENERATION)
		expired = 0;
#endif
		in_wheel = 1
	};
	d_step { armed = 1; arms++ }
}

inline cancel_timer(x)
{
	atomic { !pending -> x = in_wheel; in_wheel = 0 };
	armed = 0;
	if
#ifndef NO_REF
#ifdef OWNER_DROPS
	:: true -> drop_ref()
#else
	:: x -> drop_ref()
#endif
#endif
	:: else
	fi;
	x = 0
}

proctype Signaller()
{
	bit f;
	byte i;

	do
	:: i < SIGNALS -> i++; gate_signal(M, f)
	:: else -> break
	od;
	drop_ref();
	d_step { alive--; i = 0 }
}

proctype Z()
{
	bit f;

	if
	:: stop_asked = 1; gate_signal(M, f)
	:: skip
	fi;
	drop_ref();
	alive--
}

proctype Worker()
{
	byte k;
	bit f, x, fin;

end:	do
	:: atomic {
		queued[M] > 0 ->
		TOUCH(M);
		assert(!stopped);
		queued[M]--;
		assert(inslice[M] == 0 && sched[M]);
		inslice[M]++
		};
		if
		:: sig[M] ->
			sig[M] = 0;
			fin = stop_asked;
			if
			:: fin -> skip
			:: !fin -> skip         /* leave be */
			:: !fin && armed -> cancel_timer(x)
			:: !fin && arms < ARMS ->
				if :: armed -> cancel_timer(x) :: else fi;
				arm_timer()
			fi
		:: else
		fi;
		if
		:: fin ->
			if :: armed -> cancel_timer(x) :: else fi;
			d_step { TOUCH(M); inslice[M]--; stopped = 1 };
			drop_ref()
		:: else ->
			/* look, a turn */
			if
			:: READY_TIMER ->
				d_step {
					assert(fired == arming && !in_wheel);
					armed = 0
				};
				if
				:: arms < ARMS -> arm_timer()
				:: true
				fi
			:: else
			fi;
			/* arm */
			if
			:: !READY_TIMER && blocked == 0 ->
				k++;
				blocked = 1;
				if
				:: READY_TIMER ->
					d_step {
						x = blocked;
						blocked = 0;
						k = k - x;
						x = 0
					}
				:: else
				fi
			:: else
			fi;
			gate_last(M, k, f)
		fi;
		fin = 0
	od
}

active proctype Monitor()
{
	bool nothing_lost, one_drop;

	timeout;
	assert(alive == 0);
	nothing_lost = (stopped || !armed);
	assert(nothing_lost);
	one_drop = (stopped -> released == 1 && refs == 0 : refs == 1);
	assert(one_drop);
	assert(!in_wheel && stopped == stop_asked)
}

init {
	atomic {
		/* armed before it is started */
		in_wheel = 1; arming = 1; armed = 1; arms = 1;
		refs = 3;               /* itself, Z, the signaller */
#ifndef NO_REF
		refs++;                 /* the timer */
#endif
		blocked = 1; count[M] = 1;
		alive = 2;
		run Signaller();
		run Z();
		run Worker();
		run Firer();
		if :: FIRERS > 1 -> run Firer() :: else fi
	}
}
