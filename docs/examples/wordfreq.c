/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wordfreq [FILE]...: the 20 most frequent words of these files, or of the
 * standard input, and what has gone by behind each operator of the flow.
 *
 *	read ──> fold ──> count
 *
 * A word is a run of the letters A to Z and a to z; everything else separates,
 * the end of a file too. A run of more than WORD_MAX letters counts as words
 * of WORD_MAX letters and a rest. Links hold few pages, so memory is bounded
 * for any input, but for the table of words.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/weir.h>

#define PAGE_MAX 16384
#define WORD_MAX 1000
#define N_BUCKETS 65536
#define TOP 20

struct word {
	struct word *next; /* in its bucket */
	uint64_t count;
	uint32_t hash, n;
	char letters[];
};

struct wordfreq {
	char **names; /* of the file, and those to come; ends with NULL */
	FILE *file;   /* NULL: none is open */
	int status;   /* of the program's exit */
	uint64_t n_read, n_folded, n_counted; /* pages, pages, words */
	size_t n_words, n; /* n: letters of the word that goes on */
	char letters[WORD_MAX];
	struct word *buckets[N_BUCKETS];
};

/* The exit status. */
static int failed(const char *what, const char *why)
{
	fprintf(stderr, "wordfreq: %s: %s\n", what, why);
	return 1;
}

/* --- read, the only one that blocks: pages of text ------------------------ */

/* A file that cannot be read is told of; the next one is read. */
static int read_page(void **state, void **item, void *context)
{
	struct wordfreq *self = context;
	struct weir_flow_bytes *page;
	int rc;

	(void)state;
	while (!self->file) {
		if (!*self->names || !*++self->names)
			return 0;
		self->file = fopen(*self->names, "re");
		if (!self->file)
			self->status = failed(*self->names, strerror(errno));
	}
	rc = weir_flow_bytes_new(&page, PAGE_MAX, NULL);
	if (rc < 0)
		return rc;
	page->n = fread(page->data, 1, PAGE_MAX, self->file);
	if (ferror(self->file))
		self->status = failed(*self->names, strerror(errno));
	if (page->n < PAGE_MAX) {
		(void)fclose(self->file);
		self->file = NULL;
		page->data[page->n++] = '\n'; /* no word crosses it */
	}
	*item = page;
	return 1;
}

/* --- fold: small letters, and newlines for everything else ---------------- */

static int fold_page(void **item, void *context)
{
	struct weir_flow_bytes *page = *item;
	size_t i;

	(void)context;
	for (i = 0; i < page->n; i++) {
		char c = (char)(page->data[i] | 0x20);

		page->data[i] = c >= 'a' && c <= 'z' ? c : '\n';
	}
	return 0;
}

/* --- count: a table of words ---------------------------------------------- */

/* The word that went on has ended. */
static int count_word(struct wordfreq *self)
{
	uint32_t hash = 2166136261u; /* FNV-1a */
	struct word **bucket, *word;
	size_t i;

	for (i = 0; i < self->n; i++)
		hash = (hash ^ (unsigned char)self->letters[i]) * 16777619u;
	bucket = &self->buckets[(hash ^ hash >> 16) % N_BUCKETS];
	for (word = *bucket; word; word = word->next)
		if (word->hash == hash && word->n == self->n &&
		    memcmp(word->letters, self->letters, self->n) == 0)
			break;
	if (!word) {
		word = malloc(sizeof(*word) + self->n);
		if (!word)
			return -ENOMEM;
		*word = (struct word){*bucket, 0, hash, (uint32_t)self->n};
		memcpy(word->letters, self->letters, self->n);
		*bucket = word;
		self->n_words++;
	}
	word->count++;
	self->n_counted++;
	self->n = 0;
	return 0;
}

static int count_page(void *item, void *context)
{
	struct weir_flow_bytes *page = item;
	struct wordfreq *self = context;
	size_t i;
	int rc = 0;

	for (i = 0; i < page->n && rc == 0; i++) {
		if (page->data[i] != '\n')
			self->letters[self->n++] = page->data[i];
		if (self->n == WORD_MAX || (page->data[i] == '\n' && self->n))
			rc = count_word(self);
	}
	if (rc == 0)
		weir_flow_bytes_unref(page);
	return rc;
}

/* --- The flow ------------------------------------------------------------- */

static void went_by(void *item, void *n)
{
	(void)item;
	++*(uint64_t *)n;
}

static struct weir_flow *wordfreq_flow(struct wordfreq *self,
				       struct weir_executor *blocking)
{
	struct weir_flow_peek_functions hooks = {.item = went_by};
	struct weir_flow *flow = weir_flow_unfold(NULL, read_page, self);

	flow = weir_flow_items(flow, weir_flow_bytes_items());
	flow = weir_flow_peek(flow, &hooks, &self->n_read);
	flow = weir_flow_async(flow, 8, blocking);
	flow = weir_flow_same_items(weir_flow_map(flow, fold_page, NULL));
	flow = weir_flow_peek(flow, &hooks, &self->n_folded);
	flow = weir_flow_async(flow, 8, NULL);
	return weir_flow_for_each(flow, count_page, self);
}

/* The more frequent one first, then by the alphabet. */
static int order(const void *one, const void *other)
{
	const struct word *a = *(struct word *const *)one;
	const struct word *b = *(struct word *const *)other;
	int rc = memcmp(a->letters, b->letters, a->n < b->n ? a->n : b->n);

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return rc ? rc : (a->n > b->n) - (a->n < b->n);
}

/* The exit status. */
static int print(const struct wordfreq *self)
{
	struct word **words, *word;
	size_t i, n = 0;

	if (self->n_words == 0)
		return failed("no result", "no words in the input");
	words = malloc(self->n_words * sizeof(*words));
	if (!words)
		return failed("the words", strerror(ENOMEM));
	for (i = 0; i < N_BUCKETS; i++)
		for (word = self->buckets[i]; word; word = word->next)
			words[n++] = word;
	qsort(words, n, sizeof(*words), order);
	for (i = 0; i < n && i < TOP; i++)
		printf("%" PRIu64 " %.*s\n", words[i]->count, (int)words[i]->n,
		       words[i]->letters);
	free(words);
	printf("\nbehind       items\nread    %10" PRIu64 " pages\n"
	       "fold    %10" PRIu64 " pages\ncount   %10" PRIu64
	       " words\n        %10zu different words\n",
	       self->n_read, self->n_folded, self->n_counted, n);
	if (fflush(stdout) != 0 || ferror(stdout))
		return failed("standard output", strerror(errno));
	return self->status;
}

/* What the flow comes to: 0 or a negative errno. */
static int run(struct wordfreq *self)
{
	struct weir_blocking *blocking = NULL;
	struct weir_threads *threads = NULL;
	struct weir_flow *flow;
	int rc = weir_blocking_new(&blocking, NULL);

	if (rc == 0)
		rc = weir_threads_new(&threads, NULL);
	if (rc == 0) {
		flow = wordfreq_flow(self, weir_blocking_executor(blocking));
		rc = weir_flow_run(flow, weir_threads_executor(threads), NULL);
		weir_flow_free(flow);
	}
	if (weir_threads_free(threads) < 0 || weir_blocking_free(blocking) < 0)
		rc = -EBUSY;
	return rc;
}

int main(int argc, char **argv)
{
	struct wordfreq *self = calloc(1, sizeof(*self));
	struct word *word;
	int rc, status;
	size_t i;

	if (!self)
		return failed("the table", strerror(ENOMEM));
	self->names = argv;
	self->file = argc > 1 ? NULL : stdin;
	rc = run(self);
	status = rc < 0 ? failed("the flow", strerror(-rc)) : print(self);
	for (i = 0; i < N_BUCKETS; i++)
		while ((word = self->buckets[i])) {
			self->buckets[i] = word->next;
			free(word);
		}
	free(self);
	return status;
}
