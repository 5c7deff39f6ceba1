/* SPDX-License-Identifier: BSD-2-Clause */
#include "inspect/trace_answer.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/trace.h>

#include "base/clock.h"
#include "base/memory.h"

/* The digits there; stops where it is more than anybody may ask for. */
static uint64_t number(const char **at)
{
	uint64_t n = 0;

	while (**at >= '0' && **at <= '9' && n <= WEIR__TRACE_S_MAX)
		n = 10 * n + (uint64_t)(*(*at)++ - '0');
	return n;
}

/* Seconds, with a fraction or without. By hand: a locale may have a comma. */
static bool read_seconds(const char *text, uint64_t *ns)
{
	uint64_t digit_ns = WEIR__SECOND;
	const char *at = text;

	*ns = number(&at) * WEIR__SECOND;
	if (at == text)
		return false;
	if (*at == '.')
		for (at++; *at >= '0' && *at <= '9' && digit_ns > 1; at++) {
			digit_ns /= 10;
			*ns += digit_ns * (uint64_t)(*at - '0');
		}
	return *at == '\0';
}

int weir__trace_asked(const char *line, uint64_t *ns)
{
	static const char word[] = "trace";
	const char *rest = line + strlen(word);

	if (strncmp(line, word, strlen(word)) != 0 || (*rest && *rest != ' '))
		return -ENOENT;
	*ns = WEIR__SECOND;
	rest += strspn(rest, " ");
	if (!*rest)
		return 0;
	return read_seconds(rest, ns) && *ns > 0 &&
			       *ns <= WEIR__TRACE_S_MAX * WEIR__SECOND
		       ? 0
		       : -EINVAL;
}

static int read_all(int fd, const struct weir_allocator *allocator,
		    struct weir__answer *answer)
{
	struct stat is;
	ssize_t n;

	if (fstat(fd, &is) < 0)
		return -errno;
	*answer = (struct weir__answer){.size = (size_t)is.st_size + 1};
	answer->text = weir__alloc(allocator, answer->size);
	if (!answer->text)
		return -ENOMEM;
	while (answer->n + 1 < answer->size) {
		n = pread(fd, answer->text + answer->n,
			  answer->size - 1 - answer->n, (off_t)answer->n);
		if (n <= 0)
			break;
		answer->n += (size_t)n;
	}
	return 0;
}

int weir__trace_answer(struct weir_trace *trace,
		       const struct weir_allocator *allocator,
		       struct weir__answer *answer)
{
	int fd = memfd_create("weir-trace", MFD_CLOEXEC);
	int rc;

	if (fd < 0)
		return -errno;
	(void)weir_trace_stop(trace);
	rc = weir_trace_write(trace, fd);
	if (rc == 0)
		rc = read_all(fd, allocator, answer);
	(void)close(fd);
	return rc;
}
