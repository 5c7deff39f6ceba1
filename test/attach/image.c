/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/image.h"

#include "support.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include <weir/sim.h>
#include <weir/weir.h>

#include "actor/layout.h"
#include "attach/reader.h"
#include "base/random.h"

static struct image_page *page_of(struct image *image, uint64_t at)
{
	size_t i;

	for (i = 0; i < image->n_pages; i++)
		if (image->pages[i].at == at)
			return &image->pages[i];
	return NULL;
}

static struct image_page *record(struct image *image, uint64_t at)
{
	struct image_page *page = &image->pages[image->n_pages];
	struct iovec here = {NULL, IMAGE_PAGE}, there = {NULL, IMAGE_PAGE};

	assert(image->n_pages < IMAGE_PAGES);
	page->at = at;
	page->bytes = here.iov_base = malloc(IMAGE_PAGE);
	page->kept = malloc(IMAGE_PAGE);
	assert(page->bytes && page->kept);
	there.iov_base = (void *)(uintptr_t)at;
	if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != IMAGE_PAGE) {
		free(page->bytes);
		free(page->kept);
		return NULL;
	}
	memcpy(page->kept, page->bytes, IMAGE_PAGE);
	image->n_pages++;
	return page;
}

static bool read_image(struct weir__memory *memory, uint64_t at, void *bytes,
		       size_t n)
{
	struct image *image = (struct image *)memory;
	const struct image_page *page = page_of(image, at);

	assert(n == IMAGE_PAGE && at % IMAGE_PAGE == 0);
	if (!page && image->records)
		page = record(image, at);
	if (page)
		memcpy(bytes, page->bytes, n);
	return page;
}

/* --- What both say --------------------------------------------------------- */

void said_by_both(char *text)
{
	static const char now[] = "\"now_ns\": ";
	static const char sim[] = "{\"kind\": \"sim\", \"name\": \"\", ";
	char *at = strstr(text, ",\n\"children\": [");

	/* they and what follows are the last ones */
	assert_non_null(at);
	*at = '\0';
	/* a simulator's clock stands still */
	for (at = text; (at = strstr(at, now)); at += strlen(now))
		if (strncmp(at - strlen(sim), sim, strlen(sim)) != 0)
			memmove(at + strlen(now), strchr(at, ','),
				strlen(strchr(at, ',')) + 1);
}

/* --- A program ------------------------------------------------------------ */

static void read_it(struct image *image, char *said, size_t n)
{
	const struct weir__reader_options options = {0};
	char message[WEIR__READER_MESSAGE];
	struct weir_snapshot *snapshot;

	image->records = true;
	assert_int_equal(weir__reader_snapshot(&snapshot, &image->memory,
					       &options, message),
			 0);
	image->records = false;
	assert_true(weir_snapshot_json(snapshot, said, n) < n);
	said_by_both(said);
	weir_snapshot_free(snapshot);
}

/* A flow that merges, takes permits and is broadcast, and one that nobody feeds. */
static struct weir_flow *flow_of(struct weir_semaphore *permits)
{
	struct weir_flow *parts[2];

	parts[0] = weir_flow_async(weir_flow_range(1, 100), 4, NULL);
	parts[1] = weir_flow_async(weir_flow_never(), 8, NULL);
	return weir_flow_ignore(
		weir_flow_acquire(weir_flow_merge(parts, 2), permits));
}

void image_record(struct image *image, char *said, size_t n)
{
	struct weir_semaphore permits;
	struct weir_executor *executor;
	struct weir_snapshot *own;
	struct weir_flow_run *run;
	struct weir_flow *flow;
	struct weir_sim *sim;
	static char read[1 << 16];

	memset(image, 0, sizeof(*image));
	image->memory.read = read_image;
	image->memory.regions = &image->region;
	image->memory.n_regions = 1;
	image->region.begin = (uintptr_t)&weir__layout;
	image->region.end = image->region.begin + sizeof(weir__layout);
	assert_int_equal(weir_semaphore_init(&permits, 3), 0);
	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	executor = weir_sim_executor(sim);
	flow = flow_of(&permits);
	assert_int_equal(weir_flow_start(flow, executor, NULL, &run), 0);
	weir_sim_run(sim);
	assert_int_equal(weir_snapshot_new(&own, &executor, 1, 1), 0);
	assert_true(weir_snapshot_json(own, said, n) < n);
	said_by_both(said);
	weir_snapshot_free(own);
	read_it(image, read, sizeof(read));
	assert_string_equal(read, said);
	weir_flow_run_stop(run, NULL);
	weir_sim_run(sim);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	assert_int_equal(weir_semaphore_fini(&permits), 0);
	assert_int_equal(weir_sim_free(sim), 0);
}

/* --- Changes -------------------------------------------------------------- */

void *image_at(struct image *image, uint64_t at, size_t n)
{
	uint64_t offset = at % IMAGE_PAGE;
	struct image_page *page = page_of(image, at - offset);

	assert_non_null(page);
	assert_true(offset + n <= IMAGE_PAGE);
	return page->bytes + offset;
}

/* Words that a reader may take for something. */
static uint64_t word(struct image *image, uint64_t *random)
{
	uint64_t drawn = weir__splitmix(random);
	const struct image_page *page =
		&image->pages[drawn / 8 % image->n_pages];
	uint64_t at = weir__splitmix(random) % (IMAGE_PAGE / 8) * 8, found;

	switch (drawn % 8) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX - drawn / 8 % 64;
	case 2:
		return drawn / 8 % 4096;
	case 3:
		return page->at + at;
	case 4:
		return drawn;
	default:
		memcpy(&found, page->bytes + at, sizeof(found));
		return found;
	}
}

static void tear_one(struct image *image, uint64_t *random)
{
	uint64_t drawn = weir__splitmix(random);
	struct image_page *page = &image->pages[drawn / 8 % image->n_pages];
	uint64_t at = weir__splitmix(random) % (IMAGE_PAGE / 8) * 8, new;
	size_t i;

	/* what is used is more than what is not: most words are 0 */
	for (i = 0; i < 64 && page->bytes[at] == 0; i++)
		at = (at + 8) % IMAGE_PAGE;
	switch (drawn % 8) {
	case 0:
		page->at ^= 1; /* it is not there */
		break;
	case 1:
	case 2:
		page->bytes[at + drawn / 64 % 8] ^=
			(unsigned char)(1u << drawn / 512 % 8);
		break;
	case 3:
		new = word(image, random);
		memcpy(page->bytes + at, &new, 4);
		break;
	default:
		new = word(image, random);
		memcpy(page->bytes + at, &new, 8);
		break;
	}
}

void image_tear(struct image *image, uint64_t seed)
{
	uint64_t random = seed;
	size_t n = 1 + weir__splitmix(&random) % 64;

	if (weir__splitmix(&random) % 2)
		n = 1 + n % 4;
	while (n-- > 0)
		tear_one(image, &random);
}

void image_mend(struct image *image)
{
	size_t i;

	for (i = 0; i < image->n_pages; i++) {
		image->pages[i].at &= ~(uint64_t)1;
		memcpy(image->pages[i].bytes, image->pages[i].kept, IMAGE_PAGE);
	}
}

void image_free(struct image *image)
{
	size_t i;

	for (i = 0; i < image->n_pages; i++) {
		free(image->pages[i].bytes);
		free(image->pages[i].kept);
	}
}
