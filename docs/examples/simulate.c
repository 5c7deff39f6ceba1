/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A test of a pipeline that tries it in 1000 orders. On the simulator a seed
 * decides which actor runs next and for how long; what goes wrong with a seed
 * goes wrong with it every time.
 */
#include <stdio.h>

#include <weir/weir.h>

#define ITEMS 100
#define SEEDS 1000

struct test {
	struct weir_producer make;
	struct weir_consumer check;
	uintptr_t made, checked;
	int wrong;
};

static int make(void **item, void *context)
{
	*item = (void *)++((struct test *)context)->made;
	return ((struct test *)context)->made <= ITEMS;
}

/* In order, and never more under way than fit into the in-port. */
static int check(void *item, void *context)
{
	struct test *self = context;

	if ((uintptr_t)item != ++self->checked ||
	    self->made > self->checked + 4)
		self->wrong = 1;
	return 0;
}

static int run(uint64_t seed)
{
	struct test self = {.wrong = 0};
	struct weir_producer_options makes = {.produce = make,
					      .context = &self};
	struct weir_consumer_options checks = {
		.consume = check, .context = &self, .capacity = 4};
	struct weir_actor *chain[] = {&self.make.actor, &self.check.actor};
	struct weir_sim *sim;

	if (weir_sim_new(&sim, seed, NULL) < 0 ||
	    weir_producer_init(&self.make, weir_sim_executor(sim), &makes) <
		    0 ||
	    weir_consumer_init(&self.check, weir_sim_executor(sim), &checks) <
		    0 ||
	    weir_chain_start(chain, 2) < 0)
		return 1;
	weir_sim_run(sim);
	/* -EBUSY would mean that the pipeline has not ended. */
	if (weir_sim_free(sim) < 0 || self.checked != ITEMS)
		return 1;
	return self.wrong;
}

int main(void)
{
	uint64_t seed;

	for (seed = 0; seed < SEEDS; seed++) {
		if (run(seed)) {
			printf("wrong with seed %llu\n",
			       (unsigned long long)seed);
			return 1;
		}
	}
	printf("right with %d seeds\n", SEEDS);
	return 0;
}
