/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scenarios about actors, ports and links, and the weakening over all of
 * them at once: a fence of the gate is met in each.
 */
#include "scene.h"

/* The smallest first: there most mutants die. */
static const struct scene_group *const all[] = {
	&registry, &starts, &firing, &stops, &ports, &ends, &links, NULL,
};

#define IN_READINESS \
	"judged in readiness.c; here the kernel's lock orders what it does"

static const struct explorer_exception exceptions[] = {
	{"readiness.h", "weir__ready_add", "ck_pr_fence_release", 0,
	 IN_READINESS},
	{"readiness.h", "weir__ready_add", "ck_pr_cas_32_value", 0,
	 IN_READINESS},
	{"readiness.h", "weir__ready_look", "ck_pr_and_32", 0, IN_READINESS},
	{"readiness.h", "weir__ready_look", "ck_pr_fence_acquire", 0,
	 IN_READINESS},
	{"ending.c", "weir__handle_signals", "ck_pr_fence_atomic", 0,
	 "without it the second exchange may come before the first: "
	 "load buffering, which is not modelled"},
	{"spsc.h", "weir__spsc_cancel", "ck_pr_or_32", 0,
	 "nobody else writes the state of a linked lane; atomic, as "
	 "the put lane's is"},
	{"mpsc.c", "weir__mpsc_read_head", "ck_pr_cas_32", 0,
	 "an older copy only makes the ring look full earlier; one of "
	 "2^31 tokens ago is out of reach here"},
	{"in.c", "weir__in_ended", "ck_pr_or_32", 0,
	 "the lane has ended: nobody else writes its state"},
	{"merge.c", "weir__merge_switch", "ck_pr_fence_release", 0,
	 "the slots of the old lane are only read, and the look's "
	 "acquire orders that as well"},
	{"actor.c", "actor_take", "ck_pr_fence_acquire", 0,
	 "nobody holds it here, streams.c has who does"},
	{"actor.c", "weir__actor_disclaim", "ck_pr_fence_release", 0,
	 "the registry's unlock comes before on each way here, and "
	 "orders that as well; streams.c has who needs it"},
	{"membarrier.h", "weir__fence_light", "ck_pr_fence_store_load", 0,
	 "nobody looks here; registry_shards.c has who does"},
	{"out.c", "weir__out_ring", "ck_pr_fence_release", 0,
	 "nobody looks here; inspect/why_stalls does"},
	{"registry.c", "weir__registry_await_look", "ck_pr_fence_acquire", 0,
	 "nobody looks here; inspect/snapshot_stress does"},
	/* These three pair with threads that hold no lock. */
	{"registry.c", "weir__registry_fence", "ck_pr_fence_store_load", 0,
	 "registry_shards.c has who needs it"},
	{"registry.c", "weir__registry_collect", "ck_pr_fence_acquire", 0,
	 "registry_shards.c has who needs it"},
	{"registry_done.c", "weir__registry_alive", "ck_pr_fence_acquire", 0,
	 "registry_shards.c has who needs it"},
};

const struct model_case model_cases[] = {
	{.name = "nothing_is_lost_and_every_fence_is_needed",
	 .groups = all,
	 .files = "lib/",
	 .doubts = true,
	 EXCEPTIONS(exceptions)},
	{.name = "passes_under_tso", .groups = all, .run = {.tso = true}},
};
const size_t n_model_cases = N_OF(model_cases);
