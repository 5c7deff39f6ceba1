/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests of a publisher, here that of a flow: a probe expects what it shall
 * send, and the suite holds it to the rules of Reactive Streams. This program
 * is linked to weir-testkit.
 */
#include <stdio.h>
#include <weir/testkit.h>
#include <weir/weir.h>

#define MADE_MAX 4

struct mine {
	struct weir_publisher_factory factory;
	struct weir_executor *executor;
	struct weir_flow_publisher *made[MADE_MAX];
};

/* Of the numbers 1 to n. */
static struct weir_publisher *create(struct weir_publisher_factory *factory,
				     int64_t n)
{
	struct mine *self = weir_container_of(factory, struct mine, factory);
	struct weir_flow *flow = n > 0 ? weir_flow_range(1, n)
				       : weir_flow_empty();
	size_t i = 0;

	while (i < MADE_MAX - 1 && self->made[i])
		i++;
	if (weir_flow_publisher_new(&self->made[i], flow, self->executor,
				    NULL) < 0)
		return NULL;
	return weir_flow_publisher_base(self->made[i]);
}

static void release(struct weir_publisher_factory *factory,
		    struct weir_publisher *publisher)
{
	struct mine *self = weir_container_of(factory, struct mine, factory);
	size_t i = 0;

	while (weir_flow_publisher_base(self->made[i]) != publisher)
		i++;
	weir_flow_publisher_free(self->made[i]);
	self->made[i] = NULL;
}

static bool is_item(struct weir_publisher_factory *factory, const void *item,
		    int64_t i)
{
	(void)factory;
	return (intptr_t)item == i + 1;
}

static bool expected(struct weir_publisher *publisher,
		     struct weir_subscriber_probe *probe)
{
	int rc = weir_publisher_subscribe(publisher,
					  weir_subscriber_probe_base(probe));

	if (rc < 0 || !weir_subscriber_probe_expect_subscription(probe))
		return false;
	weir_subscriber_probe_request(probe, 2);
	return weir_subscriber_probe_expect_next(probe, (void *)1) &&
	       weir_subscriber_probe_expect_next(probe, (void *)2) &&
	       weir_subscriber_probe_expect_nothing(probe);
}

static bool probe(struct mine *self)
{
	struct weir_publisher *publisher = create(&self->factory, 3);
	struct weir_subscriber_probe *probe;
	bool as_expected = false;

	if (weir_subscriber_probe_new(&probe, &self->factory.env, NULL) == 0)
		as_expected = publisher && expected(publisher, probe);
	if (probe && !as_expected)
		printf("%s\n", weir_subscriber_probe_failure(probe));
	if (probe) {
		weir_subscriber_probe_cancel(probe);
		as_expected &= weir_subscriber_probe_expect_released(probe);
	}
	if (publisher)
		release(&self->factory, publisher);
	return weir_subscriber_probe_free(probe) == 0 && as_expected;
}

static void show(struct weir_verify_report *report, const char *test,
		 enum weir_verdict verdict, const char *why)
{
	(void)report;
	if (verdict == WEIR_VERDICT_FAILED)
		printf("%s: %s\n", test, why);
}

int main(void)
{
	struct mine mine = {.factory = {.create = create,
					.release = release,
					.is_item = is_item,
					.multicast = true}};
	struct weir_verify_report report = {.result = show};
	struct weir_sim *sim;
	int failed;

	if (weir_sim_new(&sim, 1, NULL) < 0)
		return 1;
	mine.executor = weir_sim_executor(sim);
	mine.factory.env = weir_test_env_sim(sim);
	printf("%s\n", probe(&mine) ? "as expected" : "not as expected");
	failed = weir_verify_publisher(&mine.factory, &report);
	printf("%u tests of rules failed\n", report.failed);
	return weir_sim_free(sim) < 0 || failed != 0;
}
