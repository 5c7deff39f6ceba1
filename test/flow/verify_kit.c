/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/verify_kit.h"

int64_t first_number;
uint64_t pace_ns;

const struct weir_allocator *memory;

size_t rows_step(void)
{
	return test_count(30) == 1 ? 9 : 3 / test_count(3);
}

/* --- Functions, which may fail -------------------------------------------- */

struct calling calling;

int called(void)
{
	return ck_pr_faa_32(&calling.calls, 1) + 1 ==
			       ck_pr_load_32(&calling.fail_at)
		       ? -EDOM
		       : 0;
}

int called_and(void)
{
	int rc = called();

	return rc < 0 ? rc : 1;
}

int pass(void **item, void *context)
{
	return called();
}

int keep(void *item, void *context)
{
	return called_and();
}

struct weir_flow *paced(struct weir_flow *flow)
{
	const struct weir_flow_rate rate = {
		.n = pace_ns ? 1 : UINT32_MAX,
		.per_ns = pace_ns + 1,
	};

	return weir_flow_throttle(flow, &rate);
}

struct weir_flow *ahead(struct weir_flow *flow)
{
	return weir_flow_async(flow, 4, NULL);
}

void beside_start(struct beside *beside, struct weir_flow *flow,
		  struct weir_executor *executor)
{
	beside->flow = flow;
	assert_int_equal(weir_flow_start(flow, executor, NULL, &beside->run),
			 0);
}

void beside_let_go(struct beside *beside)
{
	weir_flow_run_stop(beside->run, NULL);
}

void beside_fini(struct beside *beside)
{
	if (beside->run)
		assert_int_equal(weir_flow_run_wait(beside->run, 0, NULL, NULL),
				 0);
	weir_flow_run_free(beside->run);
	weir_flow_free(beside->flow);
}

/* Of a number: a good. */
static int make_good(void **item, void *context)
{
	int rc = called();

	if (rc == 0)
		*item = goods_make(context, (int64_t)(intptr_t)*item);
	return rc;
}

struct weir_flow *to_goods(struct weir_flow *numbers,
			   const struct weir_items *items)
{
	return weir_flow_items(
		weir_flow_map(numbers, make_good, items->context), items);
}

int take_newest(void **result, void *item, void *context)
{
	int rc = called();

	if (rc == 0) {
		goods_drop(*result, context);
		*result = item;
	}
	return rc;
}

int zero_good(void **result, void *context)
{
	int rc = called();

	if (rc == 0)
		*result = goods_make(context, -1);
	return rc;
}
