/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/marbles_kit.h"

/* --- What a run has ------------------------------------------------------- */

struct marbles marbles;

uint64_t sim_now(void)
{
	return weir_executor_now(weir_sim_executor(marbles.sim));
}

char *joined(const char *one, const char *two)
{
	char *label = marbles.labels[marbles.n_labels++];
	size_t n = strlen(one);

	assert_true(marbles.n_labels < 64 && n + strlen(two) < 16);
	memcpy(label, one, n);
	strcpy(label + n, two);
	return label;
}

static const struct timeline *timeline_of(const char *text)
{
	struct timeline *line = &marbles.lines[marbles.n_lines++];
	unsigned ms;
	int length;

	assert_true(marbles.n_lines < 32);
	for (; *text; text += length) {
		struct moment *moment = &line->moments[line->n++];

		assert_true(line->n < 16);
		assert_int_equal(sscanf(text, " %15[^@ ]@%u%n", moment->label,
					&ms, &length),
				 2);
		moment->at_ns = ms * MS;
	}
	return line;
}

/* --- Errors by their names ------------------------------------------------ */

static const struct {
	const char *name;
	int code;
} codes[] = {
	{"EBUSY", -EBUSY},
	{"EIO", -EIO},
	{"EOVERFLOW", -EOVERFLOW},
	{"ETIMEDOUT", -ETIMEDOUT},
};

#define N_CODES (sizeof(codes) / sizeof(*codes))

static int code_of(const char *name)
{
	size_t i = 0;

	while (i < N_CODES && strcmp(codes[i].name, name) != 0)
		i++;
	assert_true(i < N_CODES);
	return codes[i].code;
}

static const char *name_of(int code)
{
	size_t i;

	for (i = 0; i < N_CODES; i++) {
		if (codes[i].code == code)
			return codes[i].name;
	}
	return strerror(-code);
}

/* --- A source that plays a timeline --------------------------------------- */

struct player {
	uint64_t start_ns;
	size_t next;
};

/* The next moment has come: false if it cannot be played now. */
static bool play_one(struct weir_operator *op, const char *label)
{
	if (*label == '|')
		assert_int_equal(weir_operator_end(op, NULL), 0);
	else if (*label == '!')
		assert_int_equal(weir_operator_fail(op, code_of(label + 1),
						    "as drawn"),
				 0);
	else if (weir_operator_wanted(op))
		assert_int_equal(weir_operator_push(op, (void *)label), 0);
	else
		return false;
	return true;
}

static int play(struct weir_operator *op)
{
	struct player *player = weir_operator_state(op);
	const struct timeline *line = weir_operator_context(op);

	for (; player->next < line->n; player->next++) {
		const struct moment *moment = &line->moments[player->next];
		uint64_t at_ns = player->start_ns + moment->at_ns;

		if (weir_operator_now(op) < at_ns) {
			weir_operator_timer_at(op, at_ns);
			break;
		}
		if (!play_one(op, moment->label))
			break;
	}
	return 0;
}

static int player_open(struct weir_operator *op)
{
	struct player *player = weir_operator_state(op);

	player->start_ns = weir_operator_now(op);
	weir_operator_timer_at(op, player->start_ns);
	return 0;
}

static struct weir_flow *playing(const char *text)
{
	static const struct weir_operator_ops ops = {
		.state_size = sizeof(struct player),
		.open = player_open,
		.on_pull = play,
		.on_timer = play,
	};

	return weir_flow_operator_source(&ops, (void *)timeline_of(text));
}

struct weir_flow *made_for(const char *item)
{
	struct timeline *line;
	struct weir_flow *flow = playing(marbles.picture->made);
	size_t i;

	line = &marbles.lines[marbles.n_lines - 1];
	for (i = 0; item && i < line->n; i++) {
		struct moment *moment = &line->moments[i];

		if (*moment->label == 'x')
			strcpy(moment->label, joined(item, moment->label + 1));
	}
	return flow;
}

/* --- Who asks at certain times -------------------------------------------- */

struct asker {
	size_t next;
	size_t n_asked; /* and has not pulled */
	bool wanted;
};

static int ask(struct weir_operator *op)
{
	struct asker *asker = weir_operator_state(op);

	if (!asker->wanted || asker->n_asked == 0)
		return 0;
	asker->wanted = false;
	asker->n_asked--;
	return weir_operator_pull(op);
}

static int asker_pull(struct weir_operator *op)
{
	((struct asker *)weir_operator_state(op))->wanted = true;
	return ask(op);
}

static int asker_timer(struct weir_operator *op)
{
	struct asker *asker = weir_operator_state(op);
	const struct timeline *line = weir_operator_context(op);
	uint64_t now_ns = weir_operator_now(op);

	while (asker->next < line->n &&
	       line->moments[asker->next].at_ns <= now_ns) {
		asker->next++;
		asker->n_asked++;
	}
	if (asker->next < line->n)
		weir_operator_timer_at(op, line->moments[asker->next].at_ns);
	return ask(op);
}

static struct weir_flow *asked_at(struct weir_flow *flow, const char *text)
{
	static const struct weir_operator_ops ops = {
		.state_size = sizeof(struct asker),
		.open = asker_timer,
		.on_pull = asker_pull,
		.on_timer = asker_timer,
	};

	return weir_flow_operator(flow, &ops, (void *)timeline_of(text));
}

/* --- What comes out ------------------------------------------------------- */

static void came_out(char *out, const char *what, const char *label)
{
	size_t n = strlen(out);

	assert_true(n + strlen(label) + 16 < sizeof(marbles.out[0]));
	sprintf(out + n, "%s%s%s@%u", n ? " " : "", what, label,
		(unsigned)(sim_now() / MS));
}

static void item_out(void *item, void *context)
{
	came_out(context, "", item);
}

static void end_out(void *context)
{
	came_out(context, "|", "");
}

static void error_out(struct weir_error *error, void *context)
{
	came_out(context, "!", name_of(error->code));
}

static int list_to_label(void **item, void *context)
{
	struct weir_flow_list *list = *item;
	char *label = joined("[", "");
	size_t i;

	for (i = 0; i < list->n; i++)
		label = joined(label, joined(i ? " " : "", list->items[i]));
	weir_flow_list_free(list);
	*item = joined(label, "]");
	return 0;
}

struct weir_flow *labels(struct weir_flow *flow)
{
	return weir_flow_items(weir_flow_map(flow, list_to_label, NULL), NULL);
}

static struct weir_flow *outlet_of(const struct picture *picture,
				   struct weir_flow *flow, size_t i)
{
	static const struct weir_flow_peek_functions hooks = {
		.item = item_out,
		.completed = end_out,
		.failed = error_out,
	};

	if (picture->lists)
		flow = labels(flow);
	if (picture->asked[i])
		flow = asked_at(flow, picture->asked[i]);
	flow = weir_flow_peek(flow, &hooks, marbles.out[i]);
	return weir_flow_ignore(flow);
}

/* --- Running -------------------------------------------------------------- */

static struct weir_flow *flow_of(const struct picture *picture)
{
	struct weir_flow *in[2] = {NULL}, *outlets[2] = {NULL};
	size_t i;

	for (i = 0; i < 2 && picture->in[i]; i++)
		in[i] = playing(picture->in[i]);
	outlets[0] = picture->compose(in, outlets);
	for (i = 0; i < 2 && outlets[i]; i++)
		outlets[i] = outlet_of(picture, outlets[i], i);
	return i == 2 ? weir_flow_all(outlets, 2) : outlets[0];
}

static void act_at(const struct timeline *line)
{
	size_t i;

	for (i = 0; i < line->n; i++) {
		weir_sim_run_until(marbles.sim, line->moments[i].at_ns, 100000);
		marbles.picture->act();
	}
}

static void run_picture(const struct picture *picture, uint64_t seed,
			size_t unfused)
{
	const struct weir_flow_run_options options = {.unfused = unfused};
	uint64_t until_ms = picture->until_ms ? picture->until_ms : 1000;
	struct weir_flow_run *run;
	struct weir_flow *flow;

	memset(&marbles, 0, sizeof(marbles));
	marbles.picture = picture;
	assert_int_equal(weir_sim_new(&marbles.sim, seed, NULL), 0);
	if (picture->set_up)
		picture->set_up();
	flow = flow_of(picture);
	assert_int_equal(weir_flow_start(flow, weir_sim_executor(marbles.sim),
					 &options, &run),
			 0);
	if (picture->acts)
		act_at(timeline_of(picture->acts));
	assert_true(weir_sim_run_until(marbles.sim, until_ms * MS, 100000) <
		    100000);
	weir_flow_run_stop(run, NULL);
	assert_int_equal(weir_flow_run_wait(run, WEIR_FOREVER, NULL, NULL), 0);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	assert_int_equal(weir_sim_free(marbles.sim), 0);
}

static void assert_cut(const struct picture *picture, size_t unfused)
{
	size_t i;

	for_each_seed(seed, 20) {
		run_picture(picture, seed, unfused);
		for (i = 0; i < 2; i++)
			assert_string_equal(marbles.out[i],
					    picture->out[i] ? picture->out[i]
							    : "");
	}
}

void assert_picture(const struct picture *picture)
{
	assert_cut(picture, 0);
}

void assert_pictures(const struct picture *pictures, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		assert_cut(&pictures[i], 0);
		assert_cut(&pictures[i], 1);
		assert_cut(&pictures[i], 4);
	}
}
