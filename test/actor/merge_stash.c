/* SPDX-License-Identifier: BSD-2-Clause */
/* Tokens that an actor puts aside, and back in front of the others. */
#include "kit/world.h"

#include <weir/any.h>

#define ITEMS 64

/* What its turn does with an item. */
enum act { TAKES, STASHES, OPENS };

struct keeper {
	struct weir_actor actor;
	struct weir_in in;
	struct ledger *ledger;
	enum act acts[ITEMS + 1];	  /* with item i, when it comes first */
	size_t taken[4 * ITEMS], n_taken; /* what came, in this order */
	int rc;				  /* of the last stash or unstash */
	uint32_t ended, released;
	bool peeks;
};

static struct keeper *keeper_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct keeper, actor);
}

static inline int keep(struct weir_actor *actor)
{
	struct keeper *self = keeper_of(actor);
	void *token = self->peeks ? weir_in_peek(&self->in)
				  : weir_in_take(&self->in);
	size_t item = (uintptr_t)token;
	enum act act = self->acts[item];

	self->taken[self->n_taken++] = item;
	self->acts[item] = TAKES;
	if (act == OPENS)
		self->rc = weir_in_unstash_all(&self->in);
	if (self->peeks)
		weir_in_consume(&self->in);
	if (act == STASHES) {
		self->rc = weir_in_stash(&self->in, token);
		if (self->rc == 0)
			return 0;
	}
	ledger_deliver(self->ledger, token);
	return 0;
}

WEIR_TURN(keep)

static int unstash(struct weir_actor *actor)
{
	struct keeper *self = keeper_of(actor);

	self->rc = weir_in_unstash_all(&self->in);
	return 0;
}

static int keeper_ended(struct weir_actor *actor, struct weir_in *in,
			struct weir_error *error)
{
	struct keeper *self = keeper_of(actor);

	self->ended++;
	assert_int_equal(weir_in_stash(in, NULL), -EPIPE);
	assert_int_equal(weir_in_unstash_all(in), -EPIPE);
	return weir_actor_end(actor);
}

static void keeper_released(struct weir_actor *actor)
{
	keeper_of(actor)->released++;
}

static const struct weir_actor_ops keeper_ops = {.turns = keep_n,
						 .signalled = unstash,
						 .ended = keeper_ended,
						 .released = keeper_released};

struct fixture {
	struct world world;
	struct keeper keeper;
	size_t n_put;
};

static void keeper_init(struct fixture *f, size_t capacity)
{
	struct keeper *self = &f->keeper;

	*self = (struct keeper){.ledger = &f->world.ledger};
	assert_int_equal(weir_actor_init(&self->actor, &keeper_ops,
					 f->world.executor),
			 0);
	assert_int_equal(weir_in_init(&self->in, &self->actor, capacity,
				      &f->world.ledger.items),
			 0);
}

static void fixture_init(struct fixture *f, uint64_t seed, size_t capacity)
{
	*f = (struct fixture){.n_put = 0};
	world_init(&f->world, seed, ITEMS);
	keeper_init(f, capacity);
	assert_int_equal(weir_in_stash_init(&f->keeper.in), 0);
}

static void start(struct fixture *f)
{
	weir_actor_ref(&f->keeper.actor);
	assert_int_equal(weir_actor_start(&f->keeper.actor), 0);
}

static void put(struct fixture *f, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		assert_int_equal(
			weir_in_put(&f->keeper.in,
				    ledger_make(&f->world.ledger, ++f->n_put)),
			0);
}

static void fixture_fini(struct fixture *f)
{
	weir_actor_stop(&f->keeper.actor);
	world_settle(&f->world);
	weir_actor_unref(&f->keeper.actor);
	assert_int_equal(f->keeper.released, 1);
	world_fini(&f->world);
}

static void assert_taken(const struct fixture *f, const char *expected)
{
	char text[16 * ITEMS] = "";
	size_t i, at = 0;

	for (i = 0; i < f->keeper.n_taken; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%zu",
				       i ? " " : "", f->keeper.taken[i]);
	assert_string_equal(text, expected);
}

static void acts(struct fixture *f, size_t first, size_t last, enum act act)
{
	for (; first <= last; first++)
		f->keeper.acts[first] = act;
}

static void what_was_put_aside_comes_first_and_in_order(void **state)
{
	for_each_seed(seed, test_count(100)) {
		struct fixture f;

		fixture_init(&f, seed, 8);
		acts(&f, 1, 3, STASHES);
		acts(&f, 5, 5, OPENS);
		put(&f, 8);
		start(&f);
		world_settle(&f.world);
		assert_taken(&f, "1 2 3 4 5 1 2 3 6 7 8");
		assert_int_equal(ledger_delivered(&f.world.ledger), 8);
		fixture_fini(&f);
	}
}

static void what_is_put_aside_again_keeps_its_order(void **state)
{
	for_each_seed(seed, test_count(100)) {
		struct fixture f;

		fixture_init(&f, seed, 8);
		acts(&f, 1, 3, STASHES);
		acts(&f, 4, 4, OPENS);
		put(&f, 5);
		start(&f);
		/* 1 is put aside again, and 2 puts it back before 3 */
		while (f.keeper.n_taken < 4)
			assert_true(weir_sim_step(f.world.sim));
		if (f.keeper.n_taken == 4) {
			acts(&f, 1, 1, STASHES);
			acts(&f, 2, 2, OPENS);
			world_settle(&f.world);
			assert_taken(&f, "1 2 3 4 1 2 1 3 5");
		}
		world_settle(&f.world);
		assert_int_equal(ledger_delivered(&f.world.ledger), 5);
		fixture_fini(&f);
	}
}

static void a_handler_puts_back(void **state)
{
	for_each_seed(seed, test_count(100)) {
		struct fixture f;

		fixture_init(&f, seed, 4);
		acts(&f, 1, 3, STASHES);
		put(&f, 3);
		start(&f);
		world_settle(&f.world);
		assert_taken(&f, "1 2 3");
		weir_actor_signal(&f.keeper.actor);
		world_settle(&f.world);
		assert_taken(&f, "1 2 3 1 2 3");
		fixture_fini(&f);
	}
}

static void more_than_the_capacity_is_not_put_aside(void **state)
{
	size_t capacity;

	for (capacity = 1; capacity <= 4; capacity *= 2) {
		struct fixture f;
		size_t i;

		fixture_init(&f, 1, capacity);
		acts(&f, 1, ITEMS, STASHES);
		start(&f);
		for (i = 0; i < capacity; i++) {
			put(&f, 1);
			world_settle(&f.world);
			assert_int_equal(f.keeper.rc, 0);
		}
		put(&f, 1);
		world_settle(&f.world);
		assert_int_equal(f.keeper.rc, -EOVERFLOW);
		assert_int_equal(ledger_delivered(&f.world.ledger), 1);
		/* those that were put back and not taken count, too */
		weir_actor_suspend(&f.keeper.actor);
		weir_actor_signal(&f.keeper.actor);
		world_settle(&f.world);
		acts(&f, 1, 1, STASHES);
		weir_actor_resume(&f.keeper.actor);
		world_settle(&f.world);
		assert_int_equal(f.keeper.rc, 0);
		put(&f, 1);
		world_settle(&f.world);
		assert_int_equal(f.keeper.rc, capacity == 1 ? -EOVERFLOW : 0);
		fixture_fini(&f);
	}
}

static void a_token_that_was_peeked_at_is_the_one_that_is_taken(void **state)
{
	struct fixture f;

	fixture_init(&f, 1, 8);
	f.keeper.peeks = true;
	acts(&f, 1, 2, STASHES);
	acts(&f, 3, 3, OPENS);
	put(&f, 4);
	start(&f);
	world_settle(&f.world);
	assert_taken(&f, "1 2 3 1 2 4");
	assert_int_equal(ledger_delivered(&f.world.ledger), 4);
	fixture_fini(&f);
}

static void the_end_comes_behind_what_is_aside(void **state)
{
	for_each_seed(seed, test_count(100)) {
		struct fixture f;

		fixture_init(&f, seed, 4);
		acts(&f, 1, 2, STASHES);
		put(&f, 3);
		start(&f);
		assert_int_equal(weir_in_end(&f.keeper.in, NULL), 0);
		world_settle(&f.world);
		assert_int_equal(f.keeper.ended, 0);
		acts(&f, 2, 2, STASHES);
		weir_actor_signal(&f.keeper.actor);
		world_settle(&f.world);
		assert_int_equal(f.keeper.ended, 0);
		weir_actor_signal(&f.keeper.actor);
		world_settle(&f.world);
		assert_taken(&f, "1 2 3 1 2 2");
		assert_int_equal(f.keeper.ended, 1);
		assert_int_equal(f.keeper.released, 0);
		fixture_fini(&f);
	}
}

static void an_end_of_an_empty_stash_is_the_end(void **state)
{
	struct fixture f;

	fixture_init(&f, 1, 4);
	put(&f, 3);
	start(&f);
	assert_int_equal(weir_in_end(&f.keeper.in, NULL), 0);
	world_settle(&f.world);
	assert_int_equal(f.keeper.ended, 1);
	fixture_fini(&f);
}

static void what_is_aside_is_dropped_with_its_actor(void **state)
{
	struct fixture f;

	fixture_init(&f, 1, 4);
	acts(&f, 1, 3, STASHES);
	put(&f, 4);
	start(&f);
	world_settle(&f.world);
	weir_actor_stop(&f.keeper.actor);
	world_settle(&f.world);
	assert_int_equal(ledger_dropped(&f.world.ledger), 3);
	fixture_fini(&f);
}

static void what_is_aside_is_dropped_with_its_port(void **state)
{
	struct fixture f;

	fixture_init(&f, 1, 4);
	/* the owner, before the start */
	put(&f, 1);
	assert_int_equal(weir_in_stash(&f.keeper.in,
				       ledger_make(&f.world.ledger, 2)),
			 0);
	assert_int_equal(weir_in_cancel(&f.keeper.in), 0);
	assert_int_equal(ledger_dropped(&f.world.ledger), 2);
	assert_int_equal(weir_in_stash(&f.keeper.in, NULL), -EPIPE);
	weir_actor_ref(&f.keeper.actor);
	fixture_fini(&f);
}

/* --- Links ---------------------------------------------------------------- */

static void links(uint64_t seed, enum weir_merge rule)
{
	struct source sources[2];
	struct fixture f;
	size_t i;

	f = (struct fixture){.n_put = 0};
	world_init(&f.world, seed, ITEMS);
	keeper_init(&f, 4);
	assert_int_equal(weir_in_merge(&f.keeper.in, rule), 0);
	assert_int_equal(weir_in_stash_init(&f.keeper.in), 0);
	acts(&f, 1, 2, STASHES);
	acts(&f, 3, 3, OPENS);
	acts(&f, 11, 12, STASHES);
	acts(&f, 13, 13, OPENS);
	acts(&f, 20, 20, STASHES);
	acts(&f, 10, 10, STASHES);
	for (i = 0; i < 2; i++) {
		source_init(&sources[i], f.world.executor, &f.world.ledger,
			    i * 10 + 1, i * 10 + 10);
		assert_int_equal(weir_out_link(&sources[i].out, &f.keeper.in),
				 0);
	}
	start(&f);
	for (i = 0; i < 2; i++)
		assert_int_equal(weir_actor_start(&sources[i].actor), 0);
	world_settle(&f.world);
	if (rule != WEIR_MERGE_FIRST) {
		assert_in_range(ledger_delivered(&f.world.ledger), 18, 19);
		assert_int_equal(f.keeper.ended, 0);
	}
	if (rule == WEIR_MERGE_OPEN)
		assert_int_equal(weir_in_end(&f.keeper.in, NULL), 0);
	weir_actor_signal(&f.keeper.actor);
	world_settle(&f.world);
	assert_int_equal(f.keeper.ended, 1);
	if (rule != WEIR_MERGE_FIRST)
		assert_int_equal(ledger_delivered(&f.world.ledger), 20);
	fixture_fini(&f);
}

static void what_came_over_links_is_put_aside(void **state)
{
	for_each_seed(seed, test_count(100)) {
		links(seed, WEIR_MERGE_ALL);
		links(seed, WEIR_MERGE_FIRST);
		links(seed, WEIR_MERGE_OPEN);
	}
}

/* --- What is refused ------------------------------------------------------ */

static void what_cannot_be_is_refused(void **state)
{
	struct fixture f;
	struct weir_in *in = &f.keeper.in;

	f = (struct fixture){.n_put = 0};
	world_init(&f.world, 1, ITEMS);
	keeper_init(&f, 2);
	assert_int_equal(weir_in_stash_init(NULL), -EINVAL);
	assert_int_equal(weir_in_stash(NULL, NULL), -EINVAL);
	assert_int_equal(weir_in_unstash_all(NULL), -EINVAL);
	assert_int_equal(weir_in_stash(in, NULL), -ENOTSUP);
	assert_int_equal(weir_in_unstash_all(in), -ENOTSUP);
	assert_int_equal(weir_port_set_burst(&in->port, 2), 0);
	assert_int_equal(weir_in_stash_init(in), -EINVAL);
	assert_int_equal(weir_port_set_burst(&in->port, 1), 0);
	assert_int_equal(weir_in_stash_init(in), 0);
	assert_int_equal(weir_in_stash_init(in), -EBUSY);
	assert_int_equal(weir_port_set_burst(&in->port, 2), -EINVAL);
	assert_int_equal(weir_in_merge(in, WEIR_MERGE_ALL), -EBUSY);
	start(&f);
	world_settle(&f.world);
	assert_int_equal(weir_in_stash_init(in), -EPERM);
	assert_int_equal(weir_in_stash(in, NULL), -EPERM);
	assert_int_equal(weir_in_unstash_all(in), -EPERM);
	fixture_fini(&f);
}

static void one_that_was_put_to_gets_no_stash(void **state)
{
	struct fixture f = {.n_put = 0};

	world_init(&f.world, 1, ITEMS);
	keeper_init(&f, 2);
	put(&f, 1);
	assert_int_equal(weir_in_stash_init(&f.keeper.in), -EBUSY);
	weir_actor_ref(&f.keeper.actor);
	fixture_fini(&f);
}

static void without_memory_nothing_has_changed(void **state)
{
	struct fixture f = {.n_put = 0};
	size_t i, live;

	world_init(&f.world, 1, ITEMS);
	keeper_init(&f, 2);
	live = f.world.heap.live;
	/* its struct, its ring, and what merges */
	for (i = 1; i <= 3; i++) {
		f.world.heap.fail = f.world.heap.calls + i;
		assert_int_equal(weir_in_stash_init(&f.keeper.in), -ENOMEM);
		assert_int_equal(f.world.heap.live, live);
		assert_int_equal(weir_in_stash(&f.keeper.in, NULL), -ENOTSUP);
	}
	f.world.heap.fail = 0;
	assert_int_equal(weir_in_stash_init(&f.keeper.in), 0);
	weir_actor_ref(&f.keeper.actor);
	fixture_fini(&f);
}

/* --- As a list would do it ------------------------------------------------ */

/* What its turns should find, and what they do with it, drawn from a seed. */
struct drawn {
	struct keeper keeper; /* first */
	uint64_t random;
	size_t ready[ITEMS], n_ready; /* put back */
	size_t aside[ITEMS], n_aside;
	size_t next; /* the next one that is put */
	size_t capacity;
};

static uint64_t draw(struct drawn *self, uint64_t below)
{
	self->random = self->random * 6364136223846793005u +
		       1442695040888963407u;
	return (self->random >> 33) % below;
}

static void model_unstash(struct drawn *self)
{
	memmove(self->ready + self->n_aside, self->ready,
		self->n_ready * sizeof(size_t));
	memcpy(self->ready, self->aside, self->n_aside * sizeof(size_t));
	self->n_ready += self->n_aside;
	self->n_aside = 0;
}

static size_t model_next(struct drawn *self)
{
	size_t item;

	if (!self->n_ready)
		return ++self->next;
	item = self->ready[0];
	memmove(self->ready, self->ready + 1, --self->n_ready * sizeof(size_t));
	return item;
}

static inline int draw_turn(struct weir_actor *actor)
{
	struct drawn *self =
		weir_container_of(actor, struct drawn, keeper.actor);
	struct weir_in *in = &self->keeper.in;
	void *item = weir_in_take(in);
	int rc;

	assert_int_equal((uintptr_t)item, model_next(self));
	if (draw(self, 3)) {
		rc = weir_in_stash(in, item);
		assert_int_equal(rc,
				 self->n_ready + self->n_aside < self->capacity
					 ? 0
					 : -EOVERFLOW);
		if (rc == 0)
			self->aside[self->n_aside++] = (uintptr_t)item;
		else
			ledger_deliver(self->keeper.ledger, item);
	} else {
		ledger_deliver(self->keeper.ledger, item);
	}
	if (!draw(self, 4)) {
		assert_int_equal(weir_in_unstash_all(in), 0);
		model_unstash(self);
	}
	return 0;
}

WEIR_TURN(draw_turn)

static int draw_signalled(struct weir_actor *actor)
{
	struct drawn *self =
		weir_container_of(actor, struct drawn, keeper.actor);

	model_unstash(self);
	return weir_in_unstash_all(&self->keeper.in);
}

static const struct weir_actor_ops drawn_ops = {.turns = draw_turn_n,
						.signalled = draw_signalled,
						.released = keeper_released};

static void it_does_what_a_list_would_do(void **state)
{
	for_each_seed(seed, test_count(2000)) {
		size_t capacity = (size_t)1 << seed % 5, n_put = 0;
		struct drawn self = {.random = seed, .capacity = capacity};
		struct world world;

		world_init(&world, seed, ITEMS);
		self.keeper.ledger = &world.ledger;
		assert_int_equal(weir_actor_init(&self.keeper.actor, &drawn_ops,
						 world.executor),
				 0);
		assert_int_equal(weir_in_init(&self.keeper.in,
					      &self.keeper.actor, capacity,
					      &world.ledger.items),
				 0);
		assert_int_equal(weir_in_stash_init(&self.keeper.in), 0);
		weir_actor_ref(&self.keeper.actor);
		assert_int_equal(weir_actor_start(&self.keeper.actor), 0);
		while (n_put < ITEMS) {
			void *item = (void *)(n_put + 1);

			if (weir_in_put(&self.keeper.in, item) == 0)
				ledger_make(&world.ledger, ++n_put);
			else
				world_settle(&world);
			if (n_put % 7 == 0)
				weir_actor_signal(&self.keeper.actor);
			if (seed % 3 == 0)
				(void)weir_sim_step(world.sim);
		}
		world_settle(&world);
		assert_int_equal(self.n_ready, 0);
		weir_actor_stop(&self.keeper.actor);
		world_settle(&world);
		assert_int_equal(ledger_dropped(&world.ledger), self.n_aside);
		weir_actor_unref(&self.keeper.actor);
		world_fini(&world);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_put_aside_comes_first_and_in_order),
		cmocka_unit_test(what_is_put_aside_again_keeps_its_order),
		cmocka_unit_test(a_handler_puts_back),
		cmocka_unit_test(more_than_the_capacity_is_not_put_aside),
		cmocka_unit_test(
			a_token_that_was_peeked_at_is_the_one_that_is_taken),
		cmocka_unit_test(the_end_comes_behind_what_is_aside),
		cmocka_unit_test(an_end_of_an_empty_stash_is_the_end),
		cmocka_unit_test(what_is_aside_is_dropped_with_its_actor),
		cmocka_unit_test(what_is_aside_is_dropped_with_its_port),
		cmocka_unit_test(what_came_over_links_is_put_aside),
		cmocka_unit_test(what_cannot_be_is_refused),
		cmocka_unit_test(one_that_was_put_to_gets_no_stash),
		cmocka_unit_test(without_memory_nothing_has_changed),
		cmocka_unit_test(it_does_what_a_list_would_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
