/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes, and what was compressed and then changed in a few places, are
 * decompressed: as the plain library does it, the same wherever they are cut,
 * and no more than is allowed.
 */
#include "fuzz/fuzz.h"

#include "z/kit.h"

#include <errno.h>
#include <string.h>

const char fuzz_alphabet[] = "ab";
const size_t fuzz_head = 7;

#define MOST 300

static struct text packed_of(const struct z_format *format,
			     const uint8_t *bytes, size_t n, uint8_t changes)
{
	struct text text, packed;
	uint8_t at[2], with[2];
	size_t i;

	for (i = 0; i < 2; i++) {
		at[i] = fuzz_byte(&bytes, &n);
		with[i] = fuzz_byte(&bytes, &n);
	}
	text = text_copy((const char *)bytes, n);
	packed = format->plain_pack(text);
	text_free(text);
	for (i = 0; i < changes % 3u && packed.n > 0; i++)
		packed.bytes[at[i] % packed.n] ^= (char)with[i];
	return packed;
}

/* Of formats with several members the library alone says one. */
static void as_plain(const struct z_format *format, struct text packed,
		     struct text out, int code)
{
	struct text plain = format->plain_unpack(packed);

	if (plain.bytes) {
		assert(code == 0);
		assert_text(out, plain);
	} else {
		assert(code < 0 || format->several);
	}
	text_free(plain);
}

/* Where it fails the library may keep back what it had made. */
static void same_beginning(struct text a, struct text b)
{
	size_t n = a.n < b.n ? a.n : b.n;

	assert_memory_equal(a.bytes, b.bytes, n);
}

static void unpack(const struct z_format *format, struct text packed,
		   uint8_t most)
{
	struct z_limits limits = {.block = 64}, bounded = limits;
	struct text whole, cut;
	int code, cut_code;
	bool says_all;

	whole = z_unpacked(format, packed, packed.n + 1, &limits, &code);
	assert(code == 0 || code == -EBADMSG || code == -EPROTO ||
	       code == -E2BIG || code == -ENOMEM);
	/* libzstd decodes a frame that is there as a whole in another way, which
	 * also finds that an empty last block leaves out bytes of the frame */
	says_all = code == 0 || strcmp(format->name, "zstd") != 0;
	as_plain(format, packed, whole, code);
	cut = z_unpacked(format, packed, 1, &limits, &cut_code);
	assert(code == cut_code || !says_all);
	same_beginning(whole, cut);
	assert(code < 0 || whole.n == cut.n);
	text_free(cut);
	bounded.max_bytes = (uint64_t)most + 1;
	cut = z_unpacked(format, packed, 3, &bounded, &cut_code);
	assert(cut.n <= bounded.max_bytes);
	if (code == 0)
		assert(cut_code == (whole.n <= bounded.max_bytes ? 0 : -E2BIG));
	assert(cut_code == code || cut_code == -E2BIG || !says_all);
	text_free(cut);
	text_free(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const struct z_format *format =
		&z_formats[fuzz_byte(&bytes, &n) % Z_FORMATS];
	uint8_t kind = fuzz_byte(&bytes, &n), most = fuzz_byte(&bytes, &n);
	struct text packed;

	if (n > MOST)
		n = MOST;
	if (kind % 2)
		packed = packed_of(format, bytes, n, kind / 2);
	else
		packed = text_copy((const char *)bytes, n);
	unpack(format, packed, most);
	text_free(packed);
	return 0;
}
