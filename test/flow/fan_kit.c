/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/fan_kit.h"

static size_t tap_pull(struct weir__op *op, void **items, size_t room)
{
	struct tap *tap = *(struct tap *const *)weir__op_args(op);
	size_t n = 0;

	while (n < room && tap->at < tap->n)
		items[n++] = (void *)tap->items[tap->at++];
	if (tap->at < tap->n || !tap->ends)
		return n;
	if (tap->code)
		weir__op_fail(op, tap->code, "by hand");
	else
		weir__op_end(op, NULL);
	return n;
}

static int tap_open(struct weir__op *op)
{
	struct tap *tap = *(struct tap *const *)weir__op_args(op);

	tap->op = op;
	return 0;
}

static void tap_close(struct weir__op *op)
{
	struct tap *tap = *(struct tap *const *)weir__op_args(op);

	tap->op = NULL;
}

static const struct weir__kind tap_kind = {
	.name = "tap",
	.pull = tap_pull,
	.open = tap_open,
	.close = tap_close,
	.holds = true,
	.source = true,
};

struct weir_flow *tap_flow(struct tap *tap)
{
	return weir__flow_source(&tap_kind, &tap, sizeof(tap), true);
}

void tap_give(struct tap *tap, intptr_t first, intptr_t last)
{
	for (; first <= last; first++)
		tap->items[tap->n++] = first;
	if (tap->op)
		weir__op_wake(tap->op);
}

void tap_end(struct tap *tap, int code)
{
	tap->ends = true;
	tap->code = code;
	if (tap->op)
		weir__op_wake(tap->op);
}

/* --- A run that is stepped ------------------------------------------------ */

void rest(struct trial *trial)
{
	int steps = 0;

	while (weir_sim_step(trial->sim))
		assert_true(++steps < STEPS_MAX);
}

/* What weir_flow_start() says; if that is well it has come to rest. */
static int try_begin(struct trial *trial, struct weir_flow *flow, uint64_t seed,
		     size_t unfused)
{
	struct weir_flow_run_options options = {.unfused = unfused};
	int rc;

	trial->flow = flow;
	assert_int_equal(weir_sim_new(&trial->sim, seed, NULL), 0);
	rc = weir_flow_start(flow, weir_sim_executor(trial->sim), &options,
			     &trial->run);
	if (rc == 0)
		rest(trial);
	return rc;
}

void begin(struct trial *trial, struct weir_flow *flow, uint64_t seed,
	   size_t unfused)
{
	assert_int_equal(try_begin(trial, flow, seed, unfused), 0);
}

bool is_over(const struct trial *trial)
{
	return weir_completion_done(weir_flow_run_over(trial->run));
}

int end(struct trial *trial)
{
	struct weir_error *error = NULL;
	int code = 0;

	rest(trial);
	weir_flow_run_stop(trial->run, NULL);
	rest(trial);
	assert_int_equal(
		weir_flow_run_wait(trial->run, WEIR_FOREVER, NULL, &error), 0);
	if (error)
		code = error->code;
	weir_error_unref(error);
	weir_flow_run_free(trial->run);
	weir_flow_free(trial->flow);
	assert_int_equal(weir_sim_free(trial->sim), 0);
	return code;
}
