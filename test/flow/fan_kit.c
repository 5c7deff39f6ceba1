/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/fan_kit.h"

#include <stdio.h>
#include <stdlib.h>

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

/* --- Taps that are played upon -------------------------------------------- */

#define TRANSCRIPT_MAX 512u

static struct {
	struct tap taps[PLAYED_MAX];
	bool open[PLAYED_MAX]; /* as was told */
	struct got got;
	size_t n_told; /* of what has come out */
	bool over;     /* was told */
	struct trial trial;
	char text[TRANSCRIPT_MAX];
} play;

static void tell(const char *what, const char *more)
{
	size_t n = strlen(play.text);

	assert_true(n + strlen(what) + strlen(more) + 2 < TRANSCRIPT_MAX);
	(void)snprintf(play.text + n, TRANSCRIPT_MAX - n, "%s%s%s",
		       n ? " " : "", what, more);
}

static void tell_number(const char *what, int number)
{
	char digits[16];

	(void)snprintf(digits, sizeof(digits), "%d", number);
	tell(what, digits);
}

static void tell_taps(void)
{
	static const char *const names[PLAYED_MAX] = {"a", "b", "c"};
	size_t i;

	for (i = 0; i < PLAYED_MAX; i++) {
		const struct tap *tap = &play.taps[i];
		bool open = tap->op;

		if (open && !play.open[i])
			tell("+", names[i]);
		if (!open && play.open[i] && (!tap->ends || tap->at < tap->n))
			tell("-", names[i]);
		play.open[i] = open;
	}
}

static void tell_end(void)
{
	struct weir_error *error = NULL;

	if (play.over || !is_over(&play.trial))
		return;
	play.over = true;
	assert_int_equal(weir_flow_run_wait(play.trial.run, 0, NULL, &error),
			 0);
	if (!error)
		tell("|", "");
	else if (error->code == -EIO)
		tell("!", "");
	else
		tell_number("!", -error->code);
	weir_error_unref(error);
}

/* What has happened since. */
static void tell_all(void)
{
	for (; play.n_told < play.got.n; play.n_told++)
		tell_number("", (int)play.got.values[play.n_told]);
	tell_taps();
	tell_end();
}

static void act(const char *token)
{
	struct tap *tap = &play.taps[*token - 'a'];
	char *more;
	long first, last;

	tell(token, "");
	if (token[1] == '|') {
		tap_end(tap, 0);
	} else if (token[1] == '!') {
		tap_end(tap, -EIO);
	} else {
		first = last = strtol(token + 1, &more, 10);
		if (*more)
			last = strtol(more + 1, NULL, 10);
		tap_give(tap, first, last);
	}
	rest(&play.trial);
	tell_all();
}

static void play_once(struct weir_flow *(*compose)(struct weir_flow *const *),
		      const char *transcript, uint64_t seed, size_t unfused)
{
	struct weir_flow *taps[PLAYED_MAX];
	int64_t live = n_live;
	char tokens[TRANSCRIPT_MAX], *token, *rest_of = tokens;
	size_t i;

	memset(&play, 0, sizeof(play));
	play.got.counted = true;
	for (i = 0; i < PLAYED_MAX; i++)
		taps[i] = counted(tap_flow(&play.taps[i]));
	begin(&play.trial, into(compose(taps), &play.got), seed, unfused);
	for (i = 0; i < PLAYED_MAX; i++)
		play.open[i] = play.taps[i].op;
	tell_all();
	assert_true(strlen(transcript) < TRANSCRIPT_MAX);
	strcpy(tokens, transcript);
	while ((token = strsep(&rest_of, " ")))
		if (*token >= 'a' && *token < (char)('a' + PLAYED_MAX))
			act(token);
	assert_string_equal(play.text, transcript);
	(void)end(&play.trial);
	assert_int_equal(n_live, live);
}

void assert_played(struct weir_flow *(*compose)(struct weir_flow *const *taps),
		   const char *transcript)
{
	static const size_t unfused[] = {0, 1, 16};

	for_each_seed(seed, 9)
		play_once(compose, transcript, seed, unfused[seed % 3]);
}
