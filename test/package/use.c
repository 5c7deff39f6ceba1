/* SPDX-License-Identifier: BSD-2-Clause */

/* A user's program, C and C++: what it was built with is what it runs with. */
#include <weir/version.h>

int main(void)
{
	return weir_version_number() == WEIR_VERSION ? 0 : 1;
}
