/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that stands still, in one of several ways: says what a look of its
 * own finds, and waits to be killed. It does not listen.
 */
#undef NDEBUG
#include <assert.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <weir/sim.h>
#include <weir/weir.h>

#define HOUR_NS 3600000000000ull

static struct weir_executor *executors[4];
static struct weir_sim *sims[4];
static size_t n_executors;

/* --- Looks ---------------------------------------------------------------- */

static size_t n_busy; /* actors that run */

/* Threads that get no processor change nothing either. */
static int all_wait(const struct weir_snapshot *snapshot)
{
	size_t i, busy = 0, parked = 0;

	for (i = 0; i < snapshot->n_actors; i++) {
		if (snapshot->actors[i].wait == WEIR_WAIT_NONE &&
		    snapshot->actors[i].thread == WEIR_NOWHERE)
			return 0;
		busy += snapshot->actors[i].thread != WEIR_NOWHERE;
	}
	if (!snapshot->settled || i < 2 || busy != n_busy)
		return 0;
	for (i = 0; i < snapshot->n_executors; i++) {
		const struct weir_seen_executor *executor =
			&snapshot->executors[i];

		/* a worker may come later than its pool */
		if (executor->kind == WEIR_EXECUTOR_THREADS &&
		    executor->n_threads < executor->threads_max)
			return 0;
		parked += executor->parked;
	}
	return parked + busy == snapshot->n_threads;
}

static struct weir_snapshot *look(void)
{
	struct weir_snapshot *snapshot;

	do {
		assert(weir_snapshot_new(&snapshot, executors, n_executors,
					 1000000) == 0);
		if (all_wait(snapshot))
			return snapshot;
		weir_snapshot_free(snapshot);
	} while (1);
}

/* --- Actors --------------------------------------------------------------- */

enum { PORTS = 4 };

struct node {
	struct weir_actor actor;
	struct weir_actor_ops ops;
	struct weir_in ins[PORTS];
	struct weir_out outs[PORTS];
	struct weir_delay delay;
	size_t n_ins, n_outs;
	int waits;
	int stays; /* its turn does not return */
};

static char item;

static uint32_t turns(struct weir_actor *actor, uint32_t n)
{
	struct node *self = weir_container_of(actor, struct node, actor);
	size_t i;

	while (self->stays)
		(void)pause();
	for (i = 0; i < self->n_ins; i++)
		(void)weir_in_take(&self->ins[i]);
	for (i = 0; i < self->n_outs; i++)
		assert(weir_out_put(&self->outs[i], &item) == 0);
	if (self->waits)
		assert(weir_delay_for(&self->delay, HOUR_NS) == 0);
	return n ? 1 : 0;
}

static struct node *node(size_t executor, const char *name, size_t n_ins,
			 size_t n_outs, size_t capacity)
{
	struct node *made = calloc(1, sizeof(*made));
	size_t i;

	assert(made);
	made->ops = (struct weir_actor_ops){.name = name, .turns = turns};
	made->n_ins = n_ins;
	made->n_outs = n_outs;
	assert(weir_actor_init(&made->actor, &made->ops, executors[executor]) ==
	       0);
	for (i = 0; i < n_ins; i++)
		assert(weir_in_init(&made->ins[i], &made->actor, capacity,
				    NULL) == 0);
	for (i = 0; i < n_outs; i++)
		assert(weir_out_init(&made->outs[i], &made->actor, NULL) == 0);
	return made;
}

static void waits(struct node *it)
{
	it->waits = 1;
	assert(weir_delay_init(&it->delay, &it->actor) == 0);
	assert(weir_delay_until(&it->delay, 0) == 0);
}

static void start(struct node *it)
{
	assert(weir_actor_start(&it->actor) == 0);
}

static void feed(struct node *it)
{
	start(it);
	assert(weir_in_put(&it->ins[0], &item) == 0);
}

static void new_sim(void)
{
	assert(weir_sim_new(&sims[n_executors], 1, NULL) == 0);
	executors[n_executors] = weir_sim_executor(sims[n_executors]);
	n_executors++;
}

static void run(void)
{
	size_t i, round;

	for (round = 0; round < 4; round++)
		for (i = 0; i < n_executors; i++)
			if (sims[i])
				weir_sim_run_until(sims[i], 1, UINT64_MAX);
}

/* Chains, merges, fans, and lanes of one slot. */
static void stall_nodes(void)
{
	struct node *a, *b, *merge, *fan, *one, *other, *slow, *still;

	new_sim();
	a = node(0, "a", 0, 1, 4);
	b = node(0, "b \"quoted\"\n", 0, 1, 4);
	merge = node(0, "merge", 1, 1, 8);
	fan = node(0, "fan", 1, 1, 1);
	one = node(0, NULL, 1, 1, 2);
	other = node(0,
		     "a name that is longer than what a snapshot keeps of it",
		     1, 0, 1);
	slow = node(0, "slow", 1, 0, 16);
	still = node(0, "still", 1, 1, 4);
	assert(weir_in_merge(&merge->ins[0], WEIR_MERGE_OPEN) == 0);
	assert(weir_out_fan(&fan->outs[0], WEIR_FAN_BROADCAST, 4) == 0);
	assert(weir_out_link(&a->outs[0], &merge->ins[0]) == 0);
	assert(weir_out_link(&b->outs[0], &merge->ins[0]) == 0);
	assert(weir_out_link(&merge->outs[0], &fan->ins[0]) == 0);
	assert(weir_out_link(&fan->outs[0], &one->ins[0]) == 0);
	assert(weir_out_link(&fan->outs[0], &other->ins[0]) == 0);
	assert(weir_out_link(&one->outs[0], &slow->ins[0]) == 0);
	waits(slow);
	start(a);
	start(b);
	start(merge);
	start(fan);
	start(one);
	start(other);
	start(slow);
	start(still);
	weir_actor_suspend(&still->actor);
	run();
}

/* One of each kind of port. */
static void stall_ports(void)
{
	static struct weir_completion completion;
	static struct weir_completion_port done;
	static struct weir_semaphore semaphore;
	static struct weir_semaphore_port permit;
	static struct weir_channel *channel;
	static struct weir_channel_in channel_in;
	static struct weir_permits permits;
	static struct weir_delay delay;
	static struct weir_any any;
	static struct weir_fd fd;
	struct node *many, *left;
	int ends[2];

	new_sim();
	many = node(0, "many", 2, 0, 4);
	left = node(0, "unlinked", 0, 1, 4);
	assert(pipe(ends) == 0);
	assert(weir_semaphore_init(&semaphore, 0) == 0);
	assert(weir_completion_init(&completion) == 0);
	assert(weir_channel_new(&channel, 4, NULL, NULL) == 0);
	assert(weir_channel_in_init(&channel_in, &many->actor, channel) == 0);
	assert(weir_delay_init(&delay, &many->actor) == 0);
	assert(weir_fd_init(&fd, &many->actor, ends[0], POLLIN) == 0);
	assert(weir_semaphore_port_init(&permit, &many->actor, &semaphore) ==
	       0);
	assert(weir_permits_init(&permits, &many->actor, 0) == 0);
	assert(weir_completion_port_init(&done, &many->actor, &completion) ==
	       0);
	assert(weir_any_init(&any, &many->actor) == 0);
	assert(weir_any_add(&any, &many->ins[0].port) == 0);
	assert(weir_port_set_burst(&many->ins[1].port, 3) == 0);
	assert(weir_delay_until(&delay, HOUR_NS) == 0);
	start(many);
	start(left);
	assert(weir_in_put(&many->ins[1], &item) == 0);
	run();
}

/* --- Flows ---------------------------------------------------------------- */

static struct weir_semaphore permits;

/* As docs/examples/stalled.c, and one that is named. */
static struct weir_flow *flow(void)
{
	struct weir_flow *made = weir_flow_range(1, 1000);

	assert(weir_semaphore_init(&permits, 7) == 0);
	made = weir_flow_name(weir_flow_async(made, 16, NULL), "numbers");
	return weir_flow_ignore(weir_flow_acquire(made, &permits));
}

static void stall_flow(void)
{
	struct weir_flow_run *running;

	new_sim();
	assert(weir_flow_start(flow(), executors[0], NULL, &running) == 0);
	run();
}

static struct weir_flow *acquires(void *from, void *context)
{
	(void)context;
	return weir_flow_acquire(weir_flow_single(from), &permits);
}

static void start_flow(struct weir_flow *made)
{
	struct weir_flow_run *running;

	assert(weir_flow_start(weir_flow_ignore(made), executors[0], NULL,
			       &running) == 0);
}

/* Each kind of thing that an operator waits for, behind one that waits for none,
 * and one that is nested. */
static void stall_operators(void)
{
	const struct weir_flow_rate rate = {.n = 1, .per_ns = HOUR_NS};
	static struct weir_semaphore plenty;
	static struct weir_channel *channel;
	int ends[2];

	new_sim();
	assert(weir_semaphore_init(&permits, 0) == 0);
	assert(weir_semaphore_init(&plenty, 9) == 0);
	assert(weir_channel_new(&channel, 4, NULL, NULL) == 0);
	assert(pipe(ends) == 0);
	start_flow(weir_flow_drop(
		weir_flow_name(weir_flow_throttle(weir_flow_range(1, 9), &rate),
			       "each hour"),
		1));
	start_flow(weir_flow_drop(weir_flow_fd(ends[0], POLLIN), 1));
	start_flow(weir_flow_drop(
		weir_flow_delay(weir_flow_range(1, 9), HOUR_NS, 4), 1));
	start_flow(
		weir_flow_flat_map(weir_flow_range(1, 9), 1, acquires, NULL));
	start_flow(weir_flow_from_channel(channel));
	/* of two that may wait, the one that has asked */
	start_flow(weir_flow_acquire(weir_flow_from_channel(channel), &plenty));
	start_flow(weir_flow_never());
	run();
}

static void stall_several(void)
{
	struct node *a, *b;

	stall_flow();
	new_sim();
	new_sim();
	a = node(1, "a", 0, 1, 4);
	b = node(2, "b", 1, 0, 4);
	waits(b);
	assert(weir_out_link(&a->outs[0], &b->ins[0]) == 0);
	start(a);
	start(b);
	run();
}

/* On threads: what is said is what a look finds that has settled. */
static void stall_threads(void)
{
	struct weir_blocking_options patient = {.idle_ns = HOUR_NS};
	struct weir_threads_options two = {.workers = 2};
	struct weir_blocking *blocking;
	struct weir_flow_run *running;
	struct weir_threads *pool;
	int ends[2];

	assert(weir_threads_new(&pool, &two) == 0);
	assert(weir_blocking_new(&blocking, &patient) == 0);
	assert(pipe(ends) == 0);
	executors[n_executors++] = weir_threads_executor(pool);
	executors[n_executors++] = weir_blocking_executor(blocking);
	assert(weir_flow_start(flow(), executors[0], NULL, &running) == 0);
	/* a worker watches a descriptor; a thread has run one, and is parked */
	start_flow(weir_flow_fd(ends[0], POLLIN));
	feed(node(1, "once", 1, 0, 4));
}

/* All threads of a pool, and of a blocking executor, are taken. */
static void stall_busy(void)
{
	struct weir_blocking_options two = {.threads_max = 2, .name = "slow"};
	struct weir_threads_options one = {.workers = 1, .name = "pool"};
	struct weir_blocking *blocking;
	struct weir_threads *pool;
	struct node *busy, *due;
	size_t i;

	assert(weir_threads_new(&pool, &one) == 0);
	assert(weir_blocking_new(&blocking, &two) == 0);
	executors[n_executors++] = weir_threads_executor(pool);
	executors[n_executors++] = weir_blocking_executor(blocking);
	for (i = 0; i < 3; i++) {
		busy = node(i > 0, "busy", 1, 0, 4);
		busy->stays = 1;
		feed(busy);
	}
	n_busy = 3;
	/* those that are due come when nobody is left to run them */
	weir_snapshot_free(look());
	for (i = 0; i < 2; i++) {
		due = node(i, "due", 1, 0, 4);
		feed(due);
	}
}

/* Nobody runs it: which the program itself could do. */
static void stall_left(void)
{
	struct weir_loop *loop;

	assert(weir_loop_new(&loop, NULL) == 0);
	executors[0] = weir_loop_executor(loop);
	feed(node(0, "left alone", 1, 0, 4));
}

static void stall_system(void)
{
	struct weir_actor_id id;
	struct weir_system *system;
	struct node *parent, *child;

	new_sim();
	assert(weir_system_new(&system, executors[0], NULL) == 0);
	parent = node(0, "parent", 1, 0, 4);
	child = node(0, "child", 1, 0, 4);
	assert(weir_system_spawn(system, WEIR_ACTOR_ID_NONE, &parent->actor,
				 NULL, &id) == 0);
	assert(weir_system_spawn(system, id, &child->actor, NULL, &id) == 0);
	run();
}

static void stall_nothing(void)
{
}

/* --- What is said --------------------------------------------------------- */

static const struct {
	const char *name;
	void (*stall)(void);
} ways[] = {
	{"nodes", stall_nodes},		{"ports", stall_ports},
	{"flow", stall_flow},		{"several", stall_several},
	{"operators", stall_operators}, {"threads", stall_threads},
	{"system", stall_system},	{"busy", stall_busy},
	{"left", stall_left},		{"nothing", stall_nothing},
};

static void say(void)
{
	static char text[1 << 16];
	struct weir_snapshot *snapshot = look();

	assert(weir_snapshot_why_text(snapshot, WEIR_NOWHERE, text,
				      sizeof(text)) < sizeof(text));
	printf("%s", text);
	assert(weir_snapshot_json(snapshot, text, sizeof(text)) < sizeof(text));
	printf("%s", text);
	weir_snapshot_free(snapshot);
}

/* With a directory for a core file: ends itself instead, in there. */
static void leave_core(const char *directory)
{
	struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};

	assert(chdir(directory) == 0);
	assert(setrlimit(RLIMIT_CORE, &all) == 0);
	abort();
}

int main(int argc, char **argv)
{
	size_t i;

	assert(argc > 1);
	/* nobody is left if the test fails */
	assert(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
	for (i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (strcmp(ways[i].name, argv[1]) == 0)
			ways[i].stall();
	if (n_executors)
		say();
	assert(fflush(stdout) == 0 && fclose(stdout) == 0);
	if (argc > 2)
		leave_core(argv[2]);
	for (;;)
		(void)pause();
}
