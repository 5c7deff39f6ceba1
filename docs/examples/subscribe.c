/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <weir/weir.h>

static int count(void **item, void *context)
{
	*item = (void *)++*(uintptr_t *)context;
	return (uintptr_t)*item < 1000 ? 1 : WEIR_PRODUCE_LAST;
}

static int add(void *item, void *context)
{
	*(uintptr_t *)context += (uintptr_t)item;
	return 0;
}

int main(void)
{
	uintptr_t n = 0, sum = 0;
	struct weir_producer_options one = {.produce = count, .context = &n};
	struct weir_consumer_options two = {.consume = add, .context = &sum};
	struct weir_producer p;
	struct weir_consumer c;
	struct weir_reactive_out out; /* has a publisher */
	struct weir_reactive_in in;   /* has a subscriber */
	struct weir_loop *loop;

	if (weir_loop_new(&loop, NULL) < 0 ||
	    weir_producer_init(&p, weir_loop_executor(loop), &one) < 0 ||
	    weir_consumer_init(&c, weir_loop_executor(loop), &two) < 0 ||
	    weir_reactive_out_init(&out, &p.out, NULL) < 0 ||
	    weir_reactive_in_init(&in, &c.in, NULL) < 0 ||
	    weir_publisher_subscribe(&out.publisher, &in.subscriber) < 0 ||
	    weir_actor_start(&c.actor) < 0 || weir_actor_start(&p.actor) < 0)
		return 1;
	while (weir_executor_alive(weir_loop_executor(loop)))
		weir_loop_wait(loop, 64, WEIR_FOREVER);
	printf("%zu\n", (size_t)sum);
	return weir_loop_free(loop) < 0;
}
