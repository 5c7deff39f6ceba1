/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of actors that may be gone. */
#include "inspect/kit.h"

#include "actor/kit.h"
#include "inspect/label.h"

static struct weir_sim *sim;
static struct weir_executor *executor;
static struct weir__labels *labels;

static int setup(void **state)
{
	sim = sim_new(1);
	executor = weir_sim_executor(sim);
	labels = calloc(1, sizeof(*labels));
	return labels ? 0 : -1;
}

static int teardown(void **state)
{
	free(labels);
	sim_free(sim);
	return 0;
}

static const char *text_of(uint32_t number)
{
	static char text[WEIR_INSPECT_NAME];

	weir__label_read(labels, number, true, text);
	return text;
}

static uint32_t name(struct node *node, const char *name)
{
	node_init(node, executor, name, 1, 0);
	return weir__label_of(labels, &node->actor);
}

static void an_actor_is_known_by_its_name(void **state)
{
	struct node a, b;
	uint32_t of_a = name(&a, "a"), of_b = name(&b, "b");

	assert_int_equal(weir__label_of(labels, &a.actor), of_a);
	assert_string_equal(text_of(of_a), "a");
	assert_string_equal(text_of(of_b), "b");
	assert_string_equal(text_of(0), "");
	node_stop(&a);
	node_stop(&b);
}

static void equal_names_are_kept_once(void **state)
{
	struct node a, b;
	uint32_t of_a = name(&a, "same");

	assert_int_equal(name(&b, "same"), of_a);
	node_stop(&a);
	node_stop(&b);
}

static void a_new_actor_in_the_same_memory_has_its_own_name(void **state)
{
	struct node node;
	uint32_t before = name(&node, "before"), after;

	node_stop(&node);
	after = name(&node, "after");
	assert_string_equal(text_of(before), "before");
	assert_string_equal(text_of(after), "after");
	node_stop(&node);
}

static void a_name_outlives_its_text(void **state)
{
	struct node node;
	char text[] = "text";
	uint32_t number = name(&node, text);

	node_stop(&node);
	memset(text, 'x', 4);
	assert_string_equal(text_of(number), "text");
}

static void a_name_that_was_overwritten_is_lost_and_made_anew(void **state)
{
	struct node first, other;
	uint32_t of_first = name(&first, "first"), i;
	char text[16];

	for (i = 0; i < WEIR__LABELS; i++) {
		(void)snprintf(text, sizeof(text), "%u", i);
		(void)name(&other, text);
		node_stop(&other);
	}
	assert_string_equal(text_of(of_first), "");
	i = weir__label_of(labels, &first.actor);
	assert_int_not_equal(i, of_first);
	assert_string_equal(text_of(i), "first");
	node_stop(&first);
}

static void a_long_name_is_cut(void **state)
{
	struct node node;
	char text[2 * WEIR_INSPECT_NAME] = "";

	memset(text, 'n', sizeof(text) - 1);
	assert_int_equal(strlen(text_of(name(&node, text))),
			 WEIR_INSPECT_NAME - 1);
	node_stop(&node);
}

int main(void)
{
#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	static const struct CMUnitTest tests[] = {
		test(an_actor_is_known_by_its_name),
		test(equal_names_are_kept_once),
		test(a_new_actor_in_the_same_memory_has_its_own_name),
		test(a_name_outlives_its_text),
		test(a_name_that_was_overwritten_is_lost_and_made_anew),
		test(a_long_name_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
