/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a program in this folder is: a table of cases, each of which goes over
 * groups of scenarios. runner.c makes tests of them, and has the only main().
 */
#ifndef MODEL_RUNNER_H
#define MODEL_RUNNER_H

#include "explorer.h"

/* The number of its elements. */
#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

struct scene_group {
	const struct explorer_scenario *scenarios;
	size_t n;
};

/* All of an array. */
#define SCENE_GROUP(array) \
	{ \
		array, N_OF(array) \
	}

/* Groups, one after the other; in the initializer of a static object. */
#define GROUPS(...) ((const struct scene_group *const[]){__VA_ARGS__, NULL})

/*
 * All scenarios have to pass; or, if `files` is not NULL, each fence of the files
 * has to be needed in one of them, which then are explored unweakened as well.
 */
struct model_case {
	const char *name;
	const struct scene_group *const *groups;
	int threads;  /* only scenarios of so many, if not 0 */
	bool in_soak; /* there only */
	bool deepens; /* in a soak it has a preemption more */
	struct explorer_options run;
	const char *files, *more_files;
	bool doubts; /* in a soak it looks for who kills the excepted, too */
	const struct explorer_exception *exceptions;
	size_t n_exceptions;
};

#define EXCEPTIONS(array) .exceptions = (array), .n_exceptions = N_OF(array)

/* Each program has its own. */
extern const struct model_case model_cases[];
extern const size_t n_model_cases;

#endif
