/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One gate per actor, for the models that include this file. Rules 1, 2, 5
 * of lib/actor/firing.c.
 *
 * Every d_step is ONE atomic operation on the real machine: a compare-and-swap
 * loop whose new value is a function of the old one is one atomic step.
 *
 * The count is signed. Without SCHEDULED it is never negative; with SCHEDULED
 * a decrement may come before the owner's last swap has added what it armed
 * (rule 3), and then it may be.
 *
 * The includer defines NA, the number of actors.
 */
/* clang-format off */
#ifndef CMAX
#define CMAX 12
#endif

short count[NA];        /* blocked ports */
bit sched[NA];          /* SCHEDULED */
bit sig[NA];            /* SIGNALLED */
bit susp[NA];           /* SUSPENDED */

byte queued[NA];        /* in the run queue: 0 or 1 */
byte inslice[NA];       /* slices under way: 0 or 1 */
bit freed[NA];          /* `released` has been called */

#define TOUCH(a) assert(!freed[a])
#define READY(a) ((count[a] == 0 && !susp[a]) || sig[a])

/* f: my swap set SCHEDULED, so I submit (rule 1) */
inline submit_if(a, f)
{
	if
	:: f ->
		d_step {
			TOUCH(a);
			assert(queued[a] == 0 && inslice[a] == 0);
			queued[a]++;
			f = 0
		}
	:: else
	fi
}

/* A decrement after exchange(blocked, 0) read 1 (rule 2) */
inline gate_dec(a, f)
{
	d_step {
		TOUCH(a);
		assert(count[a] > 0 || sched[a]);
		count[a]--;
		assert(count[a] >= -CMAX);
		f = (READY(a) && !sched[a]);
		if :: f -> sched[a] = 1 :: else fi
	}
	submit_if(a, f)
}

/* Set SIGNALLED, after the payload was written (rule 5) */
inline gate_signal(a, f)
{
	d_step {
		TOUCH(a);
		sig[a] = 1;
		f = !sched[a];
		if :: f -> sched[a] = 1 :: else fi
	}
	submit_if(a, f)
}

/*
 * The last swap (rule 3): add the k ports still counted and, in the same swap,
 * clear SCHEDULED, or keep it and submit again. k is a variable, left 0.
 */
inline gate_last(a, k, f)
{
	d_step {
		TOUCH(a);
		inslice[a]--;
		count[a] = count[a] + k;
		k = 0;
		assert(count[a] >= 0 && count[a] <= CMAX);
		f = READY(a);
		if :: !f -> sched[a] = 0 :: else fi
	}
	submit_if(a, f)
}

/*
 * The end of a slice that has run a turn: it keeps SCHEDULED and is submitted
 * again, and does not touch the count.
 */
inline gate_keep(a)
{
	d_step {
		TOUCH(a);
		inslice[a]--;
		assert(sched[a] && queued[a] == 0 && inslice[a] == 0);
		queued[a]++
	}
}
