/* SPDX-License-Identifier: BSD-2-Clause */
/* Clients on threads of their own, while the program comes and goes. */
#include "inspect_http/kit.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ck_pr.h>

enum { CLIENTS = 4 };

struct client {
	struct served *served;
	pthread_t thread;
	uint64_t seed;
	uint32_t *stop;
	size_t n_well;
};

/* Asks, now and then says half of it, or does not wait for the answer. */
static void *client_main(void *argument)
{
	static const char *const paths[] = {"/", "/snapshot.json", "/why",
					    "/dot", "/why?actor=0"};
	struct client *client = argument;
	unsigned int seed = (unsigned int)client->seed;
	char text[200], got[4096];
	size_t n;
	int fd;

	while (!ck_pr_load_32(client->stop)) {
		fd = client_try(client->served);
		if (fd < 0)
			break; /* it was stopped */
		n = (size_t)snprintf(text, sizeof(text),
				     "GET %s HTTP/1.1\r\nHost: localhost\r\n"
				     "Connection: close\r\n\r\n",
				     paths[(size_t)rand_r(&seed) % 5]);
		if (rand_r(&seed) % 4 == 0)
			n = (size_t)rand_r(&seed) % n;
		client_send(client->served, fd, text, n);
		if (rand_r(&seed) % 4 != 0) {
			(void)shutdown(fd, SHUT_WR);
			while (recv(fd, got, sizeof(got), 0) != 0 &&
			       !ck_pr_load_32(client->stop))
				if (strncmp(got, "HTTP/1.1 200", 12) == 0) {
					client->n_well++;
					got[0] = '\0';
				}
		}
		(void)close(fd);
	}
	return NULL;
}

static void clients_come_and_go_while_flows_do(void **state)
{
	const struct kind *const kinds[] = {&threads, &blocking};
	struct served served;
	struct client clients[CLIENTS];
	struct weir_flow_run *run;
	struct weir_flow *flow;
	uint32_t stop;
	size_t i, n_well;

	for_each_seed(seed, test_count(8)) {
		served_begin(&served, kinds[seed % 2], NULL);
		stop = 0;
		n_well = 0;
		for (i = 0; i < CLIENTS; i++) {
			clients[i] = (struct client){
				.served = &served,
				.seed = seed * CLIENTS + i,
				.stop = &stop,
			};
			assert_int_equal(pthread_create(&clients[i].thread,
							NULL, client_main,
							&clients[i]),
					 0);
		}
		flow = weir_flow_ignore(
			weir_flow_async(weir_flow_range(1, 1000), 16, NULL));
		for (i = 0; i < 200; i++) {
			assert_int_equal(weir_flow_start(flow,
							 served.place.executor,
							 NULL, &run),
					 0);
			assert_int_equal(weir_flow_run_wait(run, WEIR_FOREVER,
							    NULL, NULL),
					 0);
			weir_flow_run_free(run);
		}
		weir_flow_free(flow);
		assert_int_equal(answer_status(client_get(&served, "/why")),
				 200);
		if (seed % 3 == 0) /* while they ask */
			weir_inspect_http_stop(served.http);
		ck_pr_store_32(&stop, 1);
		for (i = 0; i < CLIENTS; i++) {
			assert_int_equal(pthread_join(clients[i].thread, NULL),
					 0);
			n_well += clients[i].n_well;
		}
		(void)n_well;
		served_end(&served);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clients_come_and_go_while_flows_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
