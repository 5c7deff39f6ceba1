/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls of a function by actors of their own, several at once.
 *
 * 1. A *slot* is an actor that makes one call at a time. To give it an item,
 *    the operator writes slot->item, swaps slot->state from IDLE to GIVEN, and
 *    signals the slot. From then on until it comes back the item is the slot's.
 * 2. Items come back through one list for all slots, `results`. A slot pushes
 *    itself on the list when the call has returned, or when the slot was
 *    stopped before the call (state DEAD: it takes no more items). Each item
 *    that was given comes back once.
 * 3. A slot that pushes itself on an empty list wakes the operator. The
 *    operator takes the whole list each time it is pulled. So whenever the list
 *    is not empty, the operator has been woken or is about to be, and a batch
 *    of results costs one wake.
 * 4. Slots and list are one piece of memory, apart from the operator. The
 *    operator has a reference of each slot until the operator closes. The last
 *    slot that is released drops the items that came back too late, and frees
 *    the memory. Until then the slots hold the operator. So no run is over
 *    while a call is under way.
 * 5. A slot is started when it is first needed, and never before the run has
 *    started: so a run that could not be made has no slots to wait for.
 * 6. With keys, an item whose key is that of a call under way waits in a slot
 *    of its own, which is linked behind the last slot with that key. The
 *    operator gives the item when the slot in front has come back. The last
 *    slot with a key has the key, and is in the bucket of its hash.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include <ck_pr.h>

#include <weir/flow_async.h>

#include "actor/look.h"
#include "actor/port.h"
#include "base/mailbox.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/refcount.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/island.h"
#include "flow/engine/op.h"
#include "flow/shared/keys.h"

/* slot->state: from IDLE to GIVEN by the operator, the rest by the slot. */
enum { IDLE, GIVEN, DEAD };

struct parallel {
	size_t n;
	enum weir_order order;
	int (*map)(void **item, void *context);
	void *context;
	struct weir_executor *executor;
	int (*key)(void *item, uintptr_t *key, void *context); /* or NULL */
	struct weir__keys keys;
};

struct slot {
	_Alignas(WEIR__LINE) struct weir_actor actor;
	struct weir__other_port stays;
	struct calls *calls;
	struct weir__node node; /* in the list of results */
	void *item;		/* owner: claim 1 */
	int code;		/* of the call */
	int stop_code;		/* why it is DEAD */
	uint32_t state;		/* atomic */
	/* the operator's */
	_Alignas(WEIR__LINE) struct slot *next; /* next free, or queued */
	bool started;
	bool done; /* it has come back */
	bool has_item;
	/* claim 6 */
	struct slot *behind;	/* the next one with the same key */
	uintptr_t key;		/* if it is the last one: kept */
	size_t bucket_index;	/* of that key */
	struct slot *in_bucket; /* the next one there */
	struct slot *bucket;	/* of this slot's index: the first one in it */
};

struct calls {
	_Alignas(WEIR__LINE) struct weir__mailbox results;
	_Alignas(WEIR__LINE) struct weir__op *op;
	const struct weir_allocator *allocator;
	int (*map)(void **item, void *context);
	void *context;
	size_t n;
	uint32_t refs; /* atomic: slots not released, and the operator */
	struct slot slots[];
};

/* The operator's state. */
struct pool {
	struct calls *calls;
	struct slot *free;  /* last used first: no more start than have to */
	struct slot *first; /* ordered: all given; else: done */
	struct slot **last; /* where the next one is linked */
	size_t n_given;
};

static size_t size_of(size_t n)
{
	return sizeof(struct calls) + n * sizeof(struct slot);
}

/* --- Slots, on any thread ------------------------------------------------ */

static struct slot *slot_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct slot, actor);
}

/* Claim 3. */
static void come_back(struct slot *slot)
{
	struct calls *calls = slot->calls;

	if (weir__mailbox_push(&calls->results, &slot->node))
		weir__op_wake(calls->op);
}

static int slot_signalled(struct weir_actor *actor)
{
	struct slot *slot = slot_of(actor);
	const struct calls *calls = slot->calls;

	/*
	 * No acquire: each item comes with a signal, whose acquire orders this
	 * load, and orders the operator's reads of the last result before our
	 * writes.
	 */
	if (ck_pr_load_32(&slot->state) != GIVEN)
		return 0;
	slot->code = calls->map(&slot->item, calls->context);
	/* relaxed: no other thread reads the state before the slot has come
	 * back */
	ck_pr_store_32(&slot->state, IDLE);
	come_back(slot);
	return 0;
}

/* The slot was stopped: by the operator, which has closed, or by the executor.
 * It takes no more items. */
static void slot_stopped(struct weir_actor *actor, struct weir_error *error)
{
	struct slot *slot = slot_of(actor);
	uint32_t state;

	slot->stop_code = error ? error->code : -ECANCELED;
	/* release: that code; pairs with the acquire in parallel_give() */
	ck_pr_fence_release();
	state = ck_pr_fas_32(&slot->state, DEAD);
	/* acquire: the item; pairs with the release in parallel_give() */
	ck_pr_fence_acquire();
	if (state != GIVEN)
		return;
	slot->code = slot->stop_code;
	come_back(slot);
}

static void calls_unref(struct calls *calls);

static void slot_released(struct weir_actor *actor)
{
	calls_unref(slot_of(actor)->calls);
}

static uint32_t slot_turns(struct weir_actor *actor, uint32_t n)
{
	return n;
}

static const struct weir_actor_ops slot_ops = {
	.name = "map_parallel",
	.turns = slot_turns,
	.signalled = slot_signalled,
	.stopped = slot_stopped,
	.released = slot_released,
};

/* A drain of the executor does not end a slot: items may be under way to it. */
static const struct weir__port_ops stays_ops = {.takes = true};

/* --- What has come back -------------------------------------------------- */

/* Takes all results, oldest first. Called by the operator, or by the owner of
 * the last reference. */
static struct weir__node *take_results(struct calls *calls)
{
	struct weir__node *oldest, *node;
	struct slot *slot;

	if (weir__mailbox_empty(&calls->results))
		return NULL;
	oldest = weir__mailbox_take(&calls->results);
	for (node = oldest; node; node = node->next) {
		slot = weir_container_of(node, struct slot, node);
		slot->done = slot->has_item = true;
	}
	return oldest;
}

static void drop_one(struct slot *slot)
{
	struct weir__op *op = slot->calls->op;

	assert(slot->has_item);
	slot->has_item = false;
	weir__op_drop_one(slot->code == 0 ? op : op->up[0], slot->item);
}

static void drop_results(struct calls *calls)
{
	size_t i;

	(void)take_results(calls);
	for (i = 0; i < calls->n; i++)
		if (calls->slots[i].has_item)
			drop_one(&calls->slots[i]);
}

/* Claim 4. */
static void calls_unref(struct calls *calls)
{
	const struct weir_allocator *allocator = calls->allocator;
	struct weir__op *op = calls->op;
	if (!weir__unref(&calls->refs))
		return;
	drop_results(calls);
	weir__free_lines(allocator, calls, size_of(calls->n));
	weir__op_unhold(op);
}

/* --- The operator -------------------------------------------------------- */

static void slot_init(struct slot *slot, struct calls *calls,
		      struct weir_executor *executor)
{
	(void)weir_actor_init(&slot->actor, &slot_ops, executor);
	slot->stays.ops = &stays_ops;
	weir__port_init(&slot->stays.port, &slot->actor, WEIR__PORT_ADAPTER);
	slot->calls = calls;
	(void)weir_actor_ref(&slot->actor);
}

static int parallel_open(struct weir__op *op)
{
	const struct parallel *args = weir__op_args(op);
	const struct weir_allocator *allocator = weir__op_allocator(op);
	struct weir_executor *executor = args->executor;
	struct pool *self = weir__op_state(op);
	struct calls *calls = self->calls;
	size_t i;

	if (calls)
		return 0; /* after a restart: all is as it was */
	calls = weir__alloc_lines(allocator, size_of(args->n));
	if (!calls)
		return -ENOMEM;
	calls->op = op;
	calls->allocator = allocator;
	calls->map = args->map;
	calls->context = args->context;
	calls->n = args->n;
	calls->refs = (uint32_t)args->n + 1;
	for (i = args->n; i-- > 0;) {
		slot_init(&calls->slots[i], calls,
			  executor ? executor : op->island->actor.executor);
		calls->slots[i].next = self->free;
		self->free = &calls->slots[i];
	}
	self->calls = calls;
	self->last = &self->first;
	weir__op_hold(op);
	return 0;
}

static void drop_keys(const struct parallel *args, const struct slot *slot)
{
	for (; slot; slot = slot->in_bucket)
		weir__key_drop(&args->keys, slot->key);
}

static void parallel_close(struct weir__op *op)
{
	struct pool *self = weir__op_state(op);
	struct calls *calls = self->calls;
	size_t i;

	/* a restart keeps the slots: calls for other items go on */
	if (!op->ended)
		return;
	self->calls = NULL;
	drop_results(calls);
	for (i = 0; i < calls->n; i++) {
		drop_keys(weir__op_args(op), calls->slots[i].bucket);
		weir_actor_stop(&calls->slots[i].actor);
		weir_actor_unref(&calls->slots[i].actor);
	}
	calls_unref(calls);
}

static void enqueue(struct pool *self, struct slot *slot)
{
	slot->next = NULL;
	ck_pr_store_ptr(self->last, slot); /* others look at the first */
	self->last = &slot->next;
}

static void set_free(struct pool *self, struct slot *slot)
{
	assert(slot->calls == self->calls && slot->done);
	assert(self->n_given > 0);
	slot->done = slot->has_item = false;
	slot->next = self->free;
	self->free = slot;
	self->n_given--;
}

/*
 * Claim 5. If no more slots can start, because the executor drains, the slots
 * that have started make all calls.
 */
static bool is_started(struct weir__op *op, struct slot *slot)
{
	struct pool *self = weir__op_state(op);
	int rc;

	if (slot->started)
		return true;
	rc = weir_actor_start(&slot->actor);
	slot->started = rc == 0;
	if (rc == -ESHUTDOWN && slot != self->calls->slots)
		self->free = NULL; /* no slot behind it has started */
	else if (rc < 0)
		weir__op_fail_code(op, rc, "a call could not start");
	return rc == 0;
}

/* Takes the first free slot. */
static struct slot *take_slot(struct weir__op *op)
{
	const struct parallel *args = weir__op_args(op);
	struct pool *self = weir__op_state(op);
	struct slot *slot = self->free;

	self->free = slot->next;
	self->n_given++;
	assert(self->n_given <= args->n);
	if (args->order == WEIR_ORDER_KEPT)
		enqueue(self, slot);
	return slot;
}

/* Claim 1. */
static void parallel_give(struct weir__op *op, struct slot *slot, void *item)
{
	/* claim 2: the slot's last item has come back, and was taken */
	assert(slot->started && !slot->done && !slot->has_item);
	slot->item = item;
	/* release: the item; pairs with the acquire in slot_stopped(). The call
	 * reads the item behind the signal, which has its own release. */
	ck_pr_fence_release();
	if (!ck_pr_cas_32(&slot->state, IDLE, GIVEN)) {
		/* acquire: its code; pairs with the release in
		 * slot_stopped() */
		ck_pr_fence_acquire();
		weir__op_drop_one(op->up[0], item);
		weir__op_fail(op, slot->stop_code, "calls are taken no more");
		return;
	}
	weir_actor_signal(&slot->actor);
}

/*
 * Makes the slot the last one with the key; *front is the last one so far, or
 * NULL. Returns 0; or a negative errno, and nothing has changed.
 */
static int put_behind(struct weir__op *op, struct slot *slot, uintptr_t key,
		      struct slot **front)
{
	const struct parallel *args = weir__op_args(op);
	struct pool *self = weir__op_state(op);
	size_t i = weir__key_hash(&args->keys, op, key) % args->n;
	struct slot **link = &self->calls->slots[i].bucket;
	int rc;

	while (*link && !weir__key_equal(&args->keys, (*link)->key, key))
		link = &(*link)->in_bucket;
	*front = *link;
	rc = *front ? 0 : weir__key_keep(&args->keys, &key);
	if (rc < 0)
		return rc;
	slot->bucket_index = i;
	slot->key = *front ? (*front)->key : key;
	slot->in_bucket = *front ? (*front)->in_bucket : NULL;
	*link = slot;
	return 0;
}

/*
 * Claim 6. Gives the item, or lets it wait. False: a function has failed for
 * the item.
 */
static bool give_by_key(struct weir__op *op, void *item)
{
	const struct parallel *args = weir__op_args(op);
	struct pool *self = weir__op_state(op);
	struct slot *slot = self->free, *front = NULL;
	uintptr_t key;
	int rc = args->key(item, &key, args->context);

	if (rc == 0)
		rc = put_behind(op, slot, key, &front);
	if (rc != 0) {
		weir__op_drop_one(op->up[0], item);
		(void)weir__op_survives(op, rc);
		return false;
	}
	(void)take_slot(op);
	if (!front) {
		parallel_give(op, slot, item);
		return true;
	}
	front->behind = slot;
	slot->item = item;
	slot->has_item = true;
	slot->code = -ECANCELED; /* until the call: a drop is of the item */
	return true;
}

/* Claim 6. The slot has come back. */
static void give_next(struct weir__op *op, struct slot *slot)
{
	const struct parallel *args = weir__op_args(op);
	struct pool *self = weir__op_state(op);
	struct slot *next = slot->behind;
	struct slot **link = &self->calls->slots[slot->bucket_index].bucket;

	slot->behind = NULL;
	if (next) {
		next->has_item = false;
		parallel_give(op, next, next->item);
		return;
	}
	while (*link != slot)
		link = &(*link)->in_bucket;
	*link = slot->in_bucket;
	weir__key_drop(&args->keys, slot->key);
}

/* Begins as many calls as there are items and free slots. */
static void begin(struct weir__op *op, size_t room)
{
	const struct parallel *args = weir__op_args(op);
	struct pool *self = weir__op_state(op);
	void *item;

	while (self->free && is_started(op, self->free)) {
		if (!weir__pull(op->up[0], &item, room ? 1 : 0))
			return;
		if (!args->key)
			parallel_give(op, take_slot(op), item);
		else if (!give_by_key(op, item))
			return;
		if (op->ended)
			return;
	}
}

/* The call of the slot has failed: its item is dropped. */
static void failed(struct weir__op *op, struct slot *slot)
{
	const struct parallel *args = weir__op_args(op);
	struct pool *self = weir__op_state(op);
	bool dead = ck_pr_load_32(&slot->state) == DEAD;
	int code = slot->code;

	drop_one(slot);
	if (dead)
		weir__op_fail(op, code, "calls are taken no more");
	else if (weir__op_survives(op, code) && args->order == WEIR_ORDER_ANY)
		set_free(self, slot);
	/* ordered: the slot is passed over when its turn comes */
}

/* Collects results. False: the operator has failed. */
static bool collect(struct weir__op *op)
{
	const struct parallel *args = weir__op_args(op);
	struct pool *self = weir__op_state(op);
	struct weir__node *node = take_results(self->calls), *next;
	struct slot *slot;

	for (; node && !op->ended; node = next) {
		next = node->next;
		slot = weir_container_of(node, struct slot, node);
		if (slot->code != 0)
			failed(op, slot);
		else if (args->order == WEIR_ORDER_ANY)
			enqueue(self, slot);
		if (args->key && !op->ended)
			give_next(op, slot);
	}
	return !op->ended;
}

static size_t put_out(struct weir__op *op, void **items, size_t room)
{
	struct pool *self = weir__op_state(op);
	struct slot *slot;
	size_t n = 0;

	while (n < room && (slot = self->first) && slot->done) {
		ck_pr_store_ptr(&self->first, slot->next);
		if (!self->first)
			self->last = &self->first;
		if (slot->has_item)
			items[n++] = slot->item;
		set_free(self, slot);
	}
	return n;
}

static size_t parallel_pull(struct weir__op *op, void **items, size_t room)
{
	struct pool *self = weir__op_state(op);
	size_t n;

	if (!collect(op))
		return 0;
	n = put_out(op, items, room);
	begin(op, room);
	if (!op->ended && self->n_given == 0)
		(void)weir__op_follow(op);
	return n;
}

/* Of results in order the oldest one under way. */
static WEIR__LOOKS bool parallel_waits(const struct weir__op *op,
				       struct weir__asked *part)
{
	const struct parallel *args = weir__op_args(op);
	const struct pool *self = (const struct pool *)(const void *)op->state;
	const struct slot *slot = ck_pr_load_ptr(&self->first);

	if (args->order == WEIR_ORDER_KEPT && slot)
		part->other_actor = &slot->actor;
	return part->other_actor != NULL;
}

#define PARALLEL(called) \
	{ \
		.name = (called), .waits = parallel_waits, \
		.state_size = sizeof(struct pool), \
		.keeps = sizeof(struct pool), .pull = parallel_pull, \
		.open = parallel_open, .close = parallel_close, .holds = true, \
		.remakes = true, \
	}

static const struct weir__kind parallel_kind = PARALLEL("map_parallel");
static const struct weir__kind partitioned_kind =
	PARALLEL("map_parallel_partitioned");

static bool is_valid(const struct parallel *args,
		     const struct weir_flow_parallel_options *options)
{
	return args->map && weir__size_valid(args->n) &&
	       (unsigned int)args->order <= WEIR_ORDER_ANY &&
	       (!options || weir__reserved_zero(options->reserved));
}

struct weir_flow *weir_flow_map_parallel(
	struct weir_flow *flow, size_t n, enum weir_order order,
	int (*map)(void **item, void *context), void *context,
	const struct weir_flow_parallel_options *options)
{
	struct parallel args = {
		.n = n,
		.order = order,
		.map = map,
		.context = context,
		.executor = options ? options->executor : NULL,
	};

	flow = weir__flow_upon(&parallel_kind, flow, &args, sizeof(args),
			       is_valid(&args, options));
	return weir__flow_wrong_size(flow, &parallel_kind, "n", n);
}

struct weir_flow *weir_flow_map_parallel_partitioned(
	struct weir_flow *flow, size_t n,
	int (*key)(void *item, uintptr_t *key, void *context),
	const struct weir_flow_key_functions *keys,
	int (*map)(void **item, void *context), void *context,
	const struct weir_flow_parallel_options *options)
{
	struct parallel args = {
		.n = n,
		.order = WEIR_ORDER_KEPT,
		.map = map,
		.context = context,
		.executor = options ? options->executor : NULL,
		.key = key,
		.keys.context = context,
	};

	if (keys)
		args.keys.functions = *keys;
	flow = weir__flow_upon(&partitioned_kind, flow, &args, sizeof(args),
			       key && weir__keys_valid(keys) &&
				       is_valid(&args, options));
	flow = weir__flow_wrong_size(flow, &partitioned_kind, "n", n);
	return weir__flow_wrong_as(
		flow, &partitioned_kind,
		weir__keys_valid(keys) ? NULL : "keys lacks a function");
}
