/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the workers of a thread pool go to sleep and are woken.
 *
 * Covers what rule 1 leaves to the executor: a submitted actor is taken. Leaves
 * out: what an actor is; spinning before sleeping; more than two workers; how a
 * ring is stolen from (one step here).
 *
 * Submit: push on the inbox by one atomic operation; full fence; wake one. Wake
 * one: load the mask of idle workers; if empty, that was all; else clear one bit
 * by a read-modify-write, and who cleared it adds 1 to that worker's epoch word
 * and wakes its sleeper; who did not loads the mask again. A worker takes from
 * its own ring, else all of the inbox (one to run, the rest into its ring, full
 * fence, and if there is a rest, wake one), else steals one. With nothing to
 * take it reads its epoch, sets its bit by a read-modify-write; full fence; looks
 * again at the inbox and every ring; if it found something it clears its bit,
 * else it sleeps while the epoch is what it read, and then clears its bit.
 *
 * A read-modify-write orders nothing by itself, as on aarch64: without the fence
 * its store may be seen after the loads that follow it.
 *
 * Two submitters push N0 and N1 items; two workers. With LONG one item may run
 * until all others are taken: no worker may sleep while an item waits.
 *
 * -DN0=, -DN1=         sizes
 * -DSPAWN=             so many items are pushed by others into their worker's
 *                      own ring; full fence, wake one
 * -DLONG               as above
 * -DEPOCH_SECOND       reads the epoch after the bit is set, before it looks: safe
 * -DLOSER_LEAVES       who did not clear the bit does not load the mask again:
 *                      safe, since who cleared it makes that worker look at the
 *                      inbox, and what it finds wakes the next
 * Mutants, each must fail:
 * -DNO_SUBMIT_FENCE    between the push and the load of the mask
 * -DNO_PARK_FENCE      between the bit and the second look
 * -DNO_RELOOK          sleeps without looking again
 * -DEPOCH_LAST         reads the epoch after it looked
 * -DNO_EPOCH           sleeps whatever the epoch
 * -DWAKE_FIRST         wakes, then adds to the epoch
 * Mutants that must fail with LONG:
 * -DBIT_STAYS          does not clear its bit after a sleep that did not happen
 * -DFOUND_STAYS        does not clear its bit when it found something
 * -DNO_PASS_ON         the rest of the inbox wakes no one
 * -DLOOK_INBOX         looks again at the inbox only
 * -DSPAWN_SILENT       a push into the own ring wakes no one
 */
#ifndef N0
#define N0 1
#endif
#ifndef N1
#define N1 1
#endif
#ifndef SPAWN
#define SPAWN 0
#endif
#define TOTAL (N0 + N1 + SPAWN)

byte inbox, ring[2];
bit idle[2];            /* the mask */
byte epoch[2];
bit asleep[2];
byte taken, ran, spawned;
bit long_one;           /* an item runs until all are taken */
bit push_pending[2], bit_pending[2];

#ifdef LOOK_INBOX
#define SOMETHING (inbox > 0)
#else
#define SOMETHING (inbox > 0 || ring[0] > 0 || ring[1] > 0)
#endif

inline wake_one(i, x)
{
	do
	:: atomic {
		if
		:: idle[0] -> i = 0
		:: idle[1] -> i = 1
		:: !idle[0] && !idle[1] -> i = 2
		fi
		};
		if
		:: i == 2 -> break
		:: else ->
			d_step { x = idle[i]; idle[i] = 0 };
			if
			:: x ->
#ifdef WAKE_FIRST
				asleep[i] = 0;
				epoch[i]++;
#else
				epoch[i]++;
				asleep[i] = 0;
#endif
				break
#ifdef LOSER_LEAVES
			:: else -> break
#else
			:: else
#endif
			fi
		fi
	od;
	skip;
	d_step { i = 0; x = 0 }
}

proctype Submitter(bit s; byte n)
{
	byte i;
	bit x;

	do
	:: n > 0 ->
		n--;
#ifdef NO_SUBMIT_FENCE
		atomic { !push_pending[s] -> push_pending[s] = 1 };
#else
		inbox++;
#endif
		wake_one(i, x)
	:: else -> break
	od
}

#if defined(NO_SUBMIT_FENCE) || defined(NO_PARK_FENCE)
active proctype Flusher()
{
end:	do
	:: atomic { push_pending[0] -> inbox++; push_pending[0] = 0 }
	:: atomic { push_pending[1] -> inbox++; push_pending[1] = 0 }
	:: atomic { bit_pending[0] -> idle[0] = 1; bit_pending[0] = 0 }
	:: atomic { bit_pending[1] -> idle[1] = 1; bit_pending[1] = 0 }
	od
}
#endif

inline clear_bit(w)
{
	atomic { !bit_pending[w] -> idle[w] = 0 }
}

proctype Worker(bit w)
{
	byte n, e, i;
	bit x;

end:	do
	:: true ->
		/* take one into n */
		d_step { if :: ring[w] > 0 -> ring[w]--; n = 1 :: else fi };
		if
		:: n == 0 ->
			d_step { n = inbox; inbox = 0 };
			if
			:: n > 1 ->
				d_step { ring[w] = n - 1; n = 1 };
#ifndef NO_PASS_ON
				wake_one(i, x)
#endif
			:: else
			fi
		:: else
		fi;
		if
		:: n == 0 ->
			d_step {
				if
				:: ring[1 - w] > 0 -> ring[1 - w]--; n = 1
				:: else
				fi
			}
		:: else
		fi;
		if
		:: n == 1 ->
			d_step { n = 0; taken++ };
#if SPAWN
			if
			:: d_step { spawned < SPAWN -> spawned++; ring[w]++ };
#ifndef SPAWN_SILENT
				wake_one(i, x)
#endif
			:: spawned >= SPAWN
			fi;
#endif
#ifdef LONG
			if
			:: atomic { !long_one -> long_one = 1 };
				atomic { taken == TOTAL -> long_one = 0 }
			:: skip
			fi;
#endif
			ran++
		:: n == 0 ->
			/* park */
#if !defined(EPOCH_SECOND) && !defined(EPOCH_LAST)
			e = epoch[w];
#endif
#ifdef NO_PARK_FENCE
			atomic { !bit_pending[w] -> bit_pending[w] = 1 };
#else
			idle[w] = 1;
#endif
#ifdef EPOCH_SECOND
			e = epoch[w];
#endif
			if
#ifndef NO_RELOOK
			:: SOMETHING ->
#ifndef FOUND_STAYS
				clear_bit(w)
#endif
#endif
			:: else ->
#ifdef EPOCH_LAST
				e = epoch[w];
#endif
				/* the kernel compares and sleeps in one step */
				d_step {
#ifdef NO_EPOCH
					asleep[w] = 1
#else
					if
					:: epoch[w] == e -> asleep[w] = 1
					:: else
					fi
#endif
				};
end_asleep:			!asleep[w];
#ifndef BIT_STAYS
				clear_bit(w)
#endif
			fi;
			e = 0
		fi
	od
}

active proctype Monitor()
{
	bool all_taken;

	timeout;
	all_taken = (taken == TOTAL && inbox == 0);
	assert(all_taken);
	assert(ran == TOTAL)
}

init {
	atomic {
		run Submitter(0, N0);
		run Submitter(1, N1);
		run Worker(0);
		run Worker(1)
	}
}
