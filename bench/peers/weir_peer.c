/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What weir_peer.erl calls: a job's work, which is the same for all peers, and
 * what it costs. A job takes a thousandth of what Erlang allows such calls.
 */
#include <erl_nif.h>

#include "../w4_work.h"

static ERL_NIF_TERM work(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ErlNifUInt64 x;
	unsigned n_steps;

	if (!enif_get_uint64(env, argv[0], &x) ||
	    !enif_get_uint(env, argv[1], &n_steps))
		return enif_make_badarg(env);
	return enif_make_uint64(env, w4_work(x, n_steps));
}

static ERL_NIF_TERM work_ns(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	unsigned n_steps, n_threads;

	if (!enif_get_uint(env, argv[0], &n_steps) ||
	    !enif_get_uint(env, argv[1], &n_threads))
		return enif_make_badarg(env);
	return enif_make_double(env, w4_work_ns(n_steps, n_threads));
}

static ERL_NIF_TERM cpu_ns(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	return enif_make_uint64(env, w4_all_threads_ns());
}

static ErlNifFunc functions[] = {
	{"work", 2, work, 0},
	{"work_ns", 2, work_ns, ERL_NIF_DIRTY_JOB_CPU_BOUND},
	{"cpu_ns", 0, cpu_ns, 0},
};

ERL_NIF_INIT(weir_peer, functions, NULL, NULL, NULL, NULL)
