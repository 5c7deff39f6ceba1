/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names are looked up by threads of their own, while the runs that have asked
 * are stopped, or connect, or are refused.
 */
#include "net/kit.h"

#include "base/random.h"
#include "net/address.h"

#include <netdb.h>
#include <sched.h>

#include <ck_pr.h>

#define AT_ONCE 8

static struct net net;
static struct weir__address takes, refuses;
static struct addrinfo entries[2] = {{.ai_next = &entries[1]}};
static uint32_t asked, freed; /* atomic */

int __wrap_getaddrinfo(const char *host, const char *port,
		       const struct addrinfo *hints, struct addrinfo **list);
void __wrap_freeaddrinfo(struct addrinfo *list);

int __wrap_getaddrinfo(const char *host, const char *port,
		       const struct addrinfo *hints, struct addrinfo **list)
{
	uint32_t n = ck_pr_faa_32(&asked, 1), i;

	for (i = 0; i < n % 8; i++)
		(void)sched_yield();
	*list = &entries[n % 2];
	return 0;
}

void __wrap_freeaddrinfo(struct addrinfo *list)
{
	ck_pr_inc_32(&freed);
}

static int listening(struct weir__address *at, struct addrinfo *entry,
		     int backlog)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_int_equal(weir__address_parse(at, "127.0.0.1:0"), 0);
	assert_int_equal(bind(fd, &at->at.any, at->length), 0);
	assert_int_equal(getsockname(fd, &at->at.any, &at->length), 0);
	if (backlog)
		assert_int_equal(listen(fd, backlog), 0);
	entry->ai_family = AF_INET;
	entry->ai_addr = &at->at.any;
	entry->ai_addrlen = at->length;
	return fd;
}

static void some_connect_and_some_are_stopped(void **state)
{
	size_t rounds = test_count(400), n, i;
	struct weir_flow_run *runs[AT_ONCE];
	struct weir_flow *flow;
	uint64_t random = 3;
	uint32_t begun = 0;
	void *result;
	int fds[2], fd;

	net_begin(&net, &threads);
	fds[0] = listening(&refuses, &entries[0], 0);
	fds[1] = listening(&takes, &entries[1], 1000);
	flow = weir_flow_connect("some.host:80", NULL);
	for (n = 0; n < rounds; n++) {
		for (i = 0; i < AT_ONCE; i++, begun++)
			assert_int_equal(weir_flow_start(flow,
							 net.place.executor,
							 NULL, &runs[i]),
					 0);
		for (i = 0; i < AT_ONCE; i++)
			if (weir__splitmix(&random) % 2)
				weir_flow_run_stop(runs[i], NULL);
		for (i = 0; i < AT_ONCE; i++) {
			assert_int_equal(weir_flow_run_wait(runs[i],
							    WEIR_FOREVER,
							    &result, NULL),
					 0);
			weir_connection_unref(result);
			weir_flow_run_free(runs[i]);
		}
		while ((fd = accept4(fds[1], NULL, NULL, SOCK_NONBLOCK)) >= 0)
			close(fd);
	}
	/* each look-up that has begun ends, and frees what it has found */
	while (ck_pr_load_32(&freed) < ck_pr_load_32(&asked))
		(void)sched_yield();
	assert_true(asked <= begun);
	weir_flow_free(flow);
	close(fds[0]);
	close(fds[1]);
	net_end(&net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(some_connect_and_some_are_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
