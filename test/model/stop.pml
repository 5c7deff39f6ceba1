/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stopping, references and the release of the memory.
 *
 * Covers rules 1 to 3, 5, 8 and 9. Leaves out: fences (the model is
 * sequentially consistent), suspension (6), a changing set of ports (7),
 * restart; the end as a flag of its own (eos.pml has it in the index word).
 *
 * A has out-port 0, a ring of CAP to in-port 1 of M, NAPUT tokens. The thread P
 * puts NP tokens into M's in-port 2, unbounded here. Y stops A, Z stops M, S
 * signals M (-DNO_S leaves S out). Every access to an actor's memory asserts
 * that it has not been released. A reference is held by the actor itself, each
 * link end and each thread.
 *
 * -DNP=, -DNAPUT=, -DCAP=   sizes
 * Mutants, each must fail:
 * -DNOREF_P      rule 8: P holds no reference
 * -DNOREF_LINK   rule 8: the link ends hold none
 * -DSTOP_COUNT   rule 8: stopped by count + 1, with SCHEDULED given back
 * -DDROP_EARLY   rule 8: own reference dropped before the final slice's cancel
 * -DNO_DRAIN     rule 8: the last drop does not drain what came late
 * -DTOUCH_LATE   rule 9: the owner touches after the last swap that clears
 */
#define NA 2
#define A 0
#define M 1
#include "gate.prom.h"

#ifndef CAP
#define CAP 1
#endif
#ifndef NP
#define NP 2
#endif
#ifndef NAPUT
#define NAPUT 2
#endif

#define OWNER(p) (p == 0 -> A : M)
#define IN1 (tail[1] - head[1])
#define IN2 (tail[2] - head[2])
#define END (ended && link_m)
#define ROOM (CAP - IN1)

byte refs[NA], released[NA];
byte tail[3], head[3];          /* 1: the link's ring, 2: P's */
bit blocked[3];                 /* 0: A's out-port, 1 and 2: M's in-ports */
bit ended, cancelled;           /* in order to M; to A */
bit stop_asked[NA], stopped[NA];
bit link_a, link_m;             /* private to A, to M: may touch the other */
byte put, taken, dropped;
byte alive;

inline drop_ref(a)
{
	d_step {
		assert(refs[a] > 0);
		refs[a]--;
		if
		:: refs[a] == 0 ->
			assert(!freed[a] && stopped[a]);
			freed[a] = 1;
			released[a]++;
#ifndef NO_DRAIN
			if
			:: a == M ->
				dropped = dropped + IN1 + IN2;
				head[1] = tail[1];
				head[2] = tail[2]
			:: else
			fi
#endif
		:: else
		fi
	}
}

inline drop_link(a)
{
#ifndef NOREF_LINK
	drop_ref(a)
#else
	skip
#endif
}

inline unblock(p, f, x)
{
	d_step { TOUCH(OWNER(p)); x = blocked[p] };
	if
	:: x == 1 ->
		d_step { TOUCH(OWNER(p)); x = blocked[p]; blocked[p] = 0 }
		if
		:: x == 1 -> x = 0; gate_dec(OWNER(p), f)
		:: else
		fi
	:: else
	fi
}

/* after blocked[p] = 1 and k++ the second look found the port ready */
inline disarm(p)
{
	d_step { x = blocked[p]; blocked[p] = 0; k = k - x; x = 0 }
}

proctype P()
{
	bit f, x;
	byte i;

	do
	:: i < NP ->
		i++;
		d_step { TOUCH(M); tail[2]++; put++ };
		unblock(2, f, x)
	:: else -> break
	od;
#ifndef NOREF_P
	drop_ref(M);
#endif
	skip;
	d_step { alive--; i = 0 }
}

proctype Stopper(byte a)
{
	bit f;

	stop_asked[a] = 1;
	gate_signal(a, f);
	drop_ref(a);
	d_step { alive--; a = 0 }
}

proctype S()
{
	bit f;

	gate_signal(M, f);
	drop_ref(M);
	alive--
}

proctype Worker()
{
	byte a, k;
	bit f, x, fin;

end:	do
	:: atomic {
		if
		:: queued[A] > 0 -> a = A
		:: queued[M] > 0 -> a = M
		fi;
		TOUCH(a);
		assert(!stopped[a]);
		queued[a]--;
		assert(inslice[a] == 0 && sched[a]);
		inslice[a]++;
		fin = 0
		};
		if
		:: sig[a] -> d_step { sig[a] = 0 }; fin = stop_asked[a]
		:: else
		fi;
		if
		:: a == A ->
			if
			:: link_a && cancelled -> link_a = 0; drop_link(M)
			:: else
			fi;
			if
			:: fin ->
				if
				:: link_a ->
					d_step { TOUCH(M); ended = 1 };
					unblock(1, f, x);
					link_a = 0;
					drop_link(M)
				:: else
				fi
			:: else ->
				if
				:: link_a && tail[1] < NAPUT && ROOM > 0 ->
					d_step { TOUCH(M); tail[1]++; put++ };
					unblock(1, f, x)
				:: else
				fi;
				/* arm; without more to put port 0 stays blocked */
				if
				:: link_a && tail[1] < NAPUT ->
					if
					:: ROOM == 0 && blocked[0] == 0 ->
						k++;
						blocked[0] = 1;
						if
						:: ROOM > 0 -> disarm(0)
						:: else
						fi
					:: else
					fi
				:: else ->
					if
					:: blocked[0] == 0 ->
						k++;
						blocked[0] = 1
					:: else
					fi
				fi
			fi
		:: a == M ->
			if
			:: fin ->
#ifdef DROP_EARLY
				stopped[M] = 1;
				drop_ref(M);
#endif
				if
				:: link_m ->
					cancelled = 1;
					gate_signal(A, f);
					link_m = 0;
					drop_link(A)
				:: else
				fi;
				/* drain; what comes later is for the last drop */
				d_step {
					dropped = dropped + IN1;
					head[1] = tail[1]
				};
				d_step {
					dropped = dropped + IN2;
					head[2] = tail[2]
				}
			:: else ->
				/* either port fires here, to keep it moving */
				if
				:: IN1 > 0 ->
					d_step { head[1]++; taken++ };
					if
					:: link_m -> unblock(0, f, x)
					:: else
					fi
				:: IN1 == 0 && END -> link_m = 0; drop_link(A)
				:: else
				fi;
				if
				:: IN2 > 0 -> d_step { head[2]++; taken++ }
				:: else
				fi;
				/* arm */
				if
				:: !(IN1 > 0 || END) && blocked[1] == 0 ->
					k++;
					blocked[1] = 1;
					if
					:: IN1 > 0 || END -> disarm(1)
					:: else
					fi
				:: else
				fi;
				if
				:: IN2 == 0 && blocked[2] == 0 ->
					k++;
					blocked[2] = 1;
					if
					:: IN2 > 0 -> disarm(2)
					:: else
					fi
				:: else
				fi
			fi
		fi;
		if
		:: fin ->
#ifdef STOP_COUNT
			stopped[a] = 1;
			k = 1;
			gate_last(a, k, f);
			drop_ref(a)
#else
			/* SCHEDULED is never given back */
			d_step { TOUCH(a); inslice[a]--; stopped[a] = 1 };
#ifdef DROP_EARLY
			if :: a == A -> drop_ref(a) :: else fi
#else
			drop_ref(a)
#endif
#endif
		:: else ->
			gate_last(a, k, f);
#ifdef TOUCH_LATE
			TOUCH(a)
#endif
		fi;
		d_step { a = 0; fin = 0; x = 0; f = 0 }
	od
}

active proctype Monitor()
{
	timeout;
	assert(alive == 0);
	assert(released[A] == 1 && released[M] == 1);
	assert(refs[A] == 0 && refs[M] == 0);
	assert(put == taken + dropped)
}

init {
	atomic {
		link_a = 1; link_m = 1;
		blocked[1] = 1; blocked[2] = 1; count[M] = 2;
		refs[A] = 2;            /* itself, Y */
		refs[M] = 2;            /* itself, Z */
#ifndef NOREF_P
		refs[M] = refs[M] + 1;
#endif
#ifndef NOREF_LINK
		refs[A] = refs[A] + 1;
		refs[M] = refs[M] + 1;
#endif
		alive = 3;
		sched[A] = 1; queued[A] = 1;
		run P();
		run Stopper(A);
		run Stopper(M);
#ifndef NO_S
		refs[M] = refs[M] + 1;
		alive++;
		run S();
#endif
		run Worker();
		run Worker()
	}
}
