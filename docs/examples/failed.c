/* SPDX-License-Identifier: BSD-2-Clause */
/* A function of a flow fails with words of its own, and main prints them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/weir.h>

static int parse(void **item, void *context)
{
	const char *word = *item, **bad = context;
	char *end;
	long n = strtol(word, &end, 10);

	if (*end) {
		*bad = word;
		return -EINVAL;
	}
	*item = (void *)(intptr_t)n;
	return 0;
}

static struct weir_error *in_words(struct weir_error *error, void *context)
{
	const char **bad = context;

	return weir_error_format(error->code, error->origin,
				 "\"%s\" is no number", *bad);
}

static int print(void *item, void *context)
{
	(void)context;
	printf("%d\n", (int)(intptr_t)item);
	return 0;
}

/* What the flow has failed with, or NULL. */
static struct weir_error *run(struct weir_flow *flow,
			      struct weir_executor *executor)
{
	struct weir_error *error = NULL;
	struct weir_flow_run *run = NULL;
	int rc = weir_flow_start(flow, executor, NULL, &run);

	if (rc == 0)
		rc = weir_flow_run_wait(run, WEIR_FOREVER, NULL, &error);
	weir_flow_run_free(run);
	return rc < 0 ? weir_error_of(rc) : error;
}

int main(void)
{
	char words[][6] = {"1", "2", "three", "4"};
	void *items[] = {words[0], words[1], words[2], words[3]};
	struct weir_flow *flow = weir_flow_array(items, 4);
	const char *bad = NULL;
	struct weir_error *error;
	struct weir_loop *loop;

	if (weir_loop_new(&loop, NULL) < 0)
		return 1;
	flow = weir_flow_name(weir_flow_map(flow, parse, &bad), "parse");
	flow = weir_flow_map_error(flow, in_words, &bad);
	flow = weir_flow_for_each(flow, print, NULL);
	error = run(flow, weir_loop_executor(loop));
	if (error)
		printf("%s: %s\n", error->origin, error->message);
	weir_error_unref(error);
	weir_flow_free(flow);
	return weir_loop_free(loop) < 0;
}
