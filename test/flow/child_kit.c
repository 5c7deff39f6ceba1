/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/child_kit.h"

#include "base/random.h"

const struct kind *const watchers[] = {&loop, &threads, &blocking, &sim, NULL};

void digest_add(struct digest *digest, const char *bytes, size_t n)
{
	uint64_t hash = digest->hash;
	size_t i;

	for (i = 0; i < n; i++)
		hash = hash * 31 + (unsigned char)bytes[i];
	digest->hash = hash;
	digest->n += n;
}

static int make_noise(void **state, void **item, void *context)
{
	struct noise *noise = context;
	uint64_t drawn = weir__splitmix(&noise->random);
	struct weir_flow_bytes *bytes;
	size_t n = 1 + (size_t)(drawn % noise->block), i;

	if (noise->left == 0)
		return 0;
	if (n > noise->left)
		n = (size_t)noise->left;
	assert(weir_flow_bytes_new(&bytes, n, NULL) == 0);
	for (i = 0; i < n; i++)
		bytes->data[i] = (char)((drawn >> (i % 56)) + i);
	digest_add(&noise->made, bytes->data, n);
	noise->left -= n;
	*item = bytes;
	return 1;
}

struct weir_flow *noise_flow(struct noise *noise)
{
	return weir_flow_items(weir_flow_unfold(NULL, make_noise, noise),
			       weir_flow_bytes_items());
}

static int make_again(void **state, void **item, void *context)
{
	struct weir_flow_bytes *bytes;

	assert(weir_flow_bytes_new(&bytes, 6, NULL) == 0);
	memcpy(bytes->data, "again\n", 6);
	*item = bytes;
	return 1;
}

struct weir_flow *endless(void)
{
	return weir_flow_items(weir_flow_unfold(NULL, make_again, NULL),
			       weir_flow_bytes_items());
}

static int digest_one(void *item, void *context)
{
	struct weir_flow_bytes *bytes = item;

	assert(bytes->n > 0);
	digest_add(context, bytes->data, bytes->n);
	weir_flow_bytes_unref(bytes);
	return 0;
}

struct weir_flow *digested(struct weir_flow *flow, struct digest *digest)
{
	*digest = (struct digest){0};
	return weir_flow_for_each(flow, digest_one, digest);
}

static int keep_one(void *item, void *context)
{
	struct weir_flow_bytes *bytes = item;
	struct kept *kept = context;

	assert(bytes->n < sizeof(kept->text) - kept->n);
	memcpy(kept->text + kept->n, bytes->data, bytes->n);
	kept->n += bytes->n;
	kept->text[kept->n] = '\0';
	weir_flow_bytes_unref(bytes);
	return 0;
}

struct weir_flow *kept(struct weir_flow *flow, struct kept *kept)
{
	kept->n = 0;
	kept->text[0] = '\0';
	return weir_flow_for_each(flow, keep_one, kept);
}

struct weir_error *end_of(const struct kind *kind, struct weir_flow *flow)
{
	struct leftovers leftovers;
	struct weir_flow_run *run;
	struct weir_error *error;
	struct place place;

	leftovers_note(&leftovers);
	place_make(&place, kind);
	assert_int_equal(weir_flow_start(flow, place.executor, NULL, &run), 0);
	assert_int_equal(weir_flow_run_wait(run, WEIR_FOREVER, NULL, &error),
			 0);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	assert_int_equal(kind->free(&place), 0);
	leftovers_check(&leftovers);
	return error;
}

int code_of(const struct kind *kind, struct weir_flow *flow)
{
	struct weir_error *error = end_of(kind, flow);
	int code = error ? error->code : 0;

	if (error && code != -ECHILD)
		print_message("%s\n", error->message);
	weir_error_unref(error);
	return code;
}
