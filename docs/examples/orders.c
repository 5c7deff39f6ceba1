/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Orders and payments come by two ways. They are joined by their numbers,
 * whichever comes first, if no more than a second is between them; on the
 * simulator, whose clock is virtual.
 */
#include <stdio.h>
#include <weir/weir.h>

#define MS 1000000ull

struct order {
	int number;
	const char *what;
};

struct payment {
	int number, cents;
};

static int match(void *left, void *right, void **result, void *context)
{
	const struct order *order = left;
	const struct payment *payment = right;
	uint64_t now_ns = weir_executor_now(weir_sim_executor(context));

	if (order->number != payment->number)
		return 0;
	printf("%4d ms: %s for %d cents\n", (int)(now_ns / MS), order->what,
	       payment->cents);
	*result = left;
	return 1;
}

/* One each `every_ns`. */
static struct weir_flow *coming(void *const *items, size_t n, uint64_t every_ns)
{
	const struct weir_flow_rate rate = {
		.n = 1, .per_ns = every_ns, .burst = WEIR_FLOW_NO_BURST};

	return weir_flow_throttle(weir_flow_array(items, n), &rate);
}

int main(void)
{
	static struct order tea = {1, "tea"}, rice = {2, "rice"};
	static struct order soap = {3, "soap"}, bread = {4, "bread"};
	static struct payment first = {2, 250}, second = {4, 310};
	static struct payment third = {1, 420}, fourth = {3, 199};
	static void *orders[] = {&tea, &rice, &soap, &bread};
	static void *payments[] = {&first, &second, &third, &fourth};
	const struct weir_flow_join_options within = {.left_ns = 1000 * MS,
						      .right_ns = 1000 * MS,
						      .left_max = 100,
						      .right_max = 100};
	void *n_paid = NULL;
	struct weir_flow *flow;
	struct weir_sim *sim;
	int rc;

	if (weir_sim_new(&sim, 1, NULL) < 0)
		return 1;
	flow = weir_flow_join(coming(orders, 4, 300 * MS),
			      coming(payments, 4, 500 * MS), match, sim,
			      &within);
	flow = weir_flow_count(flow);
	rc = weir_flow_run(flow, weir_sim_executor(sim), &n_paid);
	weir_flow_free(flow);
	printf("%d of 4 are paid in time\n", (int)(intptr_t)n_paid);
	return weir_sim_free(sim) < 0 || rc < 0;
}
