/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a pipeline ends. `parse` fails at the word that is no number. What it
 * has put before still arrives, the error comes behind it, the stage before is
 * cancelled, and words that nobody will take any more are dropped: each item
 * is delivered or dropped, once.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/weir.h>

struct program {
	struct weir_producer make;
	struct weir_transformer parse;
	struct weir_consumer print;
	struct weir_items words;
	struct weir_error *error; /* what the chain has failed with */
	size_t made, parsed, dropped;
};

static int make(void **item, void *context)
{
	static const char *const text[] = {"1", "2", "three", "4", "5"};
	struct program *self = context;

	if (self->made == sizeof(text) / sizeof(text[0]))
		return 0;
	*item = strdup(text[self->made]);
	if (!*item)
		return -ENOMEM;
	self->made++;
	return 1;
}

static void drop(void *item, void *context)
{
	((struct program *)context)->dropped++;
	free(item);
}

/* With words of its own: a negative errno alone has those of strerror(). */
static int no_number(struct program *self, const char *word)
{
	weir_actor_fail(&self->parse.actor,
			weir_error_format(-EINVAL, "parse",
					  "\"%s\" is no number", word));
	return -EINVAL;
}

/* The word is ours if this returns 0, else the library drops it. */
static int parse(void *item, struct weir_out *out, void *context)
{
	struct program *self = context;
	char *end, *word = item;
	unsigned long n = strtoul(word, &end, 10);
	int rc;

	if (*end)
		return no_number(self, word);
	rc = weir_out_put(out, (void *)(uintptr_t)n);
	if (rc < 0)
		return rc;
	self->parsed++;
	free(word);
	return 0;
}

static int print(void *item, void *context)
{
	(void)context;
	printf("%zu\n", (size_t)item);
	return 0;
}

/* Borrowed for the call: main looks at it later. */
static void print_done(struct weir_error *error, void *context)
{
	struct program *self = context;

	self->error = weir_error_ref(error);
}

static int start(struct program *self, struct weir_executor *executor)
{
	struct weir_producer_options makes = {
		.context = self, .produce = make, .makes = &self->words};
	struct weir_transformer_options parses = {
		.name = "parse", .context = self, .transform = parse};
	struct weir_consumer_options prints = {
		.context = self, .consume = print, .done = print_done};
	struct weir_actor *chain[] = {&self->make.actor, &self->parse.actor,
				      &self->print.actor};
	int rc = weir_producer_init(&self->make, executor, &makes);

	if (rc == 0)
		rc = weir_transformer_init(&self->parse, executor, &parses);
	if (rc == 0)
		rc = weir_consumer_init(&self->print, executor, &prints);
	return rc < 0 ? rc : weir_chain_start(chain, 3);
}

int main(void)
{
	struct program self = {.words = {.drop = drop, .context = &self}};
	struct weir_loop *loop;

	if (weir_loop_new(&loop, NULL) < 0 ||
	    start(&self, weir_loop_executor(loop)) < 0)
		return 1;
	while (weir_executor_alive(weir_loop_executor(loop)))
		weir_loop_wait(loop, 64, WEIR_FOREVER);
	if (self.error)
		printf("%s: %s\n", self.error->origin, self.error->message);
	weir_error_unref(self.error);
	printf("made and not accounted for: %zu\n",
	       self.made - self.parsed - self.dropped);
	return weir_loop_free(loop) < 0;
}
