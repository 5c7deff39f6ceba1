/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of items, for the operators that make them and for their users. */
#include "flow/shared/list.h"

#include "base/memory.h"

void weir_flow_list_free(struct weir_flow_list *list)
{
	size_t i;

	if (!list)
		return;
	for (i = 0; list->kind && list->kind->drop && i < list->n; i++)
		list->kind->drop(list->items[i], list->kind->context);
	weir__free(list->allocator, list->items,
		   list->capacity * sizeof(*list->items));
	weir__free(list->allocator, list, sizeof(*list));
}

static void drop_list(void *list, void *context)
{
	weir_flow_list_free(list);
}

static const struct weir_items list_items = {
	.drop = drop_list,
	.name = "lists",
};

const struct weir_items *weir_flow_list_items(void)
{
	return &list_items;
}

const struct weir_items *weir__gives_lists(const struct weir_flow *flow)
{
	return &list_items;
}

struct weir_flow_list *weir__list_new(struct weir__op *op, size_t n)
{
	const struct weir_allocator *allocator = weir__op_allocator(op);
	struct weir_flow_list *list = weir__alloc(allocator, sizeof(*list));

	if (list && n)
		list->items = weir__alloc(allocator, n * sizeof(*list->items));
	if (!list || (n && !list->items)) {
		weir__free(allocator, list, sizeof(*list));
		return NULL;
	}
	list->allocator = allocator;
	list->kind = op->up[0]->items;
	list->capacity = n;
	return list;
}
