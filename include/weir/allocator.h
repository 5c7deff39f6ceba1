/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the library's memory comes from. An allocator is given to an
 * executor; everything that lives on that executor allocates from it. The
 * library allocates when something is made or connected, never per item.
 */
#ifndef WEIR_ALLOCATOR_H
#define WEIR_ALLOCATOR_H

#include <weir/api.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Both functions are called from any thread, possibly at once; neither may
 * call back into the library.
 */
struct weir_allocator {
	/*
	 * `size` bytes (> 0) aligned for any type, or NULL when there is no
	 * memory: the call that needed it returns -ENOMEM and changes nothing.
	 */
	void *(*alloc)(size_t size, void *context);
	/* `memory` (never NULL) came from alloc with the same `size`. */
	void (*free)(void *memory, size_t size, void *context);
	void *context; /* passed to both */
};

/* malloc and free. Lives for ever. Any thread. */
WEIR_API const struct weir_allocator *weir_allocator_default(void);

#ifdef __cplusplus
}
#endif

#endif
