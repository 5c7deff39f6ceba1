/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words of a text are counted by a supervised pipeline of ready-made
 * stages, and one of them fails in one of its calls: each of them, in each
 * call, under each directive.
 *
 *	read ──> split ──> fold ──> count
 *
 * read makes pages of text, split pages of whole words, whose last one it
 * keeps until it is full. Every word that was read is counted in the end or
 * was in a page that was dropped; and when the pipeline goes on, that is the
 * page that was failed with and no other, and what a reset has thrown away.
 */
#include "support.h"

#include <ctype.h>
#include <sched.h>
#include <string.h>

#include <ck_pr.h>

#include <weir/sim.h>
#include <weir/weir.h>

#define PAGE_MAX 24
#define N_WORDS 32

enum { READ, SPLIT, FOLD, COUNT, N_STAGES };

static const char *const text[] = {
	"The river is wide",
	"and the weir is low;",
	"What the river brings",
	"the weir lets pass:",
	"Leaves, and twigs, and",
	"a boat of paper.",
	"",
	"One leaf is lost",
	"in the wide river;",
	"the weir goes on.",
	"The boat is safe.",
};
#define N_LINES (sizeof(text) / sizeof(*text))

struct page {
	size_t length, at; /* what of it is still to be split */
	char bytes[PAGE_MAX];
};

/* What is to be done about the failure. */
struct answer {
	int directive; /* of the boss, to the stage */
	int above;     /* of /user, to the boss, when it escalates */
	bool goes_on;
};

struct pipeline {
	const struct answer *answer;
	/* who fails: in that call, from 1 on */
	int stage;
	uint32_t at_call;
	struct weir_system *system;
	struct weir_strategy top, strategy;
	struct weir_lifecycle boss_life, split_life;
	struct weir_actor_ops boss_ops;
	struct weir_actor boss;
	struct weir_actor_id boss_ref;
	struct weir_items pages;
	struct weir_producer read;
	struct weir_transformer split, fold;
	struct weir_consumer count;
	/* each stage's own */
	uint32_t calls[N_STAGES];
	size_t line;
	struct page *page; /* split fills it */
	uint32_t read_words[N_WORDS], counted[N_WORDS];
	uint32_t done[N_STAGES]; /* calls */
	/* any thread */
	uint32_t lost[N_WORDS], failed_with[N_WORDS];
	uint32_t live, released;
	bool failed;
};

/* --- Words ---------------------------------------------------------------- */

static char vocabulary[N_WORDS][16];
static size_t n_vocabulary;

static size_t index_of(const char *letters, size_t n)
{
	char word[16] = {0};
	size_t i;

	assert_true(n < sizeof(word));
	for (i = 0; i < n; i++)
		word[i] = (char)tolower((unsigned char)letters[i]);
	for (i = 0; i < n_vocabulary; i++)
		if (!strcmp(vocabulary[i], word))
			return i;
	assert_true(n_vocabulary < N_WORDS);
	memcpy(vocabulary[n_vocabulary++], word, sizeof(word));
	return i;
}

static void add_words(uint32_t *counts, const char *bytes, size_t length)
{
	size_t i, n;

	for (i = 0; i < length; i += n + 1) {
		for (n = 0;
		     i + n < length && isalpha((unsigned char)bytes[i + n]);)
			n++;
		if (n)
			ck_pr_inc_32(&counts[index_of(bytes + i, n)]);
	}
}

/* --- Pages ---------------------------------------------------------------- */

static void add_page(uint32_t *counts, const struct page *page)
{
	add_words(counts, page->bytes + page->at, page->length - page->at);
}

static struct page *page_new(struct pipeline *self)
{
	struct page *page = calloc(1, sizeof(*page));

	assert_non_null(page);
	ck_pr_inc_32(&self->live);
	return page;
}

static void page_free(struct pipeline *self, struct page *page)
{
	ck_pr_dec_32(&self->live);
	free(page);
}

static void page_drop(void *item, void *context)
{
	struct pipeline *self = context;
	struct page *page = item;

	add_page(self->lost, page);
	page_free(self, page);
}

/* --- Stages --------------------------------------------------------------- */

/* With this page, or NULL: with none that would be lost. */
static bool fails(struct pipeline *self, int stage, const struct page *page)
{
	if (stage != self->stage || ++self->calls[stage] != self->at_call)
		return false;
	self->failed = true;
	if (page)
		add_page(self->failed_with, page);
	return true;
}

static int read_page(void **item, void *context)
{
	struct pipeline *self = context;
	struct page *page;

	if (fails(self, READ, NULL))
		return -EIO;
	if (self->line == N_LINES)
		return 0;
	page = page_new(self);
	page->length = strlen(text[self->line]);
	assert_true(page->length <= PAGE_MAX);
	memcpy(page->bytes, text[self->line++], page->length);
	add_page(self->read_words, page);
	*item = page;
	return 1;
}

/* Letters of the word that comes next in the line, of which `at` is past what
 * lies before it. */
static size_t next_word(struct page *line)
{
	size_t n = 0;

	while (line->at < line->length &&
	       !isalpha((unsigned char)line->bytes[line->at]))
		line->at++;
	while (line->at + n < line->length &&
	       isalpha((unsigned char)line->bytes[line->at + n]))
		n++;
	return n;
}

static int split_page(void *item, struct weir_out *out, void *context)
{
	struct pipeline *self = context;
	struct page *line = item;
	size_t n;

	if (fails(self, SPLIT, line))
		return -EIO;
	for (; (n = next_word(line)); line->at += n) {
		if (!self->page)
			self->page = page_new(self);
		if (self->page->length + n + 1 > PAGE_MAX) {
			assert_int_equal(weir_out_put(out, self->page), 0);
			self->page = NULL;
			return fails(self, SPLIT, line) ? -EIO
							: WEIR_TRANSFORM_MORE;
		}
		memcpy(self->page->bytes + self->page->length,
		       line->bytes + line->at, n);
		self->page->length += n + 1;
		self->page->bytes[self->page->length - 1] = '\n';
	}
	page_free(self, line);
	return 0;
}

static int split_flush(struct weir_out *out, void *context)
{
	struct pipeline *self = context;
	struct page *page = self->page;

	/* it keeps the page, and is called again */
	if (fails(self, SPLIT, NULL))
		return -EIO;
	self->page = NULL;
	return page ? weir_out_put(out, page) : 0;
}

/* What is in no link goes. */
static int split_reset(struct weir_actor *actor)
{
	struct pipeline *self =
		weir_container_of(actor, struct pipeline, split.actor);

	if (self->page) {
		add_page(self->failed_with, self->page);
		page_drop(self->page, self);
	}
	self->page = NULL;
	return 0;
}

static int fold_page(void *item, struct weir_out *out, void *context)
{
	struct pipeline *self = context;
	struct page *page = item;
	size_t i;

	if (fails(self, FOLD, page))
		return -EIO;
	for (i = 0; i < page->length; i++)
		page->bytes[i] = (char)tolower((unsigned char)page->bytes[i]);
	return weir_out_put(out, page);
}

static int count_page(void *item, void *context)
{
	struct pipeline *self = context;
	struct page *page = item;

	if (fails(self, COUNT, page))
		return -EIO;
	add_page(self->counted, page);
	page_free(self, page);
	return 0;
}

#define STAGE_ENDS(stage, index) \
	static void stage##_done(struct weir_error *error, void *context) \
	{ \
		((struct pipeline *)context)->done[index]++; \
	}
STAGE_ENDS(read, READ)
STAGE_ENDS(fold, FOLD)
STAGE_ENDS(count, COUNT)

static void split_done(struct weir_error *error, void *context)
{
	struct pipeline *self = context;

	self->done[SPLIT]++;
	if (self->page)
		page_drop(self->page, self);
	self->page = NULL;
}

static void stage_released(void *context)
{
	struct pipeline *self = context;

	ck_pr_fence_release(); /* of what it has counted; partner: run() */
	ck_pr_inc_32(&self->released);
}

/* --- Their boss ----------------------------------------------------------- */

static uint32_t no_turns(struct weir_actor *actor, uint32_t n)
{
	return n;
}

static int decide(struct weir_actor *supervisor,
		  const struct weir_failure *failure, void *context)
{
	const struct pipeline *self = context;

	assert_int_equal(failure->error->code, -EIO);
	return supervisor == &self->boss ? self->answer->directive
					 : self->answer->above;
}

/* Its stages are to begin anew with it, not to end. */
static int keep_stages(struct weir_actor *actor, struct weir_error *cause)
{
	return 0;
}

static void set_up_boss(struct pipeline *self, struct weir_executor *executor)
{
	self->strategy = self->top;
	self->boss_life = (struct weir_lifecycle){
		.pre_restart = keep_stages,
		.strategy = &self->strategy,
	};
	self->split_life.reset = split_reset;
	self->boss_ops = (struct weir_actor_ops){
		.name = "boss",
		.turns = no_turns,
		.lifecycle = &self->boss_life,
	};
	assert_int_equal(
		weir_actor_init(&self->boss, &self->boss_ops, executor), 0);
	assert_int_equal(weir_system_spawn(self->system, WEIR_ACTOR_ID_NONE,
					   &self->boss, NULL, &self->boss_ref),
			 0);
}

static void set_up_stages(struct pipeline *self, struct weir_executor *executor)
{
	const struct weir_producer_options read = {
		.context = self,
		.produce = read_page,
		.makes = &self->pages,
		.done = read_done,
		.released = stage_released,
	};
	const struct weir_transformer_options split = {
		.context = self,
		.transform = split_page,
		.flush = split_flush,
		.takes = &self->pages,
		.makes = &self->pages,
		.done = split_done,
		.released = stage_released,
		.capacity = 2,
		.lifecycle = &self->split_life,
	};
	struct weir_transformer_options fold = split;
	const struct weir_consumer_options count = {
		.context = self,
		.consume = count_page,
		.takes = &self->pages,
		.done = count_done,
		.released = stage_released,
		.capacity = 2,
	};

	fold.transform = fold_page;
	fold.flush = NULL;
	fold.done = fold_done;
	fold.lifecycle = NULL;
	assert_int_equal(weir_producer_init(&self->read, executor, &read), 0);
	assert_int_equal(weir_transformer_init(&self->split, executor, &split),
			 0);
	assert_int_equal(weir_transformer_init(&self->fold, executor, &fold),
			 0);
	assert_int_equal(weir_consumer_init(&self->count, executor, &count), 0);
}

static void start(struct pipeline *self, struct weir_executor *executor)
{
	struct weir_system_options options = {
		.strategy = &self->top, .event = weir_supervision_event_ignore};
	struct weir_actor *stages[] = {&self->read.actor, &self->split.actor,
				       &self->fold.actor, &self->count.actor};
	size_t i;

	self->pages = (struct weir_items){.drop = page_drop, .context = self};
	self->top = (struct weir_strategy){.decide = decide, .context = self};
	assert_int_equal(weir_system_new(&self->system, executor, &options), 0);
	set_up_boss(self, executor);
	set_up_stages(self, executor);
	assert_int_equal(weir_out_link(&self->read.out, &self->split.in), 0);
	assert_int_equal(weir_out_link(&self->split.out, &self->fold.in), 0);
	assert_int_equal(weir_out_link(&self->fold.out, &self->count.in), 0);
	for (i = N_STAGES; i; i--)
		assert_int_equal(weir_system_spawn(self->system, self->boss_ref,
						   stages[i - 1], NULL, NULL),
				 0);
}

/* --- What must have come of it -------------------------------------------- */

static void check(const struct pipeline *self)
{
	size_t i;

	for (i = 0; i < N_STAGES; i++)
		assert_int_equal(self->done[i], 1);
	for (i = 0; i < N_WORDS; i++)
		assert_int_equal(self->read_words[i],
				 self->counted[i] + self->lost[i]);
	assert_int_equal(self->live, 0);
	if (self->failed && !self->answer->goes_on)
		return;
	assert_int_equal(self->line, N_LINES);
	for (i = 0; i < N_WORDS; i++)
		assert_int_equal(self->lost[i], self->failed_with[i]);
}

static void end(struct pipeline *self)
{
	assert_true(weir_completion_done(weir_system_terminated(self->system)));
	assert_int_equal(weir_system_free(self->system), 0);
	check(self);
}

/* --- On the simulator ----------------------------------------------------- */

static struct pipeline pipeline;

static void begin(const struct answer *answer, int stage, uint32_t at_call)
{
	memset(&pipeline, 0, sizeof(pipeline));
	pipeline.answer = answer;
	pipeline.stage = stage;
	pipeline.at_call = at_call;
}

/* False: there is no such call. */
static bool simulate(uint64_t seed, const struct answer *answer, int stage,
		     uint32_t at_call)
{
	struct weir_sim *sim;

	assert_int_equal(weir_sim_new(&sim, seed, NULL), 0);
	begin(answer, stage, at_call);
	start(&pipeline, weir_sim_executor(sim));
	weir_sim_run(sim);
	/* it has ended by itself */
	assert_int_equal(pipeline.released, N_STAGES);
	weir_system_stop(pipeline.system);
	weir_sim_run(sim);
	end(&pipeline);
	assert_int_equal(weir_sim_free(sim), 0);
	return pipeline.failed;
}

static void crash_everywhere(void **state)
{
	uint32_t at_call;
	int stage;

	for_each_seed(seed, test_count(test_soak() ? 2000 : 100))
		for (stage = 0; stage < N_STAGES; stage++) {
			at_call = 1;
			while (simulate(seed, *state, stage, at_call))
				at_call++;
			/* the pages are small: there are some */
			assert_true(at_call > 6);
		}
}

/* --- On a pool ------------------------------------------------------------ */

static void crash_on_workers(void **state)
{
	struct weir_threads_options options = {.workers = 2};
	uint64_t i, n = test_count(test_soak() ? 20000 : 400);
	struct weir_threads *threads;

	assert_int_equal(weir_threads_new(&threads, &options), 0);
	for (i = 0; i < n; i++) {
		begin(*state, (int)(i % N_STAGES), 1 + (uint32_t)(i / 4 % 9));
		start(&pipeline, weir_threads_executor(threads));
		while (ck_pr_load_32(&pipeline.released) < N_STAGES)
			sched_yield();
		ck_pr_fence_acquire(); /* partner: stage_released() */
		weir_system_stop(pipeline.system);
		assert_int_equal(weir_completion_wait(weir_system_terminated(
							      pipeline.system),
						      WEIR_FOREVER),
				 0);
		end(&pipeline);
	}
	while (weir_threads_free(threads) != 0)
		sched_yield();
}

static int tell(void **state)
{
	if (pipeline.system)
		print_message("stage %d, call %u\n", pipeline.stage,
			      pipeline.at_call);
	pipeline.system = NULL;
	return 0;
}

/* So that nobody adds words while others look. */
static int learn_words(void **state)
{
	uint32_t counts[N_WORDS] = {0};
	size_t i;

	for (i = 0; i < N_LINES; i++)
		add_words(counts, text[i], strlen(text[i]));
	return 0;
}

#define CRASH(name, how, ...) \
	{ \
#name, how, NULL, tell, &(struct answer) \
		{ \
			__VA_ARGS__ \
		} \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CRASH(b2_1_a_resumed_pipeline_loses_the_failed_page,
		      crash_everywhere, WEIR_DIRECTIVE_RESUME, .goes_on = true),
		CRASH(b4_a_restarted_pipeline_loses_the_failed_page,
		      crash_everywhere, WEIR_DIRECTIVE_RESTART,
		      .goes_on = true),
		CRASH(b5_a_stopped_pipeline_ends, crash_everywhere,
		      WEIR_DIRECTIVE_STOP),
		CRASH(b2_4_an_escalation_that_is_resumed_loses_the_failed_page,
		      crash_everywhere, WEIR_DIRECTIVE_ESCALATE,
		      WEIR_DIRECTIVE_RESUME, .goes_on = true),
		CRASH(b2_4_an_escalation_that_restarts_loses_the_failed_page,
		      crash_everywhere, WEIR_DIRECTIVE_ESCALATE,
		      WEIR_DIRECTIVE_RESTART, .goes_on = true),
		CRASH(b2_4_an_escalation_that_stops_ends_the_pipeline,
		      crash_everywhere, WEIR_DIRECTIVE_ESCALATE,
		      WEIR_DIRECTIVE_STOP),
		CRASH(b10_2_an_escalation_to_the_root_ends_the_system,
		      crash_everywhere, WEIR_DIRECTIVE_ESCALATE,
		      WEIR_DIRECTIVE_ESCALATE),
		CRASH(b2_1_on_workers_it_is_resumed, crash_on_workers,
		      WEIR_DIRECTIVE_RESUME, .goes_on = true),
		CRASH(b4_on_workers_it_is_restarted, crash_on_workers,
		      WEIR_DIRECTIVE_RESTART, .goes_on = true),
		CRASH(b5_on_workers_it_is_stopped, crash_on_workers,
		      WEIR_DIRECTIVE_STOP),
		CRASH(b2_4_on_workers_it_is_escalated, crash_on_workers,
		      WEIR_DIRECTIVE_ESCALATE, WEIR_DIRECTIVE_RESTART,
		      .goes_on = true),
	};

	return cmocka_run_group_tests(tests, learn_words, NULL);
}
