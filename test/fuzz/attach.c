/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A memory of any bytes behind the reader of other processes. A real one is
 * recorded first; the bytes say what is written into it, and where.
 */
#include "fuzz/fuzz.h"

#include <string.h>

#include "attach/image.h"
#include "attach/reader.h"

const char fuzz_alphabet[] = "\x01\x02\x04\x08\x10\x20\x40\x80\xff";
const size_t fuzz_head = 600;

static struct image image;

static uint64_t number(const uint8_t **bytes, size_t *n, size_t size)
{
	uint64_t made = 0;

	while (size-- > 0)
		made = made << 8 | fuzz_byte(bytes, n);
	return made;
}

/* A word: where, and what: a number, or an address in the image. */
static void write_one(const uint8_t **bytes, size_t *n)
{
	uint8_t how = fuzz_byte(bytes, n);
	struct image_page *page =
		&image.pages[fuzz_byte(bytes, n) % image.n_pages];
	size_t size = (size_t)1 << how % 4;
	uint64_t at = number(bytes, n, 2) % (IMAGE_PAGE / size) * size, what;

	if (how & 16)
		what = image.pages[fuzz_byte(bytes, n) % image.n_pages].at +
		       number(bytes, n, 2) % IMAGE_PAGE;
	else
		what = number(bytes, n, size);
	if (how & 32)
		page->at ^= 1;
	memcpy(page->bytes + at, &what, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const struct weir__reader_options options = {.most = 20000};
	char message[WEIR__READER_MESSAGE];
	struct weir_snapshot *snapshot;
	static char text[1 << 16];
	int rc;

	if (image.n_pages == 0)
		image_record(&image, text, sizeof(text));
	while (n > 0)
		write_one(&bytes, &n);
	rc = weir__reader_snapshot(&snapshot, &image.memory, &options, message);
	assert((rc == 0) == (snapshot != NULL));
	assert(rc == 0 || message[0]);
	if (rc == 0) {
		(void)weir_snapshot_why_text(snapshot, WEIR_NOWHERE, text,
					     sizeof(text));
		(void)weir_snapshot_json(snapshot, text, sizeof(text));
		(void)weir_snapshot_dot(snapshot, text, sizeof(text));
	}
	weir_snapshot_free(snapshot);
	image_mend(&image);
	return 0;
}
