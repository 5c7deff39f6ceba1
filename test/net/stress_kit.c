/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/stress_kit.h"

#include "base/random.h"

#include <pthread.h>
#include <sched.h>

#include <ck_pr.h>

#define CLIENTS 3u
#define KEPT 16u

/* References of connections that somebody may stop; atomic. */
static struct weir_connection *kept[KEPT];
static uint32_t over, n_whole; /* atomic */

static struct {
	const char *address;
	size_t rounds;
} visits;

void stress_keep(struct weir_connection *connection, uint32_t i)
{
	struct weir_connection *old;

	(void)weir_connection_ref(connection);
	ck_pr_fence_release();
	old = ck_pr_fas_ptr(&kept[i % KEPT], connection);
	weir_connection_unref(old);
}

void stress_forget(void)
{
	uint32_t i;

	for (i = 0; i < KEPT; i++) {
		weir_connection_unref(kept[i]);
		kept[i] = NULL;
	}
}

static void *stops(void *context)
{
	struct weir_connection_counts counts;
	struct weir_connection *one;
	uint64_t random = 7;
	uint32_t i;

	while (!ck_pr_load_32(&over)) {
		i = (uint32_t)(weir__splitmix(&random) % KEPT);
		one = ck_pr_fas_ptr(&kept[i], NULL);
		ck_pr_fence_acquire();
		if (one) {
			assert_int_equal(weir_connection_count(one, &counts),
					 0);
			if (i % 2)
				weir_connection_stop(one);
			weir_connection_unref(one);
		}
		(void)sched_yield();
	}
	return NULL;
}

/* All that was sent comes back behind the end, unless somebody has stopped it. */
static void end_well(int fd, size_t sent, size_t got)
{
	char some[2000];
	ssize_t n;

	(void)shutdown(fd, SHUT_WR);
	while ((n = recv(fd, some, sizeof(some), 0)) > 0)
		got += (size_t)n;
	if (n < 0)
		return;
	assert_int_equal(got, sent);
	ck_pr_inc_32(&n_whole);
}

/* Sends some, takes what comes back of it, and goes in one of several ways. */
static void *visit(void *context)
{
	uint64_t random = (uintptr_t)context;
	char some[2000] = {0};
	size_t i;

	for (i = 0; i < visits.rounds; i++) {
		uint64_t drawn = weir__splitmix(&random);
		int fd = dial(visits.address);
		ssize_t n = send(fd, some, drawn % sizeof(some) + 1,
				 MSG_NOSIGNAL),
			got = 0;

		if (n > 0 && drawn >> 60 < 12)
			got = recv(fd, some, sizeof(some), 0);
		switch (drawn >> 40 & 3) {
		case 0:
			reset(fd);
			break;
		case 1:
			close(fd);
			break;
		default:
			if (n > 0 && got >= 0)
				end_well(fd, (size_t)n, (size_t)got);
			close(fd);
		}
	}
	return NULL;
}

void stress_visits(const char *address, size_t rounds)
{
	pthread_t threads_of[CLIENTS + 1];
	uint32_t i;

	visits.address = address;
	visits.rounds = rounds;
	n_whole = over = 0;
	assert_int_equal(
		pthread_create(&threads_of[CLIENTS], NULL, stops, NULL), 0);
	for (i = 0; i < CLIENTS; i++)
		assert_int_equal(pthread_create(&threads_of[i], NULL, visit,
						(void *)(uintptr_t)(i + 1)),
				 0);
	for (i = 0; i < CLIENTS; i++)
		assert_int_equal(pthread_join(threads_of[i], NULL), 0);
	ck_pr_store_32(&over, 1);
	assert_int_equal(pthread_join(threads_of[CLIENTS], NULL), 0);
	assert_true(n_whole > 0);
}
