/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work spread over three transformers and merged again, on a pool of threads:
 * an out-port that balances, an in-port that merges. What takes longer is
 * given less: an out-port hands a token to one that has room.
 *
 *	         ┌──> square ──┐
 *	count ───┼──> square ──┼──> add
 *	         └──> square ──┘
 */
#include <stdio.h>

#include <weir/weir.h>

#define WIDTH 3
#define LAST 1000

struct program {
	struct weir_producer count;
	struct weir_transformer square[WIDTH];
	struct weir_consumer add;
	uintptr_t n, sum;
	struct weir_completion ended;
};

static int count(void **item, void *context)
{
	*item = (void *)++((struct program *)context)->n;
	return ((struct program *)context)->n <= LAST;
}

static int square(void *item, struct weir_out *out, void *context)
{
	(void)context;
	return weir_out_put(out, (void *)((uintptr_t)item * (uintptr_t)item));
}

static int add(void *item, void *context)
{
	((struct program *)context)->sum += (uintptr_t)item;
	return 0;
}

static void add_done(struct weir_error *error, void *context)
{
	(void)error;
	weir_completion_complete(&((struct program *)context)->ended, NULL);
}

static int init(struct program *self, struct weir_executor *executor)
{
	struct weir_producer_options counts = {.produce = count,
					       .context = self};
	struct weir_transformer_options squares = {.transform = square,
						   .capacity = 16};
	struct weir_consumer_options adds = {
		.consume = add, .done = add_done, .context = self};
	int rc = weir_producer_init(&self->count, executor, &counts), i;

	for (i = 0; rc == 0 && i < WIDTH; i++)
		rc = weir_transformer_init(&self->square[i], executor,
					   &squares);
	if (rc == 0)
		rc = weir_consumer_init(&self->add, executor, &adds);
	return rc;
}

/* Links first: started actors are not ours any more. */
static int start(struct program *self)
{
	int rc, i;

	rc = weir_out_fan(&self->count.out, WEIR_FAN_BALANCE, 16);
	if (rc == 0)
		rc = weir_in_merge(&self->add.in, WEIR_MERGE_ALL);
	for (i = 0; rc == 0 && i < WIDTH; i++) {
		rc = weir_out_link(&self->count.out, &self->square[i].in);
		if (rc == 0)
			rc = weir_out_link(&self->square[i].out, &self->add.in);
	}
	if (rc == 0)
		rc = weir_actor_start(&self->add.actor);
	for (i = 0; rc == 0 && i < WIDTH; i++)
		rc = weir_actor_start(&self->square[i].actor);
	return rc < 0 ? rc : weir_actor_start(&self->count.actor);
}

struct ending {
	struct weir_ending drain;
	struct weir_completion over;
};

static void over(struct weir_ending *drain)
{
	struct ending *ending = weir_container_of(drain, struct ending, drain);

	weir_completion_complete(&ending->over, NULL);
}

/* Until no thread can touch an actor of the executor any more. */
static int wait_for_all(struct weir_executor *executor)
{
	struct ending ending = {.drain.done = over};
	int rc, ended;

	weir_completion_init(&ending.over);
	rc = weir_executor_end_async(executor, &ending.drain, WEIR_FOREVER);
	if (rc == 0)
		rc = weir_completion_wait(&ending.over, WEIR_FOREVER);
	ended = weir_completion_fini(&ending.over);
	return rc < 0 ? rc : ended;
}

int main(void)
{
	struct weir_threads *threads;
	struct program self = {.n = 0};

	weir_completion_init(&self.ended);
	if (weir_threads_new(&threads, NULL) < 0 ||
	    init(&self, weir_threads_executor(threads)) < 0 ||
	    start(&self) < 0 ||
	    weir_completion_wait(&self.ended, WEIR_FOREVER) < 0 ||
	    wait_for_all(weir_threads_executor(threads)) < 0)
		return 1;
	printf("%zu\n", (size_t)self.sum);
	return weir_completion_fini(&self.ended) < 0 ||
	       weir_threads_free(threads) < 0;
}
