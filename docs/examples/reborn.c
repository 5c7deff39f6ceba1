/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client whose connection breaks at each second request; another client is
 * made after a while, which grows. Requests come meanwhile, one each second of
 * the simulator's clock.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <weir/weir.h>

#define SECOND 1000000000ull

struct client {
	struct weir_actor actor;
	struct weir_in requests;
	int n; /* the how many-th client */
	int asked;
};

static inline int ask(struct weir_actor *actor)
{
	struct client *self = weir_container_of(actor, struct client, actor);
	int request = (int)(intptr_t)weir_in_take(&self->requests);

	if (++self->asked == 2)
		return -ECONNRESET;
	printf("client %d is asked %d\n", self->n, request);
	return 0;
}
WEIR_TURN(ask)

static void released(struct weir_actor *actor)
{
	free(weir_container_of(actor, struct client, actor));
}

static const struct weir_actor_ops client_ops = {.name = "client",
						 .turns = ask_n,
						 .released = released};

struct clients {
	struct weir_backoff_supervisor supervisor;
	struct weir_executor *executor;
	int made;
};

static int client_init(struct client *self, struct clients *clients)
{
	int rc = weir_actor_init(&self->actor, &client_ops, clients->executor);

	self->n = ++clients->made;
	return rc < 0 ? rc
		      : weir_in_init(&self->requests, &self->actor, 8, NULL);
}

static int make_client(struct weir_actor **actor, struct weir_in **input,
		       void *context)
{
	struct client *client = calloc(1, sizeof(*client));
	int rc = client ? client_init(client, context) : -ENOMEM;

	if (rc < 0) {
		free(client);
		return rc;
	}
	*actor = &client->actor;
	*input = &client->requests;
	return 0;
}

static int start(struct clients *self, struct weir_system *system)
{
	struct weir_backoff_supervisor_options options = {
		.context = self,
		.mode = WEIR_BACKOFF_ON_FAILURE,
		.make = make_client,
		.backoff = {.min_ns = 2 * SECOND,
			    .max_ns = 30 * SECOND,
			    .reset_ns = WEIR_FOREVER},
		.max_retries = -1,
		.absent_code = -EHOSTDOWN,
	};
	int rc = weir_backoff_supervisor_init(&self->supervisor, self->executor,
					      &options);

	return rc < 0 ? rc
		      : weir_system_spawn(system, WEIR_ACTOR_ID_NONE,
					  &self->supervisor.actor, NULL, NULL);
}

static int request(struct clients *self, int n)
{
	int rc = weir_backoff_supervisor_put(&self->supervisor,
					     (void *)(intptr_t)n);

	if (rc == -EHOSTDOWN)
		printf("nobody is there for %d\n", n);
	return rc == -EHOSTDOWN ? 0 : rc;
}

int main(void)
{
	struct clients clients = {.made = 0};
	struct weir_system *system;
	struct weir_sim *sim;
	int i, rc;

	if (weir_sim_new(&sim, 1, NULL) < 0)
		return 1;
	clients.executor = weir_sim_executor(sim);
	if (weir_system_new(&system, clients.executor, NULL) < 0)
		return 1;
	rc = start(&clients, system);
	for (i = 1; i <= 9 && rc == 0; i++) {
		weir_sim_run_until(sim, (uint64_t)i * SECOND, UINT64_MAX);
		rc = request(&clients, i);
	}
	weir_sim_run_until(sim, (uint64_t)i * SECOND, UINT64_MAX);
	weir_system_stop(system);
	weir_sim_run(sim);
	return weir_system_free(system) < 0 || weir_sim_free(sim) < 0 || rc < 0;
}
