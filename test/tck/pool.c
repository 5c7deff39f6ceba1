/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What runs all that is over ports, flows and processes: a pool of threads, or
 * a loop on a thread of its own. One at a time; see Pool.java.
 */
#include "bridge.h"

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define SLICES 64 /* of the loop at once */

static struct weir_threads *pool;

static struct {
	struct weir_loop *loop; /* NULL: it is the pool */
	pthread_t thread;
	sem_t made;
	int over; /* an eventfd: it is to end */
	int rc;	  /* of making it, and then of freeing it */
} own;

struct weir_executor *bridge_executor(void)
{
	return own.loop ? weir_loop_executor(own.loop)
			: weir_threads_executor(pool);
}

JNIEXPORT void JNICALL Java_weir_Pool_startThreads(JNIEnv *env, jclass class)
{
	bridge_throw(env, weir_threads_new(&pool, NULL));
}

/* Makes the loop, runs it and frees it, as only its owner may. */
static void *loop_main(void *arg)
{
	struct pollfd fds[2] = {{.events = POLLIN}, {.events = POLLIN}};

	own.rc = weir_loop_new(&own.loop, NULL);
	sem_post(&own.made);
	if (own.rc < 0)
		return NULL;
	fds[0].fd = weir_loop_fd(own.loop);
	fds[1].fd = own.over;
	while (!(fds[1].revents & POLLIN)) {
		(void)poll(fds, 2, -1);
		(void)weir_loop_run(own.loop, SLICES);
	}
	own.rc = weir_loop_free(own.loop);
	return NULL;
}

static int loop_end(void)
{
	int rc;

	pthread_join(own.thread, NULL);
	rc = own.rc;
	close(own.over);
	sem_destroy(&own.made);
	own.loop = NULL;
	return rc;
}

JNIEXPORT void JNICALL Java_weir_Pool_startLoop(JNIEnv *env, jclass class)
{
	own.over = eventfd(0, EFD_CLOEXEC);
	if (own.over < 0) {
		bridge_throw(env, -errno);
		return;
	}
	sem_init(&own.made, 0, 0);
	if (pthread_create(&own.thread, NULL, loop_main, NULL) != 0) {
		close(own.over);
		bridge_throw(env, -EAGAIN);
		return;
	}
	while (sem_wait(&own.made) != 0)
		;
	if (!own.loop)
		bridge_throw(env, loop_end());
}

JNIEXPORT jlong JNICALL Java_weir_Pool_alive(JNIEnv *env, jclass class)
{
	return (jlong)weir_executor_alive(bridge_executor());
}

static void aborted(struct weir_ending *drain)
{
}

/* Stops what is there. It ends when nobody holds it any more, see alive(). */
JNIEXPORT void JNICALL Java_weir_Pool_abort(JNIEnv *env, jclass class)
{
	static struct weir_ending drain;

	drain = (struct weir_ending){.done = aborted};
	bridge_throw(env, weir_executor_stop_async(bridge_executor(), &drain,
						   WEIR_FOREVER));
}

JNIEXPORT void JNICALL Java_weir_Pool_free(JNIEnv *env, jclass class)
{
	int rc;

	if (own.loop) {
		(void)eventfd_write(own.over, 1);
		rc = loop_end();
	} else {
		rc = weir_threads_free(pool);
	}
	bridge_throw(env, rc);
}
