/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uv_read: numbers the lines of standard input, which is a pipe. libuv reads
 * it, and calls back with each block; a flow takes the blocks from a channel.
 * When the channel is full, libuv stops reading, and goes on when there is
 * room: so the writer of the pipe waits, and memory is bounded.
 *
 *	uv_pipe_t ──> channel ──> lines ──> number
 */
#include <errno.h>
#include <stdio.h>

#include <uv.h>
#include <weir/weir.h>

#define BLOCK 4096
#define BLOCKS 4

struct program {
	uv_pipe_t input;
	uv_poll_t poll;
	struct weir_loop *loop;
	struct weir_channel *channel;
	struct weir_flow_bytes *block; /* that libuv reads into */
	struct weir_put put;	       /* of one that has found no room */
	unsigned stops;
	int n; /* lines */
	int code;
};

static void allocate(uv_handle_t *handle, size_t n, uv_buf_t *buffer)
{
	struct program *self = handle->data;

	(void)n;
	*buffer = uv_buf_init(NULL, 0); /* no memory: UV_ENOBUFS */
	if (!self->block && weir_flow_bytes_new(&self->block, BLOCK, NULL) < 0)
		return;
	*buffer = uv_buf_init(self->block->data, BLOCK);
}

static void end(struct program *self, int code)
{
	struct weir_error *error = NULL;

	if (code < 0)
		error = weir_error_format(code, "input", "%s",
					  uv_strerror(code));
	(void)weir_channel_end(self->channel, error);
	weir_error_unref(error);
	if (!uv_is_closing((uv_handle_t *)&self->input))
		uv_close((uv_handle_t *)&self->input, NULL);
}

static void has_come(uv_stream_t *stream, ssize_t n, const uv_buf_t *buffer);

/* The block is in, and there may be more room; or the channel has ended. */
static void is_in(struct weir_put *put, int status)
{
	struct program *self = weir_container_of(put, struct program, put);
	int rc = status;

	if (status < 0)
		weir_flow_bytes_unref(put->item);
	else
		rc = uv_read_start((uv_stream_t *)&self->input, allocate,
				   has_come);
	if (rc < 0)
		end(self, rc);
}

static void has_come(uv_stream_t *stream, ssize_t n, const uv_buf_t *buffer)
{
	struct program *self = stream->data;
	int rc;

	(void)buffer;
	if (n == 0)
		return;
	if (n < 0) {
		end(self, n == UV_EOF ? 0 : (int)n);
		return;
	}
	self->block->n = (size_t)n;
	self->put = (struct weir_put){.done = is_in, .item = self->block};
	self->block = NULL;
	rc = weir_channel_try_put(self->channel, self->put.item);
	if (rc == -EAGAIN) {
		self->stops++;
		(void)uv_read_stop(stream);
		rc = weir_channel_put_async(self->channel, &self->put);
	}
	if (rc < 0)
		is_in(&self->put, rc);
}

static int number(void *item, void *context)
{
	struct program *self = context;
	struct weir_flow_bytes *line = item;

	printf("%d %.*s\n", ++self->n, (int)line->n, line->data);
	weir_flow_bytes_unref(line);
	return ferror(stdout) ? -EIO : 0;
}

static void ready(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	(void)weir_loop_run(((struct program *)poll->data)->loop, 64);
}

/* The flow is over. If it has failed, nobody takes what still comes. */
static void over(struct weir_error *error, void *result, void *context)
{
	struct program *self = context;

	(void)result;
	self->code = error ? error->code : 0;
	end(self, 0);
	uv_close((uv_handle_t *)&self->poll, NULL);
}

static int run(struct program *self, struct weir_flow *flow)
{
	struct weir_flow_run_options options = {.done = over, .context = self};
	int rc = uv_pipe_init(uv_default_loop(), &self->input, 0);

	if (rc == 0)
		rc = uv_pipe_open(&self->input, 0);
	if (rc == 0)
		rc = uv_poll_init(uv_default_loop(), &self->poll,
				  weir_loop_fd(self->loop));
	if (rc == 0)
		rc = uv_poll_start(&self->poll, UV_READABLE, ready);
	self->input.data = self->poll.data = self;
	if (rc == 0)
		rc = weir_flow_start(flow, weir_loop_executor(self->loop),
				     &options, NULL);
	if (rc == 0)
		rc = uv_read_start((uv_stream_t *)&self->input, allocate,
				   has_come);
	if (rc < 0)
		return rc;
	(void)uv_run(uv_default_loop(), UV_RUN_DEFAULT);
	return uv_loop_close(uv_default_loop());
}

int main(void)
{
	struct program self = {.n = 0};
	struct weir_flow *flow;
	int rc = weir_loop_new(&self.loop, NULL);

	if (rc == 0)
		rc = weir_channel_new(&self.channel, BLOCKS,
				      weir_flow_bytes_items(), NULL);
	if (rc < 0)
		return 1;
	flow = weir_flow_from_channel(self.channel);
	flow = weir_flow_for_each(weir_flow_lines(flow, 80), number, &self);
	rc = run(&self, flow);
	if (rc == 0)
		rc = self.code;
	fprintf(stderr, "uv_read: %s, stopped %u times\n",
		rc < 0 ? weir_strerror(rc) : "done", self.stops);
	weir_flow_bytes_unref(self.block);
	weir_flow_free(flow);
	return rc < 0 || weir_channel_free(self.channel) < 0 ||
	       weir_loop_free(self.loop) < 0;
}
