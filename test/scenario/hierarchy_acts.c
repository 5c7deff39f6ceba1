/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenario/hierarchy_acts.h"

#include "scenario/hierarchy_node.h"

/* --- What a node does to others ------------------------------------------- */

int put_item(struct hierarchy *hierarchy, struct weir_actor_id to)
{
	struct weir_actor *actor = weir_system_actor(hierarchy->system, to);
	size_t item;
	int rc;

	if (!actor)
		return -ESRCH;
	item = ck_pr_faa_32(&hierarchy->items, 1) + 1;
	assert_true(item <= hierarchy->ledger.n);
	rc = weir_in_put(&node_of(actor)->in,
			 ledger_make(&hierarchy->ledger, item));
	if (rc != 0)
		ledger_drop((void *)item, &hierarchy->ledger);
	weir_actor_unref(actor);
	return rc;
}

void put_any(struct hierarchy *hierarchy, uint64_t *random)
{
	if (ck_pr_faa_32(&hierarchy->puts, 1) < hierarchy->ledger.n / 2)
		(void)put_item(hierarchy, any_ref(hierarchy, random));
}

struct node *all_nodes(struct hierarchy *hierarchy)
{
	struct node *nodes = ck_pr_load_ptr(&hierarchy->nodes);

	ck_pr_fence_acquire(); /* partner: spawn() */
	return nodes;
}

static bool is_refusal(int rc)
{
	return rc == -ESRCH || rc == -ESHUTDOWN || rc == -EEXIST ||
	       rc == -ENOMEM;
}

/* A child of `parent`'s. */
static void spawn(struct hierarchy *hierarchy, uint64_t *random,
		  struct weir_actor_id parent, uint32_t depth)
{
	struct node *node, *first;
	int rc;

	if (weir_system_children(hierarchy->system, parent, NULL, 0) >=
		    BREADTH ||
	    ck_pr_load_32(&hierarchy->made) -
			    ck_pr_load_32(&hierarchy->released) >=
		    hierarchy->most)
		return;
	node = calloc(1, sizeof(*node));
	assert_non_null(node);
	member_init(node, hierarchy, random, depth);
	node->parent = parent;
	ck_pr_inc_32(&hierarchy->made);
	rc = weir_system_spawn(hierarchy->system, parent, &node->actor,
			       &node->options, &node->ref);
	do {
		first = ck_pr_load_ptr(&hierarchy->nodes);
		node->next = first;
		ck_pr_fence_release(); /* partner: all_nodes() */
	} while (!ck_pr_cas_ptr(&hierarchy->nodes, first, node));
	if (rc == 0) {
		make_known(hierarchy, random, node->ref);
		return;
	}
	assert_true(is_refusal(rc));
	weir_actor_stop(&node->actor);
}

void spawn_any(struct hierarchy *hierarchy, uint64_t *random, struct node *self)
{
	struct weir_actor_id parent = any_ref(hierarchy, random);
	struct weir_actor *actor;
	uint32_t depth = 0;

	if (self && below(random, 4)) {
		spawn(hierarchy, random, self->ref, self->depth + 1);
		return;
	}
	actor = weir_system_actor(hierarchy->system, parent);
	if (actor)
		depth = node_of(actor)->depth + 1;
	weir_actor_unref(actor);
	spawn(hierarchy, random,
	      actor ? parent : weir_system_user_guardian(hierarchy->system),
	      depth);
}

static void check_order(int rc)
{
	assert_true(rc == 0 || rc == -ESRCH || rc == -EALREADY);
}

/* --- Guests --------------------------------------------------------------- */

/* Once, for who waits. */
static void guest_told(struct guest *guest)
{
	assert_true(ck_pr_cas_32(&guest->waits, 1, 0));
}

static void guest_terminated(struct weir_watcher *watcher,
			     const struct weir_terminated *notice)
{
	guest_told(weir_container_of(watcher, struct guest, watcher));
}

static void guest_done(struct weir_graceful_stop *stop, int rc)
{
	assert_true(rc == 0 || rc == -ETIMEDOUT);
	guest_told(weir_container_of(stop, struct guest, stop));
}

static void invite(struct hierarchy *hierarchy, uint64_t *random,
		   struct weir_actor_id who)
{
	struct guest *guest = &hierarchy->guests[below(random, OUTSIDE)];
	uint64_t deadline =
		below(random, 2) ? WEIR_FOREVER
				 : weir_executor_now(hierarchy->executor) + MS;
	int rc;

	if (!ck_pr_cas_32(&guest->waits, 0, 1))
		return;
	guest->watcher.terminated = guest_terminated;
	guest->stop.done = guest_done;
	rc = below(random, 2)
		     ? weir_watcher_add(hierarchy->system, who, &guest->watcher)
		     : weir_system_stop_actor_async(hierarchy->system, who,
						    below(random, 2),
						    &guest->stop, deadline);
	if (rc == 0)
		return;
	assert_int_equal(rc, -ENOMEM);
	guest_told(guest);
}

/* --- Watching ------------------------------------------------------------- */

static struct node_watch *watch_on(struct node *self, struct weir_actor_id who)
{
	struct node_watch *watch, *unused = NULL;

	for (watch = self->watches; watch < self->watches + WATCHES; watch++) {
		if (watch->set && weir_actor_id_equal(watch->who, who))
			return watch;
		if (!watch->set)
			unused = watch;
	}
	return unused;
}

static void watch_somebody(struct node *self, struct weir_actor_id who)
{
	struct node_watch *watch = watch_on(self, who);
	bool child;
	int rc;

	if (!watch || weir_actor_id_equal(who, WEIR_ACTOR_ID_NONE) ||
	    weir_actor_id_equal(who, self->ref))
		return;
	child = weir_actor_id_equal(
		weir_system_parent(self->hierarchy->system, who), self->ref);
	rc = weir_actor_watch(&self->actor, who, watch);
	if (rc == 0)
		*watch = (struct node_watch){
			.who = who,
			.set = true,
			.loose = !self->nature.terminated, /* unseen */
			.child = child,
		};
	else
		assert_true(rc == -ESHUTDOWN || rc == -ENOMEM);
}

static void unwatch_somebody(struct node *self)
{
	struct node_watch *watch =
		&self->watches[below(&self->random, WATCHES)];
	int rc;

	if (!watch->set)
		return;
	rc = weir_actor_unwatch(&self->actor, watch->who);
	/* one that stops watches nobody any more */
	assert_true(rc == 0 ||
		    (rc == -ENOENT &&
		     (watch->loose || self->actor.flags & WEIR__ACTOR_CLOSED)));
	watch->set = false;
}

void loosen_watches(struct node *self)
{
	size_t i;

	for (i = 0; i < WATCHES; i++)
		if (self->watches[i].child)
			self->watches[i].loose = true;
}

/* --- What a node does ----------------------------------------------------- */

/* By the actor's own interface, which knows nothing of systems. */
static void disturb_directly(struct hierarchy *hierarchy, uint64_t *random,
			     struct weir_actor_id ref)
{
	struct weir_actor *actor = weir_system_actor(hierarchy->system, ref);

	if (!actor)
		return;
	switch (below(random, 4)) {
	case 0:
		weir_actor_stop(actor);
		break;
	case 1:
		weir_actor_suspend(actor);
		break;
	case 2:
		weir_actor_resume(actor);
		break;
	default:
		weir_actor_signal(actor);
		break;
	}
	weir_actor_unref(actor);
}

void disturb_others(struct hierarchy *hierarchy, uint64_t *random,
		    struct node *self)
{
	struct weir_actor_id ref = any_ref(hierarchy, random);
	uint32_t n = 2;

	switch (below(random, 16)) {
	case 0:
		check_order(weir_system_stop_actor(hierarchy->system, ref));
		break;
	case 1:
		check_order(weir_system_kill(hierarchy->system, ref));
		break;
	case 2:
		check_order(weir_system_poison(hierarchy->system, ref));
		break;
	case 3:
		disturb_directly(hierarchy, random, ref);
		break;
	case 4:
		invite(hierarchy, random, ref);
		break;
	case 5:
	case 6:
	case 7:
		while (n--)
			spawn_any(hierarchy, random, self);
		break;
	default:
		while (n--)
			put_any(hierarchy, random);
		break;
	}
}

static void disturb_itself(struct node *self)
{
	switch (below(&self->random, 8)) {
	case 0:
		assert_int_equal(weir_actor_stop_children(&self->actor), 0);
		break;
	case 1:
		weir_actor_signal(&self->actor);
		break;
	case 2:
		unwatch_somebody(self);
		break;
	case 3:
		if (!below(&self->random, 4))
			weir_actor_stop(&self->actor);
		break;
	default:
		watch_somebody(self, any_ref(self->hierarchy, &self->random));
		break;
	}
}

static int go_wrong(struct node *self)
{
	static const int codes[] = {-EAGAIN, -EIO,  -EIO,
				    -ENOENT, -EDOM, WEIR_ERROR_FATAL};
	int code = codes[below(&self->random, 6)];
	struct weir_error *error;

	switch (below(&self->random, 12)) {
	case 0:
		assert_int_equal(weir_actor_end(&self->actor), 0);
		return 0;
	case 1:
	case 2:
	case 3:
		if (weir_error_new(&error, code, self->ops.name, "as drawn",
				   NULL, NULL,
				   &self->hierarchy->memory.allocator) < 0)
			error = weir_error_of(code);
		self->fails = true;
		assert_int_equal(weir_actor_fail(&self->actor, error), 0);
		return 0;
	default:
		self->fails = true;
		return code;
	}
}

int act(struct node *self)
{
	struct hierarchy *hierarchy = self->hierarchy;

	self->fails = false;
	if (strikes(hierarchy, &self->random, 3))
		disturb_others(hierarchy, &self->random, self);
	if (strikes(hierarchy, &self->random, 6))
		disturb_itself(self);
	return strikes(hierarchy, &self->random, 6) ? go_wrong(self) : 0;
}
