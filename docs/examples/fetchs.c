/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fetchs HOST PORT CA TEXT: sends the text to a server over TLS, and prints what
 * it answers. CA is a file with the authority's certificate, or "": those that
 * the system trusts. cc fetchs.c $(pkg-config --cflags --libs weir-tls)
 */
#include <stdio.h>
#include <string.h>

#include <openssl/ssl.h>
#include <weir/tls.h>
#include <weir/weir.h>

struct question {
	const char *host;
	char *text;
	SSL_CTX *ctx;
};

static int to_bytes(void **item, void *context)
{
	const char *text = *item;
	struct weir_flow_bytes *bytes;
	int rc = weir_flow_bytes_new(&bytes, strlen(text), NULL);

	(void)context;
	if (rc < 0)
		return rc;
	memcpy(bytes->data, text, bytes->n);
	*item = bytes;
	return 0;
}

/* Both ways at once, so that neither waits for the other. */
static struct weir_flow *talk(struct weir_connection *server, void *context)
{
	const struct question *question = context;
	struct weir_flow *ways[2];

	if (weir_tls_connect(server, question->ctx, question->host, NULL,
			     NULL) < 0)
		return NULL;
	ways[0] =
		weir_flow_map(weir_flow_single(question->text), to_bytes, NULL);
	ways[0] = weir_flow_items(ways[0], weir_flow_bytes_items());
	ways[0] = weir_connection_write(ways[0], server);
	ways[1] = weir_flow_write(weir_connection_read(server, 65536), 1);
	return weir_flow_merge(ways, 2);
}

/* There is one connection: what fails there has failed. */
static enum weir_directive tell(struct weir_error *error, void *context)
{
	(void)context;
	fprintf(stderr, "fetchs: %s\n", error->message);
	return WEIR_DIRECTIVE_STOP;
}

static SSL_CTX *trust(const char *ca)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());

	if (ctx && (*ca ? SSL_CTX_load_verify_file(ctx, ca)
			: SSL_CTX_set_default_verify_paths(ctx)) == 1)
		return ctx;
	SSL_CTX_free(ctx);
	return NULL;
}

int main(int argc, char **argv)
{
	const struct weir_connect_options options = {.connect_ns = 10000000000};
	struct question question = {0};
	struct weir_flow *flow;
	struct weir_loop *loop;
	char address[300];
	int rc;

	if (argc == 5)
		question = (struct question){argv[1], argv[4], trust(argv[3])};
	if (!question.ctx) {
		fprintf(stderr, "usage: fetchs HOST PORT CA TEXT\n");
		return 2;
	}
	(void)snprintf(address, sizeof(address), "%s:%s", argv[1], argv[2]);
	flow = weir_flow_connect(address, &options);
	flow = weir_flow_each_connection(flow, 1, talk, &question);
	flow = weir_flow_supervise(flow, tell, NULL);
	rc = weir_loop_new(&loop, NULL);
	if (rc == 0)
		rc = weir_flow_run(flow, weir_loop_executor(loop), NULL);
	if (rc < 0)
		fprintf(stderr, "fetchs: %s\n", weir_strerror(rc));
	weir_flow_free(flow);
	SSL_CTX_free(question.ctx);
	return weir_loop_free(loop) < 0 || rc < 0;
}
