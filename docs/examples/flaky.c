/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client whose connection keeps breaking. When it does the client fails, and
 * its supervisor lets it start anew, which connects again; the requests that
 * wait in its queue are still there. After three restarts within a minute the
 * supervisor gives up: the client is stopped, who watches it is told, and the
 * requests that are left are dead letters. Each request is answered, lost with
 * a connection, or a dead letter.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <weir/weir.h>

#define SECOND 1000000000ull
#define REQUESTS 12

static void say(struct weir_executor *executor, size_t request,
		const char *what)
{
	printf("%llu s  request %zu %s\n",
	       (unsigned long long)(weir_executor_now(executor) / SECOND),
	       request, what);
}

/* --- A connection, or what stands for one here ---------------------------- */

struct connection {
	size_t left; /* so many answers, then it breaks */
};

/* Each is worse than the one before. */
static void connection_open(struct connection *self, size_t before)
{
	self->left = before < 3 ? 3 - before : 0;
}

static int connection_ask(struct connection *self)
{
	if (self->left == 0)
		return -ECONNRESET;
	self->left--;
	return 0;
}

/* --- The client ----------------------------------------------------------- */

struct client {
	struct weir_actor actor;
	struct weir_in requests; /* survives restarts, with what it holds */
	struct connection connection;
	size_t connections; /* so does what no hook sets anew */
};

static inline int ask(struct weir_actor *actor)
{
	struct client *self = weir_container_of(actor, struct client, actor);
	size_t request = (size_t)weir_in_take(&self->requests);
	int rc = connection_ask(&self->connection);

	say(actor->executor, request, rc < 0 ? "is lost" : "is answered");
	return rc;
}
WEIR_TURN(ask)

/* Before the first turn; after a restart too, as there is no post_restart. */
static int client_connects(struct weir_actor *actor)
{
	struct client *self = weir_container_of(actor, struct client, actor);

	connection_open(&self->connection, self->connections++);
	return 0;
}

static const struct weir_lifecycle client_life = {.pre_start = client_connects};
static const struct weir_actor_ops client_ops = {.name = "client",
						 .turns = ask_n,
						 .lifecycle = &client_life};

/* --- Who supervises, and who watches -------------------------------------- */

/* Nothing but a reset connection is worth another try. */
static const struct weir_rule rules[] = {
	{.code = -ECONNRESET, .directive = WEIR_DIRECTIVE_RESTART},
	{.directive = WEIR_DIRECTIVE_STOP},
};
static const struct weir_limit three_a_minute = {.max = 3,
						 .within_ns = 60 * SECOND};
static const struct weir_backoff patience = {.min_ns = SECOND,
					     .max_ns = 8 * SECOND};
static const struct weir_strategy strategy = {
	.rules = rules,
	.n_rules = 2,
	.each = &three_a_minute,
	.backoff = &patience,
};

static void gone(struct weir_watcher *watcher,
		 const struct weir_terminated *notice)
{
	struct client *self = watcher->token;

	printf("gone after %zu connections: %s: %s\n", self->connections,
	       notice->error->origin, strerror(-notice->error->code));
}

static void dead_letter(struct weir_system *system, struct weir_actor_id to,
			void *item, void *executor)
{
	(void)system, (void)to;
	say(executor, (size_t)item, "is a dead letter");
}

int main(void)
{
	struct weir_system_options options = {.strategy = &strategy,
					      .dead_letter = dead_letter};
	struct client client = {.connections = 0};
	struct weir_watcher watcher = {.terminated = gone, .token = &client};
	struct weir_executor *executor;
	struct weir_system *system;
	struct weir_sim *sim;
	struct weir_actor_id ref;
	size_t i;

	if (weir_sim_new(&sim, 1, NULL) < 0)
		return 1;
	options.context = executor = weir_sim_executor(sim);
	if (weir_system_new(&system, executor, &options) < 0 ||
	    weir_actor_init(&client.actor, &client_ops, executor) < 0 ||
	    weir_in_init(&client.requests, &client.actor, 16, NULL) < 0)
		return 1;
	for (i = 1; i <= REQUESTS; i++)
		if (weir_in_put(&client.requests, (void *)i) < 0)
			return 1;
	if (weir_system_spawn(system, WEIR_ACTOR_ID_NONE, &client.actor, NULL,
			      &ref) < 0 ||
	    weir_watcher_add(system, ref, &watcher) < 0)
		return 1;
	weir_sim_run(sim);
	weir_system_stop(system);
	weir_sim_run(sim);
	return weir_system_free(system) < 0 || weir_sim_free(sim) < 0;
}
