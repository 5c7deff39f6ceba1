/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/pool_loans.h"

struct loans the_loans;

/* --- Workers -------------------------------------------------------------- */

static struct stayer *stayer_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct stayer, actor);
}

static uint32_t no_turns(struct weir_actor *actor, uint32_t n)
{
	(void)actor;
	return n;
}

static int stayer_starts(struct weir_actor *actor)
{
	struct loans *loans = stayer_of(actor)->loans;

	loans->world.started++;
	if (!loans->crash)
		return 0;
	loans->crash--;
	return -EIO;
}

static int stayer_told(struct weir_actor *actor)
{
	return weir_actor_end(actor);
}

static void stayer_released(struct weir_actor *actor)
{
	stayer_of(actor)->loans->world.released++;
	free(stayer_of(actor));
}

static const struct weir_lifecycle stayer_life = {.pre_start = stayer_starts};
static const struct weir_actor_ops stayer_ops = {
	.name = "stayer",
	.turns = no_turns,
	.signalled = stayer_told,
	.released = stayer_released,
	.lifecycle = &stayer_life,
};

static int stayer_make(void *job, struct weir_actor **worker, void *context)
{
	struct loans *loans = context;
	struct stayer *self;

	assert_null(job);
	if (loans->make_rc < 0)
		return loans->make_rc;
	self = calloc(1, sizeof(*self));
	assert_non_null(self);
	self->loans = loans;
	assert_int_equal(weir_actor_init(&self->actor, &stayer_ops,
					 loans->world.base.executor),
			 0);
	loans->world.made++;
	*worker = &self->actor;
	return 0;
}

/* The worker, for a moment; NULL: it has ended. */
static struct stayer *stayer(struct loans *loans, struct weir_actor_id id)
{
	struct weir_actor *actor =
		weir_system_actor(loans->world.base.system, id);

	weir_actor_unref(actor);
	return actor ? stayer_of(actor) : NULL;
}

void loans_worker_end(struct loans *loans, struct weir_actor_id id)
{
	struct stayer *self = stayer(loans, id);

	assert_non_null(self);
	weir_actor_signal(&self->actor);
	pool_settle(&loans->world);
}

/* --- Holders -------------------------------------------------------------- */

static void holder_released(struct weir_actor *actor)
{
	weir_container_of(actor, struct holder, actor)->lives = false;
}

static const struct weir_actor_ops holder_ops = {
	.name = "holder",
	.turns = no_turns,
	.signalled = stayer_told,
	.released = holder_released,
};

struct weir_actor_id loans_holder(struct loans *loans, size_t i)
{
	struct holder *self = &loans->holders[i];

	if (self->lives)
		return self->id;
	assert_int_equal(weir_actor_init(&self->actor, &holder_ops,
					 loans->world.base.executor),
			 0);
	if (weir_system_spawn(loans->world.base.system, WEIR_ACTOR_ID_NONE,
			      &self->actor, NULL, &self->id) < 0) {
		weir_actor_stop(&self->actor);
		return self->id;
	}
	self->lives = true;
	return self->id;
}

void loans_holder_end(struct loans *loans, size_t i)
{
	(void)weir_system_stop_actor(loans->world.base.system,
				     loans->holders[i].id);
	pool_settle(&loans->world);
}

/* --- Check-outs ----------------------------------------------------------- */

/* Nobody else has the worker; but who has named its holder may have lost it by
 * the end of that. */
static void has_it(struct ask *ask)
{
	struct stayer *self = stayer(ask->loans, ask->request.worker.id);

	ask->has = true;
	if (!self)
		return;
	assert_false(self->kept);
	self->kept =
		weir_actor_id_equal(ask->request.holder, WEIR_ACTOR_ID_NONE);
	self->holder = ask;
}

static void told(struct weir_pool_check_out *request, int rc)
{
	struct ask *ask = weir_container_of(request, struct ask, request);

	ask->told++;
	ask->rc = rc;
	ask->n = ++ask->loans->n_told;
	assert_int_equal(ask->told + ask->cancelled, ask->asked);
	if (rc == 0)
		has_it(ask);
	if (ask->loans->in_done)
		ask->loans->in_done(ask);
}

/* Counted before: `done` may come first. */
int loans_ask_as_until(struct loans *loans, size_t i, struct weir_actor_id who,
		       uint64_t deadline_ns)
{
	struct ask *self = &loans->asks[i];
	int rc;

	self->request.done = told;
	self->request.holder = who;
	self->asked++;
	rc = weir_pool_check_out_async(loans->world.pools, "a", &self->request,
				       deadline_ns);
	self->asked -= rc < 0;
	return rc;
}

int loans_ask_as(struct loans *loans, size_t i, struct weir_actor_id who)
{
	return loans_ask_as_until(loans, i, who, WEIR_FOREVER);
}

int loans_ask_until(struct loans *loans, size_t i, uint64_t deadline_ns)
{
	return loans_ask_as_until(loans, i, WEIR_ACTOR_ID_NONE, deadline_ns);
}

int loans_ask(struct loans *loans, size_t i)
{
	return loans_ask_as(loans, i, WEIR_ACTOR_ID_NONE);
}

int loans_try_as(struct loans *loans, size_t i, struct weir_actor_id who)
{
	struct ask *self = &loans->asks[i];
	int rc;

	self->request.holder = who;
	rc = weir_pool_try_check_out(loans->world.pools, "a", who,
				     &self->request.worker);

	if (rc == 0)
		has_it(self);
	return rc;
}

int loans_try(struct loans *loans, size_t i)
{
	return loans_try_as(loans, i, WEIR_ACTOR_ID_NONE);
}

int loans_wait(struct loans *loans, size_t i, uint64_t timeout_ns)
{
	struct ask *self = &loans->asks[i];
	int rc;

	self->request.holder = WEIR_ACTOR_ID_NONE;
	rc = weir_pool_check_out_wait(loans->world.pools, "a",
				      WEIR_ACTOR_ID_NONE, timeout_ns,
				      &self->request.worker);

	if (rc == 0)
		has_it(self);
	return rc;
}

/* Its worker was checked in. */
void loans_is_back(struct ask *ask)
{
	struct stayer *self = stayer(ask->loans, ask->request.worker.id);

	ask->has = false;
	if (self && self->holder == ask)
		self->kept = false;
}

int loans_check_in(struct loans *loans, size_t i)
{
	struct ask *self = &loans->asks[i];
	int rc = weir_pool_check_in(loans->world.pools, &self->request.worker);

	if (rc == 0)
		loans_is_back(self);
	pool_settle(&loans->world);
	return rc;
}

bool loans_forget(struct loans *loans, size_t i)
{
	struct ask *self = &loans->asks[i];
	bool cancelled =
		weir_pool_cancel_check_out(loans->world.pools, &self->request);

	self->cancelled += cancelled;
	return cancelled;
}

struct weir_actor_id loans_worker(const struct loans *loans, size_t i)
{
	return loans->asks[i].request.worker.id;
}

/* --- The world ------------------------------------------------------------ */

void loans_init(struct loans *loans, uint64_t seed)
{
	size_t i;

	memset(loans, 0, sizeof(*loans));
	pool_world_init(&loans->world, seed);
	for (i = 0; i < ASKS; i++)
		loans->asks[i].loans = loans;
	loans->world.options.make = stayer_make;
	loans->world.options.context = loans;
}

/* So many workers stay, and there may be so many. */
void loans_members(struct loans *loans, size_t stay, uint32_t limit)
{
	loans->world.options.stay = stay;
	pool_start(&loans->world, limit);
	pool_settle(&loans->world);
}

void loans_fini(struct loans *loans)
{
	size_t i;

	pool_world_fini(&loans->world);
	for (i = 0; i < ASKS; i++)
		assert_int_equal(loans->asks[i].told + loans->asks[i].cancelled,
				 loans->asks[i].asked);
}

void loans_over_seeds(void **state)
{
	const struct loans_rule *rule = *state;

	for_each_seed(seed, test_count(test_soak() ? 5000 : 200)) {
		loans_init(&the_loans, seed);
		pool_world_open(&the_loans.world);
		rule->run(&the_loans);
		loans_fini(&the_loans);
	}
}
