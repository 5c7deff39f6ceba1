/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A source and an operator of one's own: keys come at their times, and
 * what was typed is a word when no key has come for a while. On the simulator,
 * whose clock is virtual, seconds pass at once.
 */
#include <errno.h>
#include <stdio.h>
#include <weir/weir.h>

#define MS 1000000ull

/* --- Keys at their times ------------------------------------------------ */

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

/* --- What was typed, when no key has come for a while ------------------- */

struct word {
	char letters[8];
	size_t n;
	bool ended;
};

/* The letter that word_letter() has asked for may not have come yet. */
static int word_wanted(struct weir_operator *op)
{
	const struct word *self = weir_operator_state(op);
	int rc;

	if (self->ended)
		return weir_operator_end(op, NULL);
	rc = weir_operator_pull(op);
	return rc == -EALREADY ? 0 : rc;
}

/* Goes on asking, so that the word goes when no letter has come for a while. */
static int word_letter(struct weir_operator *op, void *item)
{
	const uint64_t *quiet_ns = weir_operator_context(op);
	struct word *self = weir_operator_state(op);

	if (self->n < sizeof(self->letters) - 1)
		self->letters[self->n++] = (char)(intptr_t)item;
	weir_operator_timer_at(op, weir_operator_now(op) + *quiet_ns);
	return weir_operator_pull(op);
}

/* Who gets the word is done with it before the next letter comes. */
static int word_quiet(struct weir_operator *op)
{
	struct word *self = weir_operator_state(op);

	self->letters[self->n] = 0;
	self->n = 0;
	return weir_operator_push(op, self->letters);
}

/* The last word comes first. */
static int word_end(struct weir_operator *op, struct weir_error *error)
{
	struct word *self = weir_operator_state(op);

	self->ended = true;
	return self->n > 0 && !error ? 0 : weir_operator_end(op, error);
}

static const struct weir_operator_ops words = {
	.name = "words",
	.state_size = sizeof(struct word),
	.on_pull = word_wanted,
	.on_push = word_letter,
	.on_timer = word_quiet,
	.on_end = word_end,
};

static int show(void *item, void *context)
{
	struct weir_executor *executor = context;

	printf("%4d ms: %s\n", (int)(weir_executor_now(executor) / MS),
	       (const char *)item);
	return 0;
}

int main(void)
{
	uint64_t quiet_ns = 300 * MS;
	struct weir_executor *executor;
	struct weir_flow *flow;
	struct weir_sim *sim;
	int rc;

	if (weir_sim_new(&sim, 1, NULL) < 0)
		return 1;
	executor = weir_sim_executor(sim);
	flow = weir_flow_operator_source(&typist, NULL);
	flow = weir_flow_operator(flow, &words, &quiet_ns);
	flow = weir_flow_for_each(flow, show, executor);
	rc = weir_flow_run(flow, executor, NULL);
	weir_flow_free(flow);
	return weir_sim_free(sim) < 0 || rc < 0;
}
