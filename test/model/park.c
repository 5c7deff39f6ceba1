/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How idle workers are woken, under all interleavings. A lost wake is a
 * deadlock here: whoever waits for the task to be run waits for ever. The
 * workers are those of worker.c without clocks, cut down to what they look at.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fence.h"
#include "base/futex.h"
#include "executor/inbox.h"
#include "executor/park.h"
#include "runner.h"

#define N_WORKERS 2

struct task {
	struct weir_task task;
	uint32_t payload; /* plain */
	uint32_t ran;	  /* atomic, a futex */
};

static struct world {
	struct weir__park park;
	struct weir__sleeper sleepers[N_WORKERS];
	struct weir__mailbox inbox;	     /* of the pool */
	struct weir__mailbox own[N_WORKERS]; /* of a worker */
	struct weir__mailbox ring;	     /* of worker 1: only stolen from */
	struct task tasks[2];
	uint32_t stop;
	uint32_t watches; /* atomic: there are descriptors */
	uint32_t kernel;  /* atomic, a futex: what a poller waits for */
	uint32_t polls;	  /* plain, the poller's */
	uint32_t begun;	  /* atomic, a futex: the first task has */
} world;

/* In `kernel`: a waker has written, a descriptor is ready (for that task). */
enum { ROUSED = 1, READY = 2, SECOND = 4 };

static void kernel_tells(struct world *w, uint32_t what)
{
	ck_pr_fence_memory();
	ck_pr_or_32(&w->kernel, what);
	weir__futex_wake(&w->kernel, 1);
}

static void rouse(struct weir__park *park)
{
	kernel_tells(weir_container_of(park, struct world, park), ROUSED);
}

static void setup(void *context)
{
	struct world *w = context;

	weir__park_init(&w->park, w->sleepers, N_WORKERS);
	w->park.rouse = rouse;
	explorer_name(&w->park, sizeof(w->park), "park");
	explorer_name(&w->inbox, sizeof(w->inbox), "inbox");
}

/* A search that found nothing lies behind the workers. */
static void setup_searching(void *context)
{
	setup(context);
	weir__park_search(&((struct world *)context)->park);
}

static void run_all(struct weir_task *task)
{
	for (; task; task = task->next) {
		struct task *self = weir_container_of(task, struct task, task);

		explorer_assert(self->payload == 1);
		self->payload = 2;
		ck_pr_fence_release();
		ck_pr_store_32(&self->ran, 1);
		weir__futex_wake(&self->ran, 1);
	}
}

static void wait_for(struct task *task)
{
	while (!ck_pr_load_32(&task->ran))
		weir__futex_wait(&task->ran, 0, UINT64_MAX);
}

static void submit(struct world *w, struct weir__mailbox *inbox, uint32_t i)
{
	w->tasks[i].payload = 1;
	weir__inbox_push(inbox, &w->tasks[i].task);
	weir__park_wake_one(&w->park);
}

/* Takes what there is; true if that was something. */
static bool collect(struct world *w, uint32_t me)
{
	struct weir__mailbox *inboxes[] = {&w->own[me], &w->inbox,
					   me == 0 ? &w->ring : NULL};
	struct weir_task *task;
	int i;

	for (i = 0; i < 3; i++) {
		if (!inboxes[i] || weir__mailbox_empty(inboxes[i]))
			continue;
		task = weir__inbox_take(inboxes[i]);
		if (!task)
			continue;
		if (weir__park_found(&w->park) &&
		    !weir__mailbox_empty(&w->inbox))
			weir__park_wake_one(&w->park);
		run_all(task);
		return true;
	}
	return false;
}

static bool anything(struct world *w, uint32_t me)
{
	return !weir__mailbox_empty(&w->own[me]) ||
	       !weir__mailbox_empty(&w->inbox) ||
	       (me == 0 && !weir__mailbox_empty(&w->ring)) ||
	       ck_pr_load_32(&w->stop);
}

static bool others_awake(const struct world *w)
{
	return weir__park_idle(&w->park) < N_WORKERS;
}

static bool decide(struct world *w, uint32_t me, bool monitoring)
{
	if (monitoring && !others_awake(w)) {
		weir__park_unmonitor(&w->park);
		monitoring = false;
	}
	if (!monitoring && others_awake(w))
		monitoring = weir__park_monitor(&w->park, me);
	return monitoring;
}

/* As park() in worker.c. `monitoring`: as if it had decided so before. */
static void park(struct world *w, uint32_t me, bool may_monitor,
		 bool monitoring)
{
	uint32_t epoch;

	weir__park_announce(&w->park, me);
	for (;;) {
		epoch = weir__park_epoch(&w->park, me);
		if (weir__park_woken(&w->park, me))
			break;
		if (anything(w, me)) {
			weir__park_cancel(&w->park, me);
			break;
		}
		if (may_monitor)
			monitoring = decide(w, me, monitoring);
		weir__park_sleep(&w->park, me, epoch,
				 monitoring ? 1 : UINT64_MAX);
	}
	if (monitoring)
		weir__park_unmonitor(&w->park);
}

/* A worker that runs so many batches, or until it is stopped. */
static void work(struct world *w, uint32_t me, bool searching)
{
	if (!searching)
		weir__park_search(&w->park);
	while (!collect(w, me)) {
		if (ck_pr_load_32(&w->stop))
			return;
		park(w, me, false, false);
	}
}

static void worker_0(void *context)
{
	work(context, 0, false);
}

static void worker_1(void *context)
{
	work(context, 1, false);
}

static void publisher_0(void *context)
{
	struct world *w = context;

	submit(w, &w->inbox, 0);
}

static void publisher_1(void *context)
{
	struct world *w = context;

	submit(w, &w->inbox, 1);
}

/* Both tasks, in one batch or two. */
static void worker_for_two(void *context)
{
	struct world *w = context;

	worker_0(w);
	while (!ck_pr_load_32(&w->tasks[0].ran) ||
	       !ck_pr_load_32(&w->tasks[1].ran))
		worker_0(w);
}

static void publisher_for_worker_0(void *context)
{
	struct world *w = context;

	w->tasks[0].payload = 1;
	weir__inbox_push(&w->own[0], &w->tasks[0].task);
	weir__park_wake(&w->park, 0);
}

/* The searcher found work of its own, which takes until the other is run. */
static void searcher_with_a_long_turn(void *context)
{
	struct world *w = context;

	if (weir__park_found(&w->park) && !weir__mailbox_empty(&w->inbox))
		weir__park_wake_one(&w->park);
	wait_for(&w->tasks[0]);
}

static void stopper(void *context)
{
	struct world *w = context;

	ck_pr_fas_32(&w->stop, 1);
	weir__park_wake(&w->park, 0);
	weir__park_wake(&w->park, 1);
}

/*
 * Worker 0 is about to find that nobody is awake. Worker 1 is woken, queues a
 * task and has a long turn then, until that has been stolen.
 */
static void setup_monitor(void *context)
{
	struct world *w = context;

	setup_searching(context);
	weir__park_search(&w->park);
	weir__park_announce(&w->park, 1);
	weir__park_monitor(&w->park, 0);
}

static void monitor(void *context)
{
	struct world *w = context;

	park(w, 0, true, true);
	while (!collect(w, 0))
		park(w, 0, true, false);
}

static void queuer(void *context)
{
	struct world *w = context;
	uint32_t epoch;

	while (epoch = weir__park_epoch(&w->park, 1),
	       !weir__park_woken(&w->park, 1))
		weir__park_sleep(&w->park, 1, epoch, UINT64_MAX);
	weir__park_found(&w->park);
	/* As weir__worker_push(). */
	w->tasks[0].payload = 1;
	weir__inbox_push(&w->ring, &w->tasks[0].task);
	if (!ck_pr_load_32(&w->park.monitor))
		weir__park_wake_one(&w->park);
	wait_for(&w->tasks[0]);
}

static void waker_of_worker_1(void *context)
{
	weir__park_wake(&((struct world *)context)->park, 1);
}

/* --- Polling -------------------------------------------------------------- */

/* As await_ready() in worker.c. True: it is idle no more; *ready: it has work. */
static bool await_ready(struct world *w, uint32_t me, uint32_t epoch,
			bool *ready)
{
	uint32_t told = 0;

	w->polls++;
	if (weir__park_epoch(&w->park, me) == epoch) {
		while (!ck_pr_load_32(&w->kernel))
			weir__futex_wait(&w->kernel, 0, UINT64_MAX);
		told = ck_pr_fas_32(&w->kernel, 0);
		ck_pr_fence_memory();
	}
	if (told)
		weir__park_cancel(&w->park, me);
	*ready = told & READY;
	w->polls++;
	weir__park_polled(&w->park);
	return told != 0;
}

/* True: it has work. */
static bool park_or_poll(struct world *w, uint32_t me)
{
	uint32_t epoch;
	bool ready;

	weir__park_announce(&w->park, me);
	for (;;) {
		epoch = weir__park_epoch(&w->park, me);
		if (weir__park_woken(&w->park, me))
			return false;
		if (anything(w, me)) {
			weir__park_cancel(&w->park, me);
			return false;
		}
		if (ck_pr_load_32(&w->watches) &&
		    weir__park_poll(&w->park, me)) {
			if (await_ready(w, me, epoch, &ready))
				return ready;
		} else {
			weir__park_sleep(&w->park, me, epoch, UINT64_MAX);
		}
	}
}

/* Until it is stopped. The descriptor's task is the first. */
static void poll_and_work(struct world *w, uint32_t me)
{
	weir__park_search(&w->park);
	while (!ck_pr_load_32(&w->stop)) {
		if (!collect(w, me)) {
			if (!park_or_poll(w, me))
				continue;
			weir__park_found(&w->park);
			run_all(&w->tasks[0].task);
		}
		weir__park_search(&w->park);
	}
}

static void poller_0(void *context)
{
	poll_and_work(context, 0);
}

static void poller_1(void *context)
{
	poll_and_work(context, 1);
}

static void setup_watches(void *context)
{
	struct world *w = context;

	setup(context);
	w->watches = 1;
}

static void descriptor_is_ready(struct world *w)
{
	w->tasks[0].payload = 1;
	kernel_tells(w, READY);
	wait_for(&w->tasks[0]);
}

static void ready_then_stop(void *context)
{
	descriptor_is_ready(context);
	stopper(context);
}

static void publish_then_stop(void *context)
{
	struct world *w = context;

	submit(w, &w->inbox, 1);
	wait_for(&w->tasks[1]);
	stopper(context);
}

/* As watch_arm_outside() in threads.c. */
static void watch_then_stop(void *context)
{
	struct world *w = context;

	ck_pr_store_32(&w->watches, 1);
	weir__fence_full();
	if (!weir__park_polls(&w->park))
		weir__park_wake_one(&w->park);
	ready_then_stop(context);
}

static void one_then_the_other(void *context)
{
	struct world *w = context;

	submit(w, &w->inbox, 1);
	wait_for(&w->tasks[1]);
	ready_then_stop(context);
}

/* --- Handing the poller over ----------------------------------------------- */

/* As await_ready(), for a time. Returns what was told. */
static uint32_t await_for(struct world *w, uint32_t me, uint32_t epoch,
			  uint64_t timeout_ns)
{
	uint32_t told = 0;
	int rc = timeout_ns ? 0 : -1;

	w->polls++;
	if (weir__park_epoch(&w->park, me) == epoch) {
		while (rc == 0 && !ck_pr_load_32(&w->kernel))
			rc = weir__futex_wait(&w->kernel, 0, timeout_ns) ==
					     -ETIMEDOUT
				     ? -1
				     : 0;
		told = ck_pr_fas_32(&w->kernel, 0);
		ck_pr_fence_memory();
	}
	if (told)
		weir__park_cancel(&w->park, me);
	w->polls++;
	weir__park_polled(&w->park);
	return told;
}

/* As sleep_or_poll() in worker.c. */
static uint32_t sleep_or_poll(struct world *w, uint32_t me, uint32_t epoch,
			      bool monitors)
{
	uint64_t timeout_ns = monitors ? 1 : UINT64_MAX;

	if (!(monitors && others_awake(w)) && weir__park_poll(&w->park, me))
		return await_for(w, me, epoch, timeout_ns);
	if (!weir__park_sleep(&w->park, me, epoch, timeout_ns) &&
	    weir__park_poll(&w->park, me))
		return await_for(w, me, epoch, 0);
	return 0;
}

/* As park() in worker.c. */
static uint32_t park_or_monitor(struct world *w, uint32_t me)
{
	bool monitors = false;
	uint32_t told = 0, epoch;

	weir__park_announce(&w->park, me);
	while (!told) {
		epoch = weir__park_epoch(&w->park, me);
		if (weir__park_woken(&w->park, me))
			break;
		if (anything(w, me)) {
			weir__park_cancel(&w->park, me);
			break;
		}
		monitors = decide(w, me, monitors);
		told = sleep_or_poll(w, me, epoch, monitors);
	}
	if (monitors)
		weir__park_unmonitor(&w->park);
	return told;
}

/* As found() in worker.c. */
static void found(struct world *w)
{
	if (weir__park_found(&w->park) && !ck_pr_load_32(&w->park.monitor) &&
	    !weir__park_polls(&w->park))
		weir__park_wake_one(&w->park);
}

/* The first task takes until the second one has been run by the other. */
static void work_long(struct world *w, uint32_t me)
{
	uint32_t told;

	weir__park_search(&w->park);
	while (!ck_pr_load_32(&w->stop)) {
		told = park_or_monitor(w, me);
		if (!(told & (READY | SECOND)))
			continue;
		found(w);
		if (told & READY) {
			ck_pr_store_32(&w->begun, 1);
			weir__futex_wake(&w->begun, 1);
			wait_for(&w->tasks[1]);
		}
		run_all(&w->tasks[told & READY ? 0 : 1].task);
		weir__park_search(&w->park);
	}
}

static void long_0(void *context)
{
	work_long(context, 0);
}

static void long_1(void *context)
{
	work_long(context, 1);
}

static void one_in_the_turn_of_the_other(void *context)
{
	struct world *w = context;

	w->tasks[0].payload = 1;
	kernel_tells(w, READY);
	while (!ck_pr_load_32(&w->begun))
		weir__futex_wait(&w->begun, 0, UINT64_MAX);
	w->tasks[1].payload = 1;
	kernel_tells(w, SECOND);
	wait_for(&w->tasks[0]);
	stopper(w);
}

#define SCENARIO(...) \
	{ \
		.context = &world, .context_size = sizeof(world), __VA_ARGS__ \
	}

static const struct explorer_scenario scenarios[] = {
	SCENARIO(.name = "one publisher, one worker", .setup = setup,
		 .thread = {worker_0, publisher_0}),
	SCENARIO(.name = "two publishers, one worker", .setup = setup,
		 .thread = {worker_for_two, publisher_0, publisher_1}),
	SCENARIO(.name = "a worker's own inbox", .setup = setup,
		 .thread = {worker_0, publisher_for_worker_0}),
	SCENARIO(.name = "one searches, and finds something else",
		 .setup = setup_searching,
		 .thread = {worker_0, publisher_0, searcher_with_a_long_turn}),
	SCENARIO(.name = "two workers are stopped", .setup = setup,
		 .thread = {worker_0, worker_1, stopper}),
	SCENARIO(.name = "the monitor leaves while another wakes",
		 .setup = setup_monitor,
		 .thread = {monitor, queuer, waker_of_worker_1}),
	SCENARIO(.name = "a task for who polls", .setup = setup_watches,
		 .thread = {poller_0, publish_then_stop}),
	SCENARIO(.name = "a descriptor for who polls", .setup = setup_watches,
		 .thread = {poller_0, ready_then_stop}),
	SCENARIO(.name = "a task, then a descriptor", .setup = setup_watches,
		 .thread = {poller_0, one_then_the_other}),
	SCENARIO(.name = "the first descriptor", .setup = setup,
		 .thread = {poller_0, watch_then_stop}),
	SCENARIO(.name = "two go idle, one polls", .setup = setup_watches,
		 .thread = {poller_0, poller_1, ready_then_stop}),
	SCENARIO(.name = "two go idle, and a task comes",
		 .setup = setup_watches,
		 .thread = {poller_0, poller_1, publish_then_stop}),
};

static const struct scene_group all = SCENE_GROUP(scenarios);

static const struct explorer_scenario handing_over[] = {
	SCENARIO(.name = "who has polled has a long turn",
		 .setup = setup_watches,
		 .thread = {long_0, long_1, one_in_the_turn_of_the_other}),
};

static const struct scene_group handings = SCENE_GROUP(handing_over);

static const struct explorer_exception exceptions[] = {
	{"park.c", "weir__park_monitor", "ck_pr_cas_32", 0,
	 "two monitors would cost time-outs and lose nothing"},
	{"park.c", "wake", "ck_pr_inc_32", 1,
	 "a slow waker would undo the increment of a third: four "
	 "wakes, more than is explored"},
};

const struct model_case model_cases[] = {
	{.name = "no_wake_is_lost", .groups = GROUPS(&all)},
	{.name = "another_one_polls_meanwhile", .groups = GROUPS(&handings)},
	{.name = "another_one_polls_meanwhile_on_x86",
	 .groups = GROUPS(&handings),
	 .run = {.tso = true}},
	{.name = "no_wake_is_lost_on_x86",
	 .groups = GROUPS(&all),
	 .run = {.tso = true}},
	{.name = "every_fence_is_needed",
	 .groups = GROUPS(&all),
	 .files = "lib/",
	 EXCEPTIONS(exceptions)},
};
const size_t n_model_cases = N_OF(model_cases);
