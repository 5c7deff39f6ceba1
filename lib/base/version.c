/* SPDX-License-Identifier: BSD-2-Clause */
#include <weir/version.h>

#define STRING(x) #x
#define DOTTED(major, minor, patch) \
	STRING(major) "." STRING(minor) "." STRING(patch)

const char *weir_version(void)
{
	return DOTTED(WEIR_VERSION_MAJOR, WEIR_VERSION_MINOR,
		      WEIR_VERSION_PATCH);
}

int weir_version_number(void)
{
	return WEIR_VERSION;
}
