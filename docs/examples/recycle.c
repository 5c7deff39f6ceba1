/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Four buffers for any number of items. The producer needs a permit for each,
 * of which there are four, and the consumer at the other end gives them back:
 * so the buffer that the producer fills next is always the one that has come
 * back. No allocation, no free list, no lock.
 */
#include <stdio.h>
#include <string.h>

#include <weir/weir.h>

#define BUFFERS 4
#define ITEMS 1000

struct pool {
	char buffers[BUFFERS][32];
	unsigned int next;
	unsigned int in_use, most, used;
};

static int fill(void **item, void *context)
{
	struct pool *pool = context;
	char *buffer = pool->buffers[pool->next % BUFFERS];

	if (pool->next == ITEMS)
		return 0;
	if (++pool->in_use > pool->most)
		pool->most = pool->in_use;
	snprintf(buffer, sizeof(pool->buffers[0]), "item %u", pool->next++);
	*item = buffer;
	return 1;
}

static int shout(void *item, struct weir_out *out, void *context)
{
	(void)context;
	*(char *)item = 'I';
	return weir_out_put(out, item);
}

static int use(void *item, void *context)
{
	struct pool *pool = context;
	char expected[32];

	snprintf(expected, sizeof(expected), "Item %u", pool->used++);
	if (strcmp(item, expected) != 0)
		return -1;
	pool->in_use--;
	return 0;
}

int main(void)
{
	struct pool pool = {.next = 0};
	struct weir_producer filler;
	struct weir_transformer shouter;
	struct weir_consumer user;
	struct weir_producer_options fills = {
		.produce = fill, .context = &pool, .permits = BUFFERS};
	struct weir_transformer_options shouts = {.transform = shout};
	struct weir_consumer_options uses = {
		.consume = use, .context = &pool, .permits = &filler.permits};
	struct weir_actor *chain[] = {&filler.actor, &shouter.actor,
				      &user.actor};
	struct weir_executor *executor;
	struct weir_loop *loop;

	if (weir_loop_new(&loop, NULL) < 0)
		return 1;
	executor = weir_loop_executor(loop);
	if (weir_producer_init(&filler, executor, &fills) < 0 ||
	    weir_transformer_init(&shouter, executor, &shouts) < 0 ||
	    weir_consumer_init(&user, executor, &uses) < 0 ||
	    weir_chain_start(chain, 3) < 0)
		return 1;
	while (weir_executor_alive(executor))
		weir_loop_wait(loop, 64, WEIR_FOREVER);
	printf("%u items in %u buffers\n", pool.used, pool.most);
	return weir_loop_free(loop) < 0;
}
