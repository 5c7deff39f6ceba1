/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An operator of one's own with two inputs: an order goes out when it and its
 * payment have come, whichever comes first.
 */
#include <errno.h>
#include <stdio.h>
#include <weir/weir.h>

#define MOST 10

/* -EALREADY: it was asked; -EPIPE: it has ended. */
static int ask_both(struct weir_operator *op)
{
	(void)weir_operator_pull_input(op, 0);
	(void)weir_operator_pull_input(op, 1);
	return 0;
}

static int number_came(struct weir_operator *op, void *item)
{
	bool(*seen)[MOST] = weir_operator_state(op);
	size_t input = weir_operator_input(op);

	seen[input][(intptr_t)item] = true;
	if (seen[1 - input][(intptr_t)item])
		return weir_operator_push(op, item);
	return weir_operator_pull_input(op, input);
}

/* Without an on_end() it ends when both have. */
static const struct weir_operator_ops match = {
	.state_size = sizeof(bool[2][MOST]),
	.on_pull = ask_both,
	.on_push = number_came,
};

static int show(void *item, void *context)
{
	return fprintf(context, "%d\n", (int)(intptr_t)item) < 0 ? -EIO : 0;
}

int main(void)
{
	static void *orders[] = {(void *)3, (void *)1, (void *)4, (void *)2};
	static void *payments[] = {(void *)1, (void *)2, (void *)5, (void *)3};
	struct weir_flow *inputs[] = {weir_flow_array(orders, 4),
				      weir_flow_array(payments, 4)};
	struct weir_flow *flow;
	struct weir_loop *loop;
	int rc;

	if (weir_loop_new(&loop, NULL) < 0)
		return 1;
	flow = weir_flow_operator_inputs(inputs, 2, &match, NULL);
	flow = weir_flow_for_each(flow, show, stdout);
	rc = weir_flow_run(flow, weir_loop_executor(loop), NULL);
	weir_flow_free(flow);
	return weir_loop_free(loop) < 0 || rc < 0;
}
