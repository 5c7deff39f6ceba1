/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An operator of one's own with two outlets: even numbers go to one, odd ones
 * to the other. A number whose outlet is full is kept until it has room, and
 * nothing is asked for meanwhile; a number for an outlet that was cancelled is
 * left out.
 */
#include <errno.h>
#include <stdio.h>
#include <weir/weir.h>

struct kept {
	bool is_there, over;
	intptr_t number;
};

static int split(struct weir_operator *op)
{
	struct kept *kept = weir_operator_state(op);

	if (kept->is_there &&
	    weir_operator_push_outlet(op, (size_t)kept->number % 2,
				      (void *)kept->number) == -EAGAIN)
		return 0;
	kept->is_there = false;
	if (kept->over)
		return weir_operator_end(op, NULL);
	/* -EALREADY: another outlet has asked */
	(void)weir_operator_pull(op);
	return 0;
}

static int number_came(struct weir_operator *op, void *item)
{
	struct kept *kept = weir_operator_state(op);

	kept->is_there = true;
	kept->number = (intptr_t)item;
	return split(op);
}

static int no_more(struct weir_operator *op, struct weir_error *error)
{
	((struct kept *)weir_operator_state(op))->over = true;
	return error ? weir_operator_end(op, error) : split(op);
}

static const struct weir_operator_ops splitter = {
	.state_size = sizeof(struct kept),
	.on_pull = split,
	.on_push = number_came,
	.on_end = no_more,
};

static int add(void *item, void *context)
{
	*(intptr_t *)context += (intptr_t)item;
	return 0;
}

int main(void)
{
	struct weir_flow *flow = weir_flow_range(1, 1000), *outlets[2];
	intptr_t sums[2] = {0};
	struct weir_loop *loop;
	int i, rc;

	if (weir_loop_new(&loop, NULL) < 0)
		return 1;
	/* on an error the outlets say so when they run */
	(void)weir_flow_operator_outlets(&flow, 1, &splitter, NULL, 2, outlets,
					 NULL);
	for (i = 0; i < 2; i++)
		outlets[i] = weir_flow_for_each(outlets[i], add, &sums[i]);
	flow = weir_flow_all(outlets, 2);
	rc = weir_flow_run(flow, weir_loop_executor(loop), NULL);
	weir_flow_free(flow);
	printf("even: %d, odd: %d\n", (int)sums[0], (int)sums[1]);
	return weir_loop_free(loop) < 0 || rc < 0;
}
