/* SPDX-License-Identifier: BSD-2-Clause */
/* Who asks at the socket, and how badly. */
#include "inspect/kit.h"

#include "actor/kit.h"

#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weir/inspector.h>
#include <weir/trace.h>

#include "inspect/inspector.h"

enum { ANSWER = 1 << 20 };

static char folder[64], path[96];
static struct weir_inspector *inspector;
static char answer[ANSWER];

static int make_folder(void **state)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/weir-test-XXXXXX");
	assert_non_null(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/socket", folder);
	weir__inspector_patience_ns = UINT64_C(60000000000);
	return 0;
}

static int remove_folder(void **state)
{
	(void)unlink(path);
	assert_int_equal(rmdir(folder), 0);
	return 0;
}

static int listen_at(const char *where)
{
	const struct weir_inspector_options options = {.path = where};

	return weir_inspector_new(&inspector, &options, NULL);
}

static struct sockaddr_un address_of(const char *where)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	assert_true(strlen(where) < sizeof(address.sun_path));
	strcpy(address.sun_path, where);
	return address;
}

static int come(void)
{
	const struct sockaddr_un address = address_of(path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&address,
				 sizeof(address)),
			 0);
	return fd;
}

static void say(int fd, const char *line)
{
	assert_int_equal(send(fd, line, strlen(line), MSG_NOSIGNAL),
			 strlen(line));
}

/* Up to the end. */
static const char *heard(int fd)
{
	size_t n = 0;
	ssize_t got;

	while ((got = recv(fd, answer + n, ANSWER - 1 - n, 0)) > 0)
		n += (size_t)got;
	answer[n] = '\0';
	assert_int_equal(close(fd), 0);
	return answer;
}

static const char *asked(const char *line)
{
	int fd = come();

	say(fd, line);
	return heard(fd);
}

/* --- What is answered ----------------------------------------------------- */

static void what_waits_is_told(void **state)
{
	struct weir_sim *sim;
	struct node node, other;

	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	node_init(&node, weir_sim_executor(sim), "one", 1, 0);
	node_init(&other, weir_sim_executor(sim), "other one", 1, 1);
	node_link(&other, 0, &node, 0);
	node_start(&node);
	node_start(&other);
	weir_sim_run(sim);
	assert_int_equal(listen_at(path), 0);
	assert_string_equal(weir_inspector_path(inspector), path);
	assert_non_null(strstr(asked("why one\n"), "one waits for input"));
	/* a part of a name, and a number */
	assert_non_null(
		strstr(asked("why ther\n"), "other one waits for input"));
	assert_non_null(strstr(asked("why 0\n"), " waits "));
	assert_string_equal(asked("why nobody\n"),
			    "error: there is no actor nobody\n");
	assert_non_null(strstr(asked("json\n"), "\"other one\""));
	assert_non_null(strstr(asked("dot\n"), "digraph"));
	assert_non_null(strstr(asked("table\n"), "other one"));
	assert_non_null(strstr(asked("prometheus\n"), "actor=\"one\""));
	/* it has looked since */
	while (!strstr(asked("table\n"), "100%\n"))
		;
	assert_non_null(
		strstr(asked("prometheus\n"), "weir_actor_waiting_seconds{"));
	assert_non_null(strstr(asked("help\n"), "json"));
	assert_non_null(strstr(asked("json please\n"), "error: "));
	assert_non_null(strstr(asked("\n"), "error: "));
	weir_inspector_free(inspector);
	assert_int_equal(access(path, F_OK), -1);
	node_stop(&node);
	node_stop(&other);
	weir_sim_run(sim);
	assert_int_equal(weir_sim_free(sim), 0);
}

static void a_process_without_executors_is_idle(void **state)
{
	assert_int_equal(listen_at(path), 0);
	assert_string_equal(asked("why\n"), "no actor is alive\n");
	weir_inspector_free(inspector);
}

/* --- A trace -------------------------------------------------------------- */

static const char busy[] = "error: another trace records in this process\n";

static bool is_trace(const char *text)
{
	return strncmp(text, "{\"displayTimeUnit\"", 18) == 0 &&
	       strcmp(text + strlen(text) - 3, "}}\n") == 0;
}

static void what_runs_meanwhile_is_traced(void **state)
{
	struct weir_trace *trace;
	struct weir_sim *sim;
	struct node node;
	struct pollfd polled = {.events = POLLIN};
	int fd;

	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	node_init(&node, weir_sim_executor(sim), "one", 1, 0);
	node_start(&node);
	assert_int_equal(listen_at(path), 0);
	polled.fd = fd = come();
	say(fd, "trace 0.02\n");
	while (poll(&polled, 1, 1) == 0) {
		node_put(&node, 0);
		weir_sim_run(sim);
	}
	assert_true(is_trace(heard(fd)));
	assert_non_null(strstr(answer, "{\"name\":\"one\",\"cat\":\"slice\""));
	/* and then it is over */
	assert_int_equal(weir_trace_new(&trace, NULL, NULL), 0);
	assert_string_equal(asked("trace 1\n"), busy);
	weir_trace_free(trace);
	weir_inspector_free(inspector);
	node_stop(&node);
	weir_sim_run(sim);
	assert_int_equal(weir_sim_free(sim), 0);
}

/* Until another one is there: a trace of a minute. */
static int record(void)
{
	int fd = come();

	say(fd, "trace 60\n");
	while (strcmp(asked("trace 0.001\n"), busy) != 0)
		;
	return fd;
}

static void others_are_answered_while_it_records(void **state)
{
	int fd;

	weir__inspector_patience_ns = 1000000; /* which is for others */
	assert_int_equal(listen_at(path), 0);
	fd = record();
	say(fd, "what else it says is not read\n");
	assert_non_null(strstr(asked("help\n"), "json"));
	assert_string_equal(asked("trace 0.001\n"), busy);
	/* until who has asked for it goes */
	assert_int_equal(close(fd), 0);
	while (!is_trace(asked("trace 0.001\n")))
		;
	weir_inspector_free(inspector);
}

static void end_of_the_inspector_ends_its_trace(void **state)
{
	struct weir_trace *trace;
	int fd;

	assert_int_equal(listen_at(path), 0);
	fd = record();
	weir_inspector_free(inspector);
	assert_string_equal(heard(fd), "");
	assert_int_equal(weir_trace_new(&trace, NULL, NULL), 0);
	weir_trace_free(trace);
}

static void time_of_a_trace_is_bounded(void **state)
{
	static const char *const lines[] = {
		"trace 0\n",   "trace 0.0\n",
		"trace 61\n",  "trace -1\n",
		"trace 1s\n",  "trace 60.000000001\n",
		"trace .\n",   "trace .5\n",
		"trace 1 1\n", "trace 1e1\n",
		"trace 1,5\n", "trace 18446744073709551617\n",
		"trace inf\n", "trace 0.0000000001\n",
	};
	size_t i;

	assert_int_equal(listen_at(path), 0);
	for (i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		assert_string_equal(
			asked(lines[i]),
			"error: a trace is of more than 0 and at most 60 "
			"seconds\n");
	assert_non_null(strstr(asked("traces\n"), "error: that is not known"));
	assert_true(is_trace(asked("trace 0.000000001\n")));
	weir_inspector_free(inspector);
}

static void trace_without_memory_is_none(void **state)
{
	const struct weir_inspector_options options = {.path = path};
	struct heap heap;
	size_t fail = 1;
	bool done;

	do {
		heap_init(&heap, ++fail);
		assert_int_equal(weir_inspector_new(&inspector, &options,
						    &heap.allocator),
				 0);
		done = is_trace(asked("trace 0.001\n"));
		if (!done)
			assert_string_equal(answer, "");
		weir_inspector_free(inspector);
		assert_int_equal(heap.live, 0);
	} while (!done);
	assert_true(fail > 6);
}

static void child_of_a_process_that_is_traced_has_no_trace(void **state)
{
	struct weir_trace *trace;
	int fd, status;
	pid_t child;

	assert_int_equal(listen_at(path), 0);
	fd = record();
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		weir_inspector_free(inspector);
		_exit(weir_trace_new(&trace, NULL, NULL) == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_string_equal(asked("trace 1\n"), busy);
	assert_int_equal(close(fd), 0);
	weir_inspector_free(inspector);
}

/* --- Clients that mean no good -------------------------------------------- */

static void a_line_may_end_where_nothing_more_comes(void **state)
{
	int fd;

	assert_int_equal(listen_at(path), 0);
	fd = come();
	say(fd, "help");
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	assert_non_null(strstr(heard(fd), "json"));
	/* and nothing at all is no question */
	fd = come();
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	assert_string_equal(heard(fd), "");
	weir_inspector_free(inspector);
}

static void a_line_that_is_too_long_is_refused(void **state)
{
	char line[300];
	int fd;

	memset(line, 'x', sizeof(line));
	assert_int_equal(listen_at(path), 0);
	fd = come();
	assert_int_equal(send(fd, line, 256, MSG_NOSIGNAL), 256);
	assert_string_equal(heard(fd), "error: the line is too long\n");
	/* 255 are none too many */
	line[255] = '\n';
	fd = come();
	assert_int_equal(send(fd, line, 256, MSG_NOSIGNAL), 256);
	assert_non_null(strstr(heard(fd), "error: that is not known"));
	weir_inspector_free(inspector);
}

static void who_says_nothing_is_hung_up_on(void **state)
{
	int fds[4], i;

	weir__inspector_patience_ns = 1000000;
	assert_int_equal(listen_at(path), 0);
	for (i = 0; i < 4; i++)
		fds[i] = come();
	say(fds[1], "wh");
	/* there is room again for somebody else */
	assert_non_null(strstr(asked("help\n"), "json"));
	for (i = 0; i < 4; i++)
		assert_string_equal(heard(fds[i]), "");
	weir_inspector_free(inspector);
}

static void many_are_answered_one_after_the_other(void **state)
{
	int fds[9], i;

	assert_int_equal(listen_at(path), 0);
	for (i = 0; i < 9; i++) {
		fds[i] = come();
		say(fds[i], "help\n");
	}
	for (i = 8; i >= 0; i--)
		assert_non_null(strstr(heard(fds[i]), "json"));
	weir_inspector_free(inspector);
}

static void who_goes_early_leaves_nothing_behind(void **state)
{
	int i;

	assert_int_equal(listen_at(path), 0);
	for (i = 0; i < 20; i++) {
		int fd = come();

		if (i % 3 > 0)
			say(fd, i % 3 == 1 ? "js" : "json\n");
		assert_int_equal(close(fd), 0);
	}
	assert_non_null(strstr(asked("help\n"), "json"));
	weir_inspector_free(inspector);
}

static void who_comes_when_no_descriptor_is_left_is_answered_later(void **state)
{
	struct rlimit all, none;
	int fd, next;

	assert_int_equal(listen_at(path), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
	fd = come();
	next = dup(fd);
	assert_int_equal(close(next), 0);
	none = (struct rlimit){.rlim_cur = (rlim_t)next,
			       .rlim_max = all.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	say(fd, "help\n");
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
	assert_non_null(strstr(heard(fd), "json"));
	weir_inspector_free(inspector);
}

/* Its answer is larger than what the kernel keeps. */
static void who_does_not_read_holds_nobody_up(void **state)
{
	enum { N = 1500 };
	static struct node nodes[N];
	struct weir_sim *sim;
	size_t i;
	int fd;

	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	for (i = 0; i < N; i++) {
		node_init(&nodes[i], weir_sim_executor(sim), "many", 1, 0);
		node_start(&nodes[i]);
	}
	weir_sim_run(sim);
	assert_int_equal(listen_at(path), 0);
	fd = come();
	say(fd, "json\n");
	assert_non_null(strstr(asked("help\n"), "json"));
	/* all of it is there, as late as it is read */
	(void)heard(fd);
	assert_string_equal(answer + strlen(answer) - 2, "}\n");
	assert_true(strlen(answer) > 300000);
	fd = come();
	say(fd, "json\n");
	/* nor does it hold up who ends it */
	weir_inspector_free(inspector);
	assert_int_equal(close(fd), 0);
	for (i = 0; i < N; i++)
		node_stop(&nodes[i]);
	weir_sim_run(sim);
	assert_int_equal(weir_sim_free(sim), 0);
}

/* Asks as another user; 0: there was no answer. */
static int ask_as_nobody(void)
{
	char byte;
	int fd;

	if (setgroups(0, NULL) < 0 || setgid(65534) < 0 || setuid(65534) < 0)
		return 2;
	fd = come();
	/* it may be closed already */
	(void)send(fd, "help\n", 5, MSG_NOSIGNAL);
	return recv(fd, &byte, 1, 0) > 0;
}

static void another_user_is_not_answered(void **state)
{
	pid_t child;
	int status;

	if (geteuid() != 0)
		skip();
	assert_int_equal(listen_at(path), 0);
	/* as careless as can be */
	assert_int_equal(chmod(folder, 0755), 0);
	assert_int_equal(chmod(path, 0666), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(ask_as_nobody());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_non_null(strstr(asked("help\n"), "json"));
	weir_inspector_free(inspector);
}

/* --- Where it listens ----------------------------------------------------- */

static void the_socket_is_its_users_alone(void **state)
{
	struct stat is;

	assert_int_equal(listen_at(path), 0);
	assert_int_equal(lstat(path, &is), 0);
	assert_true(S_ISSOCK(is.st_mode));
	assert_int_equal(is.st_mode & 0777, 0600);
	weir_inspector_free(inspector);
}

static void one_at_which_somebody_listens_is_in_use(void **state)
{
	struct weir_inspector *first;

	assert_int_equal(listen_at(path), 0);
	first = inspector;
	assert_int_equal(listen_at(path), -EADDRINUSE);
	assert_null(inspector);
	inspector = first;
	assert_non_null(strstr(asked("help\n"), "json"));
	weir_inspector_free(inspector);
}

static void one_at_which_nobody_listens_is_replaced(void **state)
{
	const struct sockaddr_un address = address_of(path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (const struct sockaddr *)&address,
			      sizeof(address)),
			 0);
	assert_int_equal(close(fd), 0);
	assert_int_equal(listen_at(path), 0);
	assert_non_null(strstr(asked("help\n"), "json"));
	weir_inspector_free(inspector);
}

static void a_file_and_a_link_are_left_alone(void **state)
{
	char other[112];
	FILE *file = fopen(path, "we");
	struct stat is;

	assert_non_null(file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(listen_at(path), -EADDRINUSE);
	assert_int_equal(lstat(path, &is), 0);
	assert_true(S_ISREG(is.st_mode));
	assert_int_equal(unlink(path), 0);

	/* nor is anything made where it points to */
	(void)snprintf(other, sizeof(other), "%s/other", folder);
	assert_int_equal(symlink(other, path), 0);
	assert_int_equal(listen_at(path), -EADDRINUSE);
	assert_int_equal(lstat(path, &is), 0);
	assert_true(S_ISLNK(is.st_mode));
	assert_int_equal(access(other, F_OK), -1);
}

static void the_default_folder_is_kept_clean(void **state)
{
	char left[128], own[128];
	struct sockaddr_un address;
	struct stat is;
	int fd;

	assert_int_equal(setenv("XDG_RUNTIME_DIR", folder, 1), 0);
	assert_int_equal(listen_at(NULL), 0);
	(void)snprintf(own, sizeof(own), "%s/weir/%ld.sock", folder,
		       (long)getpid());
	assert_string_equal(weir_inspector_path(inspector), own);
	weir_inspector_free(inspector);

	/* of a process that is gone, and what is none of ours */
	(void)snprintf(left, sizeof(left), "%s/weir/1.sock", folder);
	address = address_of(left);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address,
			      sizeof(address)),
			 0);
	assert_int_equal(close(fd), 0);
	assert_int_equal(listen_at(NULL), 0);
	assert_int_equal(access(left, F_OK), -1);
	weir_inspector_free(inspector);

	(void)snprintf(own, sizeof(own), "%s/weir", folder);
	assert_int_equal(lstat(own, &is), 0);
	assert_int_equal(is.st_mode & 0777, 0700);
	assert_int_equal(chmod(own, 0770), 0);
	assert_int_equal(listen_at(NULL), -EACCES);
	assert_int_equal(rmdir(own), 0);
	assert_int_equal(unsetenv("XDG_RUNTIME_DIR"), 0);
}

static void what_is_wrong_is_refused(void **state)
{
	struct weir_inspector_options options = {.path = path};
	char longer[200];

	assert_int_equal(weir_inspector_new(NULL, NULL, NULL), -EINVAL);
	options.reserved[3] = 1;
	assert_int_equal(weir_inspector_new(&inspector, &options, NULL),
			 -EINVAL);
	assert_null(inspector);
	memset(longer, 'x', sizeof(longer));
	longer[0] = '/';
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(listen_at(longer), -ENAMETOOLONG);
	assert_int_equal(listen_at(""), -ENAMETOOLONG);
	longer[60] = '\0';
	longer[30] = '/';
	assert_int_equal(listen_at(longer), -ENOENT);
	weir_inspector_free(NULL);
}

static void without_memory_nothing_is_left(void **state)
{
	const struct weir_inspector_options options = {.path = path};
	struct heap heap;
	int fd;

	heap_init(&heap, 1);
	assert_int_equal(weir_inspector_new(&inspector, &options,
					    &heap.allocator),
			 -ENOMEM);
	assert_null(inspector);
	assert_int_equal(access(path, F_OK), -1);
	/* nor for an answer: then there is none */
	heap_init(&heap, 2);
	assert_int_equal(
		weir_inspector_new(&inspector, &options, &heap.allocator), 0);
	fd = come();
	say(fd, "help\n");
	assert_string_equal(heard(fd), "");
	assert_non_null(strstr(asked("help\n"), "json"));
	weir_inspector_free(inspector);
	assert_int_equal(heap.live, 0);
}

static void a_child_process_leaves_it_to_its_parent(void **state)
{
	pid_t child;
	int status;

	assert_int_equal(listen_at(path), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		weir_inspector_free(inspector);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_non_null(strstr(asked("help\n"), "json"));
	weir_inspector_free(inspector);
}

#define CASE(function) \
	cmocka_unit_test_setup_teardown(function, make_folder, remove_folder)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(what_waits_is_told),
		CASE(a_process_without_executors_is_idle),
		CASE(what_runs_meanwhile_is_traced),
		CASE(others_are_answered_while_it_records),
		CASE(end_of_the_inspector_ends_its_trace),
		CASE(time_of_a_trace_is_bounded),
		CASE(trace_without_memory_is_none),
		CASE(child_of_a_process_that_is_traced_has_no_trace),
		CASE(a_line_may_end_where_nothing_more_comes),
		CASE(a_line_that_is_too_long_is_refused),
		CASE(who_says_nothing_is_hung_up_on),
		CASE(many_are_answered_one_after_the_other),
		CASE(who_goes_early_leaves_nothing_behind),
		CASE(who_comes_when_no_descriptor_is_left_is_answered_later),
		CASE(who_does_not_read_holds_nobody_up),
		CASE(another_user_is_not_answered),
		CASE(the_socket_is_its_users_alone),
		CASE(one_at_which_somebody_listens_is_in_use),
		CASE(one_at_which_nobody_listens_is_replaced),
		CASE(a_file_and_a_link_are_left_alone),
		CASE(the_default_folder_is_kept_clean),
		CASE(what_is_wrong_is_refused),
		CASE(without_memory_nothing_is_left),
		CASE(a_child_process_leaves_it_to_its_parent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
