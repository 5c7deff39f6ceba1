/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Child processes. One watch of a pidfd says that the child has exited, whether
 * it is still an operator's by then or not. No zombie is left:
 *
 * 1. A child exists, at least as a zombie, until it is waited for. That is done
 *    once, when it has exited: by its operator; or, if the operator has let go
 *    of it, under the lock, by the watch, or by the operator as it lets go.
 *    Whichever of these two comes second under the lock sees the other.
 * 2. Until then no other process has the number of the child or of its group.
 *    So signals are sent under the lock, and only before that.
 * 3. The watch and an armed timer are references; the last one to go lets go of
 *    the operator, without which neither run nor executor is over.
 */
#include "flow/operators/child_process.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/refcount.h"
#include "flow/engine/island.h"

#define FIRST_FD 3 /* behind the standard ones */

/* Linux 5.4; <sys/wait.h> has it since glibc 2.36. */
#define PIDFD ((idtype_t)3)

static struct weir_executor *executor_of(
	const struct weir__child_process *process)
{
	return process->op->island->actor.executor;
}

/* --- Waiting for it ------------------------------------------------------- */

int weir__child_process_reap(struct weir__child_process *self)
{
	siginfo_t info = {0};
	int rc;

	assert(weir__child_process_exited(self) && self->pidfd >= 0);
	do
		rc = waitid(PIDFD, (id_t)self->pidfd, &info, WEXITED | WNOHANG);
	while (rc < 0 && errno == EINTR);
	(void)close(self->pidfd);
	self->pidfd = -1;
	if (rc < 0 || info.si_pid == 0)
		return -ECHILD;
	if (info.si_code == CLD_EXITED)
		return (info.si_status & 0xff) << 8;
	return info.si_status | (info.si_code == CLD_DUMPED ? 0x80 : 0);
}

/* The child has exited, and nobody wants what it has left behind. The lock is
 * held. */
static void reap_group(struct weir__child_process *self)
{
	(void)kill(-self->pid, SIGKILL);
	(void)weir__child_process_reap(self);
}

/* --- Its end -------------------------------------------------------------- */

static void process_unref(struct weir__child_process *self)
{
	struct weir__op *op = self->op;

	if (!weir__unref(&self->refs))
		return;
	assert(self->pidfd < 0);
	weir__free(self->allocator, self, sizeof(*self));
	weir__op_unhold(op);
}

/* The signal that it was for needs not be sent. */
static void timer_off(struct weir__child_process *self)
{
	if (weir_timer_cancel(executor_of(self), &self->timer))
		process_unref(self);
}

static void process_fire(struct weir_watch *watch, short events)
{
	struct weir__child_process *self =
		weir_container_of(watch, struct weir__child_process, watch);
	bool let_go;

	weir__lock(&self->lock);
	ck_pr_store_32(&self->exited, 1);
	let_go = self->let_go;
	if (let_go)
		reap_group(self);
	weir__unlock(&self->lock);
	if (let_go)
		timer_off(self);
	else
		weir__op_wake(self->op);
	process_unref(self);
}

static void timer_fire(struct weir_timer *timer)
{
	struct weir__child_process *self =
		weir_container_of(timer, struct weir__child_process, timer);

	weir__lock(&self->lock);
	if (self->pidfd >= 0)
		(void)kill(-self->pid, SIGKILL);
	weir__unlock(&self->lock);
	process_unref(self);
}

/* 0; or an error, and no signal will follow. */
static int arm_timer(struct weir__child_process *self)
{
	struct weir_executor *executor = executor_of(self);
	uint64_t now_ns = weir_executor_now(executor);
	int rc;

	self->timer.fire = timer_fire;
	weir__ref(&self->refs);
	rc = weir_timer_arm(executor, &self->timer,
			    weir__later(now_ns, self->kill_ns));
	if (rc < 0)
		process_unref(self);
	return rc;
}

/* The timer is armed before the watch may look for it. */
static void end(struct weir__child_process *self)
{
	bool armed = !weir__child_process_exited(self) && arm_timer(self) == 0;
	bool exited;

	weir__lock(&self->lock);
	self->let_go = true;
	exited = weir__child_process_exited(self);
	if (exited)
		reap_group(self);
	else
		(void)kill(-self->pid, armed ? SIGTERM : SIGKILL);
	weir__unlock(&self->lock);
	if (exited && armed)
		timer_off(self);
}

void weir__child_process_let_go(struct weir__child_process *self)
{
	if (self->pidfd >= 0)
		end(self);
	process_unref(self);
}

/* --- Its pipes ------------------------------------------------------------ */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

void weir__child_pipes_close(struct weir__child_pipes *pipes)
{
	close_fd(&pipes->in);
	close_fd(&pipes->out);
	close_fd(&pipes->errors);
}

/* Not one of the standard descriptors, which the child's are made of: this
 * process may have closed its own. */
static int move_up(int *fd)
{
	int moved = *fd;

	if (moved >= FIRST_FD)
		return 0;
	moved = fcntl(*fd, F_DUPFD_CLOEXEC, FIRST_FD);
	if (moved < 0)
		return -errno;
	(void)close(*fd);
	*fd = moved;
	return 0;
}

/* A pipe whose end `ours`, 0 to read or 1 to write, does not block. */
static int make_pipe(int *our_end, int *its_end, int ours)
{
	int fds[2];
	int rc;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	rc = move_up(&fds[0]);
	if (rc == 0)
		rc = move_up(&fds[1]);
	if (rc == 0 && fcntl(fds[ours], F_SETFL, O_NONBLOCK) < 0)
		rc = -errno;
	*our_end = fds[ours];
	*its_end = fds[!ours];
	return rc;
}

/* On an error some have been made. */
static int make_pipes(const struct weir__child_args *args,
		      struct weir__child_pipes *ours,
		      struct weir__child_pipes *its)
{
	int rc = 0;

	*ours = *its = (struct weir__child_pipes){-1, -1, -1};
	if (args->has_input)
		rc = make_pipe(&ours->in, &its->in, 1);
	if (rc == 0)
		rc = make_pipe(&ours->out, &its->out, 0);
	if (rc == 0 && args->options.errors == WEIR_FLOW_CHILD_ERRORS_MESSAGE)
		rc = make_pipe(&ours->errors, &its->errors, 0);
	return rc;
}

/* --- Starting it ---------------------------------------------------------- */

/* The caller's descriptor comes first: it may be a standard one. */
static int add_files(posix_spawn_file_actions_t *files,
		     const struct weir__child_args *args,
		     const struct weir__child_pipes *its)
{
	int errors = its->errors, rc = 0;

	if (args->options.errors == WEIR_FLOW_CHILD_ERRORS_OUTPUT)
		errors = its->out;
	if (args->options.errors == WEIR_FLOW_CHILD_ERRORS_FD)
		errors = args->options.errors_fd;
	if (errors >= 0)
		rc = posix_spawn_file_actions_adddup2(files, errors, 2);
	if (rc == 0 && its->in >= 0)
		rc = posix_spawn_file_actions_adddup2(files, its->in, 0);
	else if (rc == 0)
		rc = posix_spawn_file_actions_addopen(files, 0, "/dev/null",
						      O_RDONLY, 0);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(files, its->out, 1);
#ifdef __GLIBC__
#if __GLIBC_PREREQ(2, 34)
	if (rc == 0)
		rc = posix_spawn_file_actions_addclosefrom_np(files, FIRST_FD);
#endif
#endif
	if (rc == 0 && args->options.directory)
		rc = posix_spawn_file_actions_addchdir_np(
			files, args->options.directory);
	return rc;
}

static int set_attributes(posix_spawnattr_t *attributes)
{
	const short flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
			    POSIX_SPAWN_SETSIGDEF;
	sigset_t none, all;
	int rc;

	(void)sigemptyset(&none);
	(void)sigfillset(&all);
	rc = posix_spawnattr_setpgroup(attributes, 0);
	if (rc == 0)
		rc = posix_spawnattr_setsigmask(attributes, &none);
	if (rc == 0)
		rc = posix_spawnattr_setsigdefault(attributes, &all);
	if (rc == 0)
		rc = posix_spawnattr_setflags(attributes, flags);
	return rc;
}

static int spawn(pid_t *pid, const struct weir__child_args *args,
		 const struct weir__child_pipes *its)
{
	char **environment = args->environment ? args->environment : environ;
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	int rc = posix_spawn_file_actions_init(&files);

	if (rc)
		return -rc;
	rc = posix_spawnattr_init(&attributes);
	if (rc == 0) {
		rc = add_files(&files, args, its);
		if (rc == 0)
			rc = set_attributes(&attributes);
		if (rc == 0)
			rc = posix_spawnp(pid, args->argv[0], &files,
					  &attributes, args->argv, environment);
		(void)posix_spawnattr_destroy(&attributes);
	}
	(void)posix_spawn_file_actions_destroy(&files);
	return -rc;
}

/* The child was started, but cannot be watched. It is waited for at once. */
static void take_back(struct weir__child_process *self)
{
	(void)kill(-self->pid, SIGKILL);
	while (waitpid(self->pid, NULL, 0) < 0 && errno == EINTR)
		;
	close_fd(&self->pidfd);
}

static int watch(struct weir__child_process *self)
{
	struct weir_executor *executor = executor_of(self);
	int rc;

	self->pidfd = (int)syscall(SYS_pidfd_open, self->pid, 0);
	if (self->pidfd < 0)
		return -errno;
	self->watch = (struct weir_watch){
		.fire = process_fire,
		.fd = self->pidfd,
		.events = POLLIN,
	};
	self->refs = 2;
	weir__op_hold(self->op);
	rc = executor->ops->watch_arm(executor, &self->watch);
	if (rc < 0)
		weir__op_unhold(self->op);
	return rc;
}

static int start(struct weir__child_process *self,
		 const struct weir__child_args *args,
		 const struct weir__child_pipes *its)
{
	int rc = spawn(&self->pid, args, its);

	if (rc < 0)
		return rc;
	rc = watch(self);
	if (rc < 0)
		take_back(self);
	return rc;
}

int weir__child_process_new(struct weir__child_process **process,
			    struct weir__child_pipes *pipes,
			    struct weir__op *op,
			    const struct weir__child_args *args)
{
	const struct weir_allocator *allocator = weir__op_allocator(op);
	struct weir__child_pipes its;
	struct weir__child_process *self;
	int rc;

	if (!op->island->actor.executor->ops->watch_arm)
		return -ENOTSUP;
	self = weir__alloc(allocator, sizeof(*self));
	if (!self)
		return -ENOMEM;
	self->allocator = allocator;
	self->op = op;
	self->pidfd = -1;
	self->kill_ns = args->options.kill_ns;
	rc = make_pipes(args, pipes, &its);
	if (rc == 0)
		rc = start(self, args, &its);
	weir__child_pipes_close(&its);
	if (rc == 0) {
		*process = self;
		return 0;
	}
	weir__child_pipes_close(pipes);
	weir__free(allocator, self, sizeof(*self));
	return rc;
}
