/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses of any text: one that is understood is so as it is written again. */
#include "fuzz/fuzz.h"

#include "net/address.h"

#include <errno.h>
#include <string.h>

#include <weir/connection.h>

const char fuzz_alphabet[] = "0123456789.:[]abcdef@65536unix:fd:/%";
const size_t fuzz_head = 2;

static void there_and_back(const char *text)
{
	char written[WEIR_CONNECTION_ADDRESS_MAX], again[sizeof(written)];
	struct weir__address address, other;
	size_t n;
	int rc;

	if (weir__address_parse(&address, text) < 0 || address.fd >= 0)
		return;
	assert(address.length <= (address.at.any.sa_family == AF_UNIX
					  ? sizeof(address.at.un)
					  : sizeof(address.at.in6)));
	rc = weir__address_format(&address, written, sizeof(written));
	assert(rc == 0);
	assert(weir__address_parse(&other, written) == 0);
	assert(other.length == address.length);
	assert(memcmp(&other.at, &address.at, address.length) == 0);
	assert(weir__address_format(&other, again, sizeof(again)) == 0);
	assert(strcmp(written, again) == 0);
	/* no byte more than is allowed */
	n = strlen(written);
	assert(weir__address_format(&address, again, n) == -ENOSPC);
	assert(weir__address_format(&address, again, n + 1) == 0);
}

static void split(const char *text)
{
	uint16_t port;
	size_t host;

	if (weir__address_split(text, &host, &port) < 0)
		return;
	assert(host > 0 && text[host] == ':');
	assert(strtoul(text + host + 1, NULL, 10) == port);
	assert(!strchr(text + host + 1, ':'));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const char *const begins[] = {
		"",	  "unix:",	    "fd:",	"[",
		"[::1]:", "127.0.0.1:6553", "host:9999"};
	const char *begin = begins[fuzz_byte(&bytes, &n) %
				   (sizeof(begins) / sizeof(*begins))];
	/* ports are short, and paths as long as they may be, or longer */
	size_t most = fuzz_byte(&bytes, &n);
	/* in a block of its own: what is read behind it is seen */
	char *text;

	most = most % 2 ? most % 8 : 100 + most / 8;
	if (n > most)
		n = most;
	text = calloc(1, strlen(begin) + n + 1);
	assert(text);
	strcpy(text, begin);
	if (n > 0)
		memcpy(text + strlen(begin), bytes, n);
	there_and_back(text);
	split(text);
	free(text);
	return 0;
}
