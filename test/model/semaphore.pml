/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A semaphore shared by actors and threads.
 *
 * Covers rules 2, 3, 5, 8 and 9 where a port takes from a shared semaphore.
 * Leaves out: fences but the granter's, other ports (a permit is then held while
 * they are blocked), callbacks (they are takers like the thread, whose call
 * comes after the unlock), takers of several permits at once.
 *
 * Under the semaphore's lock: a taker takes a free permit or becomes the last
 * waiter; a release grants to the first waiter or makes a permit free. So there
 * is no free permit while someone waits, and a granted one is held by that
 * waiter: what the look sees is certain. After the unlock, which is no full
 * fence, so one follows, the granter unblocks the actor by rule 2. A port that
 * finds no permit takes or enqueues before it stores `blocked = 1`, and looks at
 * its grant afterwards. A waiter that is an actor has a reference, dropped by
 * who removes it from the queue: the granter after its last touch, or the final
 * slice, which under the lock either removes the waiter or finds its permit
 * granted and passes it on. A thread's waiter lives on its stack: the grant is
 * the granter's last touch.
 *
 * With MARK_LATE the release removes the waiter under the lock and marks the
 * grant after it. A final slice that then finds its waiter neither in the queue
 * nor granted abandons it, and the granter, which marks by a swap, sees that and
 * releases the permit again.
 *
 * Actors 0 and 1 and the thread want a permit each, the actors TURNS times.
 * Releasers release P permits. Z stops actor 0, or does not. The thread may
 * give up: under the lock it removes itself or finds that it was granted.
 *
 * -DP=, -DTURNS=     sizes
 * -DNO_STOP          Z does not stop actor 0
 * -DGIVE_BACK        a turn releases its permit at its end
 * -DMARK_LATE        as above
 * Mutants, each must fail:
 * -DDOUBLE           a release with a waiter also makes a permit free
 * -DHINT             a release makes a permit free and wakes the first waiter
 * -DGRANT_APART      a release removes the waiter, unlocks, then grants
 * -DLIFO             a release grants to the last waiter
 * -DSTOP_FORGETS     the final slice forgets the granted permit
 * -DSTOP_LEAVES      the final slice leaves its waiter in the queue
 * -DSTOP_APART       it looks for the grant, unlocks, then removes
 * -DGIVE_UP_APART    the thread does
 * -DUNBLOCK_FIRST    the granter unblocks, then marks the grant
 * -DNO_GRANT_FENCE   no fence between the grant and `blocked`
 * -DNO_RELOOK        the port does not look again after `blocked = 1`
 * -DNO_REF           an actor's waiter has no reference
 * -DDROP_FIRST       the granter drops, then unblocks
 * -DTOUCH_STACK      the granter touches a thread's waiter after the grant
 * -DABANDON_FORGETS  with MARK_LATE: the granter keeps an abandoned permit
 */
#define NA 2
#define T 2             /* the thread, as a taker */
#define NONE 3
#include "gate.prom.h"

#ifndef P
#define P 3
#endif
#ifndef TURNS
#define TURNS 1
#endif

/* under the lock */
byte free;
byte queue[3], waiting;         /* waiting: how many */
bit held[3];                    /* granted and not used */

bit abandoned[2];               /* MARK_LATE */
bit enqueued[2];                /* the actor's own: it waits for a grant */
byte turns[2];
bit blocked[2];
byte refs[2], released[2];
bit stop_asked, stopped[2];
byte alive;
bit on_stack;                   /* the thread's waiter exists */
byte permits, used;             /* ghosts */
byte in_queue, ahead[3];        /* ghosts: sets of takers, a bit each */
bit pending[3];                 /* NO_GRANT_FENCE: in a store buffer */

inline drop_ref(a)
{
	d_step {
		assert(refs[a] > 0);
		refs[a]--;
		if
		:: refs[a] == 0 ->
			assert(stopped[a] && !freed[a]);
			freed[a] = 1;
			released[a]++
		:: else
		fi
	}
}

inline unblock(a, f, x)
{
	d_step { TOUCH(a); x = blocked[a] };
	if
	:: x == 1 ->
#ifdef NO_GRANT_FENCE
		!pending[a];
#endif
		d_step { TOUCH(a); x = blocked[a]; blocked[a] = 0 }
		if
		:: x == 1 -> x = 0; gate_dec(a, f)
		:: else
		fi
	:: else
	fi
}

/* inside a d_step: remove waiter id from the queue, x: it was there */
inline remove(id, x)
{
	x = 0;
	if
	:: queue[0] == id ->
		x = 1;
		queue[0] = queue[1];
		queue[1] = queue[2];
		queue[2] = NONE
	:: queue[1] == id -> x = 1; queue[1] = queue[2]; queue[2] = NONE
	:: queue[2] == id -> x = 1; queue[2] = NONE
	:: else
	fi;
	waiting = waiting - x;
	in_queue = in_queue & ~(1 << id);
	ahead[0] = ahead[0] & ~(1 << id);
	ahead[1] = ahead[1] & ~(1 << id);
	ahead[T] = ahead[T] & ~(1 << id);
	ahead[id] = 0
}

/* inside a d_step: taker id becomes the last waiter */
inline enqueue(id)
{
	queue[waiting] = id;
	waiting++;
	ahead[id] = in_queue;
	in_queue = in_queue | (1 << id)
}

/* one permit: to the first waiter, w, or free */
inline release(w, f, x)
{
#ifdef MARK_LATE
	do
	:: true ->
#endif
	d_step {
		if
		:: waiting > 0 ->
#ifdef LIFO
			w = queue[waiting - 1];
#else
			w = queue[0];
#endif
			assert(ahead[w] == 0);
			remove(w, x);
			x = 0;
#if defined(HINT)
			if :: w == T -> held[T] = 1 :: else -> free++ fi
#elif defined(NO_GRANT_FENCE)
			if :: w == T -> held[w] = 1 :: else -> pending[w] = 1 fi
#elif defined(GRANT_APART)
			free++
#elif defined(UNBLOCK_FIRST) || defined(MARK_LATE)
			if :: w == T -> held[T] = 1 :: else fi
#else
			held[w] = 1
#endif
#ifdef DOUBLE
			;
			free++
#endif
		:: else -> free++; w = NONE
		fi
	};
#ifdef GRANT_APART
	d_step {
		if :: w != NONE && free > 0 -> free--; held[w] = 1 :: else fi
	};
#endif
	if
	:: w < T ->
#ifdef DROP_FIRST
		drop_ref(w);
#endif
#ifdef MARK_LATE
		d_step {
			TOUCH(w);
			x = abandoned[w];
			abandoned[w] = 0;
			held[w] = !x
		};
		if :: !x -> unblock(w, f, x) :: else fi;
#else
		unblock(w, f, x);
#endif
#ifdef UNBLOCK_FIRST
		d_step { TOUCH(w); held[w] = 1 };
#endif
#if !defined(DROP_FIRST) && !defined(NO_REF)
		drop_ref(w);
#endif
		skip
	:: w == T ->
#ifdef TOUCH_STACK
		assert(on_stack);
#endif
		skip
	:: else
	fi;
#ifdef MARK_LATE
	/* it was given up meanwhile: the permit goes on */
#ifndef ABANDON_FORGETS
	if :: x -> x = 0 :: else -> break fi
#else
	x = 0;
	break
#endif
	od;
#endif
	w = NONE
}

#ifdef NO_GRANT_FENCE
active proctype Flusher()
{
end:	do
	:: atomic { pending[0] -> held[0] = 1; pending[0] = 0 }
	:: atomic { pending[1] -> held[1] = 1; pending[1] = 0 }
	od
}
#endif

proctype Releaser(byte n)
{
	byte w = NONE;
	bit f, x;

	do
	:: n > 0 -> d_step { n--; permits++ }; release(w, f, x)
	:: else -> break
	od;
	skip;
	d_step { alive--; w = 0 }
}

proctype Thread()
{
	bit x, got;

	d_step {
		on_stack = 1;
		if
		:: free > 0 -> free--; got = 1
		:: else -> enqueue(T)
		fi
	};
	if
	:: got -> used++
	:: !got && held[T] -> d_step { held[T] = 0; used++ }
	:: !got ->              /* gives up */
#ifdef GIVE_UP_APART
		x = held[T];
		if
		:: x -> d_step { held[T] = 0; used++; x = 0 }
		:: else -> d_step { remove(T, x); x = 0 }
		fi
#else
		d_step {
			remove(T, x);
			if :: !x -> held[T] = 0; used++ :: else fi;
			x = 0
		}
#endif
	fi;
	d_step { on_stack = 0; alive--; got = 0 }
}

proctype Z()
{
	bit f;

	if
#ifndef NO_STOP
	:: stop_asked = 1; gate_signal(0, f)
#endif
	:: skip
	fi;
	drop_ref(0);
	alive--
}

/* inside a d_step: take, or wait */
inline take_or_enqueue(a)
{
	if
	:: free > 0 ->
#if !defined(HINT) && !defined(GRANT_APART)
		assert(waiting == 0);
#endif
		free--;
		held[a] = 1
	:: else ->
		enqueue(a);
		enqueued[a] = 1;
#ifndef NO_REF
		refs[a]++
#endif
	fi
}

#ifdef HINT
#define HELD(a) (held[a] || free > 0)
#else
#define HELD(a) held[a]
#endif

proctype Worker(byte a)
{
	byte k, w = NONE;
	bit f, x, fin;
	bool permit_is_certain;

end:	do
	:: atomic {
		queued[a] > 0 ->
		TOUCH(a);
		assert(!stopped[a]);
		queued[a]--;
		assert(inslice[a] == 0 && sched[a]);
		inslice[a]++
		};
		if
		:: sig[a] -> sig[a] = 0; fin = stop_asked
		:: else
		fi;
		if
		:: fin ->
			/* leave the queue, or pass the permit on */
#ifndef STOP_LEAVES
#ifdef MARK_LATE
			d_step { remove(a, x) };
			d_step {
				w = (held[a] -> a : NONE);
				held[a] = 0;
				abandoned[a] = (enqueued[a] && !x && w == NONE)
			};
#elif defined(STOP_APART)
			fin = held[a];
			d_step {
				remove(a, x);
				if :: fin -> held[a] = 0 :: else fi;
				w = (fin -> a : NONE)
			};
			fin = 1;
#else
			atomic {
				!pending[a] ->
				remove(a, x);
				w = (held[a] -> a : NONE);
				held[a] = 0
			};
#endif
#ifndef NO_REF
			if :: x -> drop_ref(a) :: else fi;
#endif
			x = 0;
#ifdef STOP_FORGETS
			w = NONE;
#endif
			if :: w == a -> release(w, f, x) :: else fi;
#endif
			d_step { TOUCH(a); inslice[a]--; stopped[a] = 1 };
			drop_ref(a)
		:: else ->
			do
			:: turns[a] < TURNS ->
				/* look: have a permit, take one, or wait */
				d_step {
					if
					:: held[a] -> enqueued[a] = 0
					:: !held[a] && !enqueued[a] ->
						take_or_enqueue(a)
					:: else
					fi
				};
				if
				:: HELD(a) ->
					d_step {
						permit_is_certain =
						    HELD(a);
						assert(permit_is_certain);
						if
						:: held[a] -> held[a] = 0
						:: else -> free--
						fi;
						enqueued[a] = 0;
						turns[a]++
					};
#ifdef GIVE_BACK
					release(w, f, x)
#else
					used++
#endif
				:: else -> break
				fi
			:: else -> break
			od;
			/* arm */
			if
			:: blocked[a] == 0 ->
				k++;
				blocked[a] = 1;
#ifndef NO_RELOOK
				if
				:: turns[a] < TURNS && HELD(a) ->
					d_step {
						x = blocked[a];
						blocked[a] = 0;
						k = k - x;
						x = 0
					}
				:: else
				fi
#endif
			:: else
			fi;
			gate_last(a, k, f)
		fi;
		d_step { fin = 0; w = NONE; x = 0; permit_is_certain = 0 }
	od
}

active proctype Monitor()
{
	bool permits_kept, none_stuck, none_wait_in_vain;

	timeout;
	assert(alive == 0);
	/* a grant that nobody came for: a lost wake-up */
	none_stuck = (!held[0] && !held[1] && !held[T]);
	assert(none_stuck);
	permits_kept = (permits == free + used);
	assert(permits_kept);
	none_wait_in_vain = (free == 0 || (waiting == 0 && turns[1] == TURNS &&
	    (turns[0] == TURNS || stopped[0])));
	assert(none_wait_in_vain);
	assert(!stopped[0] || (refs[0] == 0 && released[0] == 1));
	assert(stopped[0] == stop_asked)
}

init {
	atomic {
		queue[0] = NONE; queue[1] = NONE; queue[2] = NONE;
		sched[0] = 1; queued[0] = 1; refs[0] = 2;
		sched[1] = 1; queued[1] = 1; refs[1] = 1;
		alive = 3;
		run Releaser(P);
		run Thread();
		run Z();
		run Worker(0);
		run Worker(1)
	}
}
