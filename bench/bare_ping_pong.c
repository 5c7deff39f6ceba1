/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * W3 ping-pong on the bare scheduler: two actors that send one token to and
 * fro, so every turn costs a whole scheduling. With two workers, bare has an
 * actor on each and pays two crossings a round trip; bare.together leaves both
 * on the first, as a scheduler should that knows what a crossing costs.
 */
#include "bare.h"
#include "support.h"
#include "who.h"

struct player {
	struct bare_actor actor;
	uint64_t items;
	struct bench_result got;
};

static uint64_t ping(struct bare_actor *actor, uint64_t n)
{
	struct player *player = (struct player *)actor;

	for (uint64_t i = 0; i < n; i++) {
		uintptr_t x = (uintptr_t)lane_take(&actor->in.links->lane);

		/* the serve is the token 0, which has not been around */
		if (x > 0) {
			player->got.count += 2;
			player->got.sum += x;
			player->got.last = x;
		}
		if (player->got.count == player->items) {
			bare_done(actor);
			return i;
		}
		lane_put(&actor->out.links->lane, (void *)(x + 1));
	}
	return n;
}

static uint64_t pong(struct bare_actor *actor, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		uintptr_t x = (uintptr_t)lane_take(&actor->in.links->lane);

		lane_put(&actor->out.links->lane, (void *)(x + 1));
	}
	return n;
}

static int run(unsigned n_workers, unsigned home, uint64_t items,
	       struct bench_result *result)
{
	struct player *players = bench_alloc(2 * sizeof(*players));
	struct bare_link *links = bench_alloc(2 * sizeof(*links));
	struct bare_actor *actors[2] = {&players[0].actor, &players[1].actor};
	struct bare_scheduler scheduler;
	uint64_t elapsed_ns;

	bare_init(&scheduler, n_workers);
	players[0].items = items;
	bare_actor_init(actors[0], &scheduler.workers[0], ping);
	bare_actor_init(actors[1], &scheduler.workers[home], pong);
	bare_link(&links[0], &actors[0], 1, actors[1], 1);
	bare_link(&links[1], &actors[1], 1, actors[0], 1);
	/* the serve lies in the first player's port */
	lane_put(&links[1].lane, NULL);
	lane_publish_tail(&links[1].lane);
	elapsed_ns = bare_run(&scheduler, actors, 2);
	*result = players[0].got;
	result->elapsed_ns = elapsed_ns;
	bare_unlink(links, 2);
	bench_free(links);
	bench_free(players);
	return 0;
}

int bare_ping_pong(const struct bench_cell *cell, uint64_t items,
		   struct bench_result *result)
{
	return run(cell->workers, cell->workers - 1, items, result);
}

int bare_ping_pong_together(const struct bench_cell *cell, uint64_t items,
			    struct bench_result *result)
{
	return run(cell->workers, 0, items, result);
}
