/* SPDX-License-Identifier: BSD-2-Clause */
#include "executor/places.h"

static void no_drive(struct place *place)
{
}

static void threads_make(struct place *place)
{
	const struct weir_threads_options options = {.workers = 2};

	assert_int_equal(weir_threads_new(&place->threads, &options), 0);
	place->executor = weir_threads_executor(place->threads);
}

static int threads_free(struct place *place)
{
	return weir_threads_free(place->threads);
}

static void blocking_make(struct place *place)
{
	assert_int_equal(weir_blocking_new(&place->blocking, NULL), 0);
	place->executor = weir_blocking_executor(place->blocking);
}

static int blocking_free(struct place *place)
{
	return weir_blocking_free(place->blocking);
}

static void loop_make(struct place *place)
{
	assert_int_equal(weir_loop_new(&place->loop, NULL), 0);
	place->executor = weir_loop_executor(place->loop);
}

static int loop_free(struct place *place)
{
	return weir_loop_free(place->loop);
}

static void loop_drive(struct place *place)
{
	assert_true(weir_loop_run(place->loop, 64) >= 0);
}

static void sim_make(struct place *place)
{
	assert_int_equal(weir_sim_new(&place->sim, 1, NULL), 0);
	place->executor = weir_sim_executor(place->sim);
}

static int sim_free(struct place *place)
{
	return weir_sim_free(place->sim);
}

static void sim_drive(struct place *place)
{
	(void)weir_sim_run(place->sim);
}

static int direct_submit(struct weir_executor *executor, struct weir_task *task)
{
	struct direct *self = (struct direct *)executor;

	if (self->at_once) {
		weir_task_run(task);
		return 0;
	}
	task->next = NULL;
	*self->tail = task;
	self->tail = &task->next;
	return 0;
}

static uint64_t direct_now(struct weir_executor *executor)
{
	return 0;
}

static void direct_make(struct place *place)
{
	static const struct weir_executor_ops ops = {
		.submit = direct_submit,
		.now = direct_now,
	};
	struct direct *self = &place->direct;

	assert_int_equal(weir_executor_init(&self->executor, &ops, NULL), 0);
	self->tail = &self->head;
	place->executor = &self->executor;
}

static int direct_free(struct place *place)
{
	return weir_executor_fini(place->executor);
}

static void direct_drive(struct place *place)
{
	struct direct *self = &place->direct;
	struct weir_task *task;

	while ((task = self->head)) {
		self->head = task->next;
		if (!self->head)
			self->tail = &self->head;
		weir_task_run(task);
	}
}

const struct kind threads = {threads_make, threads_free, no_drive, true};
const struct kind blocking = {blocking_make, blocking_free, no_drive, true};
const struct kind loop = {loop_make, loop_free, loop_drive, false};
const struct kind sim = {sim_make, sim_free, sim_drive, false};
const struct kind direct = {direct_make, direct_free, direct_drive, false};

void place_make(struct place *place, const struct kind *kind)
{
	memset(place, 0, sizeof(*place));
	place->kind = kind;
	kind->make(place);
}
