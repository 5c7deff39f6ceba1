/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The demo without enough memory: whichever allocation fails, it says so or
 * does without, and leaves nothing behind.
 */
#include "support.h"

#include <ck_pr.h>

int wordfreq_main(int argc, char **argv);
#define main wordfreq_main
#include "../../docs/examples/wordfreq.c"
#undef main

/* Counts what is out, and fails the `fail`-th allocation (0: none). */
static struct {
	uint32_t calls, fail, live; /* any thread */
} heap;

static void *heap_alloc(size_t size, void *context)
{
	if (ck_pr_faa_32(&heap.calls, 1) + 1 == heap.fail)
		return NULL;
	ck_pr_inc_32(&heap.live);
	return malloc(size);
}

static void heap_free(void *memory, size_t size, void *context)
{
	memset(memory, 0xdd, size); /* its size is right, or we are told */
	ck_pr_dec_32(&heap.live);
	free(memory);
}

static const struct weir_allocator allocator = {heap_alloc, heap_free, NULL};

#define WORDS 1500 /* 3 pages, and buckets for 1024 */

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
	heap.calls = 0;
	heap.fail = fail;
}

/* Every allocation fails once, or every n-th where that takes too long. */
static uint32_t stride(void)
{
	return (uint32_t)(64 / test_count(64));
}

/* What a run with that heap has come to; true: it lacked nothing. */
static bool heap_end(int code, size_t n_words)
{
	assert_int_equal(heap.live, 0);
	if (code == 0)
		assert_int_equal(n_words, WORDS + 2);
	else
		assert_int_equal(code, -ENOMEM);
	return heap.calls < heap.fail;
}

/* All of it on a simulator: the n-th allocation is the same each time. */
static void pipeline_loses_nothing_whatever_allocation_fails(void **state)
{
	const struct weir_executor_options options = {.allocator = &allocator};
	char *files[] = {path, NULL};
	const struct weir_error *error;
	struct weir_executor *executor;
	struct wordfreq self;
	struct weir_sim *sim;
	uint32_t fail = 0;
	size_t n_words;
	int rc;

	do {
		heap_start(0);
		assert_int_equal(weir_sim_new(&sim, 1, &options), 0);
		executor = weir_sim_executor(sim);
		fail += fail < 64 ? 1 : stride();
		heap_start(fail);
		wordfreq_init(&self, files, &allocator);
		rc = wordfreq_start(&self, executor, executor);
		weir_sim_run(sim);
		error = weir_completion_error(&self.ended);
		if (rc == 0 && error)
			rc = error->code;
		n_words = self.table.n_words;
		wordfreq_fini(&self);
		assert_int_equal(weir_sim_free(sim), 0);
	} while (!heap_end(rc, n_words));
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

/* The program with its threads, as main() runs it. */
static int run_program(void)
{
	char *files[] = {path, NULL};
	int out, err, status;

	fflush(stdout);
	out = redirect(STDOUT_FILENO, "/dev/null");
	err = redirect(STDERR_FILENO, messages);
	status = wordfreq(files, &allocator);
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
		heap_start(fail);
		status = run_program();
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
			pipeline_loses_nothing_whatever_allocation_fails),
		cmocka_unit_test(program_says_so_whatever_allocation_fails),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
