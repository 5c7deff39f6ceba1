/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A source and an operator of one's own: keys come at their times, and what is
 * searched for is what was typed when no key has come for a while. On the
 * simulator, whose clock is virtual, seconds pass at once.
 */
#include <errno.h>
#include <stdio.h>
#include <weir/weir.h>

#define MS 1000000ull

/* --- Keys at their times ------------------------------------------------------ */

static const struct key {
	uint64_t ms;
	char letter;
} keys[] = {
	{100, 'w'}, {180, 'e'}, {250, 'a'}, {900, 'i'}, {970, 'r'},
};

/* The next one is due, or will be. */
static int key_wanted(struct weir_operator *op)
{
	const struct key *const *next = weir_operator_state(op);

	if (*next == keys + sizeof(keys) / sizeof(*keys))
		return weir_operator_end(op, NULL);
	weir_operator_timer_at(op, (*next)->ms * MS);
	return 0;
}

static int key_due(struct weir_operator *op)
{
	const struct key **next = weir_operator_state(op);

	return weir_operator_push(op, (void *)(intptr_t)(*next)++->letter);
}

static int keys_open(struct weir_operator *op)
{
	const struct key **next = weir_operator_state(op);

	*next = keys;
	return 0;
}

static const struct weir_operator_ops typist = {
	.name = "typist",
	.state_size = sizeof(const struct key *),
	.open = keys_open,
	.on_pull = key_wanted,
	.on_timer = key_due,
};

/* --- The last item, when none has come for a while ------------------------------ */

struct debounce {
	void *last;
	bool has_last, ended;
};

/* The item that debounce_item() has asked for may not have come yet. */
static int debounce_wanted(struct weir_operator *op)
{
	const struct debounce *self = weir_operator_state(op);
	int rc;

	if (self->ended)
		return weir_operator_end(op, NULL);
	rc = weir_operator_pull(op);
	return rc == -EALREADY ? 0 : rc;
}

/* Goes on asking, so that a newer one takes its place. */
static int debounce_item(struct weir_operator *op, void *item)
{
	const uint64_t *quiet_ns = weir_operator_context(op);
	struct debounce *self = weir_operator_state(op);

	if (self->has_last)
		weir_operator_drop(op, self->last);
	self->last = item;
	self->has_last = true;
	weir_operator_timer_at(op, weir_operator_now(op) + *quiet_ns);
	return weir_operator_pull(op);
}

static int debounce_quiet(struct weir_operator *op)
{
	struct debounce *self = weir_operator_state(op);

	self->has_last = false;
	return weir_operator_push(op, self->last);
}

/* What is kept comes first. */
static int debounce_end(struct weir_operator *op, struct weir_error *error)
{
	struct debounce *self = weir_operator_state(op);

	self->ended = true;
	return self->has_last && !error ? 0 : weir_operator_end(op, error);
}

static void debounce_close(struct weir_operator *op)
{
	struct debounce *self = weir_operator_state(op);

	if (self->has_last)
		weir_operator_drop(op, self->last);
}

static const struct weir_operator_ops debounce = {
	.name = "debounce",
	.state_size = sizeof(struct debounce),
	.on_pull = debounce_wanted,
	.on_push = debounce_item,
	.on_timer = debounce_quiet,
	.on_end = debounce_end,
	.close = debounce_close,
};

/* --- What is searched for --------------------------------------------------------- */

struct search {
	struct weir_executor *executor;
	char typed[8];
	size_t n;
};

static int type(void **item, void *context)
{
	struct search *search = context;

	search->typed[search->n++] = (char)(intptr_t)*item;
	return 0;
}

static int look_up(void *item, void *context)
{
	const struct search *search = context;

	(void)item;
	printf("%4d ms: %s\n", (int)(weir_executor_now(search->executor) / MS),
	       search->typed);
	return 0;
}

int main(void)
{
	uint64_t quiet_ns = 300 * MS;
	struct search search = {0};
	struct weir_flow *flow;
	struct weir_sim *sim;
	int rc;

	if (weir_sim_new(&sim, 1, NULL) < 0)
		return 1;
	search.executor = weir_sim_executor(sim);
	flow = weir_flow_operator_source(&typist, NULL);
	flow = weir_flow_map(flow, type, &search);
	flow = weir_flow_operator(flow, &debounce, &quiet_ns);
	flow = weir_flow_for_each(flow, look_up, &search);
	rc = weir_flow_run(flow, search.executor, NULL);
	weir_flow_free(flow);
	return weir_sim_free(sim) < 0 || rc < 0;
}
