/* SPDX-License-Identifier: BSD-2-Clause */
/* The executor, the actors and the checks of scene.h. */
#include "scene.h"

#include <errno.h>
#include <string.h>

#include <ck_pr.h>

#include "actor/check.h"
#include "actor/gate.h"
#include "executor/thread.h"

struct scene scene;

static struct scene *of(struct weir_executor *executor)
{
	return weir_container_of(executor, struct scene, executor);
}

static struct node *node_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct node, actor);
}

/* --- The executor --------------------------------------------------------- */

/* Of which actor it is, in `queued`. */
static uint32_t place_of(struct scene *s, struct weir_task *task)
{
	uint32_t i;

	if (task == s->over)
		return SCENE_OVER;
	for (i = 0; i < s->n_nodes; i++)
		if (&s->nodes[i]->actor.task == task)
			return i;
	for (i = 0; s->others[i] && s->others[i] != task; i++)
		explorer_assert(i + 1 < SCENE_OTHERS);
	s->others[i] = task;
	return SCENE_ACTORS + i;
}

static int submit(struct weir_executor *executor, struct weir_task *task)
{
	struct scene *s = of(executor);
	uint32_t i;

	if (task == s->refused)
		return -EAGAIN;
	if (s->at_once) {
		weir_task_run(task);
		return 0;
	}
	i = place_of(s, task);
	ck_pr_fence_release();
	explorer_assert(ck_pr_fas_32(&s->queued[i], 1) == 0);
	return 0;
}

static struct weir_task *at_place(struct scene *s, uint32_t i)
{
	if (i == SCENE_OVER)
		return s->over;
	return i < SCENE_ACTORS ? &s->nodes[i]->actor.task
				: s->others[i - SCENE_ACTORS];
}

bool scene_run(struct scene *s, uint32_t i)
{
	if (!ck_pr_load_32(&s->queued[i]) || !ck_pr_fas_32(&s->queued[i], 0))
		return false;
	ck_pr_fence_acquire();
	weir_task_run(at_place(s, i));
	return true;
}

void scene_settle(struct scene *s)
{
	bool ran = true;
	uint32_t i;

	while (ran) {
		ran = false;
		for (i = 0; i < SCENE_PLACES; i++)
			ran |= scene_run(s, i);
	}
}

static uint64_t now(struct weir_executor *executor)
{
	struct scene *s = of(executor);
	uint64_t now = ck_pr_load_64(&s->now);

	return now > s->early ? now - s->early : 0;
}

static int timer_arm(struct weir_executor *executor, struct weir_timer *timer,
		     uint64_t at_ns)
{
	struct scene *s = of(executor);

	ck_pr_store_ptr(&s->timer, timer);
	ck_pr_fence_release();
	explorer_assert(ck_pr_fas_64(&s->armed, at_ns) == 0);
	return 0;
}

static bool timer_cancel(struct weir_executor *executor,
			 struct weir_timer *timer)
{
	uint64_t at_ns = ck_pr_fas_64(&of(executor)->armed, 0);

	ck_pr_fence_acquire();
	return at_ns != 0;
}

void scene_pass_time(struct scene *s, uint64_t now)
{
	uint64_t at_ns = ck_pr_load_64(&s->armed);
	struct weir_timer *timer;

	ck_pr_store_64(&s->now, now);
	if (!at_ns || at_ns > now || !ck_pr_cas_64(&s->armed, at_ns, 0))
		return;
	ck_pr_fence_acquire();
	timer = ck_pr_load_ptr(&s->timer);
	timer->fire(timer);
}

/*
 * The kernel and the poller, for one descriptor with edges. The kernel has a
 * lock, so what it does is in one order for all.
 */
enum { UNWATCHED, WATCHED, FIRING, OVER };

void scene_bytes_come(struct scene *s)
{
	s->came++;
	ck_pr_inc_32(&s->bytes);
	ck_pr_fence_memory();
	(void)ck_pr_fas_32(&s->edge, 1);
}

uint32_t scene_read(struct weir_executor *executor)
{
	uint32_t bytes = ck_pr_fas_32(&of(executor)->bytes, 0);

	ck_pr_fence_memory();
	return bytes;
}

/* The slot of a watch is the service's from the arming to the last firing. */
static int watch_arm(struct weir_executor *executor, struct weir_watch *watch)
{
	struct scene *s = of(executor);

	explorer_assert(watch->edges);
	watch->slot++;
	ck_pr_fence_memory();
	explorer_assert(ck_pr_fas_32(&s->watched, WATCHED) == UNWATCHED);
	ck_pr_fence_memory();
	if (ck_pr_load_32(&s->bytes))
		(void)ck_pr_fas_32(&s->edge, 1);
	return 0;
}

static bool watch_cancel(struct weir_executor *executor,
			 struct weir_watch *watch)
{
	struct scene *s = of(executor);
	bool is_off;

	do {
		is_off = ck_pr_cas_32(&s->watched, WATCHED, UNWATCHED);
	} while (!is_off && !ck_pr_cas_32(&s->watched, FIRING, OVER));
	ck_pr_fence_memory();
	return is_off;
}

void scene_poll(struct scene *s)
{
	struct weir_watch *watch = &s->nodes[0]->fd.watch;

	if (!ck_pr_cas_32(&s->watched, WATCHED, FIRING))
		return;
	ck_pr_fence_memory();
	watch->slot++;
	if (ck_pr_fas_32(&s->edge, 0)) {
		ck_pr_fence_memory();
		watch->fire(watch, watch->events);
	}
	ck_pr_fence_memory();
	if (ck_pr_cas_32(&s->watched, FIRING, WATCHED))
		return;
	ck_pr_store_32(&s->watched, UNWATCHED);
	watch->fire(watch, 0);
}

static const struct weir_executor_ops executor_ops = {
	.submit = submit,
	.now = now,
	.timer_arm = timer_arm,
	.timer_cancel = timer_cancel,
	.watch_arm = watch_arm,
	.watch_cancel = watch_cancel,
};

static void *alloc(size_t size, void *context)
{
	return explorer_alloc(size);
}

static void release(void *memory, size_t size, void *context)
{
	explorer_free(memory);
}

static const struct weir_allocator allocator = {alloc, release, NULL};

static void drained(struct weir_ending *drain)
{
	weir_container_of(drain, struct scene, drain)->drained++;
}

void scene_drain(struct scene *s, uint64_t deadline_ns)
{
	if (!deadline_ns)
		deadline_ns = WEIR_FOREVER;
	s->drain.done = drained;
	explorer_assert(weir_executor_end_async(&s->executor, &s->drain,
						deadline_ns) == 0);
}

void scene_abort(struct scene *s)
{
	s->drain.done = drained;
	explorer_assert(weir_executor_stop_async(&s->executor, &s->drain,
						 WEIR_FOREVER) == 0);
}

/* --- Tokens --------------------------------------------------------------- */

void scene_end_token(struct token *token, uint32_t value)
{
	explorer_assert(token->value == MADE);
	if (token->shared) {
		ck_pr_fence_release();
		if (ck_pr_faa_32(&token->holders, (uint32_t)-1) != 1)
			return;
		ck_pr_fence_acquire();
	}
	token->value = value;
}

static void drop(void *item, void *context)
{
	scene_end_token(item, DROPPED);
}

static int share(void *item, void *context)
{
	ck_pr_inc_32(&((struct token *)item)->holders);
	return 0;
}

void scene_put(struct node *node, uint32_t port, uint32_t i)
{
	struct token *token = &node->scene->tokens[i];

	token->value = MADE;
	token->accepted = weir_in_put(&node->in[port], token) == 0;
}

void scene_take(struct node *node, uint32_t port)
{
	struct token *token = weir_in_take(&node->in[port]);

	explorer_assert(token);
	node->fate->delivered++;
	scene_end_token(token, DELIVERED);
}

/* --- Actors --------------------------------------------------------------- */

static int ended(struct weir_actor *actor, struct weir_in *in,
		 struct weir_error *error)
{
	struct node *node = node_of(actor);

	node->fate->ended++;
	node->fate->end_code = error ? error->code : 0;
	if (in == &node->in[1] && node->second_ended) {
		node->second_ended(node);
		return 0;
	}
	return weir_actor_end(actor);
}

static int cancelled(struct weir_actor *actor, struct weir_out *out)
{
	struct node *node = node_of(actor);

	node->fate->cancelled++;
	if (node->out2.port.actor && node->fate->cancelled == 1)
		return 0;
	return weir_actor_end(actor);
}

static int signalled(struct weir_actor *actor)
{
	struct node *node = node_of(actor);
	uint32_t i;

	node->fate->signalled++;
	for (i = 0; i < 2; i++)
		node->fate->seen[i] |= ck_pr_load_32(&node->scene->payload[i]);
	if (node->scene->answers)
		ck_pr_store_32(&node->scene->answer, 2);
	return 0;
}

static void stopped(struct weir_actor *actor, struct weir_error *error)
{
	struct node *node = node_of(actor);

	node->fate->stopped++;
	node->fate->code = error ? error->code : 0;
}

static void tell(struct scene *s)
{
	struct node *next = s->next;

	ck_pr_fence_release();
	ck_pr_inc_32(&s->told);
	if (!next)
		return;
	s->next = NULL;
	explorer_assert(weir_actor_start(&next->actor) == 0);
}

static void released(struct weir_actor *actor)
{
	struct node *node = node_of(actor);

	explorer_assert(node->fate->stopped == 1);
	if (node->scene->tells)
		tell(node->scene);
	node->fate->released++;
	explorer_free(node);
}

struct scene *scene_open(void *context, bool at_once)
{
	const struct weir_executor_options options = {.allocator = &allocator};
	struct scene *s = context;

	explorer_name(s, sizeof(*s), "scene");
	/* the library may make one in a thread */
	explorer_ignore(s->others, sizeof(s->others));
	s->at_once = at_once;
	s->items = (struct weir_items){.drop = drop, .share = share};
	/* an execution that was left early has left its own there */
	if (weir__living)
		*weir__living = (struct weir__living_list){.begun = true};
	explorer_assert(
		weir_executor_init(&s->executor, &executor_ops, &options) == 0);
	return s;
}

struct node *scene_node(struct scene *s, weir_turns *turns)
{
	static const char *const names[SCENE_ACTORS] = {"node 0", "node 1",
							"node 2"};
	static struct weir_actor_ops ops[SCENE_ACTORS];
	struct node *node = explorer_alloc(sizeof(*node));
	uint32_t i = s->n_nodes++;

	explorer_name(node, sizeof(*node), names[i]);
	ops[i] = (struct weir_actor_ops){
		.name = names[i],
		.turns = turns,
		.ended = ended,
		.cancelled = cancelled,
		.signalled = signalled,
		.stopped = stopped,
		.released = released,
	};
	node->scene = s;
	node->index = i;
	node->fate = &s->fates[i];
	s->nodes[i] = node;
	explorer_assert(weir_actor_init(&node->actor, &ops[i], &s->executor) ==
			0);
	return node;
}

static uint32_t sink_turn(struct weir_actor *actor, uint32_t n)
{
	struct node *node = node_of(actor);

	scene_take(node, 0);
	if (node->stop_after && node->fate->delivered == node->stop_after) {
		if (node->cancels)
			(void)weir_in_cancel(&node->in[0]);
		else
			weir_actor_end(actor);
	}
	return 1;
}

struct node *scene_sink(struct scene *s, size_t capacity)
{
	struct node *node = scene_node(s, sink_turn);

	explorer_assert(weir_in_init(&node->in[0], &node->actor, capacity,
				     &s->items) == 0);
	return node;
}

static uint32_t source_turn(struct weir_actor *actor, uint32_t n)
{
	struct node *node = node_of(actor);
	struct token *token = &node->scene->tokens[node->first];

	token->value = MADE;
	token->accepted = weir_out_put(&node->out, token) == 0;
	explorer_assert(token->accepted);
	if (node->first++ == node->last)
		weir_actor_end(actor);
	return 1;
}

struct node *scene_source(struct scene *s, uint32_t first, uint32_t last)
{
	struct node *node = scene_node(s, source_turn);

	node->first = first;
	node->last = last;
	explorer_assert(weir_out_init(&node->out, &node->actor, &s->items) ==
			0);
	return node;
}

void scene_start(struct scene *s)
{
	uint32_t i;

	for (i = 0; i < s->n_nodes; i++)
		explorer_assert(weir_actor_start(&s->nodes[i]->actor) == 0);
}

void scene_own_threads(struct scene *s)
{
	uint32_t i;

	for (i = 0; i < 2; i++)
		weir__registry_add_shard(s->executor.registry, &s->shards[i]);
}

void scene_use_share(struct scene *s)
{
	weir__thread.shard = &s->shards[explorer_thread()];
}

/* --- Checks --------------------------------------------------------------- */

static void check_tokens(const struct scene *s, bool dropped)
{
	const struct token *token;

	for (token = s->tokens; token < s->tokens + SCENE_TOKENS; token++)
		if (token->accepted)
			explorer_assert(token->value == DELIVERED ||
					(dropped && token->value == DROPPED));
		else
			explorer_assert(token->value <= MADE);
}

void scene_tokens_are_over(const struct scene *s)
{
	check_tokens(s, true);
}

void scene_at_rest(void *context)
{
	struct scene *s = context;
	uint32_t i;

	scene_settle(s);
	check_tokens(s, false);
	for (i = 0; i < s->n_nodes; i++)
		if (!s->fates[i].released)
			explorer_assert(weir__actor_check(&s->nodes[i]->actor));
}

void scene_is_over(void *context)
{
	struct scene *s = context;
	uint32_t i;

	scene_settle(s);
	check_tokens(s, true);
	for (i = 0; i < s->n_nodes; i++)
		explorer_assert(s->fates[i].released == 1);
	explorer_assert(weir_executor_fini(&s->executor) == 0);
	explorer_assert(explorer_allocated() == 0);
}
