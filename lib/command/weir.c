/* SPDX-License-Identifier: BSD-2-Clause */
/* The command `weir`: docs/command.md. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/client.h"
#include "command/find.h"
#include "command/remains.h"
#include "command/top.h"

enum { WRONG = 1, USAGE = 2 };

static const char usage[] =
	"usage: weir list\n"
	"       weir top [-b] [-n TIMES] [-d SECONDS] PID\n"
	"       weir why PID [ACTOR]\n"
	"       weir table PID\n"
	"       weir dot PID\n"
	"       weir json PID\n"
	"       weir prometheus PID\n"
	"       weir trace [-o FILE] PID [SECONDS]\n"
	"PID is a process, or the path of the socket of one that runs with\n"
	"WEIR_INSPECT=1 or calls weir_inspector_new(). The memory of a process\n"
	"that does not listen is read, but by top and trace. In place of PID, but\n"
	"of these, --core FILE [--exe FILE] reads a core file, of that program, and\n"
	"--memory PID the memory of a process that may listen.\n";

static int fail(const char *whom, int rc)
{
	const char *what = strerror(-rc);

	if (rc == -ESRCH)
		what = "there is no such process";
	else if (rc == -ENOENT)
		what = "it does not listen: start it with WEIR_INSPECT=1, or "
		       "let it call weir_inspector_new()";
	else if (rc == -EACCES || rc == -EPERM)
		what = "it is another user's, who alone may look inside";
	else if (rc == -EINVAL)
		what = "it is no number of a process, and no path";
	else if (rc == -ETIMEDOUT)
		what = "it does not answer";
	else if (rc == -EPIPE)
		what = "it has hung up without an answer";
	(void)fprintf(stderr, "weir: %s: %s\n", whom, what);
	return WRONG;
}

static int use(void)
{
	(void)fputs(usage, stderr);
	return USAGE;
}

/* True: the answer says what is wrong, which goes to stderr. */
static bool is_error(const char *whom, const char *text)
{
	static const char wrong[] = "error: ";

	if (strncmp(text, wrong, strlen(wrong)) != 0)
		return false;
	(void)fprintf(stderr, "weir: %s: %s", whom, text + strlen(wrong));
	return true;
}

/* Prints and frees the answer. */
static int print_text(const char *whom, char *text)
{
	int status = 0;

	if (is_error(whom, text))
		status = WRONG;
	else if (fputs(text, stdout) < 0 || fflush(stdout))
		status = fail("stdout", -errno);
	free(text);
	return status;
}

/* Of a process, with what is wrong besides if its memory cannot be read. */
static int print_memory(const char *whom, const char *line, const char *besides)
{
	char *text, *end, message[WEIR__READER_MESSAGE];
	long pid = strtol(whom, &end, 10);

	if (*end || pid <= 0)
		return fail(whom, *besides ? -ENOENT : -EINVAL);
	if (ask_memory((pid_t)pid, line, &text, message) == 0)
		return print_text(whom, text);
	(void)fprintf(stderr, "weir: %s: %s%s\n", whom, besides, message);
	return WRONG;
}

static int print_answer(const char *whom, const char *line)
{
	char *text;
	int rc = ask(whom, line, 0, &text);

	if (rc == -ENOENT)
		return print_memory(whom, line, "it does not listen, and ");
	return rc < 0 ? fail(whom, rc) : print_text(whom, text);
}

static int print_core(const char *core, const char *exe, const char *line)
{
	char *text, message[WEIR__READER_MESSAGE];

	if (ask_core(core, exe, line, &text, message) == 0)
		return print_text(core, text);
	(void)fprintf(stderr, "weir: %s: %s\n", core, message);
	return WRONG;
}

/* Of a process, or a core: only `why` takes an actor. */
static int print(const char *what, int n, char **arguments)
{
	const char *core = NULL, *exe = NULL, *memory = NULL, *whom = NULL;
	const int most = strcmp(what, "why") == 0 ? 1 : 0;
	char line[256];

	for (; n > 0 && strncmp(*arguments, "--", 2) == 0;
	     n -= 2, arguments += 2) {
		if (n > 1 && strcmp(*arguments, "--core") == 0)
			core = arguments[1];
		else if (n > 1 && strcmp(*arguments, "--exe") == 0)
			exe = arguments[1];
		else if (n > 1 && strcmp(*arguments, "--memory") == 0)
			memory = arguments[1];
		else
			return use();
	}
	if (!core && !memory && n-- > 0)
		whom = *arguments++;
	if (!core + !memory + !whom != 2 || (exe && !core) || n < 0 || n > most)
		return use();
	if ((size_t)snprintf(line, sizeof(line), "%s%s%s", what, n ? " " : "",
			     n ? *arguments : "") >= sizeof(line))
		return fail(*arguments, -ENAMETOOLONG);
	if (memory)
		return print_memory(memory, line, "");
	return core ? print_core(core, exe, line) : print_answer(whom, line);
}

/* Of a positive number; 0: it is none. */
static double number(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	return *text && !*end && value > 0 && value < 1e6 ? value : 0;
}

static int run_top(int n, char **arguments)
{
	struct top options = {.every_ms = 1000};
	double value;
	int option, rc;

	/* arguments[-1] is the word `top` */
	while ((option = getopt(n + 1, arguments - 1, "bn:d:")) != -1) {
		value = optarg ? number(optarg) : 1;
		if (option == '?' || value == 0)
			return use();
		if (option == 'b')
			options.batch = true;
		else if (option == 'n')
			options.times = (uint64_t)value;
		else
			options.every_ms = (uint64_t)(value * 1000);
	}
	if (n + 1 != optind + 1 || (options.every_ms == 0))
		return use();
	options.whom = arguments[optind - 1];
	rc = top(&options);
	return rc < 0 ? fail(options.whom, rc) : 0;
}

/* Makes the file anew; so it is not touched if there is nothing to be written. */
static int save(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");
	bool done;

	if (!file)
		return fail(path, -errno);
	done = fputs(text, file) >= 0;
	done &= fclose(file) == 0;
	return done ? 0 : fail(path, -errno);
}

static int record(const char *whom, const char *seconds, const char *path)
{
	char line[32], *text;
	int rc, status;

	if ((size_t)snprintf(line, sizeof(line), "trace %s", seconds) >=
	    sizeof(line))
		return use();
	rc = ask(whom, line, (unsigned)number(seconds), &text);
	if (rc < 0)
		return fail(whom, rc);
	if (!path)
		return print_text(whom, text);
	status = is_error(whom, text) ? WRONG : save(path, text);
	free(text);
	return status;
}

static int run_trace(int n, char **arguments)
{
	const char *path = NULL;
	int option;

	/* arguments[-1] is the word `trace` */
	while ((option = getopt(n + 1, arguments - 1, "o:")) != -1) {
		if (option == '?')
			return use();
		path = optarg;
	}
	n -= optind - 1;
	arguments += optind - 1;
	if (n < 1 || n > 2)
		return use();
	return record(arguments[0], n > 1 ? arguments[1] : "1", path);
}

static bool print_process(pid_t pid, const char *path, void *context)
{
	char file[64], name[64] = "?\n";
	FILE *from;

	(void)context;
	(void)snprintf(file, sizeof(file), "/proc/%ld/comm", (long)pid);
	from = fopen(file, "re");
	if (from) {
		if (!fgets(name, sizeof(name), from))
			(void)strcpy(name, "?\n");
		(void)fclose(from);
	}
	name[strcspn(name, "\n")] = '\0';
	printf("%8ld %-15s %s\n", (long)pid, name, path);
	return false;
}

static int list(void)
{
	int rc = find_all(print_process, NULL);

	return rc < 0 ? fail("/proc/net/unix", rc) : 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int n = argc - 2;

	if (strcmp(what, "list") == 0 && n == 0)
		return list();
	if (strcmp(what, "top") == 0)
		return run_top(n, argv + 2);
	if (strcmp(what, "trace") == 0)
		return run_trace(n, argv + 2);
	if (strcmp(what, "why") == 0 || strcmp(what, "dot") == 0 ||
	    strcmp(what, "json") == 0 || strcmp(what, "table") == 0 ||
	    strcmp(what, "prometheus") == 0)
		return print(what, n, argv + 2);
	if (strcmp(what, "help") == 0 || strcmp(what, "--help") == 0)
		return fputs(usage, stdout) < 0;
	return use();
}
