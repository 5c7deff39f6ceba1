/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes compressed and decompressed, as they flow: gzip, zlib and deflate by
 * zlib(3), Zstandard by libzstd. A library of its own, libweir-z, which is there
 * where weir was built with both: pkg-config weir-z. weir.h does not include
 * this header.
 *
 * 1. The items are pieces of memory, struct weir_flow_bytes. Where they are cut
 *    means nothing: the bytes that come out are those of all pieces, one behind
 *    the other. Empty pieces are passed over.
 * 2. What comes out is cut into blocks of up to `block` bytes. Who compresses
 *    emits a block when it is full. Who decompresses emits all that the pieces
 *    which have come make, and keeps nothing back.
 * 3. Memory is bounded whatever comes in: one piece, one block and the state of
 *    the library: 260 KiB for weir_flow_deflate(), 50 KiB for
 *    weir_flow_inflate(), for the others see there. That of zlib is from the
 *    executor's allocator, that of libzstd from malloc(3).
 * 4. A block is filled where the operator runs, in one turn. That takes a
 *    millisecond or more: on a loop that others need weir_flow_async() moves it
 *    to an executor with threads.
 *
 * What decompresses fails, behind the bytes that came before that place, with
 *
 * -EPROTO: upstream has completed within a member, or before the first.
 * -EBADMSG: the bytes are not what they should be, or others follow the last
 *   member (`ignore_trailing`). The message is the library's.
 * -E2BIG: more has come out than max_bytes or max_ratio allow, of which that
 *   block is not emitted; or `max_window` is too small.
 * -ENOMEM.
 */
#ifndef WEIR_FLOW_COMPRESS_H
#define WEIR_FLOW_COMPRESS_H

#include <weir/flow_io.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- gzip, zlib and deflate ----------------------------------------------- */

/* What stands around the compressed bytes. */
enum weir_flow_deflate_format {
	WEIR_FLOW_DEFLATE_FORMAT_GZIP, /* as files.gz: RFC 1952 */
	WEIR_FLOW_DEFLATE_FORMAT_ZLIB, /* HTTP's "deflate": RFC 1950 */
	WEIR_FLOW_DEFLATE_FORMAT_RAW,  /* nothing: RFC 1951 */
};

/* 0 is the default of each. */
struct weir_flow_deflate_options {
	enum weir_flow_deflate_format format;
	int level;    /* 1, fast, to 9, small; default 6 */
	size_t block; /* 64 bytes to 1 GiB; default 64 KiB */
	/*
	 * What has been taken is emitted, so that the receiver can read it,
	 * when upstream has given nothing for that long. Each such block makes
	 * the result some bytes longer. 0: only full blocks, and the rest at
	 * the end. Needs an executor with timers.
	 */
	uint64_t quiet_ns;
	uint64_t reserved[4]; /* zero */
};

/*
 * Compresses bytes. The result is one member, also of no bytes; that of gzip
 * has no name and no time in it. `options` is copied and may be NULL. Fails:
 * -EINVAL, bad options. When upstream fails, what has not been emitted is lost.
 *
 * Emits: a block, when it is full, when upstream is quiet, or at the end.
 * Completes: when upstream does, behind the last block. Cancels: when there is
 * no memory, or when downstream does. Holds: one item, one block and what zlib
 * keeps.
 */
WEIR_API struct weir_flow *weir_flow_deflate(
	struct weir_flow *flow,
	const struct weir_flow_deflate_options *options);

/* 0 is the default of each. */
struct weir_flow_inflate_options {
	enum weir_flow_deflate_format format;
	size_t block; /* as above */
	/* The most bytes that may come out. 0: any number. */
	uint64_t max_bytes;
	/* The most bytes that may come out for each that has gone in, looked at
	 * whenever a block has been filled, or a piece been used up. Deflate
	 * makes up to 1032, of zeros. 0: any number. */
	uint64_t max_ratio;
	/* Bytes behind the last member are passed over. False: -EBADMSG. */
	bool ignore_trailing;
	uint64_t reserved[4]; /* zero */
};

/*
 * Decompresses bytes. gzip: one member or several, one behind the other, whose
 * contents become one; the others: one. `options` is copied and may be NULL.
 * Fails: -EINVAL, bad options.
 *
 * Emits: a block, when it is full, or when all that has come is used up.
 * Completes: when upstream does, behind a whole member. Cancels: when the
 * stream fails here, or when downstream does. Holds: one item, one block and
 * what zlib keeps.
 */
WEIR_API struct weir_flow *weir_flow_inflate(
	struct weir_flow *flow,
	const struct weir_flow_inflate_options *options);

/* --- Zstandard ------------------------------------------------------------ */

/* 0 is the default of each. */
struct weir_flow_zstd_options {
	int level;	   /* ZSTD_minCLevel(), fast, to 22, small; default 3 */
	bool checksum;	   /* behind the bytes, for who decompresses */
	size_t block;	   /* as of weir_flow_deflate() */
	uint64_t quiet_ns; /* the same */
	uint64_t reserved[4]; /* zero */
};

/*
 * As weir_flow_deflate(), into one Zstandard frame (RFC 8878). libzstd keeps
 * 1.3 MiB at level 1, 3.5 MiB at the default, 90 MiB at 19.
 *
 * Emits: a block, when it is full, when upstream is quiet, or at the end.
 * Completes: when upstream does, behind the last block. Cancels: when there is
 * no memory, or when downstream does. Holds: one item, one block and what
 * libzstd keeps.
 */
WEIR_API struct weir_flow *weir_flow_zstd(
	struct weir_flow *flow, const struct weir_flow_zstd_options *options);

/* 0 is the default of each. */
struct weir_flow_unzstd_options {
	size_t block; /* as of weir_flow_deflate() */
	/* How far back the bytes may refer, which is what libzstd keeps: a power
	 * of two, 1 KiB to 1 GiB. Default: 8 MiB, which is enough for what
	 * levels up to 19 have made. */
	size_t max_window;
	uint64_t max_bytes, max_ratio; /* as of weir_flow_inflate() */
	bool ignore_trailing;	       /* the same */
	uint64_t reserved[4];	       /* zero */
};

/*
 * As weir_flow_inflate(), of one Zstandard frame or several; frames to be
 * skipped are.
 *
 * Emits: a block, when it is full, or when all that has come is used up.
 * Completes: when upstream does, behind a whole frame. Cancels: when the stream
 * fails here, or when downstream does. Holds: one item, one block and what
 * libzstd keeps.
 */
WEIR_API struct weir_flow *weir_flow_unzstd(
	struct weir_flow *flow, const struct weir_flow_unzstd_options *options);

#ifdef __cplusplus
}
#endif

#endif
