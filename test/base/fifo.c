/* SPDX-License-Identifier: BSD-2-Clause */
/* Fifos against a plain array: all short histories of pushes, pops and
 * appends. */
#include "support.h"

#include "base/fifo.h"

enum { N_STEPS = 7, PUSH = 0, PUSH_FIRST, POP, APPEND };

/* A fifo and the nodes that should be in it, oldest first. */
struct both {
	struct weir__fifo fifo;
	struct weir__node *queued[2 * N_STEPS];
	size_t n;
};

struct world {
	struct both both;
	struct weir__node nodes[2 * N_STEPS];
	size_t n_used; /* of the nodes */
};

static struct weir__node *new_node(struct world *world)
{
	/* whatever the node was part of last */
	world->nodes[world->n_used].next = &world->nodes[0];
	return &world->nodes[world->n_used++];
}

static void insert(struct both *both, size_t at, struct weir__node *node)
{
	for (size_t i = both->n++; i > at; i--)
		both->queued[i] = both->queued[i - 1];
	both->queued[at] = node;
}

static void pop(struct both *both)
{
	struct weir__node *node = both->n > 0 ? both->queued[0] : NULL;

	assert_ptr_equal(weir__fifo_pop(&both->fifo), node);
	for (size_t i = 1; i < both->n; i++)
		both->queued[i - 1] = both->queued[i];
	both->n -= node ? 1 : 0;
}

/* Of a list of `n` nodes, which is empty then. */
static void append(struct world *world, size_t n)
{
	struct weir__fifo from = {0};

	for (; n > 0; n--) {
		struct weir__node *node = new_node(world);

		weir__fifo_push(&from, node);
		insert(&world->both, world->both.n, node);
	}
	weir__fifo_append(&world->both.fifo, &from);
	assert_null(weir__fifo_pop(&from));
}

static void act(struct world *world, int deed)
{
	struct both *both = &world->both;
	struct weir__node *node;

	if (deed == POP) {
		pop(both);
	} else if (deed >= APPEND) {
		append(world, (size_t)(deed - APPEND));
	} else {
		node = new_node(world);
		insert(both, deed == PUSH ? both->n : 0, node);
		if (deed == PUSH)
			weir__fifo_push(&both->fifo, node);
		else
			weir__fifo_push_first(&both->fifo, node);
	}
}

static void nodes_come_in_order_whatever_was_done_before(void **state)
{
	const int n_deeds = APPEND + 3;
	int n_histories = 1;

	for (int i = 0; i < N_STEPS; i++)
		n_histories *= n_deeds;
	for (int history = 0; history < n_histories; history++) {
		struct world world = {0};

		for (int i = 0, left = history; i < N_STEPS;
		     i++, left /= n_deeds)
			act(&world, left % n_deeds);
		while (world.both.n > 0)
			pop(&world.both);
		pop(&world.both);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_come_in_order_whatever_was_done_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
