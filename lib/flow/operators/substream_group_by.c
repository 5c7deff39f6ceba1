/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Items with equal keys go through one nested flow, their group's.
 *
 * An item is put into the queue of its group, and the group's flow is pulled
 * until it has no more items, before the next item is taken. So the order of
 * results depends on the items only, unless a flow waits for something else. No
 * item is taken while the queue of the last item's group is full.
 *
 * So a group that gets no item has items only if it had more than there was
 * room for, or if it has waited and was woken. The island does not know which
 * group was woken. As long as none was, the other groups are not pulled.
 *
 * An error that is not a group's own is told to all open groups, whichever of
 * them gets it first.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include <weir/flow_substream.h>

#include "base/memory.h"
#include "base/options.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/island.h"
#include "flow/engine/op.h"
#include "flow/operators/substream.h"
#include "flow/shared/keys.h"

#define BUCKETS 16u /* at first; a power of two */
#define BUFFER 16u

struct group_by {
	size_t max;
	int (*key)(void *item, uintptr_t *key, void *context);
	struct weir_flow *(*make)(struct weir_flow *upstream, uintptr_t key,
				  void *context);
	void *context;
	struct weir__keys keys;
	size_t buffer;
	bool reopen;
};

/* A group whose flow has ended is only in its bucket, if it is remembered. */
struct group {
	struct weir__substream sub;
	struct group *next;	       /* in its bucket */
	struct group *before, *behind; /* of those that are open */
	uint64_t hash;
	uintptr_t key;
	void *slots[];
};

struct groups {
	struct group **buckets;
	size_t n_buckets;
	size_t n;	     /* that are known */
	struct group *first; /* of those that are open, as they were opened */
	struct group *last;
	struct group *full; /* its queue was full when it got an item */
	struct group
		*unfinished; /* it has filled the room, and may have more */
	uint32_t n_wakes;    /* of the island, that all were asked after */
	bool busy;  /* others than `unfinished` may have something, too */
	bool over;  /* upstream's end was passed on */
	bool fails; /* if this does, with an error that is none of theirs */
};

/* --- Those that are known ------------------------------------------------ */

static bool is_key(const struct group_by *args, const struct group *group,
		   uint64_t hash, uintptr_t key)
{
	return group->hash == hash &&
	       weir__key_equal(&args->keys, group->key, key);
}

static struct group **bucket_of(struct groups *self, uint64_t hash)
{
	assert(self->n_buckets > 0 &&
	       (self->n_buckets & (self->n_buckets - 1)) == 0);
	return &self->buckets[hash & (self->n_buckets - 1)];
}

static struct group *group_find(struct weir__op *op, uint64_t hash,
				uintptr_t key)
{
	const struct group_by *args = weir__op_args(op);
	struct group *group = *bucket_of(weir__op_state(op), hash);

	while (group && !is_key(args, group, hash, key))
		group = group->next;
	return group;
}

/* Doubles the number of buckets; leaves them, if there is no memory. */
static void spread(struct weir__op *op)
{
	const struct weir_allocator *allocator = weir__op_allocator(op);
	struct groups *self = weir__op_state(op);
	struct groups more = {.n_buckets = self->n_buckets * 2};
	struct group *group, *next, **bucket;
	size_t i;

	more.buckets =
		weir__alloc(allocator, more.n_buckets * sizeof(*more.buckets));
	if (!more.buckets)
		return;
	for (i = 0; i < self->n_buckets; i++) {
		for (group = self->buckets[i]; group; group = next) {
			next = group->next;
			bucket = bucket_of(&more, group->hash);
			group->next = *bucket;
			*bucket = group;
		}
	}
	weir__free(allocator, self->buckets,
		   self->n_buckets * sizeof(*self->buckets));
	self->buckets = more.buckets;
	self->n_buckets = more.n_buckets;
}

static void add(struct weir__op *op, struct group *group)
{
	struct groups *self = weir__op_state(op);
	struct group **bucket;

	assert(!group->before && !group->behind);
	if (self->n == self->n_buckets)
		spread(op);
	bucket = bucket_of(self, group->hash);
	group->next = *bucket;
	*bucket = group;
	self->n++;
	group->before = self->last;
	*(self->last ? &self->last->behind : &self->first) = group;
	self->last = group;
}

static size_t size_of(const struct group_by *args)
{
	return sizeof(struct group) + args->buffer * sizeof(void *);
}

static void group_free(struct weir__op *op, struct group *group)
{
	const struct group_by *args = weir__op_args(op);

	weir__key_drop(&args->keys, group->key);
	weir__free(weir__op_allocator(op), group, size_of(args));
}

static void forget(struct weir__op *op, struct group *group)
{
	struct groups *self = weir__op_state(op);
	struct group **link = bucket_of(self, group->hash);

	assert(self->n > 0);
	/* it is not marked to go on with */
	assert(self->full != group && self->unfinished != group);
	while (*link != group) {
		assert(*link);
		link = &(*link)->next;
	}
	*link = group->next;
	self->n--;
	group_free(op, group);
}

/* True: the group is in the list of open groups. */
static __attribute__((unused)) bool is_linked(const struct groups *self,
					      const struct group *group)
{
	return (group->before ? group->before->behind : self->first) == group &&
	       (group->behind ? group->behind->before : self->last) == group;
}

/* Its flow has ended, or has to. */
static void close_group(struct weir__op *op, struct group *group)
{
	struct groups *self = weir__op_state(op);

	assert(is_linked(self, group));
	weir__substream_close(&group->sub);
	*(group->before ? &group->before->behind : &self->first) =
		group->behind;
	*(group->behind ? &group->behind->before : &self->last) = group->before;
	if (self->full == group)
		self->full = NULL;
	if (self->unfinished == group)
		self->unfinished = NULL;
}

/* --- Opening one --------------------------------------------------------- */

/* A new group with its key, which is dropped with it. NULL: an error. */
static struct group *group_new(struct weir__op *op, uint64_t hash,
			       uintptr_t key)
{
	const struct group_by *args = weir__op_args(op);
	struct group *group =
		weir__alloc(weir__op_allocator(op), size_of(args));
	int rc;

	if (!group) {
		weir__op_fail(op, -ENOMEM, "no memory for a substream");
		return NULL;
	}
	rc = weir__key_keep(&args->keys, &key);
	if (rc < 0) {
		weir__free(weir__op_allocator(op), group, size_of(args));
		(void)weir__op_survives(op, rc);
		return NULL;
	}
	group->hash = hash;
	group->key = key;
	return group;
}

/* Opens a group for an item. NULL: there is none for this item. */
static struct group *open_group(struct weir__op *op, uint64_t hash,
				uintptr_t key)
{
	const struct group_by *args = weir__op_args(op);
	struct groups *self = weir__op_state(op);
	struct weir_flow *flow;
	struct group *group;

	assert(self->n <= args->max);
	if (self->n == args->max) {
		self->fails = true;
		weir__op_fail(op, -EMFILE, "too many substreams");
		return NULL;
	}
	group = group_new(op, hash, key);
	if (!group)
		return NULL;
	weir__substream_init(&group->sub, op, group->slots, args->buffer);
	flow = args->make(weir__inner_flow(&group->sub.inner), group->key,
			  args->context);
	if (!weir__nest_open_for_item(&group->sub.nest, op, flow)) {
		group_free(op, group);
		return NULL;
	}
	group->sub.passes_through = weir__inner_passes_through(
		&group->sub.inner, group->sub.nest.op);
	add(op, group);
	return group;
}

static int group_by_open(struct weir__op *op)
{
	struct groups *self = weir__op_state(op);

	self->n_buckets = BUCKETS;
	self->buckets = weir__alloc(weir__op_allocator(op),
				    BUCKETS * sizeof(*self->buckets));
	return self->buckets ? 0 : -ENOMEM;
}

static void group_by_close(struct weir__op *op)
{
	struct groups *self = weir__op_state(op);
	size_t i;

	while (self->first) {
		if (self->fails && op->error)
			weir__substream_fail(&self->first->sub, op->error);
		close_group(op, self->first);
	}
	for (i = 0; i < self->n_buckets; i++)
		while (self->buckets[i])
			forget(op, self->buckets[i]);
	weir__free(weir__op_allocator(op), self->buckets,
		   self->n_buckets * sizeof(*self->buckets));
	self->buckets = NULL;
	self->n_buckets = 0;
}

/* --- Driving them -------------------------------------------------------- */

/* The group was pulled with room for `left` items; `filled`: it took all the
 * room. */
static void note_rest(struct weir__op *op, struct group *group, size_t left,
		      bool filled)
{
	struct groups *self = weir__op_state(op);

	if (left == 0) {
		self->busy = true;
		return;
	}
	if (filled && !(group->sub.passes_through && group->sub.waiting.n == 0))
		self->unfinished = group;
	else if (self->unfinished == group)
		self->unfinished = NULL;
	if (!filled && op->island->again)
		self->busy = true;
}

/*
 * True: the group is over. If upstream has failed, a group that gets the error
 * does not end the others. One that was told of the end and fails by that does,
 * behind the items that `unfinished` may have left.
 */
static bool is_over(struct weir__op *op, const struct group *group)
{
	const struct groups *self = weir__op_state(op);
	const struct weir__op *nested = group->sub.nest.op;

	if (group->sub.over && op->up[0]->error)
		return nested->ended;
	if (group->sub.over && nested->error && self->unfinished &&
	    self->unfinished != group)
		return false;
	return weir__nest_is_over(&group->sub.nest, op);
}

/* Pulls a group. False: the operator has ended. */
static bool pull_group(struct weir__op *op, struct group *group, void **items,
		       size_t room, size_t *got)
{
	const struct group_by *args = weir__op_args(op);
	bool again = op->island->again;
	size_t left = room - *got;

	assert(*got <= room);
	op->island->again = false;
	*got += weir__substream_pull(&group->sub, items + *got, left);
	if (!is_over(op, group)) {
		if (!op->ended)
			note_rest(op, group, left, *got == room);
		op->island->again = op->island->again || again;
		return !op->ended;
	}
	op->island->again = again;
	close_group(op, group);
	if (args->reopen)
		forget(op, group);
	return false;
}

/*
 * Emits the items that are left in the groups. At the end of upstream a group
 * is told of it and emits all its items, before the next group.
 */
static size_t pull_all(struct weir__op *op, void **items, size_t room)
{
	struct groups *self = weir__op_state(op);
	struct group *group, *next;
	size_t got = 0;

	for (group = self->first; group && !op->ended; group = next) {
		next = group->behind;
		if (pull_group(op, group, items, room, &got) && self->over &&
		    got == room) {
			self->busy = true;
			break;
		}
	}
	return got;
}

/* Emits items of the groups that may have some. */
static size_t pull_some(struct weir__op *op, void **items, size_t room)
{
	struct groups *self = weir__op_state(op);
	size_t got = 0;

	if (self->unfinished && room > 0) {
		(void)pull_group(op, self->unfinished, items, room, &got);
		if (op->ended || got == room)
			return got;
	}
	if (self->busy || self->n_wakes != op->island->n_wakes) {
		self->n_wakes = op->island->n_wakes;
		self->busy = false;
		got += pull_all(op, items + got, room - got);
	}
	return got;
}

static struct group *group_for(struct weir__op *op, void *item)
{
	const struct group_by *args = weir__op_args(op);
	struct groups *self = weir__op_state(op);
	struct group *group;
	uintptr_t key;
	uint64_t hash;
	int rc = args->key(item, &key, args->context);

	if (rc != 0) {
		self->fails = true;
		if (weir__op_survives(op, rc))
			self->fails = false;
		return NULL;
	}
	hash = weir__key_hash(&args->keys, op, key);
	group = group_find(op, hash, key);
	return group ? group : open_group(op, hash, key);
}

static bool is_blocked(struct groups *self)
{
	if (self->full && !weir__substream_is_full(&self->full->sub))
		self->full = NULL;
	return self->full;
}

/* Gives items to their groups, one by one, and emits the results of each. */
static size_t take_in(struct weir__op *op, void **items, size_t room)
{
	struct groups *self = weir__op_state(op);
	size_t got = 0, tries = op->island->ask;
	struct group *group;
	void *item;

	if (room == 0)
		weir__pull_none(op->up[0]);
	for (; got < room && tries > 0 && !is_blocked(self); tries--) {
		if (!weir__pull(op->up[0], &item, 1))
			break;
		group = group_for(op, item);
		if (!group) {
			weir__op_drop_one(op->up[0], item);
		} else {
			weir__substream_put(&group->sub, item);
			if (weir__substream_is_full(&group->sub))
				self->full = group;
			if (group->sub.nest.op)
				(void)pull_group(op, group, items, room, &got);
		}
		if (op->ended)
			break;
	}
	return got;
}

static void pass_end_on(struct weir__op *op)
{
	struct groups *self = weir__op_state(op);
	struct group *group;

	assert(!self->over && op->up[0]->ended);
	self->over = true;
	for (group = self->first; group; group = group->behind)
		weir__substream_end(&group->sub, op->up[0]->error);
}

/*
 * Upstream has ended, and there is no more room: passes the end on to one group
 * after another, up to the first that has items left (rule 8). `unfinished`
 * gives its items before all others, so it is told only where none is before
 * it: then that is its turn for what it emits at the end, too.
 */
static void end_empty(struct weir__op *op)
{
	struct groups *self = weir__op_state(op);
	struct group *group, *next;
	bool busy = self->busy;
	size_t got = 0;
	void *none;

	for (group = self->first; group && !op->ended; group = next) {
		next = group->behind;
		weir__substream_end(&group->sub, op->up[0]->error);
		if (pull_group(op, group, &none, 0, &got))
			break;
	}
	self->busy = busy;
}

static size_t group_by_pull(struct weir__op *op, void **items, size_t room)
{
	struct groups *self = weir__op_state(op);
	size_t got = pull_some(op, items, room);

	if (op->ended)
		return got;
	if (!op->up[0]->ended)
		got += take_in(op, items + got, room - got);
	if (op->ended || !op->up[0]->ended)
		return got;
	if (self->unfinished)
		end_empty(op);
	if (op->ended || self->unfinished)
		return got;
	if (!self->over) {
		pass_end_on(op);
		got += pull_all(op, items + got, room - got);
	}
	if (!op->ended && !self->first)
		(void)weir__op_follow(op);
	return got;
}

static const struct weir__kind group_by_kind = {
	.name = "group_by",
	.state_size = sizeof(struct groups),
	.open = group_by_open,
	.pull = group_by_pull,
	.close = group_by_close,
	.holds = true,
	.nests = true,
	.delays = true,
};

/* False: they are not valid. */
static bool set_options(struct group_by *args,
			const struct weir_flow_group_options *options)
{
	args->buffer = BUFFER;
	if (!options)
		return true;
	args->reopen = options->reopen;
	if (options->buffer)
		args->buffer = options->buffer;
	if (options->keys)
		args->keys.functions = *options->keys;
	return weir__size_valid(args->buffer) &&
	       weir__keys_valid(options->keys) &&
	       weir__reserved_zero(options->reserved);
}

struct weir_flow *weir_flow_group_by(
	struct weir_flow *flow, size_t max,
	int (*key)(void *item, uintptr_t *key, void *context),
	struct weir_flow *(*make)(struct weir_flow *upstream, uintptr_t key,
				  void *context),
	void *context, const struct weir_flow_group_options *options)
{
	struct group_by args = {
		.max = max,
		.key = key,
		.make = make,
		.context = context,
		.keys.context = context,
	};
	bool valid = set_options(&args, options) && key && make &&
		     weir__size_valid(max);

	flow = weir__flow_upon(&group_by_kind, flow, &args, sizeof(args),
			       valid);
	flow = weir__flow_wrong_size(flow, &group_by_kind, "max", max);
	flow = weir__flow_wrong_size(flow, &group_by_kind, "buffer",
				     args.buffer);
	return weir__flow_wrong_as(
		flow, &group_by_kind,
		key && make
			? "options->keys lacks a function, or options->reserved is not zero"
			: "key or make is NULL");
}
