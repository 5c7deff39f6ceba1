/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A child process as an operator. Each pull serves all of the child's pipes
 * that are ready, and waits for those that are not: so neither of two full
 * pipes waits for the other. Only output waits for demand, and so does input
 * that is not taken yet.
 */
#include <weir/flow_child.h>

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"
#include "flow/operators/child_process.h"
#include "flow/shared/bytes.h"
#include "flow/shared/op_fd.h"
#include "flow/shared/writes.h"

#define BLOCK (64u * 1024)
#define KILL_NS UINT64_C(5000000000)
#define TAIL 4096u     /* bytes of standard error that are kept */
#define TAIL_READS 16u /* in one pull */

/* The last bytes of standard error. */
struct error_tail {
	char bytes[TAIL];
	size_t n; /* in all; the next one is put at n % TAIL */
};

struct child_op {
	/* survive a restart */
	struct weir__op_fd in_wait, out_wait, errors_wait;
	struct weir__op_timer drain;
	/* do not */
	struct weir__child_process *process; /* NULL: not started */
	struct weir__child_pipes pipes;
	struct weir__writes writes;
	struct weir_flow_bytes *block; /* to read into, or NULL */
	struct error_tail *tail;       /* or NULL */
	uint64_t drain_at_ns;
	bool exited;
	int status; /* as waitpid(2) has it, or -ECHILD */
};

static const struct weir_flow_child_options *options_of(
	const struct weir__op *op)
{
	return &((const struct weir__child_args *)weir__op_args(op))->options;
}

static const char *program(const struct weir__op *op)
{
	return ((const struct weir__child_args *)weir__op_args(op))->argv[0];
}

/* --- Its life ------------------------------------------------------------- */

static int child_open(struct weir__op *op)
{
	struct child_op *self = weir__op_state(op);

	self->pipes = (struct weir__child_pipes){-1, -1, -1};
	if (options_of(op)->errors != WEIR_FLOW_CHILD_ERRORS_MESSAGE)
		return 0;
	self->tail = weir__alloc(weir__op_allocator(op), sizeof(*self->tail));
	return self->tail ? 0 : -ENOMEM;
}

static void close_pipe(struct weir__op *op, struct weir__op_fd *wait, int *fd)
{
	weir__op_fd_off(wait, op);
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

static void drop_block(struct child_op *self)
{
	weir_flow_bytes_unref(self->block);
	self->block = NULL;
}

static void child_close(struct weir__op *op)
{
	struct child_op *self = weir__op_state(op);

	weir__op_timer_off(&self->drain);
	close_pipe(op, &self->in_wait, &self->pipes.in);
	close_pipe(op, &self->out_wait, &self->pipes.out);
	close_pipe(op, &self->errors_wait, &self->pipes.errors);
	drop_block(self);
	if (op->n_up)
		weir__writes_drop(&self->writes, op);
	weir__free(weir__op_allocator(op), self->tail, sizeof(*self->tail));
	self->tail = NULL;
	if (self->process)
		weir__child_process_let_go(self->process);
	self->process = NULL;
}

/* With the name of the program in front. */
static void child_fail(struct weir__op *op, int code, const char *message)
{
	struct weir_error *error = weir__error_format(
		weir__op_allocator(op), code, weir__op_name(op), "%s: %s: %s",
		program(op), message, weir_strerror(code));

	weir__op_end(op, error);
	weir_error_unref(error);
}

/* False: there is no child yet, or it could not be started. */
static bool begin(struct weir__op *op, size_t room)
{
	struct weir__op *up = op->n_up ? op->up[0] : NULL;
	struct child_op *self = weir__op_state(op);
	int rc;

	if (self->process)
		return true;
	if (room == 0 && up)
		weir__pull_none(up);
	if (up && up->ended && up->error)
		weir__op_end(op, up->error);
	if (room == 0 || op->ended)
		return false;
	rc = weir__child_process_new(&self->process, &self->pipes, op,
				     weir__op_args(op));
	if (rc < 0)
		child_fail(op, rc, "could not be started");
	return rc == 0;
}

/* --- Its input ------------------------------------------------------------ */

/* The child takes no more. */
static void end_input(struct weir__op *op)
{
	struct child_op *self = weir__op_state(op);

	if (self->pipes.in < 0)
		return;
	close_pipe(op, &self->in_wait, &self->pipes.in);
	weir__writes_drop(&self->writes, op);
	weir__op_cancel(op->up[0]);
}

static void write_more(struct weir__op *op)
{
	struct child_op *self = weir__op_state(op);
	struct weir__gathered gathered;
	ssize_t n;

	weir__writes_wrote(&self->writes, op, 0); /* the empty ones */
	while (weir__writes_any(&self->writes)) {
		n = weir__write_pipe(self->pipes.in, gathered.parts,
				     weir__writes_gather(&self->writes,
							 &gathered, SIZE_MAX,
							 false));
		if (n > 0) {
			weir__writes_wrote(&self->writes, op, (size_t)n);
		} else if (n < 0 && errno == EPIPE) {
			end_input(op);
		} else if (n < 0 && errno == EAGAIN) {
			if (weir__op_fd_blocks(&self->in_wait, op,
					       self->pipes.in, POLLOUT))
				return;
		} else if (n == 0 || errno != EINTR) {
			child_fail(op, n == 0 ? -EIO : -errno,
				   "its input could not be written");
			return;
		}
	}
	weir__op_again(op);
}

/* One batch of items: then it is the output's turn. */
static void serve_input(struct weir__op *op, size_t room)
{
	struct child_op *self = weir__op_state(op);
	struct weir__op *up;

	if (self->pipes.in < 0)
		return;
	up = op->up[0];
	if (room > 0 && !weir__writes_any(&self->writes))
		weir__writes_take(&self->writes, op);
	else
		weir__pull_none(up);
	if (up->ended && up->error) {
		weir__op_end(op, up->error);
		return;
	}
	if (weir__writes_any(&self->writes) &&
	    !weir__op_fd_waits(&self->in_wait))
		write_more(op);
	if (!op->ended && up->ended && !weir__writes_any(&self->writes))
		close_pipe(op, &self->in_wait, &self->pipes.in);
}

/* --- Its output ----------------------------------------------------------- */

/*
 * Without demand nothing is read. But when the child has exited an end that has
 * no bytes in front of it is seen, since ends wait for nothing.
 */
static void look_for_end(struct weir__op *op)
{
	struct child_op *self = weir__op_state(op);
	struct pollfd out = {.fd = self->pipes.out, .events = POLLIN};

	do {
		if (!self->exited || poll(&out, 1, 0) < 0)
			return;
	} while (out.revents == 0 &&
		 !weir__op_fd_blocks(&self->out_wait, op, out.fd, POLLIN));
	if (out.revents && !(out.revents & POLLIN))
		close_pipe(op, &self->out_wait, &self->pipes.out);
}

static size_t serve_output(struct weir__op *op, void **items, size_t room)
{
	struct child_op *self = weir__op_state(op);
	size_t block = options_of(op)->block;
	struct weir_flow_bytes *bytes;
	int rc;

	if (self->pipes.out < 0 || weir__op_fd_waits(&self->out_wait))
		return 0;
	if (room == 0) {
		look_for_end(op);
		return 0;
	}
	do {
		rc = weir__bytes_read(&bytes, &self->block, self->pipes.out,
				      block, weir__op_allocator(op));
	} while (rc == -EAGAIN && !weir__op_fd_blocks(&self->out_wait, op,
						      self->pipes.out, POLLIN));
	if (rc > 0) {
		if (bytes->n < block)
			weir__op_fd_drained(&self->out_wait);
		items[0] = bytes;
		return 1;
	}
	if (rc == 0) {
		drop_block(self);
		close_pipe(op, &self->out_wait, &self->pipes.out);
	} else if (rc != -EAGAIN) {
		child_fail(op, rc, "its output could not be read");
	}
	return 0;
}

static ssize_t read_tail(struct error_tail *tail, int fd)
{
	size_t at = tail->n % TAIL;
	ssize_t n;

	do
		n = read(fd, tail->bytes + at, TAIL - at);
	while (n < 0 && errno == EINTR);
	if (n > 0)
		tail->n += (size_t)n;
	return n;
}

/* Whatever is asked for: nobody else reads it. */
static void serve_errors(struct weir__op *op)
{
	struct child_op *self = weir__op_state(op);
	int fd = self->pipes.errors;
	uint32_t left = TAIL_READS;
	ssize_t n = 1;

	if (fd < 0 || weir__op_fd_waits(&self->errors_wait))
		return;
	while (n > 0 && left-- > 0)
		n = read_tail(self->tail, fd);
	if (n < 0 && errno == EAGAIN)
		n = !weir__op_fd_blocks(&self->errors_wait, op, fd, POLLIN);
	else if (n <= 0)
		close_pipe(op, &self->errors_wait, &self->pipes.errors);
	if (n > 0)
		weir__op_again(op);
}

/* --- Its end -------------------------------------------------------------- */

/* The cause of an error: the child's status, and the words. */
struct child_status {
	const struct weir_allocator *allocator;
	size_t size;
	int status;
	char message[];
};

static void drop_cause(void *cause)
{
	struct child_status *self = cause;

	weir__free(self->allocator, self, self->size);
}

int weir_flow_child_status(const struct weir_error *error)
{
	if (!error || error->drop_cause != drop_cause)
		return -EINVAL;
	return ((const struct child_status *)error->cause)->status;
}

#define WORDS 100u /* behind the program's name; more than there are */

/* Says how it has ended; returns the length. */
static size_t say(char *text, size_t size, const char *called, int status)
{
	if (status < 0)
		(void)snprintf(text, size, "%s: its exit status was lost",
			       called);
	else if (WIFEXITED(status))
		(void)snprintf(text, size, "%s: exit status %d", called,
			       WEXITSTATUS(status));
	else
		(void)snprintf(text, size, "%s: killed by signal %d (%s)",
			       called, WTERMSIG(status),
			       strsignal(WTERMSIG(status)));
	return strlen(text);
}

/* Puts what is kept at `text`, as a string: TAIL + 3 bytes at most. */
static void add_tail(char *text, const struct error_tail *tail)
{
	size_t n = tail->n < TAIL ? tail->n : TAIL, i;
	char c;

	*text++ = ':';
	*text++ = ' ';
	for (i = tail->n - n; i < tail->n; i++) {
		c = tail->bytes[i % TAIL];
		*text++ = (char)(c == '\0' ? ' ' : c);
	}
	/* without the newline at its end */
	text -= n > 0 && text[-1] == '\n';
	*text = '\0';
}

/* Fails with what the child has ended with. */
static void fail_with(struct weir__op *op, int status)
{
	const struct weir_allocator *allocator = weir__op_allocator(op);
	size_t size = strlen(program(op)) + WORDS, length;
	struct child_op *self = weir__op_state(op);
	struct weir_error *error = NULL;
	struct child_status *cause;

	cause = weir__alloc(allocator, sizeof(*cause) + size + TAIL);
	if (!cause) {
		weir__op_fail(op, -ECHILD, "the child has failed");
		return;
	}
	*cause = (struct child_status){allocator, sizeof(*cause) + size + TAIL,
				       status};
	length = say(cause->message, size - 3, program(op), status);
	if (self->tail && self->tail->n > 0)
		add_tail(cause->message + length, self->tail);
	if (weir_error_new(&error, -ECHILD, weir__op_name(op), cause->message,
			   cause, drop_cause, allocator) < 0) {
		drop_cause(cause);
		error = weir_error_of(-ECHILD);
	}
	weir__op_end(op, error);
	weir_error_unref(error);
}

static void look_at_exit(struct weir__op *op)
{
	struct child_op *self = weir__op_state(op);

	if (self->exited || !weir__child_process_exited(self->process))
		return;
	self->exited = true;
	self->status = weir__child_process_reap(self->process);
	self->drain_at_ns =
		weir__later(weir__op_now(op), options_of(op)->drain_ns);
	end_input(op);
}

/* A process that the child has left behind has the output open. */
static void wait_for_end(struct weir__op *op)
{
	struct child_op *self = weir__op_state(op);
	bool waits = self->pipes.out < 0 || weir__op_fd_waits(&self->out_wait);
	int rc = 0;

	if (options_of(op)->drain_ns == 0)
		return;
	if (weir__op_now(op) < self->drain_at_ns)
		rc = weir__op_timer_at(&self->drain, op, self->drain_at_ns);
	else if (waits)
		child_fail(op, -ETIMEDOUT,
			   "it has exited, and its output is still open");
	if (rc < 0)
		child_fail(op, rc, "no timer");
}

static void finish(struct weir__op *op)
{
	struct child_op *self = weir__op_state(op);

	if (!self->exited)
		return;
	if (self->pipes.out >= 0 || self->pipes.errors >= 0) {
		wait_for_end(op);
		return;
	}
	if (self->status == 0)
		weir__op_end(op, NULL);
	else
		fail_with(op, self->status);
}

/* --- The operator --------------------------------------------------------- */

static size_t child_pull(struct weir__op *op, void **items, size_t room)
{
	size_t n = 0;

	if (!begin(op, room))
		return 0;
	look_at_exit(op);
	serve_errors(op);
	if (!op->ended)
		serve_input(op, room);
	if (!op->ended)
		n = serve_output(op, items, room);
	if (!op->ended)
		finish(op);
	return n;
}

static const char *child_refuses(const struct weir_flow *flow)
{
	return flow->n_up ? weir__takes_bytes(flow) : NULL;
}

static void child_free(struct weir_flow *flow)
{
	struct weir__child_args *args = (void *)flow->args;

	weir__free(weir_allocator_default(), args->memory, args->size);
}

#define CHILD_KIND(what, is_source) \
	static const struct weir__kind what##_kind = { \
		.name = "child", \
		.state_size = sizeof(struct child_op), \
		.items = weir__gives_bytes, \
		.refuses = child_refuses, \
		.open = child_open, \
		.pull = child_pull, \
		.close = child_close, \
		.free = child_free, \
		.keeps = offsetof(struct child_op, process), \
		.awaits = WEIR_WAIT_FD, \
		.source = (is_source), \
		.holds = true, \
	}

CHILD_KIND(child, false);
CHILD_KIND(alone, true);

/* --- Composing ------------------------------------------------------------ */

static const char *wrong(const char *const *argv,
			 const struct weir_flow_child_options *options)
{
	if (!argv || !argv[0] || !argv[0][0])
		return "argv names no program";
	if (!weir__reserved_zero(options->reserved))
		return "reserved is not zero";
	if ((int)options->errors < 0 ||
	    options->errors > WEIR_FLOW_CHILD_ERRORS_FD)
		return "no such errors";
	if (options->errors == WEIR_FLOW_CHILD_ERRORS_FD &&
	    options->errors_fd < 0)
		return "errors_fd is no descriptor";
	if (options->directory && !options->directory[0])
		return "directory is empty";
	return options->block > WEIR__BYTES_MAX ? "block is above 1 GiB" : NULL;
}

static size_t count(const char *const *words)
{
	size_t n = 0;

	while (words && words[n])
		n++;
	return n;
}

/* What copying takes, at most. */
static size_t size_of(const char *const *words)
{
	size_t n = count(words), size = (n + 1) * sizeof(*words), i;

	for (i = 0; i < n; i++)
		size += strlen(words[i]) + 1;
	return size;
}

static char *copy_word(const char *word, char **bytes)
{
	size_t n = strlen(word) + 1;
	char *copy = memcpy(*bytes, word, n);

	*bytes += n;
	return copy;
}

/* The array is put at *words, its strings at *bytes. */
static char **copy_words(const char *const *from, char ***words, char **bytes)
{
	char **copy = *words;
	size_t n = count(from), i;

	for (i = 0; i < n; i++)
		copy[i] = copy_word(from[i], bytes);
	copy[n] = NULL;
	*words += n + 1;
	return copy;
}

/* Copies all of it into memory of its own. */
static int keep(struct weir__child_args *args, const char *const *argv)
{
	struct weir_flow_child_options *options = &args->options;
	const char *const *environment = options->environment;
	char **words, *bytes;

	args->size = size_of(argv) + size_of(environment);
	if (options->directory)
		args->size += strlen(options->directory) + 1;
	args->memory = weir__alloc(weir_allocator_default(), args->size);
	if (!args->memory)
		return -ENOMEM;
	words = args->memory;
	bytes = (char *)(words + count(argv) + 1 + count(environment) + 1);
	args->argv = copy_words(argv, &words, &bytes);
	if (environment)
		args->environment = copy_words(environment, &words, &bytes);
	if (options->directory)
		options->directory = copy_word(options->directory, &bytes);
	return 0;
}

struct weir_flow *weir_flow_child(struct weir_flow *flow,
				  const char *const *argv,
				  const struct weir_flow_child_options *options)
{
	const struct weir__kind *kind = flow ? &child_kind : &alone_kind;
	struct weir__child_args args = {.has_input = flow};
	const char *why;

	if (options)
		args.options = *options;
	if (args.options.block == 0)
		args.options.block = BLOCK;
	if (args.options.kill_ns == 0)
		args.options.kill_ns = KILL_NS;
	why = wrong(argv, &args.options);
	flow = weir__flow_new(kind, &flow, flow ? 1 : 0, &args, sizeof(args),
			      !why);
	if (weir__flow_check(flow, NULL, NULL) < 0)
		return weir__flow_wrong_as(flow, kind, why);
	if (keep((struct weir__child_args *)(void *)flow->args, argv) == 0)
		return flow;
	weir_flow_free(flow);
	return weir__flow_failed(-ENOMEM, kind->name, "no memory");
}
