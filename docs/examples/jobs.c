/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jobs URL MAX: a member that runs the commands of the stream JOBS of a
 * `nats-server -js` by sh(1), at most MAX at a time. Start as many members as you
 * like, on any machines, and stop them when you like.
 *
 *	JOBS ──> from_nats ──> job ──> process manager ──> children
 *	  ▲ done, retry or dead ─────────────┘
 *
 * A command that exits with 0 is done. One that exits with 75 (EX_TEMPFAIL), is
 * killed or could not be started is given to some member again, a second later,
 * five times in all; then it is dead, as one that exits with anything else is:
 * dead ones are stored in the stream DEAD. SIGTERM drains: no more are taken, and
 * those that run are waited for. A member that dies, or is silent for ACK_WAIT, has
 * its commands taken over by others; its children run on, so a command may run
 * twice then.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include <weir/nats.h>
#include <weir/weir.h>

#define WAIT 10000000000 /* ns */
#define ACK_WAIT 3000000000
#define RETRY 1000000000

static const struct weir_nats_stream streams[] = {
	{.name = "JOBS", .retention = WEIR_NATS_RETENTION_WORK},
	{.name = "DEAD"},
};
static const struct weir_nats_consumer consumer = {.stream = "JOBS",
						   .durable = "members",
						   .ack_wait_ns = ACK_WAIT};

struct job {
	struct weir_command command;
	struct weir_nats_message *message;
	struct weir_flow *flow; /* of the child */
	int status;		/* as waitpid(2) has it; below 0: none */
	char text[];
};

/* --- A message is a command, which settles it ----------------------------- */

static void settle(struct job *job)
{
	char reason[32];

	if (job->status < 0 || !WIFEXITED(job->status) ||
	    WEXITSTATUS(job->status) == EX_TEMPFAIL) {
		(void)weir_nats_message_retry(job->message, RETRY);
		return;
	}
	(void)snprintf(reason, sizeof(reason), "exit status %d",
		       WEXITSTATUS(job->status));
	(void)weir_nats_message_dead(job->message, reason);
}

static void reply(struct weir_command *command, enum weir_outcome outcome,
		  struct weir_error *error)
{
	struct job *job = weir_container_of(command, struct job, command);

	(void)error;
	if (outcome == WEIR_OUTCOME_DONE)
		(void)weir_nats_message_done(job->message);
	else if (outcome == WEIR_OUTCOME_CRASHED)
		settle(job);
	/* one that never ran is given back as it is dropped */
	weir_flow_bytes_unref((struct weir_flow_bytes *)job->message);
	free(job);
}

static int make_job(void **item, void *context)
{
	struct weir_flow_bytes *text = *item;
	struct job *job = calloc(1, sizeof(*job) + text->n + 1);

	(void)context;
	if (!job)
		return -ENOMEM;
	memcpy(job->text, text->data, text->n);
	job->message = *item;
	job->command.reply = reply;
	*item = &job->command;
	return 0;
}

/* --- Children: what the process manager runs ------------------------------ */

/* The child has been waited for, so its place may be free. */
static void over(struct weir_error *error, void *result, void *context)
{
	struct job *job = context;

	(void)result;
	if (error)
		job->status = weir_flow_child_status(error);
	weir_flow_free(job->flow);
	weir_command_end(&job->command, error ? error->code : 0);
}

static int start(struct weir_command *command, void *executor)
{
	struct job *job = weir_container_of(command, struct job, command);
	const char *const argv[] = {"sh", "-c", job->text, NULL};
	const struct weir_flow_run_options options = {.done = over,
						      .context = job};
	int rc;

	job->flow = weir_flow_ignore(weir_flow_child(NULL, argv, NULL));
	rc = weir_flow_start(job->flow, executor, &options, NULL);
	if (rc == 0)
		return WEIR_RUN_LATER;
	job->status = rc;
	weir_flow_free(job->flow);
	return rc;
}

/* --- The member ----------------------------------------------------------- */

/* What is asked for and not settled is `max` at most. */
static struct weir_flow *member(struct weir_nats *nats, size_t max,
				struct weir_subscriber *manager)
{
	const struct weir_nats_source_options jobs = {
		.stream = "JOBS",
		.durable = "members",
		.window = max,
		.until_settled = true,
		.max_deliver = 5,
		.dead_subject = "DEAD",
		.drain_ns = WEIR_FOREVER,
	};
	struct weir_flow *flow = weir_flow_from_nats(nats, &jobs);

	flow = weir_flow_map(flow, make_job, NULL);
	flow = weir_flow_items(flow, weir_command_items());
	return weir_flow_into(flow, manager);
}

/* It may have failed: so nobody has sent that. */
static void ended(struct weir_error *error, void *result, void *context)
{
	(void)error;
	(void)result;
	(void)context;
	(void)kill(getpid(), SIGTERM);
}

/* Runs and frees it; the first signal drains. */
static int run(struct weir_flow *flow, struct weir_executor *executor,
	       const sigset_t *signals)
{
	const struct weir_flow_run_options options = {.done = ended};
	struct weir_error *error = NULL;
	struct weir_flow_run *run;
	int rc = weir_flow_start(flow, executor, &options, &run), number;

	if (rc == 0) {
		(void)sigwait(signals, &number);
		weir_flow_run_end(run);
		rc = weir_flow_run_wait(run, WEIR_FOREVER, NULL, &error);
		weir_flow_run_free(run);
	}
	if (rc == 0 && error)
		rc = error->code;
	weir_error_unref(error);
	weir_flow_free(flow);
	return rc;
}

static int work(struct weir_nats *nats, size_t max, const sigset_t *signals)
{
	struct weir_process_manager_options options = {
		.run = start, .max = max, .batch = 1};
	struct weir_process_manager manager;
	struct weir_threads *threads;
	struct weir_system *system;
	struct weir_flow *flow;
	int rc = weir_threads_new(&threads, NULL);

	if (rc < 0)
		return rc;
	options.context = weir_threads_executor(threads);
	rc = weir_system_new(&system, options.context, NULL);
	if (rc == 0)
		rc = weir_process_manager_init(&manager, options.context,
					       &options);
	if (rc < 0)
		return rc;
	flow = member(nats, max, weir_process_manager_subscriber(&manager));
	rc = weir_system_spawn(system, WEIR_ACTOR_ID_NONE, &manager.actor, NULL,
			       NULL);
	if (rc == 0)
		rc = run(flow, options.context, signals);
	if (weir_system_end_wait(system, WEIR_FOREVER) < 0 ||
	    weir_system_free(system) < 0 || weir_threads_free(threads) < 0)
		return -EBUSY;
	return rc;
}

int main(int argc, char **argv)
{
	struct weir_nats_options options = {.url = argv[1], .timeout_ns = WAIT};
	struct weir_nats *nats;
	sigset_t signals;
	int rc, i;

	if (argc != 3 || atoi(argv[2]) < 1)
		return fprintf(stderr, "usage: jobs URL MAX\n"), 2;
	(void)sigemptyset(&signals);
	(void)sigaddset(&signals, SIGINT);
	(void)sigaddset(&signals, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &signals, NULL);
	rc = weir_nats_new(&nats, &options, NULL);
	for (i = 0; i < 2 && rc == 0; i++)
		rc = weir_nats_stream_ensure_wait(nats, &streams[i], WAIT,
						  NULL);
	if (rc == 0)
		rc = weir_nats_consumer_ensure_wait(nats, &consumer, WAIT,
						    NULL);
	if (rc == 0)
		rc = work(nats, (size_t)atoi(argv[2]), &signals);
	if (rc < 0)
		fprintf(stderr, "jobs: %s\n", weir_strerror(rc));
	return weir_nats_free(nats) < 0 || rc < 0;
}
