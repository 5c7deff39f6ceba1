/* SPDX-License-Identifier: BSD-2-Clause */
/* The actors of a system, and the checks, of supervision_kit.h. */
#include "supervision_kit.h"

#include <errno.h>

#include "actor/check.h"
#include "actor/gate.h"
#include "supervision/branch.h"

struct family family;

/* --- Strategies ----------------------------------------------------------- */

static const struct weir_rule resume_rule = {
	.directive = WEIR_DIRECTIVE_RESUME};
static const struct weir_rule restart_rule = {
	.directive = WEIR_DIRECTIVE_RESTART};
static const struct weir_rule stop_rule = {.directive = WEIR_DIRECTIVE_STOP};
static const struct weir_rule escalate_rule = {
	.directive = WEIR_DIRECTIVE_ESCALATE};
static const struct weir_backoff backoff = {.min_ns = 1, .max_ns = 1};

#define ALWAYS(rule) .rules = &(rule), .n_rules = 1

const struct weir_strategy resuming = {ALWAYS(resume_rule)};
const struct weir_strategy restarting = {ALWAYS(restart_rule)};
const struct weir_strategy escalating = {ALWAYS(escalate_rule)};
const struct weir_strategy stopping_all = {ALWAYS(stop_rule),
					   .scope = WEIR_SCOPE_ALL_FOR_ONE};
const struct weir_strategy restarting_all = {ALWAYS(restart_rule),
					     .scope = WEIR_SCOPE_ALL_FOR_ONE};
const struct weir_strategy in_order = {
	ALWAYS(restart_rule), .scope = WEIR_SCOPE_ALL_FOR_ONE, .ordered = true};
const struct weir_strategy waiting = {ALWAYS(restart_rule),
				      .backoff = &backoff};

/* --- Hooks ---------------------------------------------------------------- */

static struct node *node_of(const struct weir_actor *actor)
{
	return weir_container_of((struct weir_actor *)actor, struct node,
				 actor);
}

static struct family *family_of(const struct node *node)
{
	return weir_container_of(node->scene, struct family, scene);
}

static struct life *life_of(const struct weir_actor *actor)
{
	const struct node *node = node_of(actor);

	return &family_of(node)->lives[node->index];
}

static void life_begins(struct life *life)
{
	explorer_assert(!life->up);
	life->up = true;
}

static void life_ends(struct life *life)
{
	explorer_assert(life->up);
	life->up = false;
}

static int pre_start(struct weir_actor *actor)
{
	struct life *life = life_of(actor);

	life->pre_start++;
	life_begins(life);
	return 0;
}

/* It is there if the restart is for the actor's own failure. */
static void save_failed(struct node *node)
{
	uint32_t hooks = family_of(node)->hooks[node->index];
	void *token;

	if (hooks & RETRIES)
		(void)weir_in_retry_failed(&node->in[0]);
	if ((hooks & STASHES) && !weir_in_take_failed(&node->in[0], &token))
		explorer_assert(weir_in_stash(&node->in[0], token) == 0);
}

static int pre_restart(struct weir_actor *actor, struct weir_error *cause)
{
	struct life *life = life_of(actor);

	explorer_assert(cause);
	life->pre_restart++;
	life_ends(life);
	save_failed(node_of(actor));
	return 0;
}

static int reset(struct weir_actor *actor)
{
	struct life *life = life_of(actor);

	explorer_assert(!life->up);
	life->reset++;
	return 0;
}

static int post_restart(struct weir_actor *actor, struct weir_error *cause)
{
	struct life *life = life_of(actor);

	explorer_assert(cause);
	life->post_restart++;
	life_begins(life);
	return 0;
}

static int asked_to_stop(struct weir_actor *actor)
{
	life_of(actor)->stopping++;
	return 1;
}

static int post_stop(struct weir_actor *actor, struct weir_error *error)
{
	struct life *life = life_of(actor);

	life->post_stop++;
	life_ends(life);
	return 0;
}

static int terminated(struct weir_actor *actor,
		      const struct weir_terminated *notice)
{
	struct life *life = life_of(actor);

	explorer_assert(life->up);
	explorer_assert(weir_actor_id_equal(
		notice->who,
		family_of(node_of(actor))
			->refs[family_of(node_of(actor))->watched]));
	life->terminated++;
	return 0;
}

static int child_ended(struct weir_actor *actor,
		       const struct weir_terminated *notice)
{
	struct life *life = life_of(actor);

	explorer_assert(life->up);
	life->child_ended++;
	return 0;
}

/* --- Actors --------------------------------------------------------------- */

static struct weir_actor_ops ops[SCENE_ACTORS];
static struct weir_lifecycle hooks_of[SCENE_ACTORS];
static int (*scene_signalled)(struct weir_actor *actor);

static int signalled(struct weir_actor *actor)
{
	struct node *node = node_of(actor);

	explorer_assert(life_of(actor)->up);
	if (family_of(node)->hooks[node->index] & SIGNALLED_FINISHES)
		return weir_actor_end(actor);
	return scene_signalled(actor);
}

static void does(struct family *f, struct weir_actor *actor, enum deed deed)
{
	struct weir_actor_id who = f->refs[f->watched];

	switch (deed) {
	case FAILS:
		(void)weir_actor_fail_code(actor, -EIO);
		break;
	case FINISHES:
		(void)weir_actor_end(actor);
		break;
	case WATCHES:
		life_of(actor)->rc = weir_actor_watch(actor, who, NULL);
		break;
	case UNWATCHES:
		life_of(actor)->rc = weir_actor_unwatch(actor, who);
		break;
	case ADDS_PORT:
		explorer_assert(weir_in_init(&node_of(actor)->in[1], actor, 1,
					     &f->scene.items) == 0);
		break;
	case LEAVES:
	case TAKES:
	default:
		break;
	}
}

static uint32_t turn(struct weir_actor *actor, uint32_t n)
{
	struct node *node = node_of(actor);
	struct family *f = family_of(node);
	struct token *token = weir_in_peek(&node->in[0]);

	explorer_assert(life_of(actor)->up);
	if (f->asked && (void *)token == &f->asked->ask) {
		weir_in_consume(&node->in[0]);
		f->asked = NULL;
		return 1;
	}
	if (node->out.port.actor) {
		explorer_assert(weir_out_put(&node->out,
					     weir_in_take(&node->in[0])) == 0);
		return 1;
	}
	if (f->deeds[token - f->scene.tokens] == LEAVES) {
		f->deeds[token - f->scene.tokens] = TAKES;
		(void)weir_actor_fail_code(actor, -EIO);
		return 1;
	}
	scene_take(node, 0);
	does(f, actor, f->deeds[token - f->scene.tokens]);
	return 1;
}

static void own_ops(struct node *node, uint32_t hooks,
		    const struct weir_strategy *strategy)
{
	struct weir_actor_ops *mine = &ops[node->index];
	struct weir_lifecycle *own = &hooks_of[node->index];

	*own = (struct weir_lifecycle){
		.pre_start = pre_start,
		.pre_restart = hooks & PRE_RESTART ? pre_restart : NULL,
		.reset = reset,
		.post_restart = hooks & PRE_RESTART ? post_restart : NULL,
		.stopping = hooks & STOPPING ? asked_to_stop : NULL,
		.post_stop = post_stop,
		.terminated = hooks & TERMINATED ? terminated : NULL,
		.child_ended = hooks & CHILD_ENDED ? child_ended : NULL,
		.strategy = strategy,
	};
	*mine = *node->actor.ops;
	mine->name = node->name; /* gone with the node */
	scene_signalled = mine->signalled;
	mine->signalled = signalled;
	mine->lifecycle = own;
	node->actor.ops = mine;
}

static void told(const struct weir_supervision_event *event, void *context)
{
	explorer_read(event->name, 1);
}

struct family *family_open(void *context, const struct weir_strategy *strategy)
{
	const struct weir_system_options options = {.strategy = strategy,
						    .event = told};
	struct family *f = context;

	scene_open(&f->scene, true);
	explorer_name(f, sizeof(*f), "family");
	explorer_assert(
		weir_system_new(&f->system, &f->scene.executor, &options) == 0);
	return f;
}

struct node *family_node(struct family *f, uint32_t parent, uint32_t hooks,
			 const struct weir_strategy *strategy)
{
	struct node *node = scene_node(&f->scene, turn);

	f->parents[node->index] = parent;
	f->hooks[node->index] = hooks;
	own_ops(node, hooks, strategy);
	explorer_assert(weir_in_init(&node->in[0], &node->actor, 2,
				     &f->scene.items) == 0);
	if (hooks & STASHES)
		explorer_assert(weir_in_stash_init(&node->in[0]) == 0);
	return node;
}

void family_spawn(struct family *f, uint32_t i)
{
	struct weir_actor *actor = &f->scene.nodes[i]->actor;
	struct weir_actor_id parent = WEIR_ACTOR_ID_NONE;

	if (f->parents[i] != USER)
		parent = f->refs[f->parents[i]];
	/* The scene has one timer, for others than who is asked to stop. */
	if ((f->hooks[i] & STOPPING) && !f->options.shutdown_ns)
		f->options.shutdown_ns = WEIR_FOREVER;
	f->lives[i].rc = weir_system_spawn(f->system, parent, actor,
					   &f->options, &f->refs[i]);
	explorer_assert(f->lives[i].rc == 0 || f->lives[i].rc == -ESRCH ||
			f->lives[i].rc == -ESHUTDOWN);
	if (f->lives[i].rc < 0)
		weir_actor_stop(actor);
}

struct node *family_child(struct family *f, uint32_t parent, uint32_t hooks,
			  const struct weir_strategy *strategy)
{
	struct node *node = family_node(f, parent, hooks, strategy);

	family_spawn(f, node->index);
	explorer_assert(f->lives[node->index].rc == 0);
	return node;
}

void family_link(struct family *f, uint32_t from, uint32_t to)
{
	struct node *node = f->scene.nodes[from];

	explorer_assert(
		weir_out_init(&node->out, &node->actor, &f->scene.items) == 0);
	explorer_assert(weir_out_link(&node->out, &f->scene.nodes[to]->in[0]) ==
			0);
}

void family_lend(struct family *f, uint32_t i, uint32_t n)
{
	while (n--)
		weir_actor_ref(&f->scene.nodes[i]->actor);
}

/* --- Threads -------------------------------------------------------------- */

void family_put(struct family *f, uint32_t i, uint32_t token)
{
	struct node *node = f->scene.nodes[i];

	scene_put(node, 0, token);
	weir_actor_unref(&node->actor);
}

void family_signal(struct family *f, uint32_t i)
{
	struct weir_actor *actor = &f->scene.nodes[i]->actor;

	weir_actor_signal(actor);
	weir_actor_unref(actor);
}

void family_actor_stop(struct family *f, uint32_t i)
{
	struct weir_actor *actor = &f->scene.nodes[i]->actor;

	weir_actor_stop(actor);
	weir_actor_unref(actor);
}

void family_stop(struct family *f, uint32_t i)
{
	int rc = weir_system_stop_actor(f->system, f->refs[i]);

	explorer_assert(rc == 0 || rc == -ESRCH);
}

/* --- Checks --------------------------------------------------------------- */

uint32_t family_begun(const struct family *f, uint32_t i)
{
	return f->lives[i].pre_start + f->lives[i].post_restart;
}

bool family_alive(const struct family *f, uint32_t i)
{
	return f->scene.n_nodes > i &&
	       weir_system_is_alive(f->system, f->refs[i]);
}

/* Nothing that anybody still has to answer, to hear of or to take. */
static void is_at_rest(const struct family *f, uint32_t i)
{
	struct weir_actor *actor = &f->scene.nodes[i]->actor;
	const struct weir__cell *cell = weir__cell_of(actor);
	const struct weir__family *children = &weir__record_of(cell)->family;

	explorer_assert(f->lives[i].up);
	explorer_assert(cell->state == WEIR__CELL_ALIVE);
	explorer_assert(cell->orders == 0 && cell->suspends == 0);
	explorer_assert(cell->messages == 0 && cell->part == 0);
	explorer_assert(children->failed == WEIR__NO_CELL);
	explorer_assert(children->halting == WEIR__NO_CELL);
	explorer_assert(children->halted == WEIR__NO_CELL);
	explorer_assert(children->going == WEIR__NO_CELL);
	explorer_assert(!actor->error);
	explorer_assert(weir__actor_check(actor));
}

void family_is_over(void *context)
{
	struct family *f = context;
	uint32_t i;

	explorer_assert(weir__system_check(f->system));
	scene_tokens_are_over(&f->scene);
	for (i = 0; i < f->scene.n_nodes; i++)
		if (family_alive(f, i))
			is_at_rest(f, i);
		else
			explorer_assert(f->scene.fates[i].released == 1);
	weir_system_stop(f->system);
	explorer_assert(
		weir_completion_done(weir_system_terminated(f->system)));
	explorer_assert(weir_system_free(f->system) == 0);
	for (i = 0; i < f->scene.n_nodes; i++) {
		explorer_assert(!f->lives[i].up);
		explorer_assert(f->scene.fates[i].stopped == 1);
	}
	scene_is_over(context);
}
