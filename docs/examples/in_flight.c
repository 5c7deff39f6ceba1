/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stage that hands its items to something slower, here timers, and requests
 * no more than three that are not done with yet. The clock is the simulator's.
 */
#include <stdio.h>
#include <weir/weir.h>

#define MS 1000000ull
#define MAX 3
#define ITEMS 6

struct job {
	struct weir_timer timer;
	struct stage *stage;
};

struct stage {
	struct weir_consumer consumer;
	struct weir_reactive_in in;
	struct weir_max_in_flight limit;
	struct job jobs[MAX];
	int64_t started, done;
};

static int64_t in_flight(void *context)
{
	const struct stage *self = context;

	return self->started - self->done;
}

static void say(const struct stage *self, const char *what, int64_t n)
{
	uint64_t now_ns = weir_executor_now(self->consumer.actor.executor);

	printf("%3d ms: %s %d\n", (int)(now_ns / MS), what, (int)n);
}

/* The strategy is asked after a signal, too. */
static void is_done(struct weir_timer *timer)
{
	struct stage *self = weir_container_of(timer, struct job, timer)->stage;

	say(self, "done", ++self->done);
	weir_actor_signal(&self->consumer.actor);
}

/* Jobs end in the order in which they begin, so the oldest is free. */
static int begin(void *item, void *context)
{
	struct stage *self = context;
	struct weir_executor *executor = self->consumer.actor.executor;
	struct job *job = &self->jobs[self->started++ % MAX];

	say(self, "begins", (intptr_t)item);
	job->timer.fire = is_done;
	job->stage = self;
	return weir_timer_arm(executor, &job->timer,
			      weir_executor_now(executor) + 100 * MS);
}

static int stage_init(struct stage *self, struct weir_executor *executor)
{
	struct weir_consumer_options consumes = {.context = self,
						 .consume = begin};
	struct weir_reactive_in_options options = {
		.demand = weir_demand_max_in_flight,
		.context = &self->limit,
	};
	int rc;

	rc = weir_max_in_flight_init(&self->limit, MAX, 1, in_flight, self);
	if (rc == 0)
		rc = weir_consumer_init(&self->consumer, executor, &consumes);
	return rc < 0 ? rc
		      : weir_reactive_in_init(&self->in, &self->consumer.in,
					      &options);
}

int main(void)
{
	struct weir_flow_publisher *numbers = NULL;
	struct stage stage = {.started = 0};
	struct weir_sim *sim;
	int rc;

	if (weir_sim_new(&sim, 1, NULL) < 0 ||
	    stage_init(&stage, weir_sim_executor(sim)) < 0)
		return 1;
	rc = weir_flow_publisher_new(&numbers, weir_flow_range(1, ITEMS),
				     weir_sim_executor(sim), NULL);
	if (rc == 0)
		rc = weir_publisher_subscribe(weir_flow_publisher_base(numbers),
					      &stage.in.subscriber);
	if (rc == 0)
		rc = weir_actor_start(&stage.consumer.actor);
	weir_sim_run(sim);
	weir_flow_publisher_free(numbers);
	return weir_sim_free(sim) < 0 || rc < 0;
}
