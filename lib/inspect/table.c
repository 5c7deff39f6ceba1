/* SPDX-License-Identifier: BSD-2-Clause */
/* A snapshot as a table. Rows are chosen one after the other, as nothing can be
 * allocated here: so there are not many. */
#include "inspect/table.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "inspect/saying.h"
#include "inspect/snapshot.h"

/* One of `n` comes before another one. */
typedef bool before_fn(const struct weir_snapshot *snapshot, size_t one,
		       size_t other);

/* The first of those that do not come before `last`, which was the one before it;
 * WEIR_NOWHERE: of all, or there is none. */
static size_t next(const struct weir_snapshot *snapshot, size_t n, size_t last,
		   before_fn *before)
{
	size_t found = WEIR_NOWHERE, i;

	for (i = 0; i < n; i++) {
		if (last != WEIR_NOWHERE && !before(snapshot, last, i))
			continue;
		if (found == WEIR_NOWHERE || before(snapshot, i, found))
			found = i;
	}
	return found;
}

/* Up to so many bytes of a name, in a column as wide; not within a character. */
static void say_name(struct saying *text, const char *name, int width)
{
	int bytes = 0, columns = 0;

	while (name[bytes]) {
		bool begins = ((unsigned char)name[bytes] & 0xc0) != 0x80;

		if (begins && columns == width)
			break;
		columns += begins;
		bytes++;
	}
	say(text, "%.*s%*s", bytes, name, width - columns, "");
}

static void say_time(struct saying *text, uint64_t ns)
{
	if (ns == WEIR_UNKNOWN)
		say(text, " %8s", "-");
	else if (ns < UINT64_C(10000000000))
		say(text, " %6" PRIu64 "ms", ns / 1000000);
	else
		say(text, " %7" PRIu64 "s", ns / UINT64_C(1000000000));
}

/* --- Actors --------------------------------------------------------------- */

static const struct weir__cause *cause_of(const struct weir_snapshot *snapshot,
					  size_t actor)
{
	return &((const struct weir__snapshot *)snapshot)->causes[actor];
}

/* How many actors it holds up. */
static size_t holds_up(const struct weir_snapshot *snapshot, size_t actor)
{
	const struct weir__cause *cause = cause_of(snapshot, actor);

	return cause->root == actor && weir__cause_holds_up(cause)
		       ? cause->n_stuck
		       : 0;
}

/* For how long it has been as it is. */
static uint64_t age(const struct weir_snapshot *snapshot, size_t actor)
{
	uint64_t since_ns = snapshot->actors[actor].since_ns;

	return since_ns == WEIR_UNKNOWN || snapshot->now_ns == WEIR_UNKNOWN ||
			       snapshot->now_ns < since_ns
		       ? WEIR_UNKNOWN
		       : snapshot->now_ns - since_ns;
}

/* Who waits for input has nothing to do. */
static bool waits_inside(const struct weir_seen_actor *actor)
{
	return actor->wait != WEIR_WAIT_NONE && actor->wait != WEIR_WAIT_INPUT;
}

static bool actor_before(const struct weir_snapshot *snapshot, size_t one,
			 size_t other)
{
	const struct weir_seen_actor *a = &snapshot->actors[one];
	const struct weir_seen_actor *b = &snapshot->actors[other];
	size_t holds = holds_up(snapshot, one);
	size_t other_holds = holds_up(snapshot, other);

	if (holds != other_holds)
		return holds > other_holds;
	if (a->held + a->blocked != b->held + b->blocked)
		return a->held + a->blocked > b->held + b->blocked;
	if (waits_inside(a) != waits_inside(b))
		return waits_inside(a);
	if (a->busy != b->busy)
		return a->busy > b->busy;
	if (age(snapshot, one) != age(snapshot, other))
		return age(snapshot, one) > age(snapshot, other);
	return one < other;
}

static const char *state_of(const struct weir_seen_actor *actor)
{
	static const char *const states[] = {
		[WEIR_WAIT_NONE] = "runs",
		[WEIR_WAIT_INPUT] = "input",
		[WEIR_WAIT_ROOM] = "room",
		[WEIR_WAIT_DEMAND] = "demand",
		[WEIR_WAIT_LINK] = "a link",
		[WEIR_WAIT_PERMIT] = "permit",
		[WEIR_WAIT_CHANNEL] = "channel",
		[WEIR_WAIT_TIME] = "time",
		[WEIR_WAIT_FD] = "descriptor",
		[WEIR_WAIT_COMPLETED] = "completion",
		[WEIR_WAIT_WAKE] = "a wake",
		[WEIR_WAIT_RESUME] = "resume",
		[WEIR_WAIT_PARENT] = "parent",
		[WEIR_WAIT_THREAD] = "a thread",
		[WEIR_WAIT_VERDICT] = "supervisor",
		[WEIR_WAIT_BACKOFF] = "back-off",
		[WEIR_WAIT_ABOVE] = "parent",
		[WEIR_WAIT_CHILDREN] = "children",
		[WEIR_WAIT_SIBLINGS] = "siblings",
	};
	size_t n = sizeof(states) / sizeof(*states);

	return (size_t)actor->wait < n && states[actor->wait]
		       ? states[actor->wait]
		       : "other";
}

static void say_shares(struct saying *text, const struct weir_seen_actor *actor)
{
	const uint16_t shares[] = {actor->busy, actor->held, actor->blocked,
				   actor->idle};
	bool known = actor->busy + actor->held + actor->blocked + actor->idle;
	size_t i;

	for (i = 0; i < 4; i++) {
		if (known)
			say(text, " %4d%%", (shares[i] + 5) / 10);
		else
			say(text, " %5s", "-");
	}
}

static void say_actors(struct saying *text,
		       const struct weir_snapshot *snapshot, size_t rows)
{
	size_t last = WEIR_NOWHERE, i;

	say(text, "%6s %-28s %-10s %8s %5s %5s %5s %5s\n", "NUMBER", "ACTOR",
	    "WAITS FOR", "SINCE", "BUSY", "HELD", "BLOCK", "IDLE");
	for (i = 0; i < snapshot->n_actors && i < rows; i++) {
		last = next(snapshot, snapshot->n_actors, last, actor_before);
		say(text, "%6zu ", last);
		say_name(text, snapshot->actors[last].name, 28);
		say(text, " %-10s", state_of(&snapshot->actors[last]));
		say_time(text, age(snapshot, last));
		say_shares(text, &snapshot->actors[last]);
		say(text, "\n");
	}
	if (i < snapshot->n_actors)
		say(text, "       and %zu more\n", snapshot->n_actors - i);
}

/* --- Links ---------------------------------------------------------------- */

static bool link_before(const struct weir_snapshot *snapshot, size_t one,
			size_t other)
{
	const struct weir_seen_link *a = &snapshot->links[one];
	const struct weir_seen_link *b = &snapshot->links[other];
	uint64_t fuller = (uint64_t)a->fill * b->capacity;
	uint64_t less_full = (uint64_t)b->fill * a->capacity;

	return fuller != less_full ? fuller > less_full : one < other;
}

static const char *actor_at(const struct weir_snapshot *snapshot, size_t port)
{
	return port == WEIR_NOWHERE
		       ? "(outside)"
		       : snapshot->actors[snapshot->ports[port].actor].name;
}

static void say_rate(struct saying *text, uint64_t rate)
{
	if (rate == WEIR_UNKNOWN)
		say(text, " %9s", "-");
	else
		say(text, " %7" PRIu64 "/s", rate / 1000);
}

static void say_links(struct saying *text, const struct weir_snapshot *snapshot,
		      size_t rows)
{
	const struct weir_seen_link *link;
	size_t last = WEIR_NOWHERE, i;

	say(text, "%-24s %-24s %7s %7s %4s %9s\n", "FROM", "TO", "FILL", "OF",
	    "FULL", "RATE");
	for (i = 0; i < snapshot->n_links && i < rows; i++) {
		last = next(snapshot, snapshot->n_links, last, link_before);
		link = &snapshot->links[last];
		say_name(text, actor_at(snapshot, link->from), 24);
		say(text, " ");
		say_name(text, actor_at(snapshot, link->to), 24);
		say(text, " %7" PRIu32 " %7" PRIu32 " %3d%%", link->fill,
		    link->capacity,
		    link->capacity
			    ? (int)(UINT64_C(100) * link->fill / link->capacity)
			    : 0);
		say_rate(text, link->rate);
		say(text, "\n");
	}
	if (i < snapshot->n_links)
		say(text, "and %zu more\n", snapshot->n_links - i);
}

/* --- Both ----------------------------------------------------------------- */

/* Cut, as the ways of many roots are long. */
static void say_blame(struct saying *text, const struct weir_snapshot *snapshot)
{
	char why[512], *line = why, *end;
	int lines = 0;

	(void)weir_snapshot_why_text(snapshot, WEIR_NOWHERE, why, sizeof(why));
	for (; *line && lines < 4; line = end + (*end != '\0'), lines++) {
		end = line + strcspn(line, "\n");
		say(text, "%.*s\n", end - line < 80 ? (int)(end - line) : 80,
		    line);
	}
}

size_t weir__snapshot_table(const struct weir_snapshot *snapshot, size_t rows,
			    char *at, size_t n)
{
	struct saying text = text_of(at, n);

	if (!snapshot)
		return 0;
	say_blame(&text, snapshot);
	say(&text, "\n");
	say_actors(&text, snapshot, rows);
	say(&text, "\n");
	say_links(&text, snapshot, rows);
	return text.n;
}

size_t weir_snapshot_table(const struct weir_snapshot *snapshot, char *text,
			   size_t n)
{
	return weir__snapshot_table(snapshot, WEIR__TABLE_ROWS, text, n);
}
