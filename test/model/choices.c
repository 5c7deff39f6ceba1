/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Choices. An execution is a function of them. The list of those on the way is
 * all the state there is: after an execution the last one that has alternatives
 * left takes the next and what follows is dropped, a depth-first walk.
 */
#include "explorer_state.h"

#include <stdio.h>
#include <string.h>

enum { REPLAY = 256 };

/* By enum choice. */
static const char choice_letters[] = "ptvo";

static struct explorer_choice replay[REPLAY];
static int n_replay;

static int replayed(enum choice kind)
{
	for (int i = 0; i < n_replay; i++)
		if (replay[i].step == explorer.steps && replay[i].kind == kind)
			return replay[i].chosen;
	return 0;
}

int explorer_choose(enum choice kind, int n)
{
	uint32_t depth = explorer.depth;
	struct explorer_choice *c = &explorer.choices[depth];

	if (n == 1)
		return 0;
	if (depth == CHOICES - 1)
		explorer_fail("too many choices in one execution");
	explorer.depth++;
	if (depth == explorer.n_choices) {
		explorer.n_choices++;
		c->step = explorer.steps;
		c->kind = (uint8_t)kind;
		c->chosen = (uint8_t)replayed(kind);
		c->n = (uint8_t)n;
	}
	if (c->n != n || c->kind != kind || c->chosen >= n)
		explorer_fail("the scenario is not deterministic: choice %u "
			      "in step %u has %d alternatives, had %d",
			      depth, explorer.steps, n, c->n);
	return c->chosen;
}

/* Returns false when all have been seen. */
bool choices_next(void)
{
	uint32_t n = explorer.n_choices;

	while (n > 0 &&
	       explorer.choices[n - 1].chosen + 1 == explorer.choices[n - 1].n)
		n--;
	explorer.n_choices = n;
	if (n == 0)
		return false;
	explorer.choices[n - 1].chosen++;
	return true;
}

/* Those that are not the first alternative, as step, kind and number. */
void choices_write(char *text, size_t size)
{
	size_t used = 0;

	for (uint32_t i = 0; i < explorer.depth && used < size; i++) {
		const struct explorer_choice *c = &explorer.choices[i];

		if (c->chosen > 0)
			used += (size_t)snprintf(text + used, size - used,
						 "%s%u%c%d",
						 used == 0 ? "" : " ", c->step,
						 choice_letters[c->kind],
						 c->chosen);
	}
}

void choices_read(const char *text)
{
	unsigned int step;
	int chosen, length;
	char letter;

	n_replay = 0;
	if (text == NULL)
		return;
	while (n_replay < REPLAY && sscanf(text, "%u%c%d%n", &step, &letter,
					   &chosen, &length) == 3) {
		const char *kind = strchr(choice_letters, letter);

		replay[n_replay].step = step;
		replay[n_replay].kind =
			kind != NULL ? (uint8_t)(kind - choice_letters) : 0;
		replay[n_replay].chosen = (uint8_t)chosen;
		n_replay++;
		text += length;
	}
}

bool choices_replayed(void)
{
	return n_replay > 0;
}
