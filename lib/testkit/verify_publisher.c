/* SPDX-License-Identifier: BSD-2-Clause */
/* The suite of publishers: its parts, one after another. */
#include "testkit/publisher_steps.h"

static const struct weir__verify_suite *const parts[] = {
	&weir__pub_signals,
	&weir__pub_subscribing,
	&weir__pub_subscription,
	&weir__pub_threads,
};

int weir_verify_publisher(struct weir_publisher_factory *factory,
			  struct weir_verify_report *report)
{
	int failed = 0;
	size_t i;

	if (!factory || !report || !factory->create || !factory->release ||
	    !factory->is_item)
		return -EINVAL;
	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		failed += weir__verify_run(parts[i], factory, &factory->env,
					   report);
	return failed;
}
