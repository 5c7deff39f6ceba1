/* SPDX-License-Identifier: BSD-2-Clause */
/* The reader gets memory that makes no sense. */
#include "attach/reader.h"

#include "support.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "actor/layout.h"
#include "attach/image.h"
#include "base/random.h"
#include "kit/world.h"

static char message[WEIR__READER_MESSAGE];

/* All texts of what is read of it, if anything is; what was left out. */
static size_t read_all(struct image *image, int *rc)
{
	const struct weir__reader_options options = {.most = 100000};
	struct weir_snapshot *snapshot;
	static char text[1 << 16];
	size_t torn = 0;

	*rc = weir__reader_snapshot(&snapshot, &image->memory, &options,
				    message);
	if (*rc < 0) {
		assert_null(snapshot);
		assert_int_not_equal(message[0], 0);
		return 0;
	}
	torn = snapshot->n_torn;
	(void)weir_snapshot_why_text(snapshot, WEIR_NOWHERE, text,
				     sizeof(text));
	(void)weir_snapshot_json(snapshot, text, sizeof(text));
	(void)weir_snapshot_dot(snapshot, text, sizeof(text));
	weir_snapshot_free(snapshot);
	return torn;
}

static void an_image_says_what_the_process_says(void **state)
{
	const struct weir__reader_options options = {0};
	struct weir_snapshot *snapshot;
	static char text[1 << 16], said[1 << 16];
	struct image image;

	image_record(&image, said, sizeof(said));
	assert_int_equal(weir__reader_snapshot(&snapshot, &image.memory,
					       &options, message),
			 0);
	assert_int_equal(snapshot->n_torn, 0);
	(void)weir_snapshot_json(snapshot, text, sizeof(text));
	said_by_both(text);
	assert_string_equal(text, said);
	weir_snapshot_free(snapshot);
	image_free(&image);
}

/* Bits, words that point elsewhere, and whole pages: whatever is read then, the
 * reader comes to an end, within its bounds. */
static void whatever_is_torn_is_left_out(void **state)
{
	size_t torn = 0, read = 0;
	struct image image;
	static char said[1 << 16];
	int rc;

	image_record(&image, said, sizeof(said));
	for_each_seed(seed, test_count(32000)) {
		image_tear(&image, seed);
		torn += read_all(&image, &rc) > 0;
		read += rc == 0;
		image_mend(&image);
	}
	if (!test_seed_only()) {
		assert_true(torn > 0);
		assert_true(read > 0);
	}
	assert_int_equal(read_all(&image, &rc), 0);
	assert_int_equal(rc, 0);
	image_free(&image);
}

/* A table of that version, at the table's own place. */
static int with_table(struct image *image, struct weir__layout table)
{
	struct weir__layout *there =
		image_at(image, (uintptr_t)&weir__layout, sizeof(weir__layout));
	const struct weir__layout kept = *there;
	int rc;

	*there = table;
	(void)read_all(image, &rc);
	*there = kept;
	return rc;
}

static void another_version_is_said_to_be_one(void **state)
{
	struct weir__layout table = weir__layout;
	static char said[1 << 16];
	struct image image;

	image_record(&image, said, sizeof(said));
	table.version = 7;
	table.weir = 10203;
	assert_int_equal(with_table(&image, table), -ENOTSUP);
	assert_string_equal(message,
			    "version 7 of the layout, by weir 1.2.3: this is"
			    " weir 0.1.0, which knows version 1");
	table = weir__layout;
	table.pointer = 4;
	assert_int_equal(with_table(&image, table), -ENOTSUP);
	assert_non_null(strstr(message, "32 bits"));
	/* no table, but bytes that look like one */
	table = weir__layout;
	table.self = NULL;
	assert_int_equal(with_table(&image, table), -ENOENT);
	table = weir__layout;
	table.all = NULL;
	assert_int_equal(with_table(&image, table), -EFAULT);
	image_free(&image);
}

/* A later version has numbers that are not known here, and lacks none. */
static void numbers_that_are_not_known_are_left_alone(void **state)
{
	struct image image;
	struct weir__field *field;
	static char said[1 << 16];
	int rc;

	image_record(&image, said, sizeof(said));
	field = image_at(&image, (uintptr_t)weir__layout.all->fields,
			 sizeof(*field));
	field->what = 60000;
	/* of the list of executors: nothing is found */
	assert_int_equal(read_all(&image, &rc), 1);
	assert_int_equal(rc, 0);
	image_free(&image);
}

static void without_memory_nothing_is_left(void **state)
{
	struct weir__reader_options options = {.settle_ns = 1};
	struct weir_snapshot *snapshot;
	static char said[1 << 16];
	struct image image;
	struct heap heap;
	size_t n;
	int rc;

	image_record(&image, said, sizeof(said));
	heap_init(&heap, SIZE_MAX);
	options.allocator = &heap.allocator;
	for (n = 1;; n++) {
		heap.fail = heap.calls + n;
		rc = weir__reader_snapshot(&snapshot, &image.memory, &options,
					   message);
		heap.fail = SIZE_MAX;
		if (rc == 0)
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_string_equal(message, "no memory");
		assert_null(snapshot);
		assert_int_equal(heap.live, 0);
	}
	assert_true(n > 10);
	weir_snapshot_free(snapshot);
	assert_int_equal(heap.live, 0);
	image_free(&image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_image_says_what_the_process_says),
		cmocka_unit_test(whatever_is_torn_is_left_out),
		cmocka_unit_test(another_version_is_said_to_be_one),
		cmocka_unit_test(numbers_that_are_not_known_are_left_alone),
		cmocka_unit_test(without_memory_nothing_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
