/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * A program that is not linked to the library may load it: what it knows about
 * threads is in static TLS, of which libc keeps little for that. dlopen.c is
 * given the library's path.
 */
#include "support.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

#include <weir/weir.h>

/* Of some 1600 that glibc has for all that is loaded so. */
#define MOST 320u

static const char *path;
static void *library;
static sem_t loaded;

/* Started before the library was there, so its TLS is made for it later. */
static void *use(void *context)
{
	int (*new)(struct weir_loop **, const struct weir_executor_options *);
	int (*free)(struct weir_loop *);
	struct weir_loop *loop;

	sem_wait(&loaded);
	*(void **)&new = dlsym(library, "weir_loop_new");
	*(void **)&free = dlsym(library, "weir_loop_free");
	assert(new &&free);
	assert(new (&loop, NULL) == 0);
	assert(free(loop) == 0);
	return NULL;
}

static int add_tls(struct dl_phdr_info *info, size_t size, void *sum)
{
	int i;

	if (!strstr(info->dlpi_name, "libweir"))
		return 0;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_TLS)
			*(size_t *)sum += info->dlpi_phdr[i].p_memsz;
	return 0;
}

static void a_program_loads_it_and_its_threads_use_it(void **state)
{
	pthread_t thread;
	size_t tls = 0;

	assert_int_equal(sem_init(&loaded, 0, 0), 0);
	assert_int_equal(pthread_create(&thread, NULL, use, NULL), 0);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		fail_msg("%s", dlerror());
	assert_int_equal(sem_post(&loaded), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	dl_iterate_phdr(add_tls, &tls);
	assert_in_range(tls, 1, MOST);
	assert_int_equal(sem_destroy(&loaded), 0);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_loads_it_and_its_threads_use_it),
	};

	if (argc != 2)
		return EINVAL;
	path = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
