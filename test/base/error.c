/* SPDX-License-Identifier: BSD-2-Clause */
/* Errors: their words, those with a format, and how they are counted. */
#include "support.h"

#include <errno.h>
#include <string.h>

#include <weir/weir.h>

#include "base/error.h"

static void a_code_has_words(void **state)
{
	int code;

	assert_string_equal(weir_strerror(-EINVAL), "Invalid argument");
	assert_string_equal(weir_strerror(ECANCELED), "Operation canceled");
	assert_string_equal(weir_strerror(0), "Success");
	assert_string_equal(weir_strerror(-41), "Unknown error 41");
	assert_string_equal(weir_strerror(-100000), "Unknown error");
	assert_string_equal(weir_strerror(100000), "Unknown error");
	for (code = 1; code < 134; code++)
		assert_string_equal(weir_strerror(-code), strerror(code));
}

static void the_error_of_a_code_says_the_same(void **state)
{
	struct weir_error *error = weir_error_of(-EPIPE);

	assert_int_equal(error->code, -EPIPE);
	assert_string_equal(error->origin, "");
	assert_ptr_equal(error->message, weir_strerror(-EPIPE));
	assert_ptr_equal(weir_error_of(0), weir_error_of(-EINVAL));
	assert_ptr_equal(weir_error_of(-134), weir_error_of(-EINVAL));
}

struct counted {
	struct weir_allocator allocator; /* first */
	size_t bytes;
	bool empty;
};

static void *take(size_t size, void *context)
{
	struct counted *self = context;

	self->bytes += self->empty ? 0 : size;
	return self->empty ? NULL : malloc(size);
}

static void give(void *memory, size_t size, void *context)
{
	((struct counted *)context)->bytes -= size;
	free(memory);
}

static struct counted counted(void)
{
	return (struct counted){.allocator = {.alloc = take, .free = give}};
}

static void a_format_is_kept_as_long_as_its_error(void **state)
{
	struct counted memory = counted();
	char text[600] = "items";
	struct weir_error *error;

	memory.allocator.context = &memory;
	error = weir__error_format(&memory.allocator, -EBADMSG, "check",
				   "%s %d", text, 7);
	text[0] = 0;
	assert_int_equal(error->code, -EBADMSG);
	assert_string_equal(error->origin, "check");
	assert_string_equal(error->message, "items 7");
	assert_null(error->cause);
	weir_error_unref(weir_error_ref(error));
	assert_string_equal(error->message, "items 7");
	weir_error_unref(error);
	assert_int_equal(memory.bytes, 0);
	error = weir_error_format(-EBADMSG, "check", "%d items", 7);
	assert_int_equal(error->code, -EBADMSG);
	assert_string_equal(error->origin, "check");
	assert_string_equal(error->message, "7 items");
	weir_error_unref(error);
	memset(text, 'x', sizeof(text) - 1);
	error = weir_error_format(1, NULL, "%s", text);
	assert_int_equal(error->code, -EINVAL);
	assert_string_equal(error->origin, "");
	assert_string_equal(error->message, text);
	weir_error_unref(error);
}

static void without_memory_a_format_is_the_code(void **state)
{
	struct counted memory = counted();

	memory.allocator.context = &memory;
	memory.empty = true;
	assert_ptr_equal(weir__error_format(&memory.allocator, -EBADMSG,
					    "check", "item %d", 7),
			 weir_error_of(-EBADMSG));
}

static void count_drop(void *cause)
{
	++*(int *)cause;
}

static void an_error_owns_its_cause_once_it_is_made(void **state)
{
	struct counted memory = counted();
	struct weir_error *error;
	int drops = 0;

	memory.allocator.context = &memory;
	assert_int_equal(weir_error_new(NULL, -EIO, "", "", &drops, count_drop,
					&memory.allocator),
			 -EINVAL);
	error = (void *)-1;
	assert_int_equal(weir_error_new(&error, 0, "", "", &drops, count_drop,
					&memory.allocator),
			 -EINVAL);
	assert_null(error);
	memory.empty = true;
	error = (void *)-1;
	assert_int_equal(weir_error_new(&error, -EIO, "", "", &drops,
					count_drop, &memory.allocator),
			 -ENOMEM);
	assert_null(error);
	memory.empty = false;
	assert_int_equal(weir_error_new(&error, -EIO, "me", "words", &drops,
					count_drop, &memory.allocator),
			 0);
	assert_int_equal(error->code, -EIO);
	assert_string_equal(error->origin, "me");
	assert_string_equal(error->message, "words");
	assert_ptr_equal(error->cause, &drops);
	assert_int_equal(drops, 0);
	weir_error_unref(error);
	assert_int_equal(drops, 1);
	assert_int_equal(memory.bytes, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_code_has_words),
		cmocka_unit_test(the_error_of_a_code_says_the_same),
		cmocka_unit_test(a_format_is_kept_as_long_as_its_error),
		cmocka_unit_test(without_memory_a_format_is_the_code),
		cmocka_unit_test(an_error_owns_its_cause_once_it_is_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
