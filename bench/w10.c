/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * W10, a child: blocks of 64 KiB through cat(1), as an operator; and through the
 * pipes of a shell, of which dd(1) and wc(1) are the ends. Started and waited
 * for within what is counted. In the first byte of each block is a 1, which is
 * looked for in what comes back; the shell's are counted alone.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <weir/weir.h>

#include "support.h"
#include "who.h"

#define BLOCK 65536u

/* Of this process, or of children that were waited for. */
static double used_ns(int whose)
{
	struct rusage usage;

	(void)getrusage(whose, &usage);
	return 1e9 * (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       1e3 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

struct stream {
	uint64_t left;	/* blocks to be sent */
	uint64_t bytes; /* that have come */
	uint64_t marks;
};

static int next_block(void **state, void **item, void *context)
{
	struct stream *stream = context;
	struct weir_flow_bytes *bytes;
	int rc;

	if (stream->left == 0)
		return 0;
	rc = weir_flow_bytes_new(&bytes, BLOCK, NULL);
	if (rc < 0)
		return rc;
	memset(bytes->data, 0, BLOCK);
	bytes->data[0] = 1;
	stream->left--;
	*item = bytes;
	return 1;
}

static int take_piece(void *item, void *context)
{
	struct weir_flow_bytes *bytes = item;
	struct stream *stream = context;
	size_t at = (size_t)(-stream->bytes % BLOCK);

	for (; at < bytes->n; at += BLOCK)
		stream->marks += bytes->data[at] == 1;
	stream->bytes += bytes->n;
	weir_flow_bytes_unref(bytes);
	return 0;
}

static int through_child(uint64_t items, struct bench_result *result)
{
	const char *const argv[] = {"cat", NULL};
	struct stream stream = {.left = items};
	struct weir_flow *flow = weir_flow_unfold(NULL, next_block, &stream);
	struct weir_loop *loop;
	int rc = weir_loop_new(&loop, NULL);

	flow = weir_flow_items(flow, weir_flow_bytes_items());
	flow = weir_flow_child(flow, argv, NULL);
	flow = weir_flow_for_each(flow, take_piece, &stream);
	if (rc == 0)
		rc = weir_flow_run(flow, weir_loop_executor(loop), NULL);
	weir_flow_free(flow);
	if (rc == 0)
		rc = weir_loop_free(loop);
	result->count = stream.bytes / BLOCK;
	result->sum = stream.marks;
	return rc;
}

static int through_shell(uint64_t items, struct bench_result *result)
{
	uint64_t bytes = 0;
	char command[80];
	FILE *shell;
	int n;

	(void)snprintf(command, sizeof(command),
		       "dd if=/dev/zero bs=%u count=%" PRIu64
		       " 2>&- | cat | wc -c",
		       BLOCK, items);
	shell = popen(command, "re");
	if (!shell)
		return -errno;
	n = fscanf(shell, "%" SCNu64, &bytes);
	if (pclose(shell) != 0 || n != 1)
		return -EIO;
	result->count = result->sum = bytes / BLOCK;
	return 0;
}

static int measure(uint64_t items,
		   int (*run)(uint64_t items, struct bench_result *result),
		   struct bench_result *result)
{
	double own_ns = used_ns(RUSAGE_SELF);
	double others_ns = used_ns(RUSAGE_CHILDREN);
	uint64_t start_ns = bench_real_ns();
	int rc = run(items, result);

	result->elapsed_ns = bench_real_ns() - start_ns;
	own_ns = used_ns(RUSAGE_SELF) - own_ns;
	others_ns = used_ns(RUSAGE_CHILDREN) - others_ns;
	result->figures[0] = (double)result->elapsed_ns / (double)items;
	result->figures[1] = (own_ns + others_ns) / (double)items;
	result->figures[2] = own_ns / (double)items;
	return rc;
}

int w10_child(const struct bench_cell *cell, uint64_t items,
	      struct bench_result *result)
{
	return measure(items, through_child, result);
}

int w10_shell(const struct bench_cell *cell, uint64_t items,
	      struct bench_result *result)
{
	return measure(items, through_shell, result);
}
