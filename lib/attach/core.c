/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of a process that has died, from its core file. What the core has not
 * got is read from the files that were mapped, if they are what they were then:
 * their build ids are compared, of which the core has that of the mapped file.
 */
#include "attach/attach.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

#define LARGEST (UINT64_C(1) << 30) /* of a region */
#define SEGMENTS (1u << 20)
#define NOTES (64u << 20) /* bytes */
#define ID 64u		  /* bytes of a build id */

/* A segment that the core has, at least in part. */
struct segment {
	uint64_t begin, end; /* of what the file has */
	uint64_t offset;
	bool code;
};

enum found { UNKNOWN, FITS, REFUSED };

/* What was mapped from a file. */
struct mapping {
	uint64_t begin, end, offset;
	const char *name; /* in the notes */
	/* of the first one of each file */
	enum found found;
	int fd;
	size_t first; /* of its file, in the mappings */
};

struct core {
	struct weir__memory memory; /* first */
	const struct weir_allocator *allocator;
	int fd;
	const char *exe;
	uint64_t program; /* an address in the program's first mapping */
	struct segment *segments;
	struct mapping *mappings;
	struct weir__region *regions;
	char *notes;
	size_t n_segments, n_mappings, n_notes, room_segments, room_mappings;
};

/* Bytes from an offset of a file, wherever they are. */
struct source {
	struct core *core;
	int fd;		/* -1: from the core, */
	uint64_t begin; /* where the file was mapped */
};

static bool read_file(int fd, uint64_t offset, void *bytes, size_t n)
{
	return offset <= INT64_MAX &&
	       pread(fd, bytes, n, (off_t)offset) == (ssize_t)n;
}

/* --- Segments ------------------------------------------------------------- */

static int by_begin(const void *one, const void *other)
{
	const struct segment *a = one, *b = other;

	return (a->begin > b->begin) - (a->begin < b->begin);
}

/* The last one that begins at or before the address, or NULL. */
static const struct segment *segment_at(const struct core *self, uint64_t at)
{
	size_t low = 0, high = self->n_segments, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (self->segments[mid].begin <= at)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &self->segments[low - 1] : NULL;
}

static bool read_segment(const struct core *self, uint64_t at, void *bytes,
			 size_t n)
{
	const struct segment *segment = segment_at(self, at);

	return segment && at < segment->end && n <= segment->end - at &&
	       read_file(self->fd, segment->offset + (at - segment->begin),
			 bytes, n);
}

/* --- Build ids ------------------------------------------------------------ */

static bool read_source(const struct source *source, uint64_t offset,
			void *bytes, size_t n)
{
	if (source->fd >= 0)
		return read_file(source->fd, offset, bytes, n);
	return read_segment(source->core, source->begin + offset, bytes, n);
}

/* Of notes at the offset: the bytes of the id, 0: there is none. */
static size_t id_in_notes(const struct source *source, uint64_t offset,
			  uint64_t size, unsigned char id[ID])
{
	uint64_t at = 0, next;
	ElfW(Nhdr) note;
	char name[4];

	while (size >= sizeof(note) && at <= size - sizeof(note) &&
	       read_source(source, offset + at, &note, sizeof(note))) {
		next = at + sizeof(note) +
		       (((uint64_t)note.n_namesz + 3) & ~3u);
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    note.n_descsz <= ID &&
		    read_source(source, offset + at + sizeof(note), name, 4) &&
		    memcmp(name, "GNU", 4) == 0 &&
		    read_source(source, offset + next, id, note.n_descsz))
			return note.n_descsz;
		at = next + (((uint64_t)note.n_descsz + 3) & ~3u);
	}
	return 0;
}

static size_t build_id(const struct source *source, unsigned char id[ID])
{
	ElfW(Ehdr) elf;
	ElfW(Phdr) header;
	size_t n = 0;
	int i;

	if (!read_source(source, 0, &elf, sizeof(elf)) ||
	    memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 ||
	    elf.e_phentsize != sizeof(header))
		return 0;
	for (i = 0; i < elf.e_phnum && n == 0; i++) {
		if (!read_source(source, elf.e_phoff + i * sizeof(header),
				 &header, sizeof(header)))
			return 0;
		if (header.p_type == PT_NOTE && header.p_filesz <= NOTES)
			n = id_in_notes(source, header.p_offset,
					header.p_filesz, id);
	}
	return n;
}

/* --- Files ---------------------------------------------------------------- */

/* A file, which no reader waits for; -1. */
static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;

	if (fd >= 0 && (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))) {
		(void)close(fd);
		fd = -1;
	}
	return fd;
}

static const struct mapping *mapping_at(const struct core *self, uint64_t at)
{
	size_t i;

	for (i = 0; i < self->n_mappings; i++)
		if (at >= self->mappings[i].begin && at < self->mappings[i].end)
			return &self->mappings[i];
	return NULL;
}

static bool is_program(const struct core *self, const struct mapping *first)
{
	const struct mapping *program = mapping_at(self, self->program);

	return program && &self->mappings[program->first] == first;
}

/* The file is what it was; or nobody can know, and the user has named it. */
static bool fits(struct core *self, const struct mapping *first, bool named)
{
	struct source then = {self, -1, first->begin},
		      now = {self, first->fd, 0};
	unsigned char old[ID], new[ID];
	size_t n = first->offset == 0 ? build_id(&then, old) : 0;

	if (n == 0)
		return named;
	return build_id(&now, new) == n && memcmp(old, new, n) == 0;
}

static void find_file(struct core *self, struct mapping *first)
{
	bool named = self->exe && is_program(self, first);

	first->fd = open_file(named ? self->exe : first->name);
	first->found = first->fd >= 0 && fits(self, first, named) ? FITS
								  : REFUSED;
}

/* Behind the end of the file there are zeros. */
static bool read_mapping(struct core *self, uint64_t at, void *bytes, size_t n)
{
	const struct mapping *mapping = mapping_at(self, at);
	struct mapping *first;
	uint64_t offset;
	ssize_t had;

	if (!mapping || n > mapping->end - at)
		return false;
	first = &self->mappings[mapping->first];
	if (first->found == UNKNOWN)
		find_file(self, first);
	offset = mapping->offset + (at - mapping->begin);
	if (first->found != FITS || offset > INT64_MAX)
		return false;
	had = pread(first->fd, bytes, n, (off_t)offset);
	if (had <= 0)
		return false;
	memset((char *)bytes + had, 0, n - (size_t)had);
	return true;
}

static bool read_core(struct weir__memory *memory, uint64_t at, void *bytes,
		      size_t n)
{
	struct core *self = (struct core *)memory;

	return read_segment(self, at, bytes, n) ||
	       read_mapping(self, at, bytes, n);
}

/* --- Notes ---------------------------------------------------------------- */

/* A word of a note's. */
static uint64_t word_of(const char *words, size_t i)
{
	size_t word;

	memcpy(&word, words + i * sizeof(word), sizeof(word));
	return word;
}

/* The files that were mapped: a count, the size of a page, three words for each,
 * and then their names. */
static int take_files(struct core *self, const char *bytes, size_t size)
{
	const size_t word = sizeof(size_t);
	uint64_t n, page;
	size_t i, name, first;

	if (self->mappings || size < 2 * word)
		return 0;
	n = word_of(bytes, 0);
	page = word_of(bytes, 1);
	if (n > (size - 2 * word) / (3 * word + 1))
		return 0;
	self->room_mappings = n + 1;
	self->mappings = weir__alloc(
		self->allocator, self->room_mappings * sizeof(*self->mappings));
	if (!self->mappings)
		return -ENOMEM;
	name = (2 + 3 * n) * word;
	for (i = 0; i < n && name < size; i++) {
		if (!memchr(bytes + name, 0, size - name))
			break;
		for (first = i; first > 0; first--)
			if (strcmp(self->mappings[first - 1].name,
				   bytes + name) != 0)
				break;
		self->mappings[i] = (struct mapping){
			.begin = word_of(bytes, 2 + 3 * i),
			.end = word_of(bytes, 3 + 3 * i),
			.offset = word_of(bytes, 4 + 3 * i) * page,
			.name = bytes + name,
			.fd = -1,
			.first = first,
		};
		name += strlen(bytes + name) + 1;
		self->n_mappings++;
	}
	return 0;
}

/* Where the program's headers were. */
static void take_auxv(struct core *self, const char *bytes, size_t size)
{
	size_t i, n = size / (2 * sizeof(size_t));

	for (i = 0; i < n; i++)
		if (word_of(bytes, 2 * i) == AT_PHDR)
			self->program = word_of(bytes, 2 * i + 1);
}

static int take_notes(struct core *self)
{
	size_t at = 0, data, next;
	ElfW(Nhdr) note;
	int rc = 0;

	while (rc == 0 && self->n_notes - at >= sizeof(note)) {
		memcpy(&note, self->notes + at, sizeof(note));
		data = at + sizeof(note) +
		       (((size_t)note.n_namesz + 3) & ~(size_t)3);
		next = data + (((size_t)note.n_descsz + 3) & ~(size_t)3);
		if (data > self->n_notes ||
		    note.n_descsz > self->n_notes - data)
			break;
		if (note.n_type == NT_FILE)
			rc = take_files(self, self->notes + data,
					note.n_descsz);
		else if (note.n_type == NT_AUXV)
			take_auxv(self, self->notes + data, note.n_descsz);
		if (next > self->n_notes)
			break;
		at = next;
	}
	return rc;
}

/* Those of one segment; a core has one. */
static int read_notes(struct core *self, const ElfW(Phdr) * header)
{
	if (self->notes || header->p_filesz == 0 || header->p_filesz > NOTES)
		return 0;
	self->n_notes = header->p_filesz;
	self->notes = weir__alloc(self->allocator, self->n_notes);
	if (!self->notes)
		return -ENOMEM;
	if (!read_file(self->fd, header->p_offset, self->notes, self->n_notes))
		return 0;
	return take_notes(self);
}

/* --- The core ------------------------------------------------------------- */

static int take_segments(struct core *self, const ElfW(Ehdr) * elf, size_t n)
{
	ElfW(Phdr) header;
	size_t i;
	int rc = 0;

	self->room_segments = n;
	self->segments =
		weir__alloc(self->allocator, n * sizeof(*self->segments));
	if (!self->segments)
		return -ENOMEM;
	for (i = 0; i < n && rc == 0; i++) {
		if (!read_file(self->fd, elf->e_phoff + i * sizeof(header),
			       &header, sizeof(header)))
			break;
		if (header.p_type == PT_NOTE)
			rc = read_notes(self, &header);
		if (header.p_type != PT_LOAD || header.p_filesz == 0 ||
		    header.p_filesz > UINT64_MAX - header.p_vaddr)
			continue;
		self->segments[self->n_segments++] = (struct segment){
			.begin = header.p_vaddr,
			.end = header.p_vaddr + header.p_filesz,
			.offset = header.p_offset,
			.code = (header.p_flags & PF_X) != 0,
		};
	}
	qsort(self->segments, self->n_segments, sizeof(*self->segments),
	      by_begin);
	return rc;
}

/* Where data of programs and libraries is; if that is not known, any data. */
static int find_regions(struct core *self)
{
	size_t n = self->n_mappings + self->n_segments, i;
	const struct segment *segment;
	struct weir__region *region;

	self->regions =
		weir__alloc(self->allocator, (n + 1) * sizeof(*self->regions));
	if (!self->regions)
		return -ENOMEM;
	region = self->regions;
	for (i = 0; i < self->n_mappings; i++) {
		segment = segment_at(self, self->mappings[i].begin);
		if (segment && segment->code &&
		    self->mappings[i].begin < segment->end)
			continue;
		*region++ = (struct weir__region){self->mappings[i].begin,
						  self->mappings[i].end};
	}
	for (i = 0; i < self->n_segments && self->n_mappings == 0; i++)
		if (!self->segments[i].code)
			*region++ = (struct weir__region){
				self->segments[i].begin, self->segments[i].end};
	self->memory.regions = self->regions;
	self->memory.n_regions = (size_t)(region - self->regions);
	for (i = 0; i < self->memory.n_regions; i++)
		if (self->regions[i].end < self->regions[i].begin ||
		    self->regions[i].end - self->regions[i].begin > LARGEST)
			self->regions[i].end = self->regions[i].begin;
	return 0;
}

static int open_core(struct core *self)
{
	ElfW(Ehdr) elf;
	ElfW(Shdr) section;
	size_t n;
	int rc;

	if (!read_file(self->fd, 0, &elf, sizeof(elf)) ||
	    memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 ||
	    elf.e_ident[EI_CLASS] !=
		    (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
	    elf.e_type != ET_CORE || elf.e_phentsize != sizeof(ElfW(Phdr)))
		return -ENOEXEC;
	n = elf.e_phnum;
	if (n == PN_XNUM) {
		if (!read_file(self->fd, elf.e_shoff, &section,
			       sizeof(section)))
			return -ENOEXEC;
		n = section.sh_info;
	}
	if (n == 0 || n > SEGMENTS)
		return -ENOEXEC;
	rc = take_segments(self, &elf, n);
	return rc < 0 ? rc : find_regions(self);
}

static void close_core(struct core *self)
{
	size_t i;

	for (i = 0; i < self->n_mappings; i++)
		if (self->mappings[i].fd >= 0)
			(void)close(self->mappings[i].fd);
	if (self->fd >= 0)
		(void)close(self->fd);
	weir__free(self->allocator, self->segments,
		   self->room_segments * sizeof(*self->segments));
	weir__free(self->allocator, self->mappings,
		   self->room_mappings * sizeof(*self->mappings));
	weir__free(self->allocator, self->regions,
		   (self->n_mappings + self->n_segments + 1) *
			   sizeof(*self->regions));
	weir__free(self->allocator, self->notes, self->n_notes);
}

static int say(int rc, const char *what, char *message)
{
	(void)snprintf(message, WEIR__READER_MESSAGE, "%s", what);
	return rc;
}

int weir__attach_core(struct weir_snapshot **snapshot, const char *path,
		      const char *exe,
		      const struct weir__reader_options *options,
		      char message[WEIR__READER_MESSAGE])
{
	/* it does not move */
	struct weir__reader_options still = *options;
	struct core self = {
		.memory.read = read_core,
		.allocator = options->allocator ? options->allocator
						: weir_allocator_default(),
		.exe = exe,
		.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK),
	};
	int rc;

	*snapshot = NULL;
	still.settle_ns = 0;
	if (self.fd < 0)
		return say(-errno, strerror(errno), message);
	rc = open_core(&self);
	if (rc == -ENOEXEC)
		(void)say(rc, "no core file of a machine like this one",
			  message);
	else if (rc < 0)
		(void)say(rc, "no memory", message);
	if (rc == 0)
		rc = weir__reader_snapshot(snapshot, &self.memory, &still,
					   message);
	close_core(&self);
	return rc;
}
