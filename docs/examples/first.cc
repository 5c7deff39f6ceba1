/* SPDX-License-Identifier: BSD-2-Clause */
/* first.c in C++17: functions of yours may be lambdas that capture nothing. */
#include <cstdio>
#include <weir/weir.h>

static int square(void **item, void *) noexcept
{
	auto x = reinterpret_cast<intptr_t>(*item);

	*item = reinterpret_cast<void *>(x * x);
	return 0;
}

int main()
{
	weir_loop *loop = nullptr;
	weir_flow_fold_functions adding = {};
	void *sum = nullptr;
	int rc = weir_loop_new(&loop, nullptr);

	adding.fold = [](void **to, void *item, void *) noexcept {
		*to = reinterpret_cast<void *>(
			reinterpret_cast<intptr_t>(*to) +
			reinterpret_cast<intptr_t>(item));
		return 0;
	};

	weir_flow *flow = weir_flow_range(1, 1000);
	flow = weir_flow_map(flow, square, nullptr);
	flow = weir_flow_fold(flow, &adding, nullptr);
	if (rc == 0)
		rc = weir_flow_run(flow, weir_loop_executor(loop), &sum);
	if (rc == 0)
		std::printf("%td\n", reinterpret_cast<intptr_t>(sum));
	weir_flow_free(flow);
	return weir_loop_free(loop) < 0 || rc < 0;
}
