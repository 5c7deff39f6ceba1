/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing a trace, in Chrome's format. Everything here may run in a handler of
 * a signal: no memory is allocated, nothing of stdio is used, and each loop has
 * a bound.
 *
 * Events come in the order of their ends, over all tracks, so that of each actor
 * a slice comes before the slice behind it. A wait begins with the slice that it
 * follows, and ends with the actor's next one. Where events are missing, nobody
 * knows which slice would have been next: waits that began before are ended, and
 * marked, and in a flight recorder there are none before the time from which on
 * no track has lost anything.
 */
#include "inspect/trace.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define PROBES 64u /* for an actor that waits */

/* --- Text ----------------------------------------------------------------- */

static void flush(struct weir__tracing_out *out)
{
	const char *at = out->text;
	ssize_t n;

	while (out->n > 0 && !out->error) {
		n = write(out->fd, at, out->n);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			out->error = n < 0 ? -errno : -EIO;
			break;
		}
		at += n;
		out->n -= (size_t)n;
	}
	out->n = 0;
}

static void put_byte(struct weir__tracing_out *out, char byte)
{
	if (out->n == sizeof(out->text))
		flush(out);
	out->text[out->n++] = byte;
}

static void put(struct weir__tracing_out *out, const char *text)
{
	while (*text)
		put_byte(out, *text++);
}

static void put_number(struct weir__tracing_out *out, uint64_t number)
{
	char digits[20];
	size_t n = 0;

	do {
		digits[n++] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	while (n > 0)
		put_byte(out, digits[--n]);
}

static void put_hex(struct weir__tracing_out *out, uint64_t number)
{
	int shift = 60;

	put(out, "0x");
	while (shift > 0 && !(number >> shift))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		put_byte(out, "0123456789abcdef"[number >> shift & 15]);
}

/* Nanoseconds as microseconds. */
static void put_us(struct weir__tracing_out *out, uint64_t ns)
{
	put_number(out, ns / 1000);
	put_byte(out, '.');
	put_byte(out, (char)('0' + ns / 100 % 10));
	put_byte(out, (char)('0' + ns / 10 % 10));
	put_byte(out, (char)('0' + ns % 10));
}

/* How many bytes the character has that begins there; 0: it is no UTF-8. */
static size_t character(const unsigned char *at)
{
	static const struct {
		unsigned char mask, lead;
		unsigned char low, high; /* of the second byte of the least and
					  * the greatest lead */
	} kinds[] = {
		{0x80, 0x00, 0, 0},
		{0xe0, 0xc0, 0, 0},
		{0xf0, 0xe0, 0xa0, 0x9f},
		{0xf8, 0xf0, 0x90, 0x8f},
	};
	size_t n, i;

	for (n = 0; n < 4; n++)
		if ((at[0] & kinds[n].mask) == kinds[n].lead)
			break;
	if (n == 4 || at[0] == 0xc0 || at[0] == 0xc1 || at[0] > 0xf4)
		return 0;
	for (i = 1; i <= n; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	if ((at[0] == 0xe0 || at[0] == 0xf0) && at[1] < kinds[n].low)
		return 0;
	if ((at[0] == 0xed || at[0] == 0xf4) && at[1] > kinds[n].high)
		return 0;
	return n + 1;
}

/* What stands between quotes. */
static void put_quoted(struct weir__tracing_out *out, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t n;

	while (*at) {
		n = character(at);
		if (*at == '"' || *at == '\\')
			put_byte(out, '\\');
		if (n == 0 || *at < ' ')
			put_byte(out, n ? ' ' : '?');
		else
			put_byte(out, (char)*at);
		at++;
		while (n-- > 1)
			put_byte(out, (char)*at++);
	}
}

/* --- Parts of events ------------------------------------------------------ */

/*
 * Nanoseconds since the trace began. As a trace goes on its clock is known
 * better, so that an instant may come out some nanoseconds before one that was
 * before it: those to whom that matters take the later one.
 */
static uint64_t since_start(const struct weir_trace *trace, uint64_t ticks)
{
	const struct weir__tracing_out *out = &trace->out;
	uint64_t span = out->ticks - trace->ticks;

	if (ticks < trace->ticks || span == 0)
		return 0;
	return (uint64_t)((double)(ticks - trace->ticks) *
			  ((double)(out->ns - trace->ns) / (double)span));
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void put_name(struct weir_trace *trace, uint32_t number)
{
	char name[WEIR_INSPECT_NAME];

	weir__label_read(trace->labels, number, !trace->out.unsafe, name);
	put_quoted(&trace->out, name[0] ? name : "(name lost)");
}

static void event_begin(struct weir_trace *trace)
{
	put(&trace->out,
	    trace->out.begun ? ",\n{\"name\":\"" : "\n{\"name\":\"");
	trace->out.begun = true;
}

/* Behind the name. */
static void put_kind(struct weir_trace *trace, const char *category,
		     const char *phase, uint64_t ns)
{
	struct weir__tracing_out *out = &trace->out;

	put(out, "\",\"cat\":\"");
	put(out, category);
	put(out, "\",\"ph\":\"");
	put(out, phase);
	put(out, "\",\"ts\":");
	put_us(out, ns);
	put(out, ",\"pid\":");
	put_number(out, out->pid);
}

static void put_tid(struct weir_trace *trace, const struct weir__rider *rider)
{
	put(&trace->out, ",\"tid\":");
	put_number(&trace->out, rider->seen_tid);
}

static void put_thread(struct weir_trace *trace,
		       const struct weir__rider *rider)
{
	event_begin(trace);
	put(&trace->out, "thread_name\",\"ph\":\"M\",\"pid\":");
	put_number(&trace->out, trace->out.pid);
	put_tid(trace, rider);
	put(&trace->out, ",\"args\":{\"name\":\"");
	put_quoted(&trace->out, rider->name);
	put(&trace->out, "\"}}");
}

/* --- Waits ---------------------------------------------------------------- */

static const char *words_of(uint32_t wait)
{
	static const char *const words[] = {
		[WEIR_WAIT_INPUT] = " waits for input",
		[WEIR_WAIT_ROOM] = " waits for room",
		[WEIR_WAIT_DEMAND] = " waits for demand",
		[WEIR_WAIT_LINK] = " is not linked",
		[WEIR_WAIT_PERMIT] = " waits for a permit",
		[WEIR_WAIT_CHANNEL] = " waits at a channel",
		[WEIR_WAIT_TIME] = " waits for a time",
		[WEIR_WAIT_FD] = " waits for a descriptor",
		[WEIR_WAIT_COMPLETED] = " waits for a completion",
		[WEIR_WAIT_WAKE] = " waits until it is woken",
		[WEIR_WAIT_RESUME] = " is suspended",
		[WEIR_WAIT_PARENT] = " is halted by supervision",
	};

	if (wait < sizeof(words) / sizeof(*words) && words[wait])
		return words[wait];
	return " waits";
}

/* The place of an actor, or one for it; NULL: there is none. */
static struct weir__awaiting *find(struct weir_trace *trace, uint64_t actor)
{
	uint32_t at = (uint32_t)(actor >> 4 ^ actor >> 18), i;
	struct weir__awaiting *awaiting, *spare = NULL;

	for (i = 0; i < PROBES; i++) {
		awaiting =
			&trace->out
				 .awaiting[(at + i) & (WEIR__TRACK_WAITS - 1)];
		if (awaiting->actor == actor)
			return awaiting;
		if (!spare && awaiting->wait == WEIR_WAIT_NONE)
			spare = awaiting;
		if (!awaiting->actor)
			break;
	}
	return spare;
}

/* Up to what is to be said besides. */
static void put_wait(struct weir_trace *trace,
		     const struct weir__awaiting *awaiting, const char *phase,
		     uint64_t ns)
{
	event_begin(trace);
	put_name(trace, awaiting->name);
	put(&trace->out, words_of(awaiting->wait));
	put_kind(trace, "wait", phase, ns);
	put(&trace->out, ",\"id\":\"");
	put_hex(&trace->out, awaiting->actor);
	put(&trace->out, "\"");
}

static void end_wait(struct weir_trace *trace, struct weir__awaiting *awaiting,
		     uint64_t ticks, const char *besides)
{
	put_wait(trace, awaiting, "e",
		 later(since_start(trace, ticks), awaiting->since_ns));
	put(&trace->out, besides);
	put(&trace->out, "}");
	awaiting->wait = WEIR_WAIT_NONE;
}

static void begin_wait(struct weir_trace *trace,
		       struct weir__awaiting *awaiting,
		       const struct weir__event *event)
{
	awaiting->actor = event->actor;
	awaiting->name = weir__event_name(event);
	awaiting->wait = weir__event_wait(event);
	awaiting->round = trace->out.round;
	awaiting->since_ns =
		later(since_start(trace, event->to), awaiting->since_ns);
	put_wait(trace, awaiting, "b", awaiting->since_ns);
	put(&trace->out, ",\"args\":{\"port\":");
	put_number(&trace->out, weir__event_place(event));
	put(&trace->out, "}}");
}

/* A slice of the actor, and perhaps a wait behind it. */
static void pair(struct weir_trace *trace, const struct weir__event *event)
{
	struct weir__tracing_out *out = &trace->out;
	struct weir__awaiting *awaiting;
	bool waits = weir__event_wait(event) != WEIR_WAIT_NONE;

	if (!(trace->categories & WEIR_TRACE_WAITS) ||
	    event->to < out->full_from)
		return;
	awaiting = find(trace, event->actor);
	if (!awaiting) {
		out->unpaired += waits;
		return;
	}
	if (awaiting->wait != WEIR_WAIT_NONE)
		end_wait(trace, awaiting, event->from,
			 awaiting->round == out->round
				 ? ""
				 : ",\"args\":{\"uncertain\":true}");
	if (waits)
		begin_wait(trace, awaiting, event);
}

/* --- Events --------------------------------------------------------------- */

static void put_slice(struct weir_trace *trace, struct weir__rider *rider,
		      const struct weir__event *event, bool open)
{
	struct weir__tracing_out *out = &trace->out;
	uint64_t from = later(since_start(trace, event->from), rider->last_ns);

	if (!open)
		pair(trace, event);
	rider->last_ns = later(since_start(trace, event->to), from);
	if (!(trace->categories & WEIR_TRACE_SLICES))
		return;
	event_begin(trace);
	put_name(trace, weir__event_name(event));
	put_kind(trace, "slice", "X", from);
	put_tid(trace, rider);
	put(out, ",\"dur\":");
	put_us(out, rider->last_ns - from);
	put(out, ",\"args\":{\"actor\":\"");
	put_hex(out, event->actor);
	put(out, open ? "\",\"open\":true}}" : "\"}}");
}

static void put_lost(struct weir_trace *trace, const struct weir__rider *rider,
		     const struct weir__event *event)
{
	event_begin(trace);
	put(&trace->out, "events lost");
	put_kind(trace, "lost", "i", since_start(trace, event->from));
	put_tid(trace, rider);
	put(&trace->out, ",\"s\":\"t\",\"args\":{\"events\":");
	put_number(&trace->out, event->value);
	put(&trace->out, ",\"until\":");
	put_us(&trace->out, since_start(trace, event->to));
	put(&trace->out, "}}");
	trace->out.round++;
}

static void put_restart(struct weir_trace *trace,
			const struct weir__rider *rider,
			const struct weir__event *event)
{
	if (!(trace->categories & WEIR_TRACE_RESTARTS))
		return;
	event_begin(trace);
	put_name(trace, weir__event_name(event));
	put(&trace->out, " restarts");
	put_kind(trace, "restart", "i", since_start(trace, event->from));
	put_tid(trace, rider);
	put(&trace->out, ",\"s\":\"t\"}");
}

static void put_request(struct weir_trace *trace,
			const struct weir__event *event)
{
	if (!(trace->categories & WEIR_TRACE_REQUESTS))
		return;
	event_begin(trace);
	put_name(trace, weir__event_name(event));
	put_kind(trace, "request", "C", since_start(trace, event->from));
	put(&trace->out, ",\"args\":{\"requested\":");
	put_number(&trace->out, event->value);
	put(&trace->out, "}}");
}

static void put_event(struct weir_trace *trace, struct weir__rider *rider,
		      const struct weir__event *event)
{
	trace->out.n_events++;
	switch (weir__event_kind(event)) {
	case WEIR__EVENT_SLICE:
		put_slice(trace, rider, event, false);
		break;
	case WEIR__EVENT_LOST:
		put_lost(trace, rider, event);
		break;
	case WEIR__EVENT_RESTART:
		put_restart(trace, rider, event);
		break;
	case WEIR__EVENT_REQUEST:
		put_request(trace, event);
		break;
	}
}

/* --- Reading tracks ------------------------------------------------------- */

static void lock(const struct weir_trace *trace)
{
	if (!trace->out.unsafe)
		weir__lock(&weir__tracing.lock);
}

static void unlock(const struct weir_trace *trace)
{
	if (!trace->out.unsafe)
		weir__unlock(&weir__tracing.lock);
}

/* Leaves out what is overwritten already. */
static void skip(struct weir_trace *trace, struct weir__rider *rider)
{
	uint64_t n = weir__track_count(weir__track_seq(&rider->track));
	uint64_t next = n < WEIR__TRACK_EVENTS ? 0 : n - WEIR__TRACK_EVENTS + 1;

	/* some more, which will be before they are read */
	next += WEIR__TRACK_EVENTS / 16;
	if (next > rider->end)
		next = rider->end;
	if (next <= rider->next)
		return;
	rider->missed += next - rider->next;
	rider->next = next;
	trace->out.round++;
}

/* Makes rider->event the next one. False: there is none. */
static bool fetch(struct weir_trace *trace, struct weir__rider *rider)
{
	while (!rider->has && rider->next < rider->end) {
		rider->has = weir__track_load(&rider->track, rider->next,
					      &rider->event);
		if (rider->has)
			rider->next++;
		else
			skip(trace, rider);
	}
	return rider->has;
}

/* The track whose next event ended first, at `to` at the latest; or NULL. */
static struct weir__rider *earliest(struct weir_trace *trace, uint64_t to)
{
	struct weir__rider *best = NULL, *rider;
	size_t i;

	for (i = 0; i < trace->n_riders; i++) {
		rider = &trace->riders[i];
		if (fetch(trace, rider) && rider->event.to <= to &&
		    (!best || rider->event.to < best->event.to))
			best = rider;
	}
	return best;
}

/* The events that are there up to a time. */
static void put_events(struct weir_trace *trace, uint64_t to)
{
	struct weir__rider *rider;

	while ((rider = earliest(trace, to))) {
		put_event(trace, rider, &rider->event);
		rider->has = false;
		if (rider->track.keeps)
			weir__track_done(&rider->track, rider->next);
	}
}

/* What there is to be read, and of whom. */
static void mark_ends(struct weir_trace *trace)
{
	struct weir__rider *rider;
	size_t i;

	lock(trace);
	for (i = 0; i < trace->n_riders; i++) {
		rider = &trace->riders[i];
		rider->end = weir__track_count(weir__track_seq(&rider->track));
		if (rider->seen == rider->threads)
			continue;
		rider->seen = rider->threads;
		rider->seen_tid = rider->tid;
		rider->last_ns = 0;
		put_thread(trace, rider);
	}
	unlock(trace);
}

/* Reads the clock, which stands still when the trace has stopped. */
static void mark_time(struct weir_trace *trace)
{
	struct weir__tracing_out *out = &trace->out;

	lock(trace);
	out->ticks = trace->stopped ? trace->stop_ticks : weir__ticks();
	out->ns = trace->stopped ? trace->stop_ns : weir__clock_ns();
	unlock(trace);
}

/* --- The whole ------------------------------------------------------------ */

void weir__trace_begin(struct weir_trace *trace, int fd)
{
	struct weir__tracing_out *out = &trace->out;

	out->fd = fd;
	out->pid = (uint32_t)trace->made_by;
	out->error = 0;
	out->begun = false;
	out->full_from = 0;
	out->unpaired = out->n_events = 0;
	out->n = 0;
	memset(out->awaiting, 0, WEIR__TRACK_WAITS * sizeof(*out->awaiting));
	put(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	event_begin(trace);
	put(out, "process_name\",\"ph\":\"M\",\"pid\":");
	put_number(out, out->pid);
	put(out, ",\"args\":{\"name\":\"");
	put_quoted(out, program_invocation_short_name);
	put(out, "\"}}");
}

void weir__trace_go_on(struct weir_trace *trace)
{
	/* before the ends: an event that is missed there has ended later */
	mark_time(trace);
	mark_ends(trace);
	put_events(trace, trace->out.ticks);
	flush(&trace->out);
}

static void end_waits(struct weir_trace *trace)
{
	struct weir__awaiting *awaiting;
	uint32_t i;

	for (i = 0; i < WEIR__TRACK_WAITS; i++) {
		awaiting = &trace->out.awaiting[i];
		if (awaiting->wait != WEIR_WAIT_NONE)
			end_wait(trace, awaiting, trace->out.ticks,
				 ",\"args\":{\"open\":true}");
	}
}

/* The slice that is open on the track, if there is one. */
static bool load_open(const struct weir_trace *trace,
		      const struct weir__rider *rider,
		      struct weir__event *event)
{
	uint64_t seq = weir__track_seq(&rider->track);
	bool same;

	if (!weir__track_is_open(seq))
		return false;
	(void)weir__track_load(&rider->track, weir__track_count(seq), event);
	event->to = trace->out.ticks;
	lock(trace);
	same = rider->seen == rider->threads;
	unlock(trace);
	return same && weir__track_seq(&rider->track) == seq;
}

/* Ends waits; then the slices, that of the calling thread as the last. */
static void put_open(struct weir_trace *trace)
{
	const struct weir__track *own = weir__tracer_here.track;
	struct weir__rider *rider, *last = NULL;
	struct weir__event event;
	size_t i;

	for (i = 0; i < trace->n_riders; i++)
		if (load_open(trace, &trace->riders[i], &event))
			pair(trace, &event);
	end_waits(trace);
	for (i = 0; i < trace->n_riders; i++) {
		rider = &trace->riders[i];
		if (&rider->track == own)
			last = rider;
		else if (load_open(trace, rider, &event))
			put_slice(trace, rider, &event, true);
	}
	if (last && load_open(trace, last, &event))
		put_slice(trace, last, &event, true);
}

static void put_count(struct weir_trace *trace, const char *name, uint64_t n)
{
	put(&trace->out, ",\"");
	put(&trace->out, name);
	put(&trace->out, "\":");
	put_number(&trace->out, n);
}

static void put_foot(struct weir_trace *trace)
{
	uint64_t overwritten = 0, lost = ck_pr_load_64(&trace->homeless);
	const struct weir__rider *rider;
	size_t i;

	for (i = 0; i < trace->n_riders; i++) {
		rider = &trace->riders[i];
		overwritten += rider->missed;
		lost += ck_pr_load_64(&rider->track.lost);
	}
	put(&trace->out, "],\n\"otherData\":{\"unsafe\":");
	put(&trace->out, trace->out.unsafe ? "true" : "false");
	put_count(trace, "events", trace->out.n_events);
	put_count(trace, "overwritten", overwritten);
	put_count(trace, "lost", lost);
	put_count(trace, "unpaired", trace->out.unpaired);
	put(&trace->out, "}}\n");
	flush(&trace->out);
}

int weir__trace_finish(struct weir_trace *trace)
{
	mark_time(trace);
	mark_ends(trace);
	put_events(trace, UINT64_MAX);
	put_open(trace);
	put_foot(trace);
	return trace->out.error;
}

/* A flight recorder begins with what is left, and knows from when on that is
 * all there was. */
static void rewind_all(struct weir_trace *trace)
{
	struct weir__rider *rider;
	size_t i;

	lock(trace);
	for (i = 0; i < trace->n_riders; i++) {
		rider = &trace->riders[i];
		rider->next = 0;
		rider->missed = 0;
		rider->seen = 0;
		rider->has = false;
		rider->end = weir__track_count(weir__track_seq(&rider->track));
		if (rider->first > rider->next) {
			rider->missed = rider->first;
			rider->next = rider->first;
		}
		if (rider->end > rider->next + WEIR__TRACK_EVENTS - 1)
			skip(trace, rider);
		if (rider->missed && fetch(trace, rider) &&
		    rider->event.to > trace->out.full_from)
			trace->out.full_from = rider->event.to;
	}
	unlock(trace);
}

static int write_all(struct weir_trace *trace, int fd, bool unsafe)
{
	int rc;

	trace->out.unsafe = unsafe;
	weir__trace_begin(trace, fd);
	rewind_all(trace);
	rc = weir__trace_finish(trace);
	trace->out.unsafe = false;
	return rc;
}

static int check(const struct weir_trace *trace, int fd)
{
	if (!trace || fd < 0 || trace->streams)
		return -EINVAL;
	return getpid() == trace->made_by ? 0 : -ECHILD;
}

int weir_trace_write(struct weir_trace *trace, int fd)
{
	int rc = check(trace, fd);

	if (rc < 0)
		return rc;
	weir__lock(&trace->writing);
	rc = write_all(trace, fd, false);
	weir__unlock(&trace->writing);
	return rc;
}

int weir_trace_write_unsafe(struct weir_trace *trace, int fd)
{
	int kept = errno;
	int rc = check(trace, fd);

	if (rc == 0 && !ck_pr_cas_32(&trace->writing.word, 0, 1))
		rc = -EBUSY;
	if (rc == 0) {
		rc = write_all(trace, fd, true);
		weir__unlock(&trace->writing);
	}
	errno = kept;
	return rc;
}
