/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The demo without enough memory: whichever allocation fails, of the flow, of
 * its run or of the program, it says so and leaves nothing behind. The linker
 * puts our malloc, calloc and free in the place of the C library's.
 */
#include "support.h"

#include <ck_pr.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int wordfreq_main(int argc, char **argv);
#define main wordfreq_main
#include "../../docs/examples/wordfreq.c"
#undef main

/* Counts what is out, and fails the `fail`-th allocation (0: none). */
static struct {
	uint32_t calls, fail, live; /* any thread */
} heap;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void __wrap_free(void *memory);

static bool fails(void)
{
	if (ck_pr_faa_32(&heap.calls, 1) + 1 == heap.fail)
		return true;
	ck_pr_inc_32(&heap.live);
	return false;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void __wrap_free(void *memory)
{
	if (memory)
		ck_pr_dec_32(&heap.live);
	__real_free(memory);
}

#define WORDS 1500 /* 3 pages */

static char path[] = "/tmp/weir-wordfreq-XXXXXX";
static char messages[] = "/tmp/weir-wordfreq-XXXXXX";

static int make_files(void **state)
{
	int fd = mkstemp(path), i;
	FILE *file = fdopen(fd, "w");

	assert_non_null(file);
	for (i = 0; i < WORDS; i++)
		fprintf(file, "Common %c%c%c%c interesting\n", 'a' + i % 26,
			'a' + i / 26 % 26, 'a' + i / 676, 'a' + i % 7);
	assert_int_equal(fclose(file), 0);
	fd = mkstemp(messages);
	assert_true(fd >= 0);
	return close(fd);
}

static int remove_files(void **state)
{
	return unlink(path) | unlink(messages);
}

static void heap_start(uint32_t fail)
{
	heap.calls = heap.live = 0;
	heap.fail = fail;
}

/* Every allocation fails once, or every n-th where that takes too long. */
static uint32_t stride(void)
{
	return (uint32_t)(64 / test_count(64));
}

/* The flow on a simulator: the n-th allocation is the same each time. */
static int run_flow(struct weir_sim *sim, struct wordfreq *self)
{
	struct weir_executor *executor = weir_sim_executor(sim);
	struct weir_flow *flow = wordfreq_flow(self, executor);
	int rc = weir_flow_run(flow, executor, NULL);

	weir_flow_free(flow);
	return rc;
}

static void empty_table(struct wordfreq *self)
{
	struct word *word;
	size_t i;

	for (i = 0; i < N_BUCKETS; i++)
		while ((word = self->buckets[i])) {
			self->buckets[i] = word->next;
			free(word);
		}
	if (self->file)
		assert_int_equal(fclose(self->file), 0);
	self->file = NULL;
}

static void the_flow_loses_nothing_whatever_allocation_fails(void **state)
{
	char *names[] = {path, path, NULL};
	static struct wordfreq self;
	struct weir_sim *sim;
	uint32_t fail = 0;
	bool over;
	int rc;

	do {
		heap_start(0);
		assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
		fail += fail < 64 ? 1 : stride();
		self = (struct wordfreq){.names = names};
		heap.calls = 0;
		heap.fail = fail;
		rc = run_flow(sim, &self);
		over = heap.calls < heap.fail;
		assert_int_equal(rc, over ? 0 : -ENOMEM);
		assert_int_equal(self.n_words == WORDS + 2, over);
		empty_table(&self);
		assert_int_equal(weir_sim_free(sim), 0);
		assert_int_equal(heap.live, 0);
	} while (!over);
	assert_true(fail > WORDS);
}

/* Where output that nobody wants to see goes meanwhile. */
static int redirect(int fd, const char *file)
{
	int saved = dup(fd), to = open(file, O_WRONLY | O_TRUNC);

	assert_true(saved >= 0 && to >= 0 && dup2(to, fd) == fd);
	close(to);
	return saved;
}

static void restore(int fd, int saved)
{
	assert_int_equal(dup2(saved, fd), fd);
	close(saved);
}

static bool says_so(void)
{
	char text[256];
	FILE *file = fopen(messages, "r");
	size_t n = fread(text, 1, sizeof(text) - 1, file);

	fclose(file);
	text[n] = 0;
	return strstr(text, "Cannot allocate memory") != NULL;
}

/* The program with its threads. */
static int run_program(uint32_t fail)
{
	char *argv[] = {path, path, NULL};
	int out, err, status;

	fflush(stdout);
	out = redirect(STDOUT_FILENO, "/dev/null");
	err = redirect(STDERR_FILENO, messages);
	heap_start(fail);
	status = wordfreq_main(2, argv);
	fflush(stdout);
	restore(STDOUT_FILENO, out);
	restore(STDERR_FILENO, err);
	return status;
}

static void program_says_so_whatever_allocation_fails(void **state)
{
	/* All of the set-up, then at longer and longer steps. */
	uint32_t fail = 0, step = 1;
	int status;

	do {
		fail += step;
		step += fail > 64 ? stride() : 0;
		status = run_program(fail);
		assert_int_equal(heap.live, 0);
		assert_true(status == 0 || (status == 1 && says_so()));
	} while (heap.calls >= heap.fail);
	assert_int_equal(status, 0);
	assert_true(fail > WORDS);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_flow_loses_nothing_whatever_allocation_fails),
		cmocka_unit_test(program_says_so_whatever_allocation_fails),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
