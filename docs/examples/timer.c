/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A delay port: the actor fires when a token is there, there is room, and the
 * time has come. Here it lets one token through every 10 minutes; on the
 * simulator, whose clock is virtual, an hour passes at once.
 */
#include <stdio.h>

#include <weir/weir.h>

#define SECOND 1000000000ull
#define INTERVAL (600 * SECOND)

struct pacer {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_out out;
	struct weir_delay delay;
};

static inline int pace(struct weir_actor *actor)
{
	struct pacer *self = weir_container_of(actor, struct pacer, actor);
	int rc = weir_out_put(&self->out, weir_in_take(&self->in));

	return rc < 0 ? rc : weir_delay_for(&self->delay, INTERVAL);
}
WEIR_TURN(pace)

static const struct weir_actor_ops pacer_ops = {.name = "pacer",
						.turns = pace_n};

static int pacer_init(struct pacer *self, struct weir_executor *executor)
{
	int rc = weir_actor_init(&self->actor, &pacer_ops, executor);

	if (rc == 0)
		rc = weir_in_init(&self->in, &self->actor, 8, NULL);
	if (rc == 0)
		rc = weir_out_init(&self->out, &self->actor, NULL);
	if (rc == 0)
		rc = weir_delay_init(&self->delay, &self->actor);
	return rc < 0 ? rc : weir_delay_for(&self->delay, INTERVAL);
}

static int print(void *item, void *context)
{
	struct weir_executor *executor = context;

	printf("%llu s: %zu\n",
	       (unsigned long long)(weir_executor_now(executor) / SECOND),
	       (size_t)item);
	return 0;
}

int main(void)
{
	struct weir_executor *executor;
	struct weir_consumer printer;
	struct pacer pacer;
	struct weir_actor *chain[] = {&pacer.actor, &printer.actor};
	struct weir_sim *sim;
	uintptr_t i;

	if (weir_sim_new(&sim, 1, NULL) < 0)
		return 1;
	executor = weir_sim_executor(sim);
	if (pacer_init(&pacer, executor) < 0 ||
	    weir_consumer_init(&printer, executor,
			       &(struct weir_consumer_options){
				       .consume = print,
				       .context = executor,
			       }) < 0 ||
	    weir_chain_start(chain, 2) < 0)
		return 1;
	for (i = 1; i <= 6; i++)
		if (weir_in_put(&pacer.in, (void *)i) < 0)
			return 1;
	weir_in_end(&pacer.in, NULL);
	weir_sim_run(sim);
	return weir_sim_free(sim) < 0;
}
