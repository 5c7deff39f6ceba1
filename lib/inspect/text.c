/* SPDX-License-Identifier: BSD-2-Clause */
/* Snapshots in words, as JSON, and as graphs. */
#include <inttypes.h>
#include <poll.h>
#include <string.h>

#include <weir/executor.h>

#include "inspect/saying.h"
#include "inspect/snapshot.h"

#define ROOTS 8u /* of the program are told */
#define NAMED 4u /* actors that have the threads of an executor */

/* --- Words ---------------------------------------------------------------- */

static const char *name_of(const struct weir_snapshot *snapshot, size_t actor)
{
	return snapshot->actors[actor].name;
}

static void say_fd(struct saying *text, int fd, short events)
{
	const char *what = events & POLLIN ? events & POLLOUT
						     ? "readable or writable"
						     : "readable"
					   : "writable";

	if (fd < 0)
		say(text, "waits for a descriptor");
	else
		say(text, "waits until descriptor %d is %s", fd, what);
}

static void say_time(struct saying *text, uint64_t at_ns)
{
	if (at_ns == WEIR_FOREVER)
		say(text, "waits for a time that is not set");
	else
		say(text, "waits until %" PRIu64 " ns", at_ns);
}

/* Of those that end at the port, or begin there, one that holds it back; NULL:
 * none. */
static const struct weir_seen_demand *demand_at(
	const struct weir_snapshot *snapshot, size_t port)
{
	const struct weir_seen_demand *demand;
	size_t i;

	for (i = 0; i < snapshot->n_demands; i++) {
		demand = &snapshot->demands[i];
		if (demand->to == port ||
		    (demand->from == port && demand->requested <= demand->sent))
			return demand;
	}
	return NULL;
}

static void say_input(struct saying *text,
		      const struct weir_seen_demand *demand)
{
	if (!demand)
		say(text, "waits for input from outside");
	else if (!demand->subscription)
		say(text, "waits for a publisher: it is not subscribed");
	else if (demand->requested <= demand->sent)
		say(text, "has requested no more than %" PRId64 " items",
		    demand->requested);
	else
		say(text,
		    "waits for %" PRId64 " items that a publisher outside owes",
		    demand->requested - demand->sent);
}

static void say_demand(struct saying *text,
		       const struct weir_seen_demand *demand)
{
	say(text, "waits for demand of a subscriber");
	if (demand)
		say(text,
		    " outside, which has requested no more than %" PRId64
		    " items",
		    demand->requested);
}

static void say_object(struct saying *text, const struct weir_seen_port *port,
		       const struct weir_seen_object *object)
{
	if (port->wait == WEIR_WAIT_PERMIT)
		say(text, "waits for a permit");
	else
		say(text, "waits for %s in a channel",
		    port->takes ? "an item" : "room");
	if (!object)
		return;
	if (port->wait == WEIR_WAIT_PERMIT)
		say(text, ": %" PRId64 " free", object->fill);
	else
		say(text, ": %" PRId64 " of %zu in it", object->fill,
		    object->capacity);
}

/* Of an actor that waits at a port for no other actor. */
static void say_port(struct saying *text, const struct weir_snapshot *snapshot,
		     size_t at)
{
	const struct weir_seen_port *port = &snapshot->ports[at];

	switch (port->wait) {
	case WEIR_WAIT_INPUT:
		say_input(text, demand_at(snapshot, at));
		break;
	case WEIR_WAIT_ROOM:
	case WEIR_WAIT_DEMAND:
		say_demand(text, demand_at(snapshot, at));
		break;
	case WEIR_WAIT_LINK:
		say(text, "has an out-port that is linked to nobody");
		break;
	case WEIR_WAIT_PERMIT:
	case WEIR_WAIT_CHANNEL:
		say_object(text, port,
			   port->shared == WEIR_NOWHERE
				   ? NULL
				   : &snapshot->objects[port->shared]);
		break;
	case WEIR_WAIT_TIME:
		say_time(text, port->at_ns);
		break;
	case WEIR_WAIT_FD:
		say_fd(text, port->fd, port->events);
		break;
	case WEIR_WAIT_COMPLETED:
		say(text, "waits for a completion");
		break;
	default:
		say(text, "waits at a port");
		break;
	}
}

/* Of one that waits for another one. */
static void say_other(struct saying *text, const struct weir_seen_port *port,
		      const char *other)
{
	switch (port->wait) {
	case WEIR_WAIT_INPUT:
		say(text, "waits for input from %s", other);
		break;
	case WEIR_WAIT_DEMAND:
		say(text, "waits for demand of %s", other);
		break;
	case WEIR_WAIT_PERMIT:
		say(text, "waits for a permit that %s holds", other);
		break;
	case WEIR_WAIT_CHANNEL:
		say(text, "waits for %s in a channel, by %s",
		    port->takes ? "an item" : "room", other);
		break;
	default:
		say(text, "waits for room in %s", other);
		break;
	}
}

/* Of operators that may hold their actor up. */
static void say_wakers(struct saying *text, uint32_t wakers)
{
	static const struct {
		enum weir_wait wait;
		const char *what;
	} all[] = {
		{WEIR_WAIT_PERMIT, "a permit"},
		{WEIR_WAIT_TIME, "a time"},
		{WEIR_WAIT_FD, "a descriptor"},
		{WEIR_WAIT_CHANNEL, "a channel"},
		{WEIR_WAIT_INPUT, "input from outside"},
	};
	const char *before = "waits for ";
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (!(wakers & 1u << all[i].wait))
			continue;
		say(text, "%s%s", before, all[i].what);
		before = " or ";
	}
	if (!wakers)
		say(text, "waits until it is woken");
}

/* Why it may be that it waits at no port. */
static void say_over(struct saying *text, const struct weir_snapshot *snapshot,
		     const struct weir_seen_actor *actor)
{
	const struct weir_seen_port *port;
	const char *before = ": ";
	size_t p;

	for (p = actor->port; p < actor->port + actor->n_ports; p++) {
		port = &snapshot->ports[p];
		if (!port->over)
			continue;
		say(text, "%s%s %s", before, port->name,
		    port->wait == WEIR_WAIT_INPUT ||
				    port->wait == WEIR_WAIT_CHANNEL
			    ? "has ended"
			    : "was cancelled");
		before = ", ";
	}
}

/* Of one that waits for an operator of its, which may be nested in another. */
static void say_asked(struct saying *text, const struct weir_snapshot *snapshot,
		      const struct weir_seen_actor *actor)
{
	switch (actor->asked_for) {
	case WEIR_WAIT_PERMIT:
		say(text, "waits for a permit");
		break;
	case WEIR_WAIT_TIME:
		if (actor->at_ns == WEIR_FOREVER)
			say(text, "waits for a time");
		else
			say_time(text, actor->at_ns);
		break;
	case WEIR_WAIT_FD:
		say_fd(text, actor->fd, actor->events);
		break;
	case WEIR_WAIT_CHANNEL:
		say(text, "waits at a channel");
		break;
	case WEIR_WAIT_INPUT:
		say(text, "waits for input from outside");
		break;
	default:
		say_wakers(text, actor->asked[0] ? 0 : actor->wakers);
		break;
	}
	if (actor->asked[0])
		say(text, " in %s", actor->asked);
	else if (!actor->wakers)
		say_over(text, snapshot, actor);
}

/* Whom the threads of an executor run, the first of them by name. */
static void say_busy(struct saying *text, const struct weir_snapshot *snapshot,
		     const struct weir_seen_executor *executor)
{
	const struct weir_seen_thread *thread =
		&snapshot->threads[executor->thread];
	const char *before = "";
	uint32_t named = 0;
	size_t i;

	for (i = 0; i < executor->n_threads && named < NAMED; i++) {
		if (thread[i].actor == WEIR_NOWHERE)
			continue;
		say(text, "%s%s", before, name_of(snapshot, thread[i].actor));
		before = ", ";
		named++;
	}
	if (executor->busy > named)
		say(text, " and %u more", executor->busy - named);
}

/* All threads that there may be are taken, and others are due. */
static bool is_exhausted(const struct weir_seen_executor *executor)
{
	return executor->stands && executor->queued > 0 &&
	       executor->threads_max > 1 &&
	       executor->busy == executor->threads_max;
}

static void say_running(struct saying *text,
			const struct weir_snapshot *snapshot,
			const struct weir_seen_actor *actor)
{
	const struct weir_seen_executor *home;
	const struct weir_seen_thread *thread;

	if (actor->thread == WEIR_NOWHERE) {
		say(text, "is about to run");
		return;
	}
	home = &snapshot->executors[actor->home];
	thread = &snapshot->threads[actor->thread];
	say(text,
	    thread->stays ? "is in a turn that does not return, on thread %d"
			  : "runs, on thread %d",
	    thread->id);
	if (!is_exhausted(home))
		return;
	say(text, "; %u more are due, and all %u threads of %s run ",
	    home->queued, home->busy, home->name);
	say_busy(text, snapshot, home);
}

/* It is due, and no thread is free for it. */
static void say_due(struct saying *text, const struct weir_snapshot *snapshot,
		    const struct weir_seen_actor *actor)
{
	const struct weir_seen_executor *home =
		&snapshot->executors[actor->home];

	if (actor->holder == WEIR_NOWHERE) {
		say(text, "is due, but nobody runs its %s",
		    home->kind == WEIR_EXECUTOR_LOOP ? "loop" : "simulator");
	} else if (home->threads_max > 1 && home->busy == home->threads_max) {
		say(text, "is due, but all %u threads of %s run ", home->busy,
		    home->name);
		say_busy(text, snapshot, home);
	} else {
		say(text, "is due, but its thread runs %s",
		    name_of(snapshot, actor->holder));
	}
}

static const char *holder_of(const struct weir_snapshot *snapshot,
			     const struct weir_seen_actor *actor,
			     const char *unknown)
{
	return actor->holder == WEIR_NOWHERE ? unknown
					     : name_of(snapshot, actor->holder);
}

static void say_failure(struct saying *text,
			const struct weir_snapshot *snapshot,
			const struct weir_seen_child *child)
{
	say(text, "has failed");
	if (child->culprit != WEIR_NOWHERE)
		say(text, " as its child %s has",
		    name_of(snapshot, child->culprit));
	if (child->error)
		say(text, " (%s)", child->message);
}

/* An actor that its system knows is halted. */
static void say_halted(struct saying *text,
		       const struct weir_snapshot *snapshot,
		       const struct weir_seen_actor *actor)
{
	const struct weir_seen_child *child = &snapshot->children[actor->child];

	switch (actor->wait) {
	case WEIR_WAIT_VERDICT:
		say_failure(text, snapshot, child);
		say(text, ", and waits for what %s decides",
		    holder_of(snapshot, actor, "its supervisor"));
		break;
	case WEIR_WAIT_BACKOFF:
		say_failure(text, snapshot, child);
		say(text, ", and restarts at %" PRIu64 " ns", child->until_ns);
		break;
	case WEIR_WAIT_ABOVE:
		say(text, "is suspended, as %s above it has failed or restarts",
		    holder_of(snapshot, actor, "one"));
		break;
	case WEIR_WAIT_CHILDREN:
		say(text, "waits until its child %s has ended",
		    holder_of(snapshot, actor, ""));
		break;
	default: /* WAIT_SIBLINGS */
		say(text, "restarts when %s has halted",
		    holder_of(snapshot, actor, "its siblings"));
		break;
	}
}

/* One who has a place in a pool. */
static void say_member(struct saying *text,
		       const struct weir_snapshot *snapshot, size_t member)
{
	say(text, "%s at %s", name_of(snapshot, member),
	    snapshot->children[snapshot->actors[member].child].path);
}

/* A server, all of whose workers are taken. */
static void say_pool(struct saying *text, const struct weir_snapshot *snapshot,
		     const struct weir_seen_actor *actor)
{
	const struct weir_seen_pool *pool = &snapshot->pools[actor->pool];

	say(text, "waits for one of the %" PRIu64 " workers of %s, as ",
	    pool->busy, pool->name);
	say_member(text, snapshot, actor->holder);
	say(text, ", for %" PRIu64 " jobs", pool->queued);
}

/* A process manager at its `max`. */
static void say_manager(struct saying *text,
			const struct weir_snapshot *snapshot, size_t manager,
			size_t process)
{
	const struct weir_seen_pool *pool =
		&snapshot->pools[snapshot->actors[manager].pool];

	say(text, "has all %" PRIu64 " processes that it may have, as ",
	    pool->busy);
	say_member(text, snapshot, process);
}

static void say_actor(struct saying *text, const struct weir_snapshot *snapshot,
		      const struct weir_seen_actor *actor)
{
	switch (actor->wait) {
	case WEIR_WAIT_NONE:
		say_running(text, snapshot, actor);
		break;
	case WEIR_WAIT_THREAD:
		say_due(text, snapshot, actor);
		break;
	case WEIR_WAIT_WAKE:
		if (actor->holder == WEIR_NOWHERE)
			say_asked(text, snapshot, actor);
		else
			say_pool(text, snapshot, actor);
		break;
	case WEIR_WAIT_VERDICT:
	case WEIR_WAIT_BACKOFF:
	case WEIR_WAIT_ABOVE:
	case WEIR_WAIT_CHILDREN:
	case WEIR_WAIT_SIBLINGS:
		say_halted(text, snapshot, actor);
		break;
	case WEIR_WAIT_RESUME:
		say(text, "is suspended");
		break;
	case WEIR_WAIT_PARENT:
		say(text, "is halted by supervision");
		break;
	default:
		say(text, "waits");
		break;
	}
}

/* For how long, if that is known: rounded down, so never longer than it was. */
static void say_since(struct saying *text, const struct weir_snapshot *snapshot,
		      uint64_t since_ns)
{
	uint64_t ns;

	if (since_ns == WEIR_UNKNOWN || snapshot->now_ns == WEIR_UNKNOWN ||
	    snapshot->now_ns < since_ns)
		return;
	ns = snapshot->now_ns - since_ns;
	if (ns < 1000)
		say(text, ", for %" PRIu64 " ns", ns);
	else if (ns < 1000 * 1000)
		say(text, ", for %" PRIu64 " us", ns / 1000);
	else if (ns < UINT64_C(1000000000))
		say(text, ", for %" PRIu64 " ms", ns / (1000 * 1000));
	else
		say(text, ", for %" PRIu64 ".%" PRIu64 " s",
		    ns / UINT64_C(1000000000), ns / UINT64_C(100000000) % 10);
}

/* The port is told if it has a name of its own, or is one of several. */
static void say_name(struct saying *text, const struct weir_snapshot *snapshot,
		     size_t actor, size_t port)
{
	const char *sort = NULL, *name = "";

	if (port != WEIR_NOWHERE) {
		sort = weir__snapshot_port_name(snapshot->ports[port].wait);
		name = snapshot->ports[port].name;
	}
	say(text, "%s", name_of(snapshot, actor));
	if (sort && strcmp(sort, name) != 0)
		say(text, ".%s", name);
	say(text, " ");
}

static void say_reason(struct saying *text,
		       const struct weir_snapshot *snapshot, size_t actor,
		       const struct weir__cause *cause)
{
	say_name(text, snapshot, actor, cause->port);
	if (cause->port == WEIR_NOWHERE &&
	    (cause->next == WEIR_NOWHERE ||
	     snapshot->actors[actor].holder != WEIR_NOWHERE))
		say_actor(text, snapshot, &snapshot->actors[actor]);
	else if (cause->port == WEIR_NOWHERE)
		say(text, "waits for %s in %s", name_of(snapshot, cause->next),
		    snapshot->actors[actor].asked);
	else if (cause->next == WEIR_NOWHERE)
		say_port(text, snapshot, cause->port);
	else if (snapshot->ports[cause->port].wait == WEIR_WAIT_PERMIT &&
		 snapshot->ports[cause->port].shared == WEIR_NOWHERE)
		say_manager(text, snapshot, actor, cause->next);
	else
		say_other(text, &snapshot->ports[cause->port],
			  name_of(snapshot, cause->next));
	say_since(text, snapshot,
		  weir__snapshot_since(snapshot, actor, cause->port));
	say(text, "\n");
}

static const struct weir__cause *causes_of(const struct weir_snapshot *snapshot)
{
	return ((const struct weir__snapshot *)snapshot)->causes;
}

static void say_way(struct saying *text, const struct weir_snapshot *snapshot,
		    size_t actor)
{
	const struct weir__cause *causes = causes_of(snapshot);
	size_t left = weir_snapshot_why(snapshot, actor, NULL, 0);

	for (; left > 0; left--) {
		say_reason(text, snapshot, actor, &causes[actor]);
		actor = causes[actor].next;
	}
	if (actor != WEIR_NOWHERE)
		say(text, "%s\n",
		    snapshot->settled
			    ? "this is a cycle: they wait for each other"
			    : "this is a cycle, if nothing moves");
}

/* --- The whole program ---------------------------------------------------- */

/* It holds up fewer, or as many and has a higher number. */
static bool comes_behind(const struct weir__cause *causes, size_t root,
			 size_t other)
{
	size_t n = causes[root].n_stuck, n_other = causes[other].n_stuck;

	return n < n_other || (n == n_other && root > other);
}

/* The root that holds up most of those that come behind that one, which holds up
 * more, or as many; WEIR_NOWHERE: of all, or there is none. */
static size_t next_root(const struct weir_snapshot *snapshot, size_t behind)
{
	const struct weir__cause *causes = causes_of(snapshot);
	size_t found = WEIR_NOWHERE, i;

	for (i = 0; i < snapshot->n_actors; i++) {
		if (causes[i].root != i || !weir__cause_holds_up(&causes[i]))
			continue;
		if (behind != WEIR_NOWHERE && !comes_behind(causes, i, behind))
			continue;
		if (found == WEIR_NOWHERE ||
		    causes[i].n_stuck > causes[found].n_stuck)
			found = i;
	}
	return found;
}

static bool anybody_runs(const struct weir_snapshot *snapshot)
{
	size_t i;

	for (i = 0; i < snapshot->n_actors; i++)
		if (snapshot->actors[i].wait == WEIR_WAIT_NONE)
			return true;
	return false;
}

/* Everybody waits for something that holds nothing up: for what, in the end. */
static void say_idle(struct saying *text, const struct weir_snapshot *snapshot)
{
	const struct weir__cause *causes = causes_of(snapshot);
	size_t n = 0, i;

	say(text, "idle: nobody is held up, and nobody runs\n");
	for (i = 0; i < snapshot->n_actors; i++)
		if (causes[i].next == WEIR_NOWHERE && n++ < ROOTS)
			say_way(text, snapshot, i);
	if (n > ROOTS)
		say(text, "%zu more wait for no other\n", n - ROOTS);
}

static void say_program(struct saying *text,
			const struct weir_snapshot *snapshot)
{
	const struct weir__cause *causes = causes_of(snapshot);
	size_t root = next_root(snapshot, WEIR_NOWHERE), i;

	if (snapshot->n_actors == 0)
		say(text, "no actor is alive\n");
	else if (root == WEIR_NOWHERE && anybody_runs(snapshot))
		say(text, "nobody is held up\n");
	else if (root == WEIR_NOWHERE)
		say_idle(text, snapshot);
	for (i = 0; i < ROOTS && root != WEIR_NOWHERE; i++) {
		if (causes[root].next == WEIR_NOWHERE)
			say(text, "%zu held up by: ", causes[root].n_stuck);
		say_way(text, snapshot, root);
		root = next_root(snapshot, root);
	}
	if (snapshot->n_torn)
		say(text, "%zu parts could not be read, and are left out\n",
		    snapshot->n_torn);
}

size_t weir_snapshot_why_text(const struct weir_snapshot *snapshot,
			      size_t actor, char *at, size_t n)
{
	struct saying text = text_of(at, n);

	if (!snapshot)
		return 0;
	if (actor == WEIR_NOWHERE)
		say_program(&text, snapshot);
	else if (actor < snapshot->n_actors)
		say_way(&text, snapshot, actor);
	return text.n;
}

/* --- JSON ----------------------------------------------------------------- */

static const char *const wait_names[] = {
	[WEIR_WAIT_NONE] = "none",
	[WEIR_WAIT_INPUT] = "input",
	[WEIR_WAIT_ROOM] = "room",
	[WEIR_WAIT_DEMAND] = "demand",
	[WEIR_WAIT_LINK] = "link",
	[WEIR_WAIT_PERMIT] = "permit",
	[WEIR_WAIT_CHANNEL] = "channel",
	[WEIR_WAIT_TIME] = "time",
	[WEIR_WAIT_FD] = "fd",
	[WEIR_WAIT_COMPLETED] = "completed",
	[WEIR_WAIT_WAKE] = "wake",
	[WEIR_WAIT_RESUME] = "resume",
	[WEIR_WAIT_PARENT] = "parent",
	[WEIR_WAIT_OTHER] = "other",
	[WEIR_WAIT_THREAD] = "thread",
	[WEIR_WAIT_VERDICT] = "verdict",
	[WEIR_WAIT_BACKOFF] = "backoff",
	[WEIR_WAIT_ABOVE] = "above",
	[WEIR_WAIT_CHILDREN] = "children",
	[WEIR_WAIT_SIBLINGS] = "siblings",
};

static const char *const state_names[] = {
	[WEIR_SEEN_STATE_WAITING] = "waiting",
	[WEIR_SEEN_STATE_QUEUED] = "queued",
	[WEIR_SEEN_STATE_RUNNING] = "running",
	[WEIR_SEEN_STATE_SUSPENDED] = "suspended",
	[WEIR_SEEN_STATE_HALTED] = "halted",
	[WEIR_SEEN_STATE_STARTING] = "starting",
	[WEIR_SEEN_STATE_LEAVING] = "leaving",
};

static const char *const executor_names[] = {
	[WEIR_EXECUTOR_OTHER] = "other", [WEIR_EXECUTOR_THREADS] = "threads",
	[WEIR_EXECUTOR_LOOP] = "loop",	 [WEIR_EXECUTOR_BLOCKING] = "blocking",
	[WEIR_EXECUTOR_SIM] = "sim",
};

const char *weir__snapshot_wait_name(enum weir_wait wait)
{
	return wait_names[wait];
}

/* As strings of JSON and of DOT are quoted. */
static void say_string(struct saying *text, const char *string)
{
	say(text, "\"");
	for (; *string; string++) {
		if (*string == '"' || *string == '\\')
			say(text, "\\%c", *string);
		else
			say(text, "%c", *string);
	}
	say(text, "\"");
}

/* `at` is a number; WEIR_NOWHERE: null. */
static void say_index(struct saying *text, const char *key, size_t at)
{
	if (at == WEIR_NOWHERE)
		say(text, ", \"%s\": null", key);
	else
		say(text, ", \"%s\": %zu", key, at);
}

static void say_known(struct saying *text, const char *key, uint64_t value)
{
	if (value != WEIR_UNKNOWN)
		say(text, ", \"%s\": %" PRIu64, key, value);
}

static bool shares_known(const struct weir_seen_actor *actor)
{
	return actor->busy + actor->held + actor->idle + actor->blocked > 0;
}

/* What the actor's operators wait for at times. */
static void say_waits(struct saying *text, uint32_t wakers)
{
	const char *before = "";
	size_t i;

	say(text, ", \"wakers\": [");
	for (i = 0; i < sizeof(wait_names) / sizeof(*wait_names); i++) {
		if (!(wakers & 1u << i))
			continue;
		say(text, "%s\"%s\"", before, wait_names[i]);
		before = ", ";
	}
	say(text, "]");
}

/* Of a flow: what the operator waits for that holds it up. */
static void say_operator(struct saying *text,
			 const struct weir_seen_actor *actor)
{
	if (actor->wait != WEIR_WAIT_WAKE || !actor->asked[0])
		return;
	say(text, ", \"asked\": ");
	say_string(text, actor->asked);
	say(text, ", \"asked_for\": \"%s\"", wait_names[actor->asked_for]);
	if (actor->fd >= 0)
		say(text, ", \"fd\": %d", actor->fd);
	if (actor->at_ns != WEIR_FOREVER)
		say(text, ", \"at_ns\": %" PRIu64, actor->at_ns);
}

static void say_actors(struct saying *text,
		       const struct weir_snapshot *snapshot)
{
	const struct weir__cause *causes = causes_of(snapshot);
	const struct weir_seen_actor *actor;
	size_t i;

	for (i = 0; i < snapshot->n_actors; i++) {
		actor = &snapshot->actors[i];
		say(text, "%s\n{\"name\": ", i ? "," : "");
		say_string(text, actor->name);
		say(text, ", \"id\": \"%" PRIu32 ".%" PRIu32 "\"",
		    (uint32_t)actor->id, (uint32_t)(actor->id >> 32));
		say(text, ", \"wait\": \"%s\"", wait_names[actor->wait]);
		if (actor->wait == WEIR_WAIT_WAKE)
			say_waits(text, actor->wakers);
		say_operator(text, actor);
		say(text, ", \"state\": \"%s\"", state_names[actor->state]);
		say_index(text, "executor", actor->home);
		say_index(text, "thread", actor->thread);
		say_index(text, "holder", actor->holder);
		say_index(text, "at_port", causes[i].port);
		say_index(text, "waits_for", causes[i].next);
		say_index(text, "root", causes[i].root);
		say(text, ", \"holds_up\": %zu", causes[i].n_stuck);
		say_known(text, "since_ns", actor->since_ns);
		if (shares_known(actor))
			say(text,
			    ", \"busy\": %u, \"held\": %u, \"idle\": %u, "
			    "\"blocked\": %u",
			    actor->busy, actor->held, actor->idle,
			    actor->blocked);
		say(text, "}");
	}
}

static void say_ports(struct saying *text, const struct weir_snapshot *snapshot)
{
	const struct weir_seen_port *port;
	size_t i;

	for (i = 0; i < snapshot->n_ports; i++) {
		port = &snapshot->ports[i];
		say(text, "%s\n{\"actor\": %zu, \"name\": ", i ? "," : "",
		    port->actor);
		say_string(text, port->name);
		say(text, ", \"wait\": \"%s\"", wait_names[port->wait]);
		say(text, ", \"takes_part\": %s, \"blocked\": %s",
		    port->takes_part ? "true" : "false",
		    port->blocked ? "true" : "false");
		say(text, ", \"burst\": %u", port->burst);
		if (port->over)
			say(text, ", \"over\": true");
		if (port->fd >= 0)
			say(text, ", \"fd\": %d", port->fd);
		if (port->wait == WEIR_WAIT_TIME)
			say(text, ", \"at_ns\": %" PRIu64, port->at_ns);
		if (port->shared != WEIR_NOWHERE)
			say(text, ", \"object\": %zu, \"held\": %u",
			    port->shared, port->held);
		say_known(text, "since_ns", port->since_ns);
		say(text, "}");
	}
}

static void say_links(struct saying *text, const struct weir_snapshot *snapshot)
{
	const struct weir_seen_link *link;
	size_t i;

	for (i = 0; i < snapshot->n_links; i++) {
		link = &snapshot->links[i];
		say(text, "%s\n{\"to\": %zu", i ? "," : "", link->to);
		say_index(text, "from", link->from);
		say(text,
		    ", \"capacity\": %u, \"fill\": %u, \"items\": %u, "
		    "\"ended\": %s",
		    link->capacity, link->fill, link->items,
		    link->ended ? "true" : "false");
		if (link->items_ever != WEIR_UNKNOWN)
			say(text, ", \"high\": %u", link->high);
		say_known(text, "items_ever", link->items_ever);
		say_known(text, "rate", link->rate);
		say(text, "}");
	}
}

static void say_demands(struct saying *text,
			const struct weir_snapshot *snapshot)
{
	const struct weir_seen_demand *demand;
	size_t i;

	for (i = 0; i < snapshot->n_demands; i++) {
		demand = &snapshot->demands[i];
		say(text, "%s\n{\"requested\": %" PRId64 ", \"sent\": %" PRId64,
		    i ? "," : "", demand->requested, demand->sent);
		say_index(text, "from", demand->from);
		say_index(text, "to", demand->to);
		say(text, ", \"subscribed\": %s}",
		    demand->subscription ? "true" : "false");
	}
}

static void say_objects(struct saying *text,
			const struct weir_snapshot *snapshot)
{
	const struct weir_seen_object *object;
	size_t i;

	for (i = 0; i < snapshot->n_objects; i++) {
		object = &snapshot->objects[i];
		say(text,
		    "%s\n{\"kind\": \"%s\", \"capacity\": %zu, "
		    "\"fill\": %" PRId64
		    ", \"takers\": %u, \"putters\": %u, \"ended\": %s}",
		    i ? "," : "", wait_names[object->wait], object->capacity,
		    object->fill, object->takers, object->putters,
		    object->ended ? "true" : "false");
	}
}

static void say_executors(struct saying *text,
			  const struct weir_snapshot *snapshot)
{
	const struct weir_seen_executor *executor;
	size_t i;

	for (i = 0; i < snapshot->n_executors; i++) {
		executor = &snapshot->executors[i];
		say(text, "%s\n{\"kind\": \"%s\", \"name\": ", i ? "," : "",
		    executor_names[executor->kind]);
		say_string(text, executor->name);
		say(text, ", \"now_ns\": %" PRIu64, executor->now_ns);
		say(text, ", \"threads\": %zu, \"threads_max\": %u",
		    executor->n_threads, executor->threads_max);
		say(text, ", \"busy\": %u, \"parked\": %u, \"queued\": %u",
		    executor->busy, executor->parked, executor->queued);
		say(text, ", \"timers\": %" PRIu64 ", \"watches\": %" PRIu64,
		    executor->timers, executor->watches);
		say(text, ", \"slices\": %" PRIu64 ", \"steals\": %" PRIu64 "}",
		    executor->slices, executor->steals);
	}
}

static void say_threads(struct saying *text,
			const struct weir_snapshot *snapshot)
{
	const struct weir_seen_thread *thread;
	size_t i;

	for (i = 0; i < snapshot->n_threads; i++) {
		thread = &snapshot->threads[i];
		say(text, "%s\n{\"id\": %d", i ? "," : "", thread->id);
		say_index(text, "executor", thread->executor);
		say_index(text, "actor", thread->actor);
		say(text, ", \"stays\": %s", thread->stays ? "true" : "false");
		say(text, ", \"queued\": %u, \"slices\": %" PRIu64 "}",
		    thread->queued, thread->slices);
	}
}

static void say_children(struct saying *text,
			 const struct weir_snapshot *snapshot)
{
	const struct weir_seen_child *child;
	size_t i;

	for (i = 0; i < snapshot->n_children; i++) {
		child = &snapshot->children[i];
		say(text, "%s\n{\"actor\": %zu, \"path\": ", i ? "," : "",
		    child->actor);
		say_string(text, child->path);
		say_index(text, "parent", child->parent);
		say_index(text, "culprit", child->culprit);
		say(text, ", \"restarts\": %" PRIu64 ", \"error\": %d",
		    child->restarts, child->error);
		if (child->error) {
			say(text, ", \"message\": ");
			say_string(text, child->message);
		}
		if (child->until_ns != WEIR_FOREVER)
			say(text, ", \"until_ns\": %" PRIu64, child->until_ns);
		say(text, "}");
	}
}

static void say_pools(struct saying *text, const struct weir_snapshot *snapshot)
{
	const struct weir_seen_pool *pool;
	size_t i;

	for (i = 0; i < snapshot->n_pools; i++) {
		pool = &snapshot->pools[i];
		say(text, "%s\n{\"kind\": \"%s\", \"actor\": %zu, \"name\": ",
		    i ? "," : "",
		    pool->kind == WEIR_POOL_MANAGER ? "manager" : "workers",
		    pool->actor);
		say_string(text, pool->name);
		say(text, ", \"max\": %" PRIu64 ", \"busy\": %" PRIu64,
		    pool->max, pool->busy);
		say(text, ", \"queued\": %" PRIu64 ", \"requested\": %" PRIu64,
		    pool->queued, pool->requested);
		say(text,
		    ", \"refused\": %" PRIu64 ", \"dropped\": %" PRIu64 "}",
		    pool->refused, pool->dropped);
	}
}

size_t weir_snapshot_json(const struct weir_snapshot *snapshot, char *at,
			  size_t n)
{
	struct saying text = text_of(at, n);

	if (!snapshot)
		return 0;
	say(&text, "{\"version\": 1, \"settled\": %s",
	    snapshot->settled ? "true" : "false");
	say_known(&text, "now_ns", snapshot->now_ns);
	say_known(&text, "moved_ns", snapshot->moved_ns);
	say_known(&text, "window_ns", snapshot->window_ns);
	say_known(&text, "period_ns", snapshot->period_ns);
	if (snapshot->n_torn)
		say(&text, ", \"torn\": %zu", snapshot->n_torn);
	say(&text, ",\n\"actors\": [");
	say_actors(&text, snapshot);
	say(&text, "],\n\"ports\": [");
	say_ports(&text, snapshot);
	say(&text, "],\n\"links\": [");
	say_links(&text, snapshot);
	say(&text, "],\n\"demands\": [");
	say_demands(&text, snapshot);
	say(&text, "],\n\"objects\": [");
	say_objects(&text, snapshot);
	say(&text, "],\n\"executors\": [");
	say_executors(&text, snapshot);
	say(&text, "],\n\"threads\": [");
	say_threads(&text, snapshot);
	say(&text, "],\n\"children\": [");
	say_children(&text, snapshot);
	say(&text, "],\n\"pools\": [");
	say_pools(&text, snapshot);
	say(&text, "]}\n");
	return text.n;
}

/* --- DOT ------------------------------------------------------------------ */

/* As Flink's: busy, back-pressured, idle. */
static const char *colour_of(enum weir_wait wait)
{
	switch (wait) {
	case WEIR_WAIT_NONE:
		return "red";
	case WEIR_WAIT_ROOM:
	case WEIR_WAIT_DEMAND:
		return "black";
	default:
		return "blue";
	}
}

/* An end of an edge: an actor, or a point that stands for the outside. */
static void say_end(struct saying *text, const struct weir_snapshot *snapshot,
		    size_t port, size_t demand)
{
	if (port == WEIR_NOWHERE)
		say(text, "outside%zu", demand);
	else
		say(text, "a%zu", snapshot->ports[port].actor);
}

static void draw_links(struct saying *text,
		       const struct weir_snapshot *snapshot)
{
	const struct weir_seen_link *link;
	size_t i;

	for (i = 0; i < snapshot->n_links; i++) {
		link = &snapshot->links[i];
		if (link->from == WEIR_NOWHERE)
			continue;
		say(text, "a%zu -> a%zu [label=\"%u/%u\"]\n",
		    snapshot->ports[link->from].actor,
		    snapshot->ports[link->to].actor, link->fill,
		    link->capacity);
	}
}

/* What was sent of what was requested. */
static void draw_demands(struct saying *text,
			 const struct weir_snapshot *snapshot)
{
	const struct weir_seen_demand *demand;
	size_t i;

	for (i = 0; i < snapshot->n_demands; i++) {
		demand = &snapshot->demands[i];
		if (demand->from == WEIR_NOWHERE || demand->to == WEIR_NOWHERE)
			say(text, "outside%zu [shape=point]\n", i);
		say_end(text, snapshot, demand->from, i);
		say(text, " -> ");
		say_end(text, snapshot, demand->to, i);
		say(text,
		    " [style=dashed, label=\"%" PRId64 "/%" PRId64 "\"]\n",
		    demand->sent, demand->requested);
	}
}

static void draw_objects(struct saying *text,
			 const struct weir_snapshot *snapshot)
{
	size_t i, object;

	for (i = 0; i < snapshot->n_objects; i++)
		say(text,
		    "o%zu [shape=ellipse, style=solid, fontcolor=black, "
		    "label=\"%s\"]\n",
		    i, wait_names[snapshot->objects[i].wait]);
	for (i = 0; i < snapshot->n_ports; i++) {
		object = snapshot->ports[i].shared;
		if (object != WEIR_NOWHERE)
			say(text, "a%zu -> o%zu [style=dotted]\n",
			    snapshot->ports[i].actor, object);
	}
}

size_t weir_snapshot_dot(const struct weir_snapshot *snapshot, char *at,
			 size_t n)
{
	struct saying text = text_of(at, n);
	size_t i;

	if (!snapshot)
		return 0;
	say(&text, "digraph weir {\nrankdir=LR\n"
		   "node [shape=box, style=filled, fontcolor=white]\n");
	for (i = 0; i < snapshot->n_actors; i++) {
		say(&text, "a%zu [fillcolor=%s, label=", i,
		    colour_of(snapshot->actors[i].wait));
		say_string(&text, snapshot->actors[i].name);
		say(&text, "]\n");
	}
	draw_links(&text, snapshot);
	draw_demands(&text, snapshot);
	draw_objects(&text, snapshot);
	say(&text, "}\n");
	return text.n;
}
