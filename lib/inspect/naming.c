/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names are the program's, and cut: all texts have them as UTF-8, without bytes
 * that a terminal would obey.
 */
#include "inspect/snapshot.h"

#include <string.h>

void weir__snapshot_name(char *name, size_t room, const char *from)
{
	size_t n = strnlen(from, room - 1);

	memcpy(name, from, n);
	name[n] = '\0';
}

/* How many bytes the character there has; 0: it is none. As RFC 3629 has it. */
static size_t utf8(const unsigned char *at)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t n, i;

	if (*at < 0x80)
		return 1;
	if (*at < 0xc2 || *at > 0xf4)
		return 0;
	n = *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;
	if (*at == 0xe0)
		low = 0xa0; /* else it would be shorter */
	if (*at == 0xed)
		high = 0x9f; /* a surrogate */
	if (*at == 0xf0)
		low = 0x90;
	if (*at == 0xf4)
		high = 0x8f; /* above U+10FFFF */
	for (i = 1; i < n; i++) {
		if (at[i] < low || at[i] > high)
			return 0;
		low = 0x80;
		high = 0xbf;
	}
	return n;
}

/* Those of ASCII, and those from U+0080 on. */
static bool is_control(const unsigned char *at)
{
	return *at < ' ' || *at == 0x7f || (*at == 0xc2 && at[1] < 0xa0);
}

static void mend(char *name)
{
	unsigned char *at = (unsigned char *)name;
	size_t n;

	for (; *at; at += n) {
		n = utf8(at);
		if (n == 0) {
			*at = '?';
			n = 1;
		} else if (is_control(at)) {
			memset(at, ' ', n);
		}
	}
}

void weir__snapshot_mend(struct weir__snapshot *self)
{
	size_t i;

	for (i = 0; i < self->seen.n_actors; i++)
		mend(self->actors[i].name);
	for (i = 0; i < self->seen.n_executors; i++)
		mend(self->executors[i].name);
	for (i = 0; i < self->seen.n_children; i++) {
		mend(self->children[i].path);
		mend(self->children[i].message);
	}
	for (i = 0; i < self->seen.n_pools; i++)
		mend(self->pools[i].name);
}
