/* SPDX-License-Identifier: BSD-2-Clause */
#include "inspect/label.h"

#include <string.h>

#include "actor/look.h"
#include "actor/port.h"

/* A name under way. */
struct naming {
	struct weir__look look; /* first */
	struct weir_seen_port seen;
	char *text;
	size_t n;
};

static void add(struct naming *naming, const char *part)
{
	while (*part && naming->n < WEIR_INSPECT_NAME - 1)
		naming->text[naming->n++] = *part++;
}

static void add_part(struct weir__look *look, const char *name,
		     enum weir_wait awaits)
{
	struct naming *naming = weir_container_of(look, struct naming, look);

	(void)awaits;
	if (naming->n)
		add(naming, " < ");
	add(naming, name);
}

/* Of what is not asked for. */
static void no_part(struct weir__look *look, const char *name,
		    enum weir_wait awaits)
{
	(void)look;
	(void)name;
	(void)awaits;
}

static void no_link(struct weir__look *look, const struct weir__lane *lane,
		    uint32_t capacity)
{
	(void)look;
	(void)lane;
	(void)capacity;
}

static void no_waits(struct weir__look *look, const struct weir__asked *part)
{
	(void)look;
	(void)part;
}

static void no_demand(struct weir__look *look,
		      const struct weir_seen_demand *half)
{
	(void)look;
	(void)half;
}

static void no_object(struct weir__look *look,
		      const struct weir_seen_object *object)
{
	(void)look;
	(void)object;
}

static void no_pool(struct weir__look *look, const struct weir_seen_pool *pool)
{
	(void)look;
	(void)pool;
}

static const struct weir__look nothing = {
	.link = no_link,
	.part = no_part,
	.waits = no_waits,
	.demand = no_demand,
	.object = no_object,
	.pool = no_pool,
};

void weir__look_at_own(const struct weir_port *port,
		       struct weir_seen_port *seen)
{
	struct weir__look look = nothing;

	look.seen = seen;
	*seen = (struct weir_seen_port){.wait = weir__port_ops(port)->awaits};
	if (weir__port_ops(port)->look)
		weir__port_ops(port)->look(port, &look);
}

/* As in a snapshot. */
static void compose(const struct weir_actor *actor, char *text)
{
	struct naming naming = {.look = nothing, .text = text};
	const struct weir_port *port;

	memset(text, 0, WEIR_INSPECT_NAME);
	naming.look.seen = &naming.seen;
	naming.look.part = add_part;
	for (port = actor->ports; port; port = port->next)
		if (weir__port_ops(port)->look)
			weir__port_ops(port)->look(port, &naming.look);
	if (!naming.n)
		add(&naming, weir_actor_name(actor));
}

static uint32_t hash_of(const char *text)
{
	uint32_t hash = 2166136261u;

	while (*text)
		hash = (hash ^ (uint8_t)*text++) * 16777619u;
	return (hash ^ hash >> 15) & (WEIR__LABELS - 1);
}

/* The number of a text. Under the lock. */
static uint32_t number_of(struct weir__labels *labels, const char *text)
{
	uint32_t *same = &labels->same[hash_of(text)];
	struct weir__label *label = weir__label_at(labels, *same);

	if (*same && label->number == *same && strcmp(label->text, text) == 0)
		return *same;
	if (++labels->last == 0)
		labels->last = WEIR__LABELS; /* 0 is none */
	label = weir__label_at(labels, labels->last);
	ck_pr_store_32(&label->number, 0);
	memcpy(label->text, text, WEIR_INSPECT_NAME);
	ck_pr_store_32(&label->number, labels->last);
	*same = labels->last;
	return labels->last;
}

uint32_t weir__label_make(struct weir__labels *labels, struct weir_actor *actor)
{
	uint64_t address = (uintptr_t)actor;
	struct weir__known *known =
		&labels->known[(address >> 6 ^ address >> 16) &
			       (WEIR__KNOWN - 1)];
	char text[WEIR_INSPECT_NAME];
	uint32_t number;

	compose(actor, text);
	weir__lock(&labels->lock);
	number = number_of(labels, text);
	/* claim 2; the fences pair with those in weir__label_of() */
	ck_pr_store_64(&known->actor, 0);
	ck_pr_fence_store();
	ck_pr_store_32(&known->number, number);
	ck_pr_fence_store();
	ck_pr_store_64(&known->actor, address);
	weir__unlock(&labels->lock);
	/* no order: this actor's slices alone ask */
	if (!(ck_pr_load_32(&actor->gate) & WEIR__GATE_TRACED))
		ck_pr_or_32(&actor->gate, WEIR__GATE_TRACED);
	return number;
}

void weir__label_read(struct weir__labels *labels, uint32_t number, bool locks,
		      char text[static WEIR_INSPECT_NAME])
{
	const struct weir__label *label = weir__label_at(labels, number);

	text[0] = '\0';
	if (locks)
		weir__lock(&labels->lock);
	if (number && label->number == number)
		memcpy(text, label->text, WEIR_INSPECT_NAME);
	if (locks)
		weir__unlock(&labels->lock);
	text[WEIR_INSPECT_NAME - 1] = '\0';
}
