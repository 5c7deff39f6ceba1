/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * httpsd ADDRESS CERT KEY: a web server over TLS with one page, which says what
 * was asked for. CERT and KEY are files in PEM form. A client that asks without
 * end and takes no answers is not read from any more.
 * cc httpsd.c $(pkg-config --cflags --libs weir-tls)
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <openssl/ssl.h>
#include <weir/tls.h>
#include <weir/weir.h>

#include "progress.h"

#define LINE_MOST 8192

/* The answer to a line that asks; others are passed over. */
static int answer(void **item, void *context)
{
	struct weir_flow_bytes *line = *item, *page;
	size_t n = 4;

	(void)context;
	if (line->n < 4 || memcmp(line->data, "GET ", 4) != 0)
		return 0;
	while (n < line->n && line->data[n] != ' ')
		n++;
	if (weir_flow_bytes_new(&page, n + 100, NULL) < 0)
		return -ENOMEM;
	page->n = (size_t)snprintf(page->data, n + 100,
				   "HTTP/1.1 200 OK\r\n"
				   "Content-Length: %zu\r\n\r\n%.*s\n",
				   n - 3, (int)n - 4, line->data + 4);
	weir_flow_bytes_unref(line);
	*item = page;
	return 1;
}

static struct weir_flow *answers(struct weir_flow *flow, void *context)
{
	progress_add(1);
	flow = weir_flow_lines(flow, LINE_MOST);
	flow = weir_flow_filter_map(flow, answer, context);
	return weir_flow_items(flow, weir_flow_bytes_items());
}

static struct weir_flow *serve(struct weir_connection *client, void *ctx)
{
	if (weir_tls_accept(client, ctx, NULL, NULL) < 0)
		return NULL;
	return weir_connection_run(client, answers, NULL);
}

static void listens(const char *address, void *context)
{
	(void)context;
	fprintf(stderr, "httpsd: %s\n", address);
}

/* Says why a client was sent away. */
static enum weir_directive tell(struct weir_error *error, void *context)
{
	(void)context;
	(void)progress_clear();
	fprintf(stderr, "httpsd: %s\n", error->message);
	return WEIR_DIRECTIVE_RESUME;
}

int main(int argc, char **argv)
{
	const struct weir_listen_options options = {.listens = listens};
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
	struct weir_flow *flow;
	struct weir_executor *executor;
	struct weir_loop *loop;
	int rc;

	(void)look_inside(&argc, argv);
	if (argc != 4 || !ctx ||
	    SSL_CTX_use_certificate_chain_file(ctx, argv[2]) != 1 ||
	    SSL_CTX_use_PrivateKey_file(ctx, argv[3], SSL_FILETYPE_PEM) != 1) {
		fprintf(stderr, "usage: httpsd [--inspect] ADDRESS CERT KEY\n");
		SSL_CTX_free(ctx);
		return 2;
	}
	flow = weir_flow_listen(argv[1], &options);
	flow = weir_flow_each_connection(flow, 10000, serve, ctx);
	flow = weir_flow_supervise(flow, tell, NULL);
	rc = weir_loop_new(&loop, NULL);
	if (rc == 0) {
		executor = weir_loop_executor(loop);
		progress_begin("connections", 0, &executor, 1);
		rc = weir_flow_run(flow, executor, NULL);
		progress_end();
	}
	fprintf(stderr, "httpsd: %s\n", weir_strerror(rc));
	return 1;
}
