/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The operator around a codec. It steps the codec until a block is ready, which
 * it pushes when downstream wants one; it pulls when all that has come is used
 * up. So it holds one piece and one block at most.
 *
 * A block of which little is used is copied: who keeps it keeps no more than
 * SPARSE times its bytes, and the block is filled again.
 */
#include "z/coder.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define BLOCK_DEFAULT ((size_t)64 << 10)
#define BLOCK_MIN 64u /* zlib's flush needs more than 6 */
#define BLOCK_MAX ((size_t)1 << 30)
#define SPARSE 4u

struct coder {
	struct weir_flow_bytes *piece, *block;
	size_t at, n;		  /* used of the piece, filled of the block */
	uint64_t n_in, n_out;	  /* of all */
	uint64_t n_members, n_of; /* whole ones; bytes in of the next one */
	bool ready;		  /* the block is to be pushed */
	bool more;  /* the codec may give more without more input */
	bool taken; /* the codec has bytes that were not flushed */
	bool flush; /* upstream is quiet */
	bool past;  /* behind the last member: what comes is passed over */
	bool ended; /* upstream has */
	bool over;  /* nothing comes behind the block */
	int code;   /* how it ends: this, or error, which upstream had */
	const char *message;
	struct weir_error *error;
	_Alignas(max_align_t) char codec[];
};

static const struct weir__coder_args *args_of(struct weir_operator *op)
{
	return weir_operator_context(op);
}

/* Behind what is in the block. */
static void fail(struct coder *self, int code, const char *message)
{
	self->over = true;
	self->ready = self->n > 0;
	self->code = code;
	self->message = message;
}

/* --- A step ---------------------------------------------------------------- */

static void drop_piece(struct weir_operator *op)
{
	struct coder *self = weir_operator_state(op);

	if (self->piece)
		weir_operator_drop(op, self->piece);
	self->piece = NULL;
	self->at = 0;
}

/* What has come out is too much: it does not go on. */
static bool is_bomb(struct coder *self, const struct weir__coder_args *args)
{
	const char *message = NULL;

	if (args->max_bytes && self->n_out > args->max_bytes)
		message = "more bytes than max_bytes";
	/* n_out > n_in * max_ratio, which may be too large a number */
	else if (args->max_ratio &&
		 self->n_out / args->max_ratio >= self->n_in &&
		 self->n_out - self->n_in * args->max_ratio > 0)
		message = "more bytes than max_ratio allows";
	if (!message)
		return false;
	self->n = 0;
	fail(self, -E2BIG, message);
	return true;
}

/* No member begins here. */
static void meet_trailing(struct coder *self,
			  const struct weir__coder_args *args)
{
	if (!args->ignore_trailing) {
		fail(self, -EBADMSG, "bytes behind the last member");
		return;
	}
	self->past = true;
	self->ready = self->n > 0;
}

static void judge(struct coder *self, const struct weir__coder_args *args,
		  int rc, const char *message)
{
	if (rc == -EILSEQ && self->n_members > 0)
		meet_trailing(self, args);
	else if (rc < 0)
		fail(self, rc == -EILSEQ ? -EBADMSG : rc, message);
	else if (rc == 1 && args->codec->decodes) {
		self->n_members++;
		self->n_of = 0;
	}
}

/* Steps the codec once. False: it has failed. */
static bool step(struct weir_operator *op, enum weir__coding coding,
		 bool *whole)
{
	const struct weir__coder_args *args = args_of(op);
	struct coder *self = weir_operator_state(op);
	size_t n_in = self->piece ? self->piece->n - self->at : 0;
	struct weir__coder_step now = {
		.coding = coding,
		.in = self->piece ? self->piece->data + self->at : NULL,
		.n_in = n_in,
		.out = self->block->data + self->n,
		.n_out = args->block - self->n,
	};
	int rc = args->codec->step(self->codec, &now);

	n_in -= now.n_in;
	self->at += n_in;
	self->n_in += n_in;
	self->n_of += n_in;
	self->n_out += args->block - self->n - now.n_out;
	self->n = args->block - now.n_out;
	if (is_bomb(self, args))
		return false;
	judge(self, args, rc, now.message);
	*whole = rc == 1;
	return !self->over;
}

/* The block is there to be filled. */
static bool has_block(struct weir_operator *op)
{
	struct coder *self = weir_operator_state(op);

	if (!self->block &&
	    weir_flow_bytes_new(&self->block, args_of(op)->block,
				weir_operator_allocator(op)) < 0)
		fail(self, -ENOMEM, "no memory for a block");
	return !self->over;
}

/* Who decodes begins another member, if there may be one. */
static bool begin(struct weir_operator *op)
{
	const struct weir__codec *codec = args_of(op)->codec;
	struct coder *self = weir_operator_state(op);
	int rc;

	if (!codec->decodes || self->n_members == 0 || self->n_of > 0)
		return true;
	if (!codec->next) {
		meet_trailing(self, args_of(op));
		return false;
	}
	rc = codec->next(self->codec);
	if (rc < 0)
		fail(self, rc, "no next member");
	return rc == 0;
}

/* Takes what has come. */
static void run(struct weir_operator *op)
{
	struct coder *self = weir_operator_state(op);
	bool decodes = args_of(op)->codec->decodes, whole = false;

	if (!self->more && !begin(op))
		return;
	if (!has_block(op) || !step(op, WEIR__CODING_RUN, &whole))
		return;
	self->taken = true;
	self->ready = self->ready || self->n == args_of(op)->block;
	self->more = decodes && self->ready && !whole && !self->past;
	if (self->piece && self->at == self->piece->n)
		drop_piece(op);
	if (decodes && !self->piece && self->n > 0)
		self->ready = true;
}

/* Gives all that was taken. */
static void flush(struct weir_operator *op, enum weir__coding coding)
{
	struct coder *self = weir_operator_state(op);
	bool whole;

	if (!has_block(op) || !step(op, coding, &whole))
		return;
	self->ready = whole ? self->n > 0 : self->n == args_of(op)->block;
	if (!whole)
		return;
	self->taken = self->flush = false;
	self->over = coding == WEIR__CODING_END;
}

/* Who decodes is at the end: is it one? */
static void end_decoding(struct coder *self,
			 const struct weir__coder_args *args)
{
	bool begun = self->n_of > 0;

	if (args->ignore_trailing && self->n_members > 0 &&
	    self->n_of < args->codec->magic)
		begun = false;
	if ((begun || self->n_members == 0) && !self->past)
		fail(self, -EPROTO, "the bytes end within a member");
	else
		self->over = true;
}

/* --- What is due ------------------------------------------------------------ */

/* True: there was something to do. */
static bool work(struct weir_operator *op)
{
	const struct weir__coder_args *args = args_of(op);
	struct coder *self = weir_operator_state(op);

	if (self->past)
		drop_piece(op);
	if (self->piece || self->more)
		run(op);
	else if (self->flush)
		flush(op, WEIR__CODING_FLUSH);
	else if (!self->ended)
		return false;
	else if (self->error)
		self->over = true;
	else if (args->codec->decodes)
		end_decoding(self, args);
	else
		flush(op, WEIR__CODING_END);
	return true;
}

/* The block, or a copy of what is in it. */
static struct weir_flow_bytes *give(struct weir_operator *op)
{
	struct coder *self = weir_operator_state(op);
	struct weir_flow_bytes *block = self->block, *copy;

	block->n = self->n;
	if (self->n < args_of(op)->block / SPARSE &&
	    weir_flow_bytes_new(&copy, self->n, weir_operator_allocator(op)) ==
		    0) {
		memcpy(copy->data, block->data, self->n);
		block = copy;
	} else {
		self->block = NULL;
	}
	self->n = 0;
	self->ready = false;
	return block;
}

/* Nothing comes behind. */
static int finish(struct weir_operator *op)
{
	struct coder *self = weir_operator_state(op);

	return self->code ? weir_operator_fail(op, self->code, self->message)
			  : weir_operator_end(op, self->error);
}

/* Upstream is quiet from now on, perhaps. */
static void wait_for_more(struct weir_operator *op)
{
	struct coder *self = weir_operator_state(op);
	uint64_t quiet_ns = args_of(op)->quiet_ns, now;

	if (quiet_ns && self->taken) {
		now = weir_operator_now(op);
		weir_operator_timer_at(op, quiet_ns < WEIR_FOREVER - now
						   ? now + quiet_ns
						   : WEIR_FOREVER);
	}
	/* it has been asked already, when a time has come */
	(void)weir_operator_pull(op);
}

static int go(struct weir_operator *op)
{
	struct coder *self = weir_operator_state(op);

	for (;;) {
		if (self->ready) {
			if (!weir_operator_wanted(op))
				return 0;
			(void)weir_operator_push(op, give(op));
			/* the next block is made when one is wanted; unless
			 * there may be none: that needs no demand */
			if (!self->ended && !self->over)
				return 0;
		}
		if (self->over)
			return finish(op);
		if (!work(op)) {
			if (weir_operator_wanted(op))
				wait_for_more(op);
			return 0;
		}
	}
}

/* --- The operator ----------------------------------------------------------- */

static int coder_push(struct weir_operator *op, void *item)
{
	struct coder *self = weir_operator_state(op);

	assert(!self->piece && !self->ready);
	self->piece = item;
	if (self->piece->n == 0)
		drop_piece(op);
	return go(op);
}

static int coder_end(struct weir_operator *op, struct weir_error *error)
{
	struct coder *self = weir_operator_state(op);

	self->ended = true;
	self->error = weir_error_ref(error);
	return go(op);
}

static int coder_timer(struct weir_operator *op)
{
	struct coder *self = weir_operator_state(op);

	self->flush = self->taken;
	return go(op);
}

static int coder_open(struct weir_operator *op)
{
	struct coder *self = weir_operator_state(op);

	return args_of(op)->codec->open(self->codec, args_of(op),
					weir_operator_allocator(op));
}

static void coder_close(struct weir_operator *op)
{
	struct coder *self = weir_operator_state(op);

	drop_piece(op);
	weir_flow_bytes_unref(self->block);
	weir_error_unref(self->error);
	args_of(op)->codec->close(self->codec);
}

/* --- Composing -------------------------------------------------------------- */

const char *weir__coder_wrong(struct weir__coder_args *args,
			      const uint64_t *reserved)
{
	size_t i;

	if (args->block == 0)
		args->block = BLOCK_DEFAULT;
	if (args->block < BLOCK_MIN || args->block > BLOCK_MAX)
		return "block is not 64 bytes to 1 GiB";
	for (i = 0; i < 4; i++)
		if (reserved[i] != 0)
			return "reserved is not zero";
	return NULL;
}

struct weir_flow *weir__coder_new(struct weir_flow *flow,
				  struct weir__coder_args *args,
				  const char *wrong)
{
	const struct weir_operator_ops ops = {
		.name = args->codec->name,
		.state_size = sizeof(struct coder) + args->codec->state_size,
		.context_size = sizeof(*args),
		.open = coder_open,
		.close = coder_close,
		.on_pull = go,
		.on_push = coder_push,
		.on_end = coder_end,
		.on_timer = coder_timer,
		.takes = weir_flow_bytes_items(),
	};

	if (wrong)
		return weir_flow_invalid(flow, args->codec->name, wrong);
	return weir_flow_items(weir_flow_operator(flow, &ops, args),
			       weir_flow_bytes_items());
}
