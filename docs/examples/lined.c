/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lined ADDRESS: keeps values by their keys. A part of Redis's protocol: PING,
 * SET and GET, as lines of up to three words, or as arrays of strings that have
 * no newline. A client that does not take its answers is not read from, and
 * slows nobody else.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <weir/weir.h>

#define WORDS 3
#define LINE_MAX (1u << 20)
#define BUCKETS 65536u

struct word {
	const char *data;
	size_t n;
};

/* --- The values ----------------------------------------------------------- */

struct entry {
	struct entry *next;
	char *value;
	size_t n, n_key;
	char key[];
};

/* Of the one thread that all clients are served on. */
static struct entry *buckets[BUCKETS];

static struct entry **find(struct word key)
{
	struct entry **at;
	uint32_t hash = 2166136261u;
	size_t i;

	for (i = 0; i < key.n; i++)
		hash = (hash ^ (unsigned char)key.data[i]) * 16777619u;
	for (at = &buckets[hash % BUCKETS]; *at; at = &(*at)->next)
		if ((*at)->n_key == key.n &&
		    memcmp((*at)->key, key.data, key.n) == 0)
			break;
	return at;
}

static int set(struct word key, struct word value)
{
	struct entry **at = find(key);
	char *copy = malloc(value.n + 1);

	if (copy && !*at) {
		*at = calloc(1, sizeof(**at) + key.n);
		if (*at) {
			memcpy((*at)->key, key.data, key.n);
			(*at)->n_key = key.n;
		}
	}
	if (!copy || !*at) {
		free(copy);
		return -ENOMEM;
	}
	memcpy(copy, value.data, value.n);
	free((*at)->value);
	(*at)->value = copy;
	(*at)->n = value.n;
	return 0;
}

/* --- Answers -------------------------------------------------------------- */

static int say(void **answer, const char *head, struct word value,
	       const char *tail)
{
	size_t n = strlen(head), n_tail = strlen(tail);
	struct weir_flow_bytes *bytes;
	int rc = weir_flow_bytes_new(&bytes, n + value.n + n_tail, NULL);

	if (rc < 0)
		return rc;
	memcpy(bytes->data, head, n);
	if (value.n > 0)
		memcpy(bytes->data + n, value.data, value.n);
	memcpy(bytes->data + n + value.n, tail, n_tail);
	*answer = bytes;
	return 1;
}

static int say_value(void **answer, const struct entry *entry)
{
	char head[32];

	if (!entry)
		return say(answer, "$-1\r\n", (struct word){0}, "");
	(void)snprintf(head, sizeof(head), "$%zu\r\n", entry->n);
	return say(answer, head, (struct word){entry->value, entry->n}, "\r\n");
}

static bool is(struct word word, const char *name)
{
	return word.n == strlen(name) &&
	       strncasecmp(word.data, name, word.n) == 0;
}

static int answer(void **to, const struct word *words, size_t n)
{
	int rc;

	if (n == 1 && is(words[0], "PING"))
		return say(to, "+PONG\r\n", (struct word){0}, "");
	if (n == 2 && is(words[0], "GET"))
		return say_value(to, *find(words[1]));
	if (n != 3 || !is(words[0], "SET"))
		return say(to, "-ERR no such command\r\n", (struct word){0},
			   "");
	rc = set(words[1], words[2]);
	return rc < 0 ? rc : say(to, "+OK\r\n", (struct word){0}, "");
}

/* --- Commands ------------------------------------------------------------- */

/* What has come of an array: it keeps the lines that are words. */
struct session {
	struct weir_flow_bytes *lines[WORDS];
	struct word words[WORDS];
	size_t n, left; /* words */
	bool sized;	/* the next line is a word, of `size` bytes */
	size_t size;
};

static void forget(struct session *self)
{
	while (self->n > 0)
		weir_flow_bytes_unref(self->lines[--self->n]);
}

/* What the number behind the first character is. */
static bool number(struct word line, char first, size_t most, size_t *value)
{
	size_t i;

	if (line.n < 2 || line.data[0] != first)
		return false;
	*value = 0;
	for (i = 1; i < line.n; i++) {
		if (line.data[i] < '0' || line.data[i] > '9')
			return false;
		*value = *value * 10 + (size_t)(line.data[i] - '0');
		if (*value > most)
			return false;
	}
	return true;
}

/* A command in one line. */
static int answer_line(void **to, struct word line)
{
	struct word words[WORDS + 1] = {0};
	size_t n = 0, i;

	for (i = 0; i < line.n; i++) {
		if (line.data[i] == ' ')
			continue;
		if (i == 0 || line.data[i - 1] == ' ') {
			if (n == WORDS + 1)
				break;
			words[n++].data = line.data + i;
		}
		words[n - 1].n++;
	}
	return n == 0 ? 0 : answer(to, words, n);
}

/* The next word of an array; it keeps the line. */
static int add_word(struct session *self, void **item, struct word line)
{
	int rc;

	self->sized = false;
	self->lines[self->n] = *item;
	self->words[self->n++] = line;
	if (--self->left > 0)
		return 0;
	rc = answer(item, self->words, self->n);
	if (rc < 0)
		self->n--; /* it is still the stream's */
	forget(self);
	return rc;
}

static int step(void **state, void **item, void *context)
{
	struct session *self = *state;
	struct weir_flow_bytes *bytes = *item;
	struct word line = {bytes->data, bytes->n};
	int rc = 0;

	(void)context;
	if (line.n > 0 && line.data[line.n - 1] == '\r')
		line.n--;
	if (self->sized)
		return line.n == self->size ? add_word(self, item, line)
					    : -EPROTO;
	if (self->left > 0) {
		self->sized = number(line, '$', LINE_MAX, &self->size);
		rc = self->sized ? 0 : -EPROTO;
	} else if (line.n > 0 && line.data[0] == '*') {
		if (!number(line, '*', WORDS, &self->left))
			rc = -EPROTO;
	} else {
		rc = answer_line(item, line);
	}
	if (rc >= 0)
		weir_flow_bytes_unref(bytes);
	return rc;
}

static int create(void **state, void *context)
{
	(void)context;
	*state = calloc(1, sizeof(struct session));
	return *state ? 0 : -ENOMEM;
}

static void destroy(void *state, void *context)
{
	(void)context;
	forget(state);
	free(state);
}

static struct weir_flow *answers(struct weir_flow *flow, void *context)
{
	const struct weir_flow_stateful_map_functions functions = {
		.create = create, .step = step, .destroy = destroy};

	flow = weir_flow_lines(flow, LINE_MAX);
	flow = weir_flow_stateful_map(flow, &functions, context);
	return weir_flow_items(flow, weir_flow_bytes_items());
}

static struct weir_flow *serve(struct weir_connection *client, void *context)
{
	return weir_connection_run(client, answers, context);
}

static void listens(const char *address, void *context)
{
	(void)context;
	fprintf(stderr, "lined: %s\n", address);
}

int main(int argc, char **argv)
{
	const struct weir_listen_options options = {.listens = listens};
	struct weir_flow *flow;
	struct weir_loop *loop;
	int rc;

	if (argc != 2) {
		fprintf(stderr, "usage: lined ADDRESS\n");
		return 2;
	}
	flow = weir_flow_listen(argv[1], &options);
	flow = weir_flow_each_connection(flow, 10000, serve, NULL);
	rc = weir_loop_new(&loop, NULL);
	if (rc == 0)
		rc = weir_flow_run(flow, weir_loop_executor(loop), NULL);
	fprintf(stderr, "lined: %s\n", weir_strerror(rc));
	return 1;
}
