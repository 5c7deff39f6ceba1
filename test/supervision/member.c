/* SPDX-License-Identifier: BSD-2-Clause */
#include "supervision/member.h"

#include "supervision/kit.h"

struct member *member_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct member, actor);
}

struct member *member(const struct play *play, const char *name)
{
	struct member *found = play->members;

	while (found && strcmp(found->name, name) != 0)
		found = found->next;
	assert_non_null(found);
	return found;
}

struct weir_actor_id ref(const struct play *play, const char *name)
{
	return member(play, name)->ref;
}

void member_fail(struct member *self, int code)
{
	struct weir_error *error;

	self->failed = true;
	if (weir_error_new(&error, code, self->name, "as told", self, NULL,
			   &self->play->base.heap.allocator) == 0)
		assert_int_equal(weir_actor_fail(&self->actor, error), 0);
	else
		assert_int_equal(weir_actor_fail_code(&self->actor, code), 0);
}

static int step_do(const struct step *step, struct member *self)
{
	struct play *play = self->play;

	if (step->spawn)
		self->rc = spawn(play, self->ref, step->spawn);
	if (step->stop)
		(void)weir_system_stop_actor(play->base.system,
					     ref(play, step->stop));
	if (step->watch)
		assert_int_equal(weir_actor_watch(&self->actor,
						  ref(play, step->watch), NULL),
				 0);
	if (step->stop_children)
		assert_int_equal(weir_actor_stop_children(&self->actor), 0);
	if (step->call)
		step->call(self);
	if (step->fail)
		member_fail(self, step->fail);
	if (step->finish)
		assert_int_equal(weir_actor_end(&self->actor), 0);
	return step->rc;
}

static bool step_applies(const struct step *step, const struct member *self,
			 enum when when, size_t item)
{
	return !strcmp(step->who, self->name) && step->when == when &&
	       (!step->item || step->item == item) &&
	       (!step->generation || step->generation == self->generation);
}

int member_play(struct member *self, enum when when, size_t item)
{
	const struct play *play = self->play;
	size_t i;
	int rc = 0;

	for (i = 0; i < play->n_steps; i++)
		if (step_applies(&play->steps[i], self, when, item))
			rc = step_do(&play->steps[i], self);
	return rc;
}

int member_hook(struct weir_actor *actor, enum when when)
{
	struct member *self = member_of(actor);

	assert_int_equal(self->fate.stopped, 0);
	note(self->play, self->name, "%s%u.%s", self->name, self->generation,
	     when_names[when]);
	return member_play(self, when, 0);
}

/* Every beginning that went well has an end, and none has two. */
static int member_begin(struct weir_actor *actor, enum when when)
{
	struct member *self = member_of(actor);
	int rc;

	assert_false(self->begun);
	self->failed = false;
	rc = member_hook(actor, when);
	self->begun = rc >= 0 && !self->failed;
	return rc;
}

static int member_pre_start(struct weir_actor *actor)
{
	return member_begin(actor, PRE_START);
}

/* One that is permanent restarts without having failed. */
static void keep_cause(struct member *self, const struct weir_error *cause)
{
	assert_true(cause || self->role->restart == WEIR_RESTART_PERMANENT);
	self->cause = cause ? cause->code : 0;
}

static int member_post_restart(struct weir_actor *actor,
			       struct weir_error *cause)
{
	keep_cause(member_of(actor), cause);
	return member_begin(actor, POST_RESTART);
}

static int member_pre_restart(struct weir_actor *actor,
			      struct weir_error *cause)
{
	struct member *self = member_of(actor);

	keep_cause(self, cause);
	assert_true(self->begun);
	self->begun = false;
	return member_hook(actor, PRE_RESTART);
}

static int member_reset(struct weir_actor *actor)
{
	struct member *self = member_of(actor);

	assert_false(self->begun);
	self->generation++;
	self->seen = 0;
	return member_hook(actor, RESET);
}

static int member_post_stop(struct weir_actor *actor, struct weir_error *error)
{
	struct member *self = member_of(actor);

	assert_true(self->begun);
	self->begun = false;
	return member_hook(actor, POST_STOP);
}

static int member_stopping(struct weir_actor *actor)
{
	return member_hook(actor, STOPPING);
}

static int member_terminated(struct weir_actor *actor,
			     const struct weir_terminated *notice)
{
	return member_hook(actor, TERMINATED);
}

static int member_child_ended(struct weir_actor *actor,
			      const struct weir_terminated *notice)
{
	return member_hook(actor, CHILD_ENDED);
}

static int member_ended(struct weir_actor *actor, struct weir_in *in,
			struct weir_error *error)
{
	assert_true(member_of(actor)->begun);
	return member_hook(actor, ENDED);
}

static int member_signalled(struct weir_actor *actor)
{
	assert_true(member_of(actor)->begun);
	return member_hook(actor, SIGNALLED);
}

int member_turn(struct weir_actor *actor)
{
	struct member *self = member_of(actor);
	size_t item = (uintptr_t)weir_in_peek(&self->in);
	int rc;

	assert_true(self->begun);
	self->failed = false;
	self->seen++;
	note(self->play, self->name, "%s%u.%zu", self->name, self->generation,
	     item);
	if (!self->role->peeks)
		ledger_deliver(&self->play->base.ledger,
			       weir_in_take(&self->in));
	rc = member_play(self, TURN, item);
	if (self->role->peeks && rc >= 0 && !self->failed)
		ledger_deliver(&self->play->base.ledger,
			       weir_in_take(&self->in));
	return rc;
}
WEIR_TURN(member_turn)

uint32_t member_turns(struct weir_actor *actor, uint32_t n)
{
	return member_turn_n(actor, n);
}

static void member_stopped(struct weir_actor *actor, struct weir_error *error)
{
	struct member *self = member_of(actor);

	fate_stopped(&self->fate, error);
	assert_false(self->begun && self->life.post_stop);
}

void member_released(struct weir_actor *actor)
{
	fate_released(&member_of(actor)->fate);
}

static const struct role *role_of(const struct play *play, const char *name)
{
	static const struct role usual;
	size_t i;

	for (i = 0; i < play->n_roles; i++)
		if (!strcmp(play->roles[i].name, name))
			return &play->roles[i];
	return &usual;
}

static void member_hooks(struct member *self)
{
	uint32_t hooks = self->role->hooks ? self->role->hooks : USUAL;
	struct weir_lifecycle *life = &self->life;

	life->pre_start = hooks & HOOK(PRE_START) ? member_pre_start : NULL;
	life->pre_restart = hooks & HOOK(PRE_RESTART) ? member_pre_restart
						      : NULL;
	life->reset = hooks & HOOK(RESET) ? member_reset : NULL;
	life->post_restart = hooks & HOOK(POST_RESTART) ? member_post_restart
							: NULL;
	life->stopping = hooks & HOOK(STOPPING) ? member_stopping : NULL;
	life->post_stop = hooks & HOOK(POST_STOP) ? member_post_stop : NULL;
	life->terminated = hooks & HOOK(TERMINATED) ? member_terminated : NULL;
	life->child_ended = hooks & HOOK(CHILD_ENDED) ? member_child_ended
						      : NULL;
	self->ops.ended = hooks & HOOK(ENDED) ? member_ended : NULL;
	life->strategy = self->role->strategy ? self->role->strategy : &by_code;
}

struct member *member_new(struct play *play, const char *name)
{
	struct member *self = calloc(1, sizeof(*self));
	size_t fail = play->base.heap.fail;
	struct weir_sim *sim;

	assert_non_null(self);
	*self = (struct member){
		.play = play,
		.role = role_of(play, name),
		.next = play->members,
		.name = name,
		.generation = 1,
		.ops = {.name = name,
			.turns = member_turn_n,
			.signalled = member_signalled,
			.stopped = member_stopped,
			.released = member_released,
			.lifecycle = &self->life},
	};
	member_hooks(self);
	play->members = self;
	play->base.heap.fail = 0; /* it is not about in-ports */
	sim = self->role->far && play->far ? play->far : play->base.sim;
	assert_int_equal(weir_actor_init(&self->actor, &self->ops,
					 weir_sim_executor(sim)),
			 0);
	assert_int_equal(weir_in_init(&self->in, &self->actor, 16,
				      &play->base.ledger.items),
			 0);
	play->base.heap.fail = fail;
	return self;
}

/* Who says that it ends by itself has time for that, unless its role says how
 * long; scenario/shutdown is about the default. */
static uint64_t shutdown_ns(const struct role *role)
{
	return !role->shutdown_ns && (role->hooks & HOOK(STOPPING))
		       ? WEIR_FOREVER
		       : role->shutdown_ns;
}

int member_spawn(struct member *self, struct weir_actor_id parent)
{
	struct weir_spawn_options options = {
		.name = self->name,
		.restart = self->role->restart,
		.shutdown_ns = shutdown_ns(self->role),
	};
	int rc = weir_system_spawn(self->play->base.system, parent,
				   &self->actor, &options, &self->ref);

	if (rc != 0) /* as it was: it ends here, without a hook */
		weir_actor_stop(&self->actor);
	return rc;
}
