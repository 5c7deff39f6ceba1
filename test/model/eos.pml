/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end of a stream, published in the index word.
 *
 * Covers rules 2, 3, 5 and 7 where a stream ends. Leaves out: fences (the model
 * is sequentially consistent), errors (an end with a payload written before
 * it), several producers, stopping (8).
 *
 * With a burst B above 1 on port 0 the rest of the stream may be less than a
 * burst, and is then one turn: the port is ready iff available >= B, or it has
 * ended and something is there. This the end makes true without a token, and it
 * only signals; so the arming also takes a port off the count that is ready and
 * still counted, by the same exchange. Else a port 0 that was armed with a token
 * in it stays counted for ever. (With END_BOTH the end unblocks as well, and the
 * arming need not.)
 *
 * The word of in-port 0 is tail * 2 + ended. Its producer puts T0 tokens, sets
 * the end, and signals (rule 5), since the end must be seen although another
 * port is blocked: in-port 1 gets T1 tokens from a second thread, perhaps none
 * more. A turn takes a token of each. The end needs no room. A slice asks
 * "drained and ended?" at each look, and once more before it arms; it then
 * switches port 0 off (rule 7) and turns go on with port 1 alone.
 *
 * -DT0=, -DT1=, -DB=, -DBUDGET=   sizes
 * -DEND_BOTH          as above
 * -DNSIG              a third thread signals once, for no reason
 * Mutants, each must fail:
 * -DNO_END_SIGNAL     nothing follows the end
 * -DEND_UNBLOCKS      the end is followed by an unblock instead
 * -DSIGNAL_FIRST      the signal comes before the end
 * -DEND_APART         the end is a word of its own, read after the tail
 * -DONLY_SIGNALLED    the slice asks only when it was signalled
 * -DNO_LAST_LOOK      the slice does not ask once more before it arms
 * -DEND_LEAVES        the ended port stays counted
 * -DCOUNT_STAYS       with B above 1 and NSIG: the arming takes none off
 * -DREST_STAYS        with B above 1: the rest of the stream is no turn
 */
#define NA 1
#define M 0
#include "gate.prom.h"

#ifndef T0
#define T0 1
#endif
#ifndef T1
#define T1 2
#endif
#ifndef B
#define B 1
#endif
#ifndef BUDGET
#define BUDGET 1
#endif

byte word;                      /* of port 0 */
byte ended_word;                /* END_APART only */
byte tail1;
byte head[2];
bit blocked[2];
bit on0;
byte ends, alive;

/* w: the word of port 0, read once */
#define TOKENS(w) (w / 2 - head[0])
#ifdef REST_STAYS
#define REST(w) 0
#else
#define REST(w) (w % 2 == 1 && TOKENS(w) % B > 0)
#endif
#define TURNS0(w) (TOKENS(w) / B + REST(w))
#define TURNS1 (tail1 - head[1])

inline unblock(p, f, x)
{
	if
	:: blocked[p] == 1 ->
		d_step { x = blocked[p]; blocked[p] = 0 }
		if
		:: x == 1 -> x = 0; gate_dec(M, f)
		:: else
		fi
	:: else
	fi
}

proctype Stream()
{
	bit f, x;
	byte i;

	do
	:: i < T0 ->
		i++;
		word = word + 2;
		unblock(0, f, x)
	:: else -> break
	od;
#if defined(SIGNAL_FIRST)
	gate_signal(M, f);
	word = word + 1;
#elif defined(END_APART)
	ended_word = 1;
	gate_signal(M, f);
#else
	word = word + 1;
#if defined(END_BOTH) || defined(END_UNBLOCKS)
	unblock(0, f, x);
#endif
#if !defined(END_UNBLOCKS) && !defined(NO_END_SIGNAL)
	gate_signal(M, f);
#endif
#endif
	d_step { alive--; i = 0 }
}

#ifdef NSIG
proctype Signaller()
{
	bit f;

	gate_signal(M, f);
	alive--
}
#endif

proctype Other()
{
	bit f, x;
	byte i;

	do
	:: i < T1 ->
		i++;
		tail1++;
		unblock(1, f, x)
	:: else -> break
	od;
	skip;
	d_step { alive--; i = 0 }
}

/* the word was read into v: is the stream at its end? */
inline ask()
{
	if
#if defined(END_APART)
	:: on0 && v / 2 == head[0] && ended_word ->
#elif defined(ONLY_SIGNALLED)
	:: s && on0 && v / 2 == head[0] && v % 2 == 1 ->
#else
	:: on0 && v / 2 == head[0] && v % 2 == 1 ->
#endif
		d_step { ends++; on0 = 0; assert(head[0] == T0 && ends == 1) };
#ifndef END_LEAVES
		d_step { x = blocked[0]; blocked[0] = 0 };
		if
		:: x == 1 -> x = 0; gate_dec(M, f)
		:: else
		fi
#endif
	:: else
	fi
}

proctype Worker()
{
	byte n, b, v, t;
	short k;
	bit f, x, s;

end:	do
	:: atomic {
		queued[M] > 0 ->
		queued[M]--;
		assert(inslice[M] == 0 && sched[M]);
		inslice[M]++;
		b = BUDGET;
		s = 0
		};
		if
		:: sig[M] -> d_step { sig[M] = 0; s = 1 }
		:: else
		fi;
		do
		:: b > 0 ->
			/* look: each port once */
			n = b;
			v = word;
			ask();
			if
			:: on0 && TURNS0(v) < n -> n = TURNS0(v)
			:: else
			fi;
			d_step {
				t = TURNS1;
				if :: t < n -> n = t :: else fi;
				t = 0
			};
			if :: n == 0 -> break :: else fi;
			b = b - n;
			d_step {
				if
				:: on0 && n * B <= TOKENS(v) ->
					head[0] = head[0] + n * B
				:: on0 && n * B > TOKENS(v) -> head[0] = v / 2
				:: else
				fi;
				head[1] = head[1] + n
			};
			n = 0
		:: else -> break
		od;
#ifndef NO_LAST_LOOK
		v = word;
		ask();
#endif
		/* arm */
		if
#if !defined(END_BOTH) && !defined(COUNT_STAYS)
		:: on0 && TURNS0(word) > 0 && blocked[0] == 1 ->
			d_step {
				x = blocked[0];
				blocked[0] = 0;
				k = k - x;
				x = 0
			}
#endif
		:: on0 && TURNS0(word) == 0 && blocked[0] == 0 ->
			k++;
			blocked[0] = 1;
			if
			:: TURNS0(word) > 0 ->
				d_step {
					x = blocked[0];
					blocked[0] = 0;
					k = k - x;
					x = 0
				}
			:: else
			fi
		:: else
		fi;
		if
		:: TURNS1 == 0 && blocked[1] == 0 ->
			k++;
			blocked[1] = 1;
			if
			:: TURNS1 > 0 ->
				d_step {
					x = blocked[1];
					blocked[1] = 0;
					k = k - x;
					x = 0
				}
			:: else
			fi
		:: else
		fi;
		gate_last(M, k, f);
		d_step { n = 0; b = 0; v = 0; s = 0 }
	od
}

active proctype Monitor()
{
	timeout;
	assert(alive == 0 && !sched[M] && queued[M] == 0);
	/* with fewer others than turns the stream cannot be drained */
	assert(T1 * B < T0 || ends == 1);
	assert(head[1] == T1);
	assert(count[M] == blocked[0] + blocked[1])
}

init {
	atomic {
		on0 = 1;
		blocked[0] = 1; blocked[1] = 1; count[M] = 2;
		alive = 2;
		run Stream();
		run Other();
#ifdef NSIG
		alive++;
		run Signaller();
#endif
		run Worker();
		run Worker()
	}
}
