/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Snapshots in the text format of Prometheus, 0.0.4. The lines of a name stand
 * together, and no two have the same labels: actors of one name differ by their
 * ids, links by their ports and places. Numbers are written without printf's
 * %f, which asks the locale.
 */
#include <inttypes.h>

#include "inspect/saying.h"
#include "inspect/snapshot.h"

#define MOST 100u /* actors, and links, that have lines of their own */

/* An actor, or a link, that has lines of its own, and its executor's number. */
struct shown {
	size_t at, executor;
};

struct scrape {
	struct saying text;
	const struct weir_snapshot *snapshot;
	const struct weir__cause *causes;
	struct shown actors[MOST], links[MOST];
	size_t n_actors, n_links;
};

static void say_value(struct saying *text, const char *value)
{
	say(text, "\"");
	for (; *value; value++)
		say(text, *value == '"' || *value == '\\' ? "\\%c" : "%c",
		    *value);
	say(text, "\"");
}

static void say_head(struct scrape *self, const char *name, const char *type,
		     const char *help)
{
	say(&self->text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name,
	    type);
}

static void say_seconds(struct saying *text, uint64_t ns)
{
	say(text, "%" PRIu64 ".%09" PRIu64 "\n", ns / UINT64_C(1000000000),
	    ns % UINT64_C(1000000000));
}

/* --- All of it ------------------------------------------------------------ */

/* Actors of an executor are one behind the other; its number is how many others
 * come before it. */
static size_t n_of_executor(const struct weir_snapshot *snapshot, size_t first)
{
	size_t n = 1;

	while (first + n < snapshot->n_actors &&
	       snapshot->actors[first + n].executor ==
		       snapshot->actors[first].executor)
		n++;
	return n;
}

static void say_executors(struct scrape *self)
{
	size_t first, n, number = 0;

	say_head(self, "weir_executor_actors", "gauge",
		 "Actors that are alive on the executor.");
	for (first = 0; first < self->snapshot->n_actors; first += n) {
		n = n_of_executor(self->snapshot, first);
		say(&self->text, "weir_executor_actors{executor=\"%zu\"} %zu\n",
		    number++, n);
	}
}

static void say_waits(struct scrape *self)
{
	size_t counts[WEIR_WAIT_OTHER + 1] = {0}, i;

	for (i = 0; i < self->snapshot->n_actors; i++)
		counts[self->snapshot->actors[i].wait]++;
	say_head(self, "weir_actors", "gauge",
		 "Actors by what they wait for; none: they run.");
	for (i = 0; i <= WEIR_WAIT_OTHER; i++)
		say(&self->text, "weir_actors{wait=\"%s\"} %zu\n",
		    weir__snapshot_wait_name((enum weir_wait)i), counts[i]);
}

/* --- Actors --------------------------------------------------------------- */

/* Its labels, but for the brace. */
static void say_actor(struct scrape *self, const char *name,
		      const struct shown *shown)
{
	const struct weir_seen_actor *actor =
		&self->snapshot->actors[shown->at];

	say(&self->text, "%s{executor=\"%zu\",actor=", name, shown->executor);
	say_value(&self->text, actor->name);
	say(&self->text, ",id=\"%" PRIu64 ".%" PRIu64 "\"",
	    actor->id & UINT32_MAX, actor->id >> 32);
}

static void say_waiting(struct scrape *self)
{
	static const char name[] = "weir_actor_waiting";
	size_t i;

	say_head(self, name, "gauge",
		 "1, with what the actor waits for; none: it runs.");
	for (i = 0; i < self->n_actors; i++) {
		enum weir_wait wait =
			self->snapshot->actors[self->actors[i].at].wait;

		say_actor(self, name, &self->actors[i]);
		say(&self->text, ",wait=\"%s\"} 1\n",
		    weir__snapshot_wait_name(wait));
	}
}

static void say_since(struct scrape *self)
{
	static const char name[] = "weir_actor_waiting_seconds";
	uint64_t since_ns;
	size_t i;

	say_head(self, name, "gauge",
		 "How long the actor has waited for that, or run.");
	for (i = 0; i < self->n_actors; i++) {
		since_ns = self->snapshot->actors[self->actors[i].at].since_ns;
		if (since_ns == WEIR_UNKNOWN)
			continue;
		say_actor(self, name, &self->actors[i]);
		say(&self->text, "} ");
		say_seconds(&self->text, self->snapshot->now_ns - since_ns);
	}
}

static void say_share(struct scrape *self, const struct shown *shown,
		      const char *state, unsigned share)
{
	say_actor(self, "weir_actor_share_ratio", shown);
	say(&self->text, ",state=\"%s\"} %u.%03u\n", state, share / 1000,
	    share % 1000);
}

static void say_shares(struct scrape *self)
{
	const struct weir_seen_actor *actor;
	const struct shown *shown;
	size_t i;

	say_head(self, "weir_actor_share_ratio", "gauge",
		 "Share of its time that the actor was in the state.");
	for (i = 0; i < self->n_actors; i++) {
		shown = &self->actors[i];
		actor = &self->snapshot->actors[shown->at];
		if (!(actor->busy | actor->held | actor->idle | actor->blocked))
			continue; /* not known */
		say_share(self, shown, "busy", actor->busy);
		say_share(self, shown, "held", actor->held);
		say_share(self, shown, "idle", actor->idle);
		say_share(self, shown, "blocked", actor->blocked);
	}
}

static void say_holds_up(struct scrape *self)
{
	static const char name[] = "weir_actor_holds_up_actors";
	size_t i;

	say_head(self, name, "gauge",
		 "Actors that the actor holds up, and itself if it is stuck.");
	for (i = 0; i < self->n_actors; i++) {
		say_actor(self, name, &self->actors[i]);
		say(&self->text, "} %zu\n",
		    self->causes[self->actors[i].at].n_stuck);
	}
}

/* --- Links ---------------------------------------------------------------- */

static uint64_t fill_of(const struct weir_seen_link *link)
{
	return link->fill;
}

static uint64_t capacity_of(const struct weir_seen_link *link)
{
	return link->capacity;
}

static uint64_t high_of(const struct weir_seen_link *link)
{
	return link->items_ever == WEIR_UNKNOWN ? WEIR_UNKNOWN : link->high;
}

/* Who reads a counter takes one that begins anew for that. */
static uint64_t items_of(const struct weir_seen_link *link)
{
	return link->items_ever == WEIR_UNKNOWN ? link->items
						: link->items_ever;
}

static const struct {
	const char *name, *type, *help;
	uint64_t (*value)(const struct weir_seen_link *link);
} of_links[] = {
	{"weir_link_items", "gauge", "Items in the link.", fill_of},
	{"weir_link_capacity_items", "gauge", "Items that fit into the link.",
	 capacity_of},
	{"weir_link_high_items", "gauge",
	 "The most items that were seen in the link.", high_of},
	{"weir_link_items_total", "counter", "Items that went into the link.",
	 items_of},
};

/* Its labels: of the actor and port that it ends in, its place among the port's
 * links, and who puts into it. */
static void say_link(struct scrape *self, const char *name,
		     const struct shown *shown)
{
	const struct weir_snapshot *snapshot = self->snapshot;
	const struct weir_seen_link *link = &snapshot->links[shown->at];
	size_t actor = snapshot->ports[link->to].actor, n;
	const struct shown consumer = {actor, shown->executor};

	say_actor(self, name, &consumer);
	say(&self->text, ",port=\"%zu\",link=\"%zu\",from=",
	    link->to - snapshot->actors[actor].port,
	    shown->at - weir__snapshot_links(snapshot, link->to, &n));
	say_value(&self->text,
		  link->from == WEIR_NOWHERE
			  ? ""
			  : snapshot->actors[snapshot->ports[link->from].actor]
				    .name);
}

static void say_links(struct scrape *self)
{
	uint64_t value;
	size_t m, i;

	for (m = 0; m < sizeof(of_links) / sizeof(*of_links); m++) {
		say_head(self, of_links[m].name, of_links[m].type,
			 of_links[m].help);
		for (i = 0; i < self->n_links; i++) {
			value = of_links[m].value(
				&self->snapshot->links[self->links[i].at]);
			if (value == WEIR_UNKNOWN)
				continue;
			say_link(self, of_links[m].name, &self->links[i]);
			say(&self->text, "} %" PRIu64 "\n", value);
		}
	}
}

/* --- Who is shown --------------------------------------------------------- */

static void show(struct scrape *self, size_t actor, size_t executor)
{
	const struct weir_snapshot *snapshot = self->snapshot;
	const struct weir_seen_actor *it = &snapshot->actors[actor];
	size_t p, i, first, n;

	self->actors[self->n_actors++] = (struct shown){actor, executor};
	for (p = it->port; p < it->port + it->n_ports; p++) {
		first = weir__snapshot_links(snapshot, p, &n);
		for (i = first; i < first + n && self->n_links < MOST; i++)
			self->links[self->n_links++] =
				(struct shown){i, executor};
	}
}

/*
 * First those that hold others up, and then those that are first, which mostly
 * have been there for longest: so who is left out seldom changes.
 */
static void choose(struct scrape *self, bool hold_up)
{
	const struct weir_snapshot *snapshot = self->snapshot;
	size_t first, n, i, number = 0;

	for (first = 0; first < snapshot->n_actors; first += n, number++) {
		n = n_of_executor(snapshot, first);
		for (i = first; i < first + n && self->n_actors < MOST; i++)
			if ((self->causes[i].n_stuck > 0) == hold_up)
				show(self, i, number);
	}
}

static void say_one(struct scrape *self, const char *name, const char *help,
		    size_t value)
{
	say_head(self, name, "gauge", help);
	say(&self->text, "%s %zu\n", name, value);
}

/* Those without lines of their own. */
static void say_rest(struct scrape *self)
{
	const struct weir_snapshot *snapshot = self->snapshot;
	size_t items = 0, capacity = 0, i;

	for (i = 0; i < snapshot->n_links; i++) {
		items += snapshot->links[i].fill;
		capacity += snapshot->links[i].capacity;
	}
	for (i = 0; i < self->n_links; i++) {
		items -= snapshot->links[self->links[i].at].fill;
		capacity -= snapshot->links[self->links[i].at].capacity;
	}
	say_one(self, "weir_rest_actors", "Actors that are not shown.",
		snapshot->n_actors - self->n_actors);
	say_one(self, "weir_rest_links", "Links that are not shown.",
		snapshot->n_links - self->n_links);
	say_one(self, "weir_rest_items", "Items in these links.", items);
	say_one(self, "weir_rest_capacity_items",
		"Items that fit into these links.", capacity);
}

size_t weir_snapshot_prometheus(const struct weir_snapshot *snapshot, char *at,
				size_t n)
{
	struct scrape self = {.text = text_of(at, n), .snapshot = snapshot};

	if (!snapshot)
		return 0;
	self.causes = ((const struct weir__snapshot *)snapshot)->causes;
	choose(&self, true);
	choose(&self, false);
	say_one(&self, "weir_settled", "1 if nothing moved between two looks.",
		snapshot->settled);
	say_executors(&self);
	say_waits(&self);
	say_waiting(&self);
	say_since(&self);
	say_shares(&self);
	say_holds_up(&self);
	say_links(&self);
	say_rest(&self);
	return self.text.n;
}
