/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plain accesses and allocated memory: rules 7 and 8 of explorer.h.
 *
 * Code compiled with -fsanitize=thread calls __tsan_read8() and its like
 * before each plain access. Here they are, instead of ThreadSanitizer's: for
 * each 8 bytes touched the shadow keeps, per thread and byte, in which stretch
 * it was last read and written (explorer.threads[].epoch), and the views say
 * which stretches of others are known to be done.
 */
#include "explorer_state.h"

#include <string.h>

enum {
	ARENA_SIZE = 1 << 20,
	UNIT = 16,
	UNITS = ARENA_SIZE / UNIT,
	SHADOWS = 8192,
	BYTES = 8,
	IGNORED = 8,
};

enum unit_state { UNUSED, LIVE, FREED };

static char arena[ARENA_SIZE] __attribute__((aligned(64)));
static uint8_t unit_states[UNITS];
static uint32_t block_sizes[UNITS]; /* at a block's first unit */
static size_t units_used, n_blocks;

struct shadow {
	uintptr_t address;
	uint32_t generation; /* an older one is a free entry */
	/* Only LOAD and STORE. */
	lanes_vector stretch[2][EXPLORER_THREADS];
};

static struct shadow shadows[SHADOWS];
static uint32_t n_shadows;

static struct range {
	uintptr_t address;
	size_t size;
} ignored[IGNORED];
static int n_ignored;

void plain_reset(void)
{
	memset(unit_states, UNUSED, units_used);
	units_used = 0;
	n_blocks = 0;
	n_shadows = 0;
	n_ignored = 0;
	trace_names_reset();
}

void explorer_ignore(const void *object, size_t size)
{
	if (n_ignored == IGNORED)
		explorer_fail("too many ignored ranges");
	ignored[n_ignored].address = (uintptr_t)object;
	ignored[n_ignored].size = size;
	n_ignored++;
}

static bool is_ignored(uintptr_t address)
{
	for (int i = 0; i < n_ignored; i++)
		if (address - ignored[i].address < ignored[i].size)
			return true;
	return false;
}

/* Memory */

void plain_check_alive(const void *address, const char *what)
{
	uintptr_t offset = (uintptr_t)address - (uintptr_t)arena;

	if (offset >= ARENA_SIZE || unit_states[offset / UNIT] == LIVE)
		return;
	explorer_fail("%s on %s memory %s", what,
		      unit_states[offset / UNIT] == FREED ? "freed" : "no",
		      trace_object(address));
}

void *explorer_alloc(size_t size)
{
	size_t units = (size + UNIT - 1) / UNIT;
	size_t first = units_used;

	if (units == 0)
		units = 1;
	/* One unit between blocks stays unused and catches an overrun. */
	if (units_used + units + 1 > UNITS)
		explorer_fail("more than %d bytes in one execution",
			      ARENA_SIZE);
	units_used += units + 1;
	n_blocks++;
	memset(&unit_states[first], LIVE, units);
	block_sizes[first] = (uint32_t)(units * UNIT);
	memset(&arena[first * UNIT], 0, units * UNIT);
	return &arena[first * UNIT];
}

size_t explorer_allocated(void)
{
	return n_blocks;
}

void explorer_free(void *memory)
{
	uintptr_t offset = (uintptr_t)memory - (uintptr_t)arena;
	size_t size;

	if (memory == NULL)
		return;
	if (offset >= ARENA_SIZE || offset % UNIT != 0)
		explorer_fail("free of %p, which was not allocated", memory);
	plain_check_alive(memory, "free");
	size = block_sizes[offset / UNIT];
	explorer_write(memory, size);
	if (explorer.tracing)
		trace_op(NULL, memory, "frees %zu bytes", size);
	memset(&unit_states[offset / UNIT], FREED, size / UNIT);
	memset(memory, 0xde, size);
	n_blocks--;
	explorer_conflict_all();
}

/* Races */

/* From two places in it: bytes from the first on, and before the last. */
static const int16_t edges[3 * BYTES] = {[BYTES] = -1, -1, -1, -1,
					 -1,	       -1, -1, -1};

/* 16 set bits for each byte of an access. */
static inline lanes_vector bytes_of(unsigned int first, unsigned int size)
{
	lanes_vector from, until;

	memcpy(&from, &edges[BYTES - first], sizeof(from));
	memcpy(&until, &edges[2 * BYTES - first - size], sizeof(until));
	return from & until;
}

static inline bool any(lanes_vector v)
{
	uint64_t halves[2];

	memcpy(halves, &v, sizeof(halves));
	return (halves[0] | halves[1]) != 0;
}

/* The shadow of that unit, or the free entry where it would be. */
static inline struct shadow *find_shadow(uintptr_t address)
{
	uint32_t i = (uint32_t)((address * UINT64_C(0x9e3779b97f4a7c15)) >> 51);

	while (shadows[i].generation == explorer.generation &&
	       shadows[i].address != address)
		i = (i + 1) % SHADOWS;
	return &shadows[i];
}

static inline bool is_free(const struct shadow *s)
{
	return s->generation != explorer.generation;
}

static void take_shadow(struct shadow *s, uintptr_t address)
{
	if (++n_shadows > SHADOWS * 3 / 4)
		explorer_fail("too much memory touched in one execution");
	memset(s, 0, sizeof(*s));
	s->address = address;
	s->generation = explorer.generation;
}

/* Others' accesses of kind `earlier` in these bytes that an access of kind
 * `now` need not come after. */
static bool is_unordered(const struct shadow *s, lanes_vector bytes,
			 enum kind earlier, enum kind now)
{
	const struct view *bound = &current_thread()->bound[now];
	lanes_vector unknown = {0};

	for (int t = 0; t < EXPLORER_THREADS; t++)
		if (t != explorer.current)
			unknown |= s->stretch[earlier][t] >
				   bound->lane[clock_lane(earlier, t)];
	return any(unknown & bytes);
}

/* Of a modelled access the code is NULL: the trace shows its site. */
struct access {
	const void *object;
	size_t size;
	enum kind kind;
	const void *code;
};

static void __attribute__((noreturn))
race(const struct access *access, const char *before)
{
	explorer_fail("race: T%d %s %s, which another thread %s, unordered%s%s",
		      explorer.current,
		      access->kind == LOAD ? "reads" : "writes",
		      trace_object(access->object), before,
		      access->code != NULL ? "\nat " : "",
		      access->code != NULL ? trace_code(access->code) : "");
}

static void check(const struct access *access, const struct shadow *s,
		  lanes_vector bytes)
{
	if (is_unordered(s, bytes, STORE, access->kind))
		race(access, "wrote plainly");
	if (access->kind != LOAD && is_unordered(s, bytes, LOAD, access->kind))
		race(access, "reads plainly");
}

static void access_unit(const struct access *access, uintptr_t address,
			unsigned int first, unsigned int size)
{
	struct shadow *s = find_shadow(address);
	lanes_vector bytes = bytes_of(first, size);
	lanes_vector *mine = &s->stretch[access->kind][explorer.current];

	if (is_free(s))
		take_shadow(s, address);
	check(access, s, bytes);
	*mine = (*mine & ~bytes) | (bytes & current_thread()->epoch);
}

static bool is_judged(uintptr_t address)
{
	return !explorer.options.no_races && !is_ignored(address);
}

static void check_modelled(const struct access *access)
{
	uintptr_t address = (uintptr_t)access->object;

	if (access->kind == LOAD) {
		if (!memory_read_is_ordered(address))
			race(access, "changes by ck_pr");
		return;
	}
	if (!memory_write_is_ordered(address, access->size))
		race(access, "uses by ck_pr");
}

static void access_units(const struct access *access)
{
	uintptr_t address = (uintptr_t)access->object;
	uintptr_t end = address + access->size;

	while (address < end) {
		unsigned int first = address % BYTES;
		size_t n = end - address;

		if (n > BYTES - first)
			n = BYTES - first;
		access_unit(access, address - first, first, (unsigned int)n);
		address += n;
	}
}

/*
 * The thread has made the same access in this stretch: there is nothing to find.
 * Of this stretch no other thread knows before it ends, so one that has accessed
 * these bytes since then in a way that conflicts has been told of a race.
 */
static inline bool is_repeated(uintptr_t address, size_t size, enum kind kind)
{
	unsigned int first = address % BYTES;
	const struct shadow *s;

	if (first + size > BYTES)
		return false;
	s = find_shadow(address - first);
	return !is_free(s) && !any((s->stretch[kind][explorer.current] !=
				    current_thread()->epoch) &
				   bytes_of(first, (unsigned int)size));
}

static void judge(const void *object, size_t size, enum kind kind,
		  const void *code)
{
	const struct access access = {object, size, kind, code};

	if (!is_judged((uintptr_t)object))
		return;
	if (explorer.tracing)
		trace_line("     T%d %s %s, %zu bytes", explorer.current,
			   kind == LOAD ? "reads" : "writes",
			   trace_object(object), size);
	current_thread()->used[kind] = true;
	check_modelled(&access);
	access_units(&access);
}

static inline void access_range(const void *object, size_t size, enum kind kind,
				const void *code)
{
	if (explorer.outcome != RUNNING)
		return;
	plain_check_alive(object, kind == LOAD ? "a read" : "a write");
	if (explorer.current == MAIN)
		return;
	if (explorer.tracing || !is_repeated((uintptr_t)object, size, kind))
		judge(object, size, kind, code);
}

void plain_check_word(const void *address, unsigned int size, enum kind kind)
{
	const struct access access = {address, size, kind, NULL};
	uintptr_t first = (uintptr_t)address % BYTES;
	const struct shadow *s;

	/* Not called from setup or check. */
	if (n_shadows == 0 || !is_judged((uintptr_t)address))
		return;
	s = find_shadow((uintptr_t)address - first);
	if (!is_free(s))
		check(&access, s, bytes_of((unsigned int)first, size));
}

#define CALLER __builtin_return_address(0)

void explorer_read(const void *object, size_t size)
{
	access_range(object, size, LOAD, CALLER);
}

void explorer_write(void *object, size_t size)
{
	access_range(object, size, STORE, CALLER);
}

/* What the compiler calls. Declared here: there is no header for it. */

#define HOOKS(size) \
	void __tsan_read##size(const void *object); \
	void __tsan_write##size(void *object); \
	void __tsan_unaligned_read##size(const void *object); \
	void __tsan_unaligned_write##size(void *object); \
	void __tsan_read##size(const void *object) \
	{ \
		access_range(object, size, LOAD, CALLER); \
	} \
	void __tsan_write##size(void *object) \
	{ \
		access_range(object, size, STORE, CALLER); \
	} \
	void __tsan_unaligned_read##size(const void *object) \
	{ \
		access_range(object, size, LOAD, CALLER); \
	} \
	void __tsan_unaligned_write##size(void *object) \
	{ \
		access_range(object, size, STORE, CALLER); \
	}

HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

void __tsan_init(void);
void __tsan_func_entry(void *caller);
void __tsan_func_exit(void);
void __tsan_read_range(const void *object, unsigned long size);
void __tsan_write_range(void *object, unsigned long size);
void *__tsan_memcpy(void *to, const void *from, size_t size);
void *__tsan_memmove(void *to, const void *from, size_t size);
void *__tsan_memset(void *object, int byte, size_t size);
unsigned int __tsan_atomic32_load(const volatile void *object, int order);

void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller)
{
	(void)caller;
}

void __tsan_func_exit(void)
{
}

void __tsan_read_range(const void *object, unsigned long size)
{
	access_range(object, size, LOAD, CALLER);
}

void __tsan_write_range(void *object, unsigned long size)
{
	access_range(object, size, STORE, CALLER);
}

void *__tsan_memcpy(void *to, const void *from, size_t size)
{
	access_range(from, size, LOAD, CALLER);
	access_range(to, size, STORE, CALLER);
	return memcpy(to, from, size);
}

void *__tsan_memmove(void *to, const void *from, size_t size)
{
	access_range(from, size, LOAD, CALLER);
	access_range(to, size, STORE, CALLER);
	return memmove(to, from, size);
}

void *__tsan_memset(void *object, int byte, size_t size)
{
	access_range(object, size, STORE, CALLER);
	return memset(object, byte, size);
}

/* Public headers have no ck_pr: a hint that is relaxed, in actor.h. */
unsigned int __tsan_atomic32_load(const volatile void *object, int order)
{
	static struct explorer_site site = {__FILE__, __func__,
					    "__atomic_load_n", __LINE__, 0};

	(void)order;
	return (unsigned int)explorer_op_load((const void *)object,
					      sizeof(uint32_t), &site);
}
