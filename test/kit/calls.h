/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What becomes of the library's system calls, in programs that are linked with
 * `wrapped_calls` of test/meson.build: one after the other fails, or some do less
 * than they were asked, by a seed.
 */
#ifndef WEIR_TEST_KIT_CALLS_H
#define WEIR_TEST_KIT_CALLS_H

#include "support.h"

/* --- One after the other -------------------------------------------------- */

/* The `fail_at`-th from now on fails with EIO; 0: none. */
void calls_begin(uint32_t fail_at);
/* With that error, in place of EIO. */
void calls_fail_with(int code);
/* How many there were; calls of the test's own are not counted, nor do they fail,
 * from here to calls_go_on(). */
uint32_t calls_end(void);
void calls_go_on(void);

/* --- By a seed ------------------------------------------------------------ */

/*
 * A call that would have waited is one behind which epoll tells when it need not
 * wait any more. So an EAGAIN that is made up, where the kernel has bytes or room
 * and will tell no more, comes with a new registration as the descriptor was
 * registered last: the kernel looks at it then, and tells of what is there. It
 * tells before the caller has got its EAGAIN, or later, as it does of bytes
 * that come meanwhile. The same follows a read that was made shorter: of TCP and
 * of pipes such a read says that nothing is left. What is not registered yet, or
 * for once only, is told of when it is.
 */
struct calls_laws {
	bool interrupt; /* EINTR */
	bool again;	/* EAGAIN, of what does not block */
	bool storm;	/* many of them, one behind the other */
	bool less;	/* fewer bytes or messages than asked for */
	bool bytewise;	/* one of them */
	bool lack;	/* no descriptors or buffers are left; ECONNABORTED */
};

void calls_by_seed(uint64_t seed, const struct calls_laws *laws);
/* Laws by chance. */
struct calls_laws calls_draw(uint64_t seed);
void calls_plain(void);

/* Calls of this thread are the test's own, and done as they are. */
void calls_own(bool own);

/*
 * How often a caller did not wait for what it was told to: calls that gave EAGAIN
 * behind another one, for which epoll had not told of the descriptor. Of all
 * descriptors that were closed since calls_by_seed(), the worst.
 */
int32_t calls_spun(void);
/* How many were hindered since then, in any way. */
uint64_t calls_hindered(void);

#endif
