/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wordfreq [FILE]...: the 20 most frequent words of these files, or of the
 * standard input, and what each stage of the pipeline has done.
 *
 *	read ──> split ──> fold ──> count
 *
 * read   a producer on the blocking executor: pages of text
 * split  a transformer: pages of whole words, each ended by a newline
 * fold   a transformer: the same page in small letters
 * count  a consumer: a table of words
 *
 * A word is a run of the letters A to Z and a to z; everything else separates,
 * the end of a file too. A run of more than WORD_MAX letters counts as words
 * of WORD_MAX letters and a rest. So no page is ever larger than PAGE_MAX, and
 * there are never more than the links hold and one for each stage (two for
 * split): memory is bounded for any input, but for the table of words.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <weir/weir.h>

#define PAGE_MAX 16384
#define WORD_MAX 1000
#define CAPACITY 8
#define TOP 20

/* What flows: a page of text. */
struct page {
	size_t length;
	char bytes[PAGE_MAX];
};

struct word {
	struct word *next; /* in its bucket */
	uint64_t count;
	uint32_t hash;
	uint32_t length;
	char letters[];
};

enum { READ, SPLIT, FOLD, COUNT, N_STAGES };

struct wordfreq {
	const struct weir_allocator *memory;
	struct weir_items pages;
	struct weir_producer read;
	struct weir_transformer split, fold;
	struct weir_consumer count;
	struct weir_stats stats[N_STAGES];
	struct {
		char **files; /* ends with NULL */
		const char *name;
		int fd; /* -1: none open */
		bool failed;
	} reader;
	struct {
		size_t at;	   /* in the page of text */
		struct page *page; /* that is being filled */
		size_t word;	   /* letters at its end that go on */
	} splitter;
	struct {
		struct word **buckets;
		size_t n_buckets; /* a power of two, or 0 */
		size_t n_words;
	} table;
	struct weir_completion ended; /* how, says count */
};

static void *allocate(const struct wordfreq *self, size_t size)
{
	return self->memory->alloc(size, self->memory->context);
}

static void release(const struct wordfreq *self, void *memory, size_t size)
{
	if (memory)
		self->memory->free(memory, size, self->memory->context);
}

static struct page *page_new(const struct wordfreq *self)
{
	struct page *page = allocate(self, sizeof(*page));

	if (page)
		page->length = 0;
	return page;
}

static void page_free(const struct wordfreq *self, struct page *page)
{
	release(self, page, sizeof(*page));
}

static void page_drop(void *item, void *context)
{
	page_free(context, item);
}

/* --- read ----------------------------------------------------------------- */

/* Says what is wrong with the file, and goes on with the next one. */
static void unreadable(struct wordfreq *self)
{
	fprintf(stderr, "wordfreq: %s: %s\n", self->reader.name,
		strerror(errno));
	self->reader.failed = true;
}

/* False: there are no more files. */
static bool open_next(struct wordfreq *self)
{
	while (self->reader.fd < 0) {
		if (!*self->reader.files)
			return false;
		self->reader.name = *self->reader.files++;
		self->reader.fd = open(self->reader.name, O_RDONLY | O_CLOEXEC);
		if (self->reader.fd < 0)
			unreadable(self);
	}
	return true;
}

static void close_file(struct wordfreq *self)
{
	if (self->reader.fd >= 0)
		close(self->reader.fd);
	self->reader.fd = -1;
}

static int read_page(void *context, void **item)
{
	struct wordfreq *self = context;
	struct page *page;
	ssize_t n;

	if (!open_next(self))
		return 0;
	page = page_new(self);
	if (!page)
		return -ENOMEM;
	do {
		n = read(self->reader.fd, page->bytes, sizeof(page->bytes));
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		unreadable(self);
	if (n <= 0) {
		close_file(self);
		page->bytes[0] = '\n'; /* no word crosses the end of a file */
		n = 1;
	}
	page->length = (size_t)n;
	*item = page;
	return 1;
}

static void read_done(void *context, struct weir_error *error)
{
	close_file(context);
}

/* --- split ---------------------------------------------------------------- */

static bool is_letter(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* There is always room for the newline: see split_page(). */
static void end_word(struct wordfreq *self)
{
	struct page *page = self->splitter.page;

	if (!self->splitter.word)
		return;
	page->bytes[page->length++] = '\n';
	self->splitter.word = 0;
}

/* The page is full: the word that goes on moves to the next one. */
static int turn_page(struct wordfreq *self, struct weir_out *out)
{
	struct page *next = page_new(self), *full = self->splitter.page;

	if (!next)
		return -ENOMEM;
	self->splitter.page = next;
	if (!full)
		return 0;
	full->length -= self->splitter.word;
	next->length = self->splitter.word;
	memcpy(next->bytes, full->bytes + full->length, next->length);
	return weir_out_put(out, full);
}

static int split_page(void *context, void *item, struct weir_out *out)
{
	struct wordfreq *self = context;
	struct page *text = item, *page = self->splitter.page;
	int rc;

	while (self->splitter.at < text->length) {
		char c = text->bytes[self->splitter.at];

		if (!is_letter(c) || self->splitter.word == WORD_MAX)
			end_word(self);
		if (is_letter(c)) {
			if (!page || page->length + 2 > sizeof(page->bytes)) {
				rc = turn_page(self, out);
				return rc < 0 ? rc : WEIR_MORE;
			}
			page->bytes[page->length++] = c;
			self->splitter.word++;
		}
		self->splitter.at++;
	}
	self->splitter.at = 0;
	page_free(self, text);
	return 0;
}

static int split_flush(void *context, struct weir_out *out)
{
	struct wordfreq *self = context;
	struct page *page = self->splitter.page;

	if (!page)
		return 0;
	end_word(self);
	self->splitter.page = NULL;
	return weir_out_put(out, page);
}

static void split_done(void *context, struct weir_error *error)
{
	struct wordfreq *self = context;

	page_free(self, self->splitter.page);
}

/* --- fold ----------------------------------------------------------------- */

static int fold_page(void *context, void *item, struct weir_out *out)
{
	struct page *page = item;
	size_t i;

	for (i = 0; i < page->length; i++)
		if (page->bytes[i] >= 'A' && page->bytes[i] <= 'Z')
			page->bytes[i] += 'a' - 'A';
	return weir_out_put(out, page);
}

/* --- count ---------------------------------------------------------------- */

static uint32_t hash_of(const char *letters, size_t length)
{
	uint32_t hash = 2166136261u; /* FNV-1a */
	size_t i;

	for (i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)letters[i]) * 16777619u;
	return hash ^ hash >> 15;
}

/* Twice the buckets when there are as many words. */
static int table_grow(struct wordfreq *self)
{
	size_t n = self->table.n_buckets ? 2 * self->table.n_buckets : 1024, i;
	struct word **buckets, *word, *next;

	if (self->table.n_words < self->table.n_buckets)
		return 0;
	buckets = allocate(self, n * sizeof(struct word *));
	if (!buckets)
		return -ENOMEM;
	memset(buckets, 0, n * sizeof(struct word *));
	for (i = 0; i < self->table.n_buckets; i++) {
		for (word = self->table.buckets[i]; word; word = next) {
			next = word->next;
			word->next = buckets[word->hash & (n - 1)];
			buckets[word->hash & (n - 1)] = word;
		}
	}
	release(self, self->table.buckets,
		self->table.n_buckets * sizeof(struct word *));
	self->table.buckets = buckets;
	self->table.n_buckets = n;
	return 0;
}

static int count_word(struct wordfreq *self, const char *letters, size_t length)
{
	uint32_t hash = hash_of(letters, length);
	struct word *word, **bucket;
	int rc = table_grow(self);

	if (rc < 0)
		return rc;
	bucket = &self->table.buckets[hash & (self->table.n_buckets - 1)];
	for (word = *bucket; word; word = word->next) {
		if (word->hash != hash || word->length != length ||
		    memcmp(word->letters, letters, length) != 0)
			continue;
		word->count++;
		return 0;
	}
	word = allocate(self, sizeof(*word) + length);
	if (!word)
		return -ENOMEM;
	*word = (struct word){*bucket, 1, hash, (uint32_t)length};
	memcpy(word->letters, letters, length);
	*bucket = word;
	self->table.n_words++;
	return 0;
}

static int count_page(void *context, void *item)
{
	struct wordfreq *self = context;
	const struct page *page = item;
	const char *word = page->bytes, *end = word + page->length, *newline;
	int rc;

	for (; word < end; word = newline + 1) {
		newline = memchr(word, '\n', (size_t)(end - word));
		rc = count_word(self, word, (size_t)(newline - word));
		if (rc < 0)
			return rc;
	}
	page_free(self, item);
	return 0;
}

static void count_done(void *context, struct weir_error *error)
{
	struct wordfreq *self = context;

	if (error)
		weir_completion_fail(&self->ended, error);
	else
		weir_completion_complete(&self->ended, NULL);
}

static void table_free(struct wordfreq *self)
{
	struct word *word, *next;
	size_t i;

	for (i = 0; i < self->table.n_buckets; i++) {
		for (word = self->table.buckets[i]; word; word = next) {
			next = word->next;
			release(self, word, sizeof(*word) + word->length);
		}
	}
	release(self, self->table.buckets,
		self->table.n_buckets * sizeof(struct word *));
}

/* --- Results -------------------------------------------------------------- */

/* The more frequent one first, then by the alphabet. */
static bool before(const struct word *a, const struct word *b)
{
	size_t length = a->length < b->length ? a->length : b->length;
	int order;

	if (a->count != b->count)
		return a->count > b->count;
	order = memcmp(a->letters, b->letters, length);
	return order ? order < 0 : a->length < b->length;
}

/* Puts the word where it belongs among the `n` best so far. */
static size_t insert(const struct word **best, size_t n,
		     const struct word *word)
{
	size_t i;

	if (n == TOP && before(best[n - 1], word))
		return n;
	for (i = n < TOP ? n++ : n - 1; i && before(word, best[i - 1]); i--)
		best[i] = best[i - 1];
	best[i] = word;
	return n;
}

static void print_words(const struct wordfreq *self)
{
	const struct word *best[TOP], *word;
	size_t n = 0, i;

	for (i = 0; i < self->table.n_buckets; i++)
		for (word = self->table.buckets[i]; word; word = word->next)
			n = insert(best, n, word);
	for (i = 0; i < n; i++)
		printf("%" PRIu64 " %.*s\n", best[i]->count,
		       (int)best[i]->length, best[i]->letters);
}

static double percent(uint64_t part, const struct weir_stats *stats)
{
	uint64_t whole = stats->busy_ns + stats->wait_in_ns +
			 stats->wait_out_ns + stats->wait_other_ns;

	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void print_stages(const struct wordfreq *self)
{
	static const char *const names[] = {"read", "split", "fold", "count"};
	struct weir_stats stats;
	uint64_t tokens;
	size_t i;

	printf("\n%-8s %10s %10s %12s %8s %8s %8s\n", "stage", "tokens",
	       "turns", "tokens/turn", "busy", "no input", "no room");
	for (i = 0; i < N_STAGES; i++) {
		weir_stats_read(&self->stats[i], &stats);
		tokens = i == READ ? stats.put : stats.taken;
		printf("%-8s %10" PRIu64 " %10" PRIu64
		       " %12.2f %7.1f%% %7.1f%% %7.1f%%\n",
		       names[i], tokens, stats.turns,
		       stats.turns ? (double)tokens / (double)stats.turns : 0,
		       percent(stats.busy_ns, &stats),
		       percent(stats.wait_in_ns, &stats),
		       percent(stats.wait_out_ns, &stats));
	}
}

static int failed(const char *stage, int code)
{
	fprintf(stderr, "wordfreq: %s: %s\n", stage, strerror(-code));
	return 1;
}

/* The exit status. */
static int print_results(const struct wordfreq *self)
{
	const struct weir_error *error = weir_completion_error(&self->ended);

	if (error)
		return failed(error->origin, error->code);
	if (!self->table.n_words) {
		fprintf(stderr, "wordfreq: no words in the input\n");
		return 1;
	}
	print_words(self);
	print_stages(self);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		perror("wordfreq: standard output");
		return 1;
	}
	return self->reader.failed ? 1 : 0;
}

/* --- The pipeline --------------------------------------------------------- */

static int init_read(struct wordfreq *self, struct weir_executor *executor)
{
	return weir_producer_init(&self->read, executor,
				  &(struct weir_producer_options){
					  .name = "read",
					  .context = self,
					  .produce = read_page,
					  .done = read_done,
					  .makes = &self->pages,
					  .stats = &self->stats[READ],
				  });
}

static int init_split(struct wordfreq *self, struct weir_executor *executor)
{
	return weir_transformer_init(&self->split, executor,
				     &(struct weir_transformer_options){
					     .name = "split",
					     .context = self,
					     .transform = split_page,
					     .flush = split_flush,
					     .done = split_done,
					     .capacity = CAPACITY,
					     .makes = &self->pages,
					     .stats = &self->stats[SPLIT],
				     });
}

static int init_fold(struct wordfreq *self, struct weir_executor *executor)
{
	return weir_transformer_init(&self->fold, executor,
				     &(struct weir_transformer_options){
					     .name = "fold",
					     .context = self,
					     .transform = fold_page,
					     .capacity = CAPACITY,
					     .makes = &self->pages,
					     .stats = &self->stats[FOLD],
				     });
}

static int init_count(struct wordfreq *self, struct weir_executor *executor)
{
	return weir_consumer_init(&self->count, executor,
				  &(struct weir_consumer_options){
					  .name = "count",
					  .context = self,
					  .consume = count_page,
					  .done = count_done,
					  .capacity = CAPACITY,
					  .stats = &self->stats[COUNT],
				  });
}

/* `files` ends with NULL; without any, the standard input is read. */
static void wordfreq_init(struct wordfreq *self, char **files,
			  const struct weir_allocator *memory)
{
	memset(self, 0, sizeof(*self));
	self->memory = memory;
	self->pages = (struct weir_items){.drop = page_drop, .context = self};
	self->reader.files = files;
	self->reader.fd = *files ? -1 : STDIN_FILENO;
	self->reader.name = "standard input";
	weir_completion_init(&self->ended);
}

static void wordfreq_fini(struct wordfreq *self)
{
	table_free(self);
	weir_completion_fini(&self->ended);
}

/* On an error all that had been set up is stopped. */
static int wordfreq_start(struct wordfreq *self, struct weir_executor *reading,
			  struct weir_executor *working)
{
	struct weir_actor *actors[] = {&self->read.actor, &self->split.actor,
				       &self->fold.actor, &self->count.actor};
	int (*const inits[])(struct wordfreq *, struct weir_executor *) = {
		init_read, init_split, init_fold, init_count};
	size_t i, n = 0;
	int rc = 0;

	for (; rc == 0 && n < N_STAGES; n += rc == 0)
		rc = inits[n](self, n == READ ? reading : working);
	if (rc == 0)
		return weir_chain_start(actors, N_STAGES);
	for (i = 0; i < n; i++)
		weir_actor_stop(actors[i]);
	return rc;
}

/* --- The program ---------------------------------------------------------- */

struct ending {
	struct weir_drain drain;
	struct weir_completion over;
};

static void over(struct weir_drain *drain)
{
	struct ending *ending = weir_container_of(drain, struct ending, drain);

	weir_completion_complete(&ending->over, NULL);
}

/* Until the last actor is released. */
static int wait_for_all(struct weir_executor *executor)
{
	struct ending ending = {.drain.done = over};
	int rc;

	weir_completion_init(&ending.over);
	rc = weir_executor_drain(executor, &ending.drain, WEIR_FOREVER);
	if (rc == 0)
		rc = weir_completion_wait(&ending.over, WEIR_FOREVER);
	weir_completion_fini(&ending.over);
	return rc;
}

static int run(struct wordfreq *self, struct weir_executor *reading,
	       struct weir_executor *working)
{
	int rc = wordfreq_start(self, reading, working);

	if (rc == 0)
		rc = weir_completion_wait(&self->ended, WEIR_FOREVER);
	wait_for_all(reading);
	wait_for_all(working);
	return rc;
}

static int wordfreq(char **files, const struct weir_allocator *memory)
{
	const struct weir_executor_options options = {.allocator = memory};
	const struct weir_blocking_options reading = {.executor = options};
	const struct weir_threads_options working = {.executor = options};
	struct weir_blocking *blocking = NULL;
	struct weir_threads *threads = NULL;
	struct wordfreq self;
	int rc, status;

	wordfreq_init(&self, files, memory);
	rc = weir_blocking_new(&blocking, &reading);
	if (rc == 0)
		rc = weir_threads_new(&threads, &working);
	if (rc == 0)
		rc = run(&self, weir_blocking_executor(blocking),
			 weir_threads_executor(threads));
	weir_threads_free(threads);
	weir_blocking_free(blocking);
	status = rc < 0 ? failed("cannot start", rc) : print_results(&self);
	wordfreq_fini(&self);
	return status;
}

int main(int argc, char **argv)
{
	return wordfreq(argv + 1, weir_allocator_default());
}
