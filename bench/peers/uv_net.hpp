/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * W7, W8 and W9: uv_tcp_t, uv_read_start() and uv_try_write(), which writes at once
 * what the socket takes; that is all, as much as clients send at once. By hand,
 * all lines that a read has brought are answered by one call; who answers a line
 * where it is taken makes a call for each (libuv.each). W9: what the socket does
 * not take is written by uv_write(), and nothing is read meanwhile.
 */
#ifndef WEIR_BENCH_PEERS_UV_NET_HPP
#define WEIR_BENCH_PEERS_UV_NET_HPP

#include <cerrno>
#include <cstring>
#include <uv.h>

#include <vector>

#include "../net.h"

namespace uv_net
{

struct connection {
	uv_tcp_t tcp; /* first: what libuv hands back */
	net *of;
	std::size_t n;
	char data[NET_BLOCK];
};

inline void allocate(uv_handle_t *handle, std::size_t, uv_buf_t *buffer)
{
	auto *c = reinterpret_cast<connection *>(handle);

	*buffer = uv_buf_init(c->data + c->n, NET_BLOCK - c->n);
}

inline bool write_all(uv_stream_t *stream, uv_buf_t answer)
{
	return uv_try_write(stream, &answer, 1) == (int)answer.len;
}

inline bool answer_each(uv_stream_t *stream, connection *c)
{
	static char out[NET_BLOCK];
	std::size_t at = 0, n;
	const void *end;

	while ((end = memchr(c->data + at, '\n', c->n - at))) {
		n = static_cast<const char *>(end) - (c->data + at) + 1;
		net_shout(out, c->data + at, n);
		if (!write_all(stream, uv_buf_init(out, n)))
			return false;
		at += n;
	}
	c->n -= at;
	memmove(c->data, c->data + at, c->n);
	return true;
}

inline void came_each(uv_stream_t *stream, ssize_t n, const uv_buf_t *)
{
	auto *c = reinterpret_cast<connection *>(stream);

	c->n += n > 0 ? n : 0;
	if (n < 0 || !answer_each(stream, c))
		uv_close(reinterpret_cast<uv_handle_t *>(stream), nullptr);
}

inline void came(uv_stream_t *stream, ssize_t n, const uv_buf_t *)
{
	static char out[NET_BLOCK];
	auto *c = reinterpret_cast<connection *>(stream);
	uv_buf_t answer = uv_buf_init(c->data, n > 0 ? n : 0);

	if (n == 0)
		return;
	if (n > 0 && c->of->lines) {
		c->n += n;
		answer =
			uv_buf_init(out, net_answer_lines(c->data, &c->n, out));
	}
	if (n < 0 || !write_all(stream, answer))
		uv_close(reinterpret_cast<uv_handle_t *>(stream), nullptr);
}

inline int serve_by(net *net, uv_read_cb read)
{
	std::vector<connection> all(net->n);
	uv_loop_t loop;
	int rc = uv_loop_init(&loop);

	for (unsigned i = 0; i < net->n && rc == 0; i++) {
		all[i].of = net;
		rc = uv_tcp_init(&loop, &all[i].tcp);
		if (rc == 0)
			rc = uv_tcp_open(&all[i].tcp, net->fds[i]);
		if (rc == 0)
			rc = uv_read_start(
				reinterpret_cast<uv_stream_t *>(&all[i].tcp),
				allocate, read);
	}
	if (rc < 0)
		return rc;
	net_ready(net);
	uv_run(&loop, UV_RUN_DEFAULT);
	return uv_loop_close(&loop);
}

inline int serve(net *net)
{
	return serve_by(net, came);
}

inline int serve_each(net *net)
{
	return serve_by(net, came_each);
}

/* --- A proxy -------------------------------------------------------------- */

struct way {
	uv_tcp_t tcp; /* first: what libuv hands back; it is read from */
	way *other;
	uv_write_t write; /* of what has come here, to the other */
	char data[NET_BLOCK];
};

inline uv_stream_t *stream_of(way *w)
{
	return reinterpret_cast<uv_stream_t *>(&w->tcp);
}

inline void room_for(uv_handle_t *handle, std::size_t, uv_buf_t *buffer)
{
	*buffer = uv_buf_init(reinterpret_cast<way *>(handle)->data, NET_BLOCK);
}

inline void close_both(way *w)
{
	for (way *one : {w, w->other}) {
		auto *handle = reinterpret_cast<uv_handle_t *>(&one->tcp);

		if (!uv_is_closing(handle))
			uv_close(handle, nullptr);
	}
}

inline void pass_on(uv_stream_t *stream, ssize_t n, const uv_buf_t *buffer);

inline void written(uv_write_t *write, int status)
{
	way *w = static_cast<way *>(write->data);

	if (status < 0 || uv_read_start(stream_of(w), room_for, pass_on) < 0)
		close_both(w);
}

inline void pass_on(uv_stream_t *stream, ssize_t n, const uv_buf_t *)
{
	way *w = reinterpret_cast<way *>(stream);
	uv_buf_t some = uv_buf_init(w->data, n > 0 ? n : 0);
	int done;

	if (n < 0)
		close_both(w);
	if (n <= 0)
		return;
	done = uv_try_write(stream_of(w->other), &some, 1);
	if (done == UV_EAGAIN)
		done = 0;
	if (done >= 0 && done < n) {
		some = uv_buf_init(w->data + done, n - done);
		w->write.data = w;
		uv_read_stop(stream);
		done = uv_write(&w->write, stream_of(w->other), &some, 1,
				written);
	}
	if (done < 0)
		close_both(w);
}

inline int begin(uv_loop_t *loop, way *w, way *other, int fd)
{
	int rc = uv_tcp_init(loop, &w->tcp);

	w->other = other;
	if (rc == 0)
		rc = uv_tcp_open(&w->tcp, fd);
	if (rc == 0)
		rc = uv_read_start(stream_of(w), room_for, pass_on);
	return rc;
}

inline int relay(net *net)
{
	std::vector<way> all(2 * net->n);
	uv_loop_t loop;
	int rc = uv_loop_init(&loop);

	for (unsigned i = 0; i < net->n && rc == 0; i++) {
		way *w = &all[2 * i];

		rc = begin(&loop, w, w + 1, net->fds[i]);
		if (rc == 0)
			rc = begin(&loop, w + 1, w, net->ups[i]);
	}
	if (rc < 0)
		return rc;
	net_ready(net);
	uv_run(&loop, UV_RUN_DEFAULT);
	return uv_loop_close(&loop);
}

} // namespace uv_net

#endif
