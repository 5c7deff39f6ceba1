/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wordfreq.c in three programs, over two streams of a `nats-server -js`:
 *
 *	wordfreq_nats URL read FILE
 *	wordfreq_nats URL split
 *	wordfreq_nats URL count MEMBER RESULT	(for each MEMBER, 0 and 1)
 *
 *	read ──> LINES ──> split ──> WORDS, by word ──> count
 *
 * Each may be killed at any time, and started again: the lines have numbers, by
 * which the server knows those that it has; a line is done when its words are
 * stored, and a word when the result is written. One that has failed, as the server
 * died while it asked, is started again, too.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weir/nats.h>
#include <weir/weir.h>

#define WAIT 30000000000 /* ns */
#define ASK 2000000000
#define MEMBERS 2
#define LINE_MAX_SIZE 65536

static int number_line(void *line, char *id, size_t size, void *n)
{
	(void)line;
	(void)snprintf(id, size, "line.%" PRIu64, ++*(uint64_t *)n);
	return 0;
}

static uint64_t n_lines;
static const struct weir_nats_boundary lines = {
	.name = "LINES",
	.keep = true,
	.ack_wait_ns = 1000000000,
	.id_of = number_line,
	.context = &n_lines,
};
static struct weir_nats_boundary words = {
	.name = "WORDS",
	.keep = true,
	.ack_wait_ns = 1000000000,
	.partitions = MEMBERS,
	.members = MEMBERS,
};

static struct weir_nats *nats;
static struct weir_loop *loop;

/* Runs and frees it. */
static int run(struct weir_flow *flow)
{
	int rc = weir_flow_run(flow, weir_loop_executor(loop), NULL);

	weir_flow_free(flow);
	return rc;
}

/* --- read ----------------------------------------------------------------- */

static int read_lines(const char *path)
{
	struct weir_flow *flow = weir_flow_read_file(path, LINE_MAX_SIZE);

	flow = weir_flow_lines(flow, LINE_MAX_SIZE);
	return run(weir_flow_nats_give(flow, nats, &lines));
}

/* --- split ---------------------------------------------------------------- */

static bool is_letter(char c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* The words of one partition, each with a newline, behind its number. */
static int make_words(struct weir_nats_message *message, uint64_t partition,
		      struct weir_flow_bytes **out, void *context)
{
	struct weir_flow_bytes *line = (struct weir_flow_bytes *)message, *some;
	size_t i, n, first;
	int rc = weir_flow_bytes_new(&some, line->n + 2, NULL);

	(void)context;
	if (rc < 0)
		return rc;
	some->data[0] = (char)('0' + partition);
	n = 1;
	for (i = 0; i < line->n; i++) {
		first = n;
		for (; i < line->n && is_letter(line->data[i]); i++)
			some->data[n++] = (char)(line->data[i] | 0x20);
		if (weir_nats_partition(some->data + first, n - first,
					MEMBERS) != partition)
			n = first; /* another's */
		else if (n > first)
			some->data[n++] = '\n';
	}
	some->n = n;
	*out = some;
	return partition + 1 < MEMBERS ? 1 : WEIR_NEXT_LAST;
}

static int words_subject(void *some, char *subject, size_t size, void *context)
{
	(void)context;
	(void)snprintf(subject, size, "WORDS.%c",
		       ((struct weir_flow_bytes *)some)->data[0]);
	return 0;
}

static int split(void)
{
	const struct weir_nats_sink_options sink = {
		.subject_of = words_subject};
	struct weir_flow *flow = weir_flow_nats_take(nats, &lines);
	int rc;

	rc = run(weir_flow_nats_process(flow, make_words, NULL, nats, &sink));
	if (rc < 0)
		return rc;
	flow = weir_flow_items(weir_flow_empty(), weir_flow_bytes_items());
	return run(weir_flow_nats_give(flow, nats, &words));
}

/* --- count ---------------------------------------------------------------- */

struct counts {
	char **words; /* within the messages */
	size_t n, size;
	struct weir_nats_message **messages;
	size_t n_messages, n_places;
	bool *seen; /* by the message's number */
	size_t n_seen;
};

/* Room for one more. */
static int grow(void **array, size_t n, size_t *size, size_t each)
{
	void *more;

	if (n < *size)
		return 0;
	*size = n * 2 + 64;
	more = realloc(*array, *size * each);
	if (!more)
		return -ENOMEM;
	*array = more;
	return 0;
}

/* Whether it came before: then it was given again, as its server has died. */
static int is_second(struct counts *self, struct weir_nats_message *message)
{
	size_t number = weir_nats_message_sequence(message), old = self->n_seen;
	bool was_seen;
	int rc;

	rc = grow((void **)&self->seen, number, &self->n_seen, sizeof(bool));
	if (rc < 0)
		return rc;
	if (self->n_seen > old)
		memset(self->seen + old, 0, self->n_seen - old);
	was_seen = self->seen[number];
	self->seen[number] = true;
	return was_seen;
}

/* Messages are kept: they are done when the result is written. */
static int count_some(void *item, void *context)
{
	struct counts *self = context;
	struct weir_flow_bytes *some = item;
	char *at = some->data + 1, *end = some->data + some->n, *newline;
	int rc = is_second(self, item);

	if (rc == 1)
		at = end;
	if (rc >= 0)
		rc = grow((void **)&self->messages, self->n_messages,
			  &self->n_places, sizeof(*self->messages));
	for (; rc == 0 && at < end; at = newline + 1) {
		newline = memchr(at, '\n', (size_t)(end - at));
		*newline = '\0';
		rc = grow((void **)&self->words, self->n, &self->size,
			  sizeof(*self->words));
		if (rc == 0)
			self->words[self->n++] = at;
	}
	if (rc == 0)
		self->messages[self->n_messages++] = item;
	return rc;
}

static int order(const void *one, const void *other)
{
	return strcmp(*(char *const *)one, *(char *const *)other);
}

static int write_result(struct counts *self, const char *path)
{
	char new[4096];
	FILE *file;
	size_t i, n;

	(void)snprintf(new, sizeof(new), "%s.new", path);
	file = fopen(new, "we");
	if (!file)
		return -errno;
	qsort(self->words, self->n, sizeof(*self->words), order);
	for (i = 0; i < self->n; i += n) {
		for (n = 1; i + n < self->n &&
			    strcmp(self->words[i], self->words[i + n]) == 0;)
			n++;
		fprintf(file, "%zu %s\n", n, self->words[i]);
	}
	if (fclose(file) != 0 || rename(new, path) != 0)
		return -errno;
	return 0;
}

/* A result that is there is whole: who has written it has died behind that. */
static int count(const char *path)
{
	struct counts self = {0};
	int rc = run(weir_flow_for_each(weir_flow_nats_take(nats, &words),
					count_some, &self));
	size_t i;

	if (rc == 0 && access(path, F_OK) != 0)
		rc = write_result(&self, path);
	for (i = 0; i < self.n_messages; i++) {
		if (rc == 0)
			(void)weir_nats_message_done(self.messages[i]);
		weir_flow_bytes_unref(
			(struct weir_flow_bytes *)self.messages[i]);
	}
	free(self.seen);
	free(self.messages);
	free(self.words);
	return rc;
}

/* --- Any ------------------------------------------------------------------ */

static int work(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[2], "read") == 0)
		return read_lines(argv[3]);
	if (argc == 3 && strcmp(argv[2], "split") == 0)
		return split();
	if (argc == 5 && strcmp(argv[2], "count") == 0) {
		words.member = argv[3][0] == '1';
		return count(argv[4]);
	}
	return -EINVAL;
}

int main(int argc, char **argv)
{
	struct weir_nats_options options = {.url = argv[1], .timeout_ns = WAIT};
	int rc;

	if (argc < 3)
		return fprintf(stderr, "usage: wordfreq_nats URL WHAT...\n"), 2;
	rc = weir_nats_new(&nats, &options, NULL);
	if (rc == 0)
		rc = weir_loop_new(&loop, NULL);
	if (rc == 0)
		rc = weir_nats_boundary_ensure_wait(nats, &lines, ASK, NULL);
	if (rc == 0)
		rc = weir_nats_boundary_ensure_wait(nats, &words, ASK, NULL);
	if (rc == 0)
		rc = work(argc, argv);
	if (rc == 0)
		rc = weir_nats_end_wait(nats, WAIT);
	if (rc < 0)
		fprintf(stderr, "wordfreq_nats: %s\n", strerror(-rc));
	if (weir_nats_free(nats) < 0 || weir_loop_free(loop) < 0)
		return 1;
	return rc < 0;
}
