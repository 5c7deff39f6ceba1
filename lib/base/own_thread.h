/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread of the library's own: it blocks all signals but those of faults, so
 * that they go to the program's threads, and has a name that tools show.
 */
#ifndef WEIR_BASE_OWN_THREAD_H
#define WEIR_BASE_OWN_THREAD_H

#include <pthread.h>

/*
 * Starts run(argument) in *thread, to be joined. `name` is cut to what the
 * kernel keeps, 15 bytes. 0, or a negative errno from pthread_create: -EAGAIN.
 */
int weir__own_thread_start(pthread_t *thread, const char *name,
			   void *(*run)(void *), void *argument);

#endif
