/* SPDX-License-Identifier: BSD-2-Clause */
/* What comes before the connection is there is put aside, and done then. */
#include <stdio.h>
#include <weir/weir.h>

struct client {
	struct weir_actor actor;
	struct weir_in in;
	bool connected;
};

static inline int handle(struct weir_actor *actor)
{
	struct client *self = weir_container_of(actor, struct client, actor);
	char *message = weir_in_take(&self->in);

	if (message[0] == '!') { /* "connected" */
		self->connected = true;
		return weir_in_unstash_all(&self->in);
	}
	if (!self->connected) {
		printf("%s waits\n", message);
		return weir_in_stash(&self->in, message);
	}
	printf("%s is sent\n", message);
	return 0;
}
WEIR_TURN(handle)

int main(void)
{
	static const struct weir_actor_ops ops = {.turns = handle_n};
	static char messages[][2] = {"1", "2", "!", "3"};
	struct client client = {.connected = false};
	struct weir_sim *sim;
	size_t i;

	if (weir_sim_new(&sim, 1, NULL) < 0 ||
	    weir_actor_init(&client.actor, &ops, weir_sim_executor(sim)) < 0 ||
	    weir_in_init(&client.in, &client.actor, 8, NULL) < 0 ||
	    weir_in_stash_init(&client.in) < 0)
		return 1;
	for (i = 0; i < 4; i++)
		if (weir_in_put(&client.in, messages[i]) < 0)
			return 1;
	if (weir_in_end(&client.in, NULL) < 0 ||
	    weir_actor_start(&client.actor) < 0)
		return 1;
	weir_sim_run(sim);
	return weir_sim_free(sim) < 0;
}
