/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shq ADDRESS MAX: runs commands of its clients, a line each, by sh(1), at most
 * MAX at a time. ADDRESS is as of weir_flow_listen(). A client gets an answer
 * for each of its commands, in their order: a line with the exit status (128
 * and the signal; below 0: why it did not run) and the number of bytes of
 * output, and then the output. A line with a dot means that nothing is ready.
 *
 *	read ──> lines ──> session ──> dots ──> write	(for each client)
 *	              commands │ ▲
 *	                       ▼ │ answers
 *	      channel ──> process manager ──> children
 *
 * Nothing piles up: the manager asks the channel for as many commands as it has
 * places free, the channel holds one more, and a session takes the next line
 * when fewer than AHEAD of its commands are on their way and downstream wants
 * an answer. So all others wait in the sockets of their clients.
 *
 * When a client is gone, which the dots find out at the latest, its session is
 * closed: what runs is stopped, what waits is not begun. A place is free when
 * its child has been waited for. SIGTERM drains: no more is accepted or read,
 * and what was read is run and answered; a second one stops all of it.
 *
 * All of it runs in one loop, on one thread.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weir/weir.h>

#define CLIENTS 1000
#define AHEAD 8
#define LINE_SIZE 4096
#define OUTPUT_MAX (1 << 20)
#define DOT_NS 500000000ull

struct server {
	struct weir_executor *executor;
	struct weir_channel *commands;
	struct weir_process_manager manager;
	struct weir_flow_run *run;
	int signals; /* how many have come */
};

/* The state of a client's operator. */
struct session {
	struct job *first, *last; /* not yet answered, in their order */
	size_t n;
	bool ended;  /* no more lines come */
	bool closed; /* nobody wants answers */
};

struct job {
	struct weir_command command;
	struct weir_put put;	  /* of the command into the channel */
	struct weir_operator *op; /* held until it is over */
	struct job *next;
	char *line;
	FILE *stream; /* writes into output */
	char *output;
	size_t n;
	struct weir_flow *flow; /* of the child */
	struct weir_flow_run *run;
	int status;
	bool over;
};

static void job_free(struct job *job)
{
	if (job->stream)
		(void)fclose(job->stream);
	free(job->output);
	free(job->line);
	free(job);
}

static struct job *job_new(const struct weir_flow_bytes *line)
{
	struct job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->line = strndup(line->data, line->n);
	job->stream = open_memstream(&job->output, &job->n);
	if (job->line && job->stream)
		return job;
	job_free(job);
	return NULL;
}

/* The job is the session's again, or nobody's. */
static void job_over(struct job *job, int status)
{
	struct weir_operator *op = job->op;
	struct session *session = weir_operator_state(op);

	job->status = status;
	job->over = true;
	if (session->closed)
		job_free(job);
	weir_operator_wake(op);
	weir_operator_unhold(op);
}

/* --- Children: what the process manager runs ------------------------------ */

static int keep(void *item, void *context)
{
	struct weir_flow_bytes *bytes = item;
	struct job *job = context;

	if (ftell(job->stream) + (long)bytes->n > OUTPUT_MAX)
		return -EMSGSIZE;
	if (fwrite(bytes->data, 1, bytes->n, job->stream) < bytes->n)
		return -ENOMEM;
	weir_flow_bytes_unref(bytes);
	return 0;
}

static int exit_status(struct weir_error *error)
{
	int status = weir_flow_child_status(error);

	if (status == -EINVAL) /* not by the child */
		return error->code;
	if (status < 0)
		return status;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The child has been waited for, so its place may be free. */
static void child_over(struct weir_error *error, void *result, void *context)
{
	struct job *job = context;

	(void)result;
	job->status = error ? exit_status(error) : 0;
	weir_flow_run_free(job->run);
	weir_flow_free(job->flow);
	job->run = NULL;
	weir_command_end(&job->command, 0);
}

static int start(struct weir_command *command, void *context)
{
	struct job *job = weir_container_of(command, struct job, command);
	const char *const argv[] = {"sh", "-c", job->line, NULL};
	const struct weir_flow_child_options child = {
		.errors = WEIR_FLOW_CHILD_ERRORS_OUTPUT, .kill_ns = DOT_NS};
	const struct weir_flow_run_options options = {.done = child_over,
						      .context = job};
	const struct session *session = weir_operator_state(job->op);
	const struct server *server = context;

	job->status = -ECANCELED;
	if (session->closed)
		return 0;
	job->flow = weir_flow_child(NULL, argv, &child);
	job->flow = weir_flow_for_each(job->flow, keep, job);
	job->status = weir_flow_start(job->flow, server->executor, &options,
				      &job->run);
	if (job->status == 0)
		return WEIR_RUN_LATER;
	weir_flow_free(job->flow);
	return 0;
}

static void reply(struct weir_command *command, enum weir_outcome outcome,
		  struct weir_error *error)
{
	struct job *job = weir_container_of(command, struct job, command);

	(void)outcome;
	job_over(job, error ? error->code : job->status);
}

/* --- Sessions: lines into commands, and what they have come to ------------ */

/* The command is in the channel; or it is not, because that has ended. */
static void is_in(struct weir_put *put, int status)
{
	if (status < 0)
		job_over(weir_container_of(put, struct job, put), status);
}

static int session_ask(struct weir_operator *op)
{
	const struct session *self = weir_operator_state(op);
	int rc = 0;

	if (self->n < AHEAD && !self->ended)
		rc = weir_operator_pull(op);
	return rc == -EALREADY ? 0 : rc;
}

static int session_answer(struct weir_operator *op)
{
	struct session *self = weir_operator_state(op);
	struct job *job = self->first;
	struct weir_flow_bytes *answer;
	char head[32];
	int rc, n;

	(void)fflush(job->stream);
	n = snprintf(head, sizeof(head), "%d %zu\n", job->status, job->n);
	rc = weir_flow_bytes_new(&answer, (size_t)n + job->n, NULL);
	if (rc < 0)
		return rc;
	memcpy(answer->data, head, (size_t)n);
	if (job->n)
		memcpy(answer->data + n, job->output, job->n);
	self->first = job->next;
	self->n--;
	job_free(job);
	rc = weir_operator_push(op, answer);
	if (rc == 0 && self->ended && !self->first)
		rc = weir_operator_end(op, NULL);
	return rc;
}

/* As it begins, when an answer is wanted, and when a job is over. */
static int session_go_on(struct weir_operator *op)
{
	const struct session *self = weir_operator_state(op);

	if (weir_operator_wanted(op) && self->first && self->first->over)
		return session_answer(op);
	return session_ask(op);
}

static int session_line(struct weir_operator *op, void *line)
{
	struct server *server = weir_operator_context(op);
	struct session *self = weir_operator_state(op);
	struct job *job = job_new(line);
	int rc;

	if (!job)
		return -ENOMEM;
	weir_flow_bytes_unref(line);
	if (self->first)
		self->last->next = job;
	else
		self->first = job;
	self->last = job;
	self->n++;
	job->op = op;
	weir_operator_hold(op);
	job->command.reply = reply;
	job->put = (struct weir_put){.done = is_in, .item = &job->command};
	rc = weir_channel_put_async(server->commands, &job->put);
	if (rc < 0)
		job_over(job, rc);
	return session_ask(op);
}

static int session_end(struct weir_operator *op, struct weir_error *error)
{
	struct session *self = weir_operator_state(op);

	self->ended = true;
	return error || !self->first ? weir_operator_end(op, error) : 0;
}

/* What is over is freed now, and the rest when it is. */
static void session_close(struct weir_operator *op)
{
	struct server *server = weir_operator_context(op);
	struct session *self = weir_operator_state(op);
	struct job *job, *next;

	self->closed = true;
	for (job = self->first; job; job = next) {
		next = job->next;
		if (job->over)
			job_free(job);
		else if (job->run)
			weir_flow_run_stop(job->run, NULL);
		else if (weir_channel_cancel_put(server->commands, &job->put))
			job_over(job, -ECANCELED);
	}
}

static const struct weir_operator_ops session_ops = {
	.name = "session",
	.state_size = sizeof(struct session),
	.on_pull = session_go_on,
	.on_wake = session_go_on,
	.on_push = session_line,
	.on_end = session_end,
	.close = session_close,
};

static int dot(void **item, void *context)
{
	struct weir_flow_bytes *bytes;
	int rc = weir_flow_bytes_new(&bytes, 2, NULL);

	(void)context;
	if (rc < 0)
		return rc;
	memcpy(bytes->data, ".\n", 2);
	*item = bytes;
	return 0;
}

/* A part of a line is no command, however its client has ended. */
static struct weir_flow *answers(struct weir_flow *flow, void *server)
{
	flow = weir_flow_delimited(flow, "\n", 1, LINE_SIZE,
				   WEIR_FLOW_REMAINDER_DROP);
	flow = weir_flow_operator(flow, &session_ops, server);
	flow = weir_flow_items(flow, weir_flow_bytes_items());
	return weir_flow_keep_alive(flow, DOT_NS, dot, NULL);
}

/* --- The server ----------------------------------------------------------- */

static struct weir_flow *serve(struct weir_connection *client, void *server)
{
	return weir_connection_run(client, answers, server);
}

static enum weir_directive tell(struct weir_error *error, void *context)
{
	(void)context;
	fprintf(stderr, "shq: a client: %s\n", error->message);
	return WEIR_DIRECTIVE_RESUME;
}

static void listens(const char *address, void *context)
{
	(void)context;
	printf("%s\n", address);
	(void)fflush(stdout);
}

static int signalled(void *item, void *context)
{
	struct server *self = context;

	weir_flow_bytes_unref(item);
	if (self->signals++)
		weir_flow_run_stop(self->run, NULL);
	else
		weir_flow_run_end(self->run);
	return 0;
}

static int signals_open(void)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static struct weir_flow *server_flow(struct server *self, const char *address)
{
	const struct weir_listen_options options = {.listens = listens};
	struct weir_flow *flow = weir_flow_listen(address, &options);

	flow = weir_flow_each_connection(flow, CLIENTS, serve, self);
	return weir_flow_supervise(flow, tell, NULL);
}

/* The channel's commands are the manager's stream. */
static struct weir_flow *feed_flow(struct server *self,
				   struct weir_system *system, size_t max)
{
	const struct weir_process_manager_options options = {
		.run = start, .context = self, .max = max, .batch = 1};
	struct weir_subscriber *subscriber;

	if (weir_process_manager_init(&self->manager, self->executor,
				      &options) < 0)
		return NULL;
	subscriber = weir_process_manager_subscriber(&self->manager);
	if (weir_system_spawn(system, WEIR_ACTOR_ID_NONE, &self->manager.actor,
			      NULL, NULL) < 0)
		return NULL;
	return weir_flow_into(weir_flow_from_channel(self->commands),
			      subscriber);
}

/* Waits until the run is over. */
static int run_wait(struct weir_flow_run *run)
{
	struct weir_error *error = NULL;
	int rc = 0;

	if (run)
		rc = weir_flow_run_wait(run, WEIR_FOREVER, NULL, &error);
	if (rc == 0 && error)
		rc = error->code;
	weir_error_unref(error);
	weir_flow_run_free(run);
	return rc;
}

static void report(const struct server *self)
{
	struct weir_process_counts counts;

	weir_process_manager_counts(&self->manager, &counts);
	printf("%llu commands, at most %zu at a time\n",
	       (unsigned long long)counts.started, counts.peak);
}

/* Until it is drained; then nothing runs, as each session waits for its own. */
static int run(struct server *self, struct weir_flow *flows[3])
{
	struct weir_flow_run *signals = NULL, *feed = NULL;
	int rc = weir_flow_start(flows[0], self->executor, NULL, &self->run);
	int over;

	if (rc == 0)
		rc = weir_flow_start(flows[1], self->executor, NULL, &feed);
	if (rc == 0)
		rc = weir_flow_start(flows[2], self->executor, NULL, &signals);
	if (rc < 0)
		weir_flow_run_stop(self->run, NULL);
	over = run_wait(self->run);
	if (feed)
		report(self); /* the manager counts as long as it is there */
	(void)weir_channel_end(self->commands, NULL);
	weir_flow_run_end(signals);
	(void)run_wait(feed);
	(void)run_wait(signals);
	return rc < 0 ? rc : over;
}

int main(int argc, char **argv)
{
	struct server self = {.run = NULL};
	struct weir_flow *flows[3];
	struct weir_system *system;
	struct weir_loop *loop;
	int fd = signals_open(), rc, i;

	if (argc != 3 || atoi(argv[2]) < 1) {
		fprintf(stderr, "usage: shq ADDRESS MAX\n");
		return 2;
	}
	if (weir_loop_new(&loop, NULL) < 0)
		return 1;
	self.executor = weir_loop_executor(loop);
	if (weir_system_new(&system, self.executor, NULL) < 0 ||
	    weir_channel_new(&self.commands, 1, weir_command_items(), NULL) < 0)
		return 1;
	flows[0] = server_flow(&self, argv[1]);
	flows[1] = feed_flow(&self, system, (size_t)atoi(argv[2]));
	flows[2] = weir_flow_read(fd, sizeof(struct signalfd_siginfo));
	flows[2] = weir_flow_for_each(flows[2], signalled, &self);
	rc = run(&self, flows);
	if (rc < 0)
		fprintf(stderr, "shq: %s\n", weir_strerror(rc));
	for (i = 0; i < 3; i++)
		weir_flow_free(flows[i]);
	return weir_system_end_wait(system, WEIR_FOREVER) < 0 ||
	       weir_system_free(system) < 0 ||
	       weir_channel_free(self.commands) < 0 || close(fd) < 0 ||
	       weir_loop_free(loop) < 0 || rc < 0;
}
