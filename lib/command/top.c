/* SPDX-License-Identifier: BSD-2-Clause */
/* Plain ANSI: the screen is kept, and each line of it drawn anew. */
#include "command/top.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "command/client.h"

#define HOME "\033[H"
#define CLEAR_LINE "\033[K"
#define CLEAR_BELOW "\033[J"
#define OTHER_SCREEN "\033[?1049h\033[?25l"
#define OWN_SCREEN "\033[?25h\033[?1049l"

static volatile sig_atomic_t over, resized;

static void end(int signal)
{
	(void)signal;
	over = 1;
}

static void resize(int signal)
{
	(void)signal;
	resized = 1;
}

static void catch (int signal, void (*handler)(int signal))
{
	const struct sigaction action = {.sa_handler = handler};

	(void)sigaction(signal, &action, NULL);
}

static struct winsize screen_size(void)
{
	struct winsize size = {0};

	(void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	if (!size.ws_row)
		size.ws_row = 24;
	if (!size.ws_col)
		size.ws_col = 80;
	return size;
}

/* As much of it as the screen has room for; characters of several bytes count as
 * those. */
static void draw(const struct top *top, const char *text)
{
	const struct winsize size = screen_size();
	unsigned row = 1;
	int length;

	printf(HOME
	       "\033[7mweir top %s, every %.1f s; q quits\033[0m" CLEAR_LINE,
	       top->whom, (double)top->every_ms / 1000);
	while (*text && row++ < size.ws_row) {
		length = (int)strcspn(text, "\n");
		printf("\r\n%.*s" CLEAR_LINE,
		       length < size.ws_col ? length : size.ws_col, text);
		text += length + (text[length] != '\0');
	}
	printf(CLEAR_BELOW);
	(void)fflush(stdout);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* True when a q was typed, or nobody can type any more. */
static bool quits(void)
{
	char key;
	ssize_t n = read(STDIN_FILENO, &key, 1);

	if (n < 0)
		return errno != EINTR;
	return n == 0 || key == 'q' || key == 'Q';
}

/* Until the next table is due, or the screen has another size. */
static void wait_for_next(const struct top *top, bool keys)
{
	uint64_t until_ms = now_ms() + top->every_ms, at_ms;
	struct pollfd polled = {.fd = keys ? STDIN_FILENO : -1,
				.events = POLLIN};

	while (!over && !resized && (at_ms = now_ms()) < until_ms) {
		uint64_t left_ms = until_ms - at_ms;

		if (poll(&polled, 1,
			 left_ms < 1000000 ? (int)left_ms : 1000000) > 0 &&
		    quits())
			over = 1;
	}
	resized = 0;
}

/* A third of the screen has the links. */
static int show(const struct top *top)
{
	char line[32] = "table", *text;
	unsigned rows = screen_size().ws_row;
	int rc;

	if (!top->batch)
		(void)snprintf(line, sizeof(line), "table %u",
			       rows > 16 ? (rows - 8) * 2 / 3 : 5);
	rc = ask(top->whom, line, 0, &text);
	if (rc < 0)
		return rc;
	if (top->batch)
		(void)fputs(text, stdout);
	else
		draw(top, text);
	free(text);
	return fflush(stdout) ? -errno : 0;
}

static int repeat(const struct top *top, bool keys)
{
	uint64_t i;
	int rc = 0;

	for (i = 0; !over && (!top->times || i < top->times); i++) {
		if (i)
			wait_for_next(top, keys);
		if (over)
			break;
		if (top->batch && i)
			(void)putchar('\n');
		rc = show(top);
		if (rc < 0)
			break;
	}
	return rc;
}

int top(const struct top *top)
{
	struct termios kept, raw;
	bool keys;
	int rc;

	catch (SIGINT, end);
	catch (SIGTERM, end);
	if (top->batch)
		return repeat(top, false);
	catch (SIGWINCH, resize);
	keys = tcgetattr(STDIN_FILENO, &kept) == 0;
	if (keys) {
		raw = kept;
		raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		(void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
	}
	printf(OTHER_SCREEN);
	rc = repeat(top, keys);
	printf(OWN_SCREEN);
	(void)fflush(stdout);
	if (keys)
		(void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &kept);
	return rc;
}
