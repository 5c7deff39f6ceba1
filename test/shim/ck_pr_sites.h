/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The model's ck_pr names add the place they are written at to the call. Each
 * macro is named like the function it calls, so it expands once. The list is
 * long because the preprocessor cannot write a #define.
 */
#ifndef WEIR_SHIM_CK_PR_SITES_H
#define WEIR_SHIM_CK_PR_SITES_H

#define SHIM_CALL(function, name, ...) \
	function(__VA_ARGS__, EXPLORER_SITE(name))

#define ck_pr_fence_atomic() \
	ck_pr_fence_atomic(EXPLORER_SITE("ck_pr_fence_atomic"))
#define ck_pr_fence_atomic_load() \
	ck_pr_fence_atomic_load(EXPLORER_SITE("ck_pr_fence_atomic_load"))
#define ck_pr_fence_atomic_store() \
	ck_pr_fence_atomic_store(EXPLORER_SITE("ck_pr_fence_atomic_store"))
#define ck_pr_fence_store_atomic() \
	ck_pr_fence_store_atomic(EXPLORER_SITE("ck_pr_fence_store_atomic"))
#define ck_pr_fence_load_atomic() \
	ck_pr_fence_load_atomic(EXPLORER_SITE("ck_pr_fence_load_atomic"))
#define ck_pr_fence_load_store() \
	ck_pr_fence_load_store(EXPLORER_SITE("ck_pr_fence_load_store"))
#define ck_pr_fence_store_load() \
	ck_pr_fence_store_load(EXPLORER_SITE("ck_pr_fence_store_load"))
#define ck_pr_fence_load() ck_pr_fence_load(EXPLORER_SITE("ck_pr_fence_load"))
#define ck_pr_fence_load_depends() \
	ck_pr_fence_load_depends(EXPLORER_SITE("ck_pr_fence_load_depends"))
#define ck_pr_fence_store() \
	ck_pr_fence_store(EXPLORER_SITE("ck_pr_fence_store"))
#define ck_pr_fence_memory() \
	ck_pr_fence_memory(EXPLORER_SITE("ck_pr_fence_memory"))
#define ck_pr_fence_acquire() \
	ck_pr_fence_acquire(EXPLORER_SITE("ck_pr_fence_acquire"))
#define ck_pr_fence_release() \
	ck_pr_fence_release(EXPLORER_SITE("ck_pr_fence_release"))
#define ck_pr_fence_acqrel() \
	ck_pr_fence_acqrel(EXPLORER_SITE("ck_pr_fence_acqrel"))
#define ck_pr_fence_lock() ck_pr_fence_lock(EXPLORER_SITE("ck_pr_fence_lock"))
#define ck_pr_fence_unlock() \
	ck_pr_fence_unlock(EXPLORER_SITE("ck_pr_fence_unlock"))
#define ck_pr_fence_strict_atomic() \
	ck_pr_fence_strict_atomic(EXPLORER_SITE("ck_pr_fence_strict_atomic"))
#define ck_pr_fence_strict_atomic_load() \
	ck_pr_fence_strict_atomic_load( \
		EXPLORER_SITE("ck_pr_fence_strict_atomic_load"))
#define ck_pr_fence_strict_atomic_store() \
	ck_pr_fence_strict_atomic_store( \
		EXPLORER_SITE("ck_pr_fence_strict_atomic_store"))
#define ck_pr_fence_strict_store_atomic() \
	ck_pr_fence_strict_store_atomic( \
		EXPLORER_SITE("ck_pr_fence_strict_store_atomic"))
#define ck_pr_fence_strict_load_atomic() \
	ck_pr_fence_strict_load_atomic( \
		EXPLORER_SITE("ck_pr_fence_strict_load_atomic"))
#define ck_pr_fence_strict_load_store() \
	ck_pr_fence_strict_load_store( \
		EXPLORER_SITE("ck_pr_fence_strict_load_store"))
#define ck_pr_fence_strict_store_load() \
	ck_pr_fence_strict_store_load( \
		EXPLORER_SITE("ck_pr_fence_strict_store_load"))
#define ck_pr_fence_strict_load() \
	ck_pr_fence_strict_load(EXPLORER_SITE("ck_pr_fence_strict_load"))
#define ck_pr_fence_strict_load_depends() \
	ck_pr_fence_strict_load_depends( \
		EXPLORER_SITE("ck_pr_fence_strict_load_depends"))
#define ck_pr_fence_strict_store() \
	ck_pr_fence_strict_store(EXPLORER_SITE("ck_pr_fence_strict_store"))
#define ck_pr_fence_strict_memory() \
	ck_pr_fence_strict_memory(EXPLORER_SITE("ck_pr_fence_strict_memory"))
#define ck_pr_fence_strict_acquire() \
	ck_pr_fence_strict_acquire(EXPLORER_SITE("ck_pr_fence_strict_acquire"))
#define ck_pr_fence_strict_release() \
	ck_pr_fence_strict_release(EXPLORER_SITE("ck_pr_fence_strict_release"))
#define ck_pr_fence_strict_acqrel() \
	ck_pr_fence_strict_acqrel(EXPLORER_SITE("ck_pr_fence_strict_acqrel"))
#define ck_pr_fence_strict_lock() \
	ck_pr_fence_strict_lock(EXPLORER_SITE("ck_pr_fence_strict_lock"))
#define ck_pr_fence_strict_unlock() \
	ck_pr_fence_strict_unlock(EXPLORER_SITE("ck_pr_fence_strict_unlock"))
#define ck_pr_stall() ck_pr_stall(EXPLORER_SITE("ck_pr_stall"))

#define ck_pr_md_load_8(...) \
	SHIM_CALL(ck_pr_md_load_8, "ck_pr_load_8", __VA_ARGS__)
#define ck_pr_md_store_8(...) \
	SHIM_CALL(ck_pr_md_store_8, "ck_pr_store_8", __VA_ARGS__)
#define ck_pr_fas_8(...) SHIM_CALL(ck_pr_fas_8, "ck_pr_fas_8", __VA_ARGS__)
#define ck_pr_faa_8(...) SHIM_CALL(ck_pr_faa_8, "ck_pr_faa_8", __VA_ARGS__)
#define ck_pr_add_8(...) SHIM_CALL(ck_pr_add_8, "ck_pr_add_8", __VA_ARGS__)
#define ck_pr_sub_8(...) SHIM_CALL(ck_pr_sub_8, "ck_pr_sub_8", __VA_ARGS__)
#define ck_pr_and_8(...) SHIM_CALL(ck_pr_and_8, "ck_pr_and_8", __VA_ARGS__)
#define ck_pr_or_8(...) SHIM_CALL(ck_pr_or_8, "ck_pr_or_8", __VA_ARGS__)
#define ck_pr_xor_8(...) SHIM_CALL(ck_pr_xor_8, "ck_pr_xor_8", __VA_ARGS__)
#define ck_pr_inc_8(...) SHIM_CALL(ck_pr_inc_8, "ck_pr_inc_8", __VA_ARGS__)
#define ck_pr_dec_8(...) SHIM_CALL(ck_pr_dec_8, "ck_pr_dec_8", __VA_ARGS__)
#define ck_pr_neg_8(...) SHIM_CALL(ck_pr_neg_8, "ck_pr_neg_8", __VA_ARGS__)
#define ck_pr_not_8(...) SHIM_CALL(ck_pr_not_8, "ck_pr_not_8", __VA_ARGS__)
#define ck_pr_btc_8(...) SHIM_CALL(ck_pr_btc_8, "ck_pr_btc_8", __VA_ARGS__)
#define ck_pr_bts_8(...) SHIM_CALL(ck_pr_bts_8, "ck_pr_bts_8", __VA_ARGS__)
#define ck_pr_btr_8(...) SHIM_CALL(ck_pr_btr_8, "ck_pr_btr_8", __VA_ARGS__)
#define ck_pr_cas_8(...) SHIM_CALL(ck_pr_cas_8, "ck_pr_cas_8", __VA_ARGS__)
#define ck_pr_inc_8_is_zero(...) \
	SHIM_CALL(ck_pr_inc_8_is_zero, "ck_pr_inc_8_is_zero", __VA_ARGS__)
#define ck_pr_inc_8_zero(...) \
	SHIM_CALL(ck_pr_inc_8_zero, "ck_pr_inc_8_zero", __VA_ARGS__)
#define ck_pr_dec_8_is_zero(...) \
	SHIM_CALL(ck_pr_dec_8_is_zero, "ck_pr_dec_8_is_zero", __VA_ARGS__)
#define ck_pr_dec_8_zero(...) \
	SHIM_CALL(ck_pr_dec_8_zero, "ck_pr_dec_8_zero", __VA_ARGS__)
#define ck_pr_neg_8_is_zero(...) \
	SHIM_CALL(ck_pr_neg_8_is_zero, "ck_pr_neg_8_is_zero", __VA_ARGS__)
#define ck_pr_neg_8_zero(...) \
	SHIM_CALL(ck_pr_neg_8_zero, "ck_pr_neg_8_zero", __VA_ARGS__)
#define ck_pr_cas_8_value(...) \
	SHIM_CALL(ck_pr_cas_8_value, "ck_pr_cas_8_value", __VA_ARGS__)

#define ck_pr_md_load_16(...) \
	SHIM_CALL(ck_pr_md_load_16, "ck_pr_load_16", __VA_ARGS__)
#define ck_pr_md_store_16(...) \
	SHIM_CALL(ck_pr_md_store_16, "ck_pr_store_16", __VA_ARGS__)
#define ck_pr_fas_16(...) SHIM_CALL(ck_pr_fas_16, "ck_pr_fas_16", __VA_ARGS__)
#define ck_pr_faa_16(...) SHIM_CALL(ck_pr_faa_16, "ck_pr_faa_16", __VA_ARGS__)
#define ck_pr_add_16(...) SHIM_CALL(ck_pr_add_16, "ck_pr_add_16", __VA_ARGS__)
#define ck_pr_sub_16(...) SHIM_CALL(ck_pr_sub_16, "ck_pr_sub_16", __VA_ARGS__)
#define ck_pr_and_16(...) SHIM_CALL(ck_pr_and_16, "ck_pr_and_16", __VA_ARGS__)
#define ck_pr_or_16(...) SHIM_CALL(ck_pr_or_16, "ck_pr_or_16", __VA_ARGS__)
#define ck_pr_xor_16(...) SHIM_CALL(ck_pr_xor_16, "ck_pr_xor_16", __VA_ARGS__)
#define ck_pr_inc_16(...) SHIM_CALL(ck_pr_inc_16, "ck_pr_inc_16", __VA_ARGS__)
#define ck_pr_dec_16(...) SHIM_CALL(ck_pr_dec_16, "ck_pr_dec_16", __VA_ARGS__)
#define ck_pr_neg_16(...) SHIM_CALL(ck_pr_neg_16, "ck_pr_neg_16", __VA_ARGS__)
#define ck_pr_not_16(...) SHIM_CALL(ck_pr_not_16, "ck_pr_not_16", __VA_ARGS__)
#define ck_pr_btc_16(...) SHIM_CALL(ck_pr_btc_16, "ck_pr_btc_16", __VA_ARGS__)
#define ck_pr_bts_16(...) SHIM_CALL(ck_pr_bts_16, "ck_pr_bts_16", __VA_ARGS__)
#define ck_pr_btr_16(...) SHIM_CALL(ck_pr_btr_16, "ck_pr_btr_16", __VA_ARGS__)
#define ck_pr_cas_16(...) SHIM_CALL(ck_pr_cas_16, "ck_pr_cas_16", __VA_ARGS__)
#define ck_pr_inc_16_is_zero(...) \
	SHIM_CALL(ck_pr_inc_16_is_zero, "ck_pr_inc_16_is_zero", __VA_ARGS__)
#define ck_pr_inc_16_zero(...) \
	SHIM_CALL(ck_pr_inc_16_zero, "ck_pr_inc_16_zero", __VA_ARGS__)
#define ck_pr_dec_16_is_zero(...) \
	SHIM_CALL(ck_pr_dec_16_is_zero, "ck_pr_dec_16_is_zero", __VA_ARGS__)
#define ck_pr_dec_16_zero(...) \
	SHIM_CALL(ck_pr_dec_16_zero, "ck_pr_dec_16_zero", __VA_ARGS__)
#define ck_pr_neg_16_is_zero(...) \
	SHIM_CALL(ck_pr_neg_16_is_zero, "ck_pr_neg_16_is_zero", __VA_ARGS__)
#define ck_pr_neg_16_zero(...) \
	SHIM_CALL(ck_pr_neg_16_zero, "ck_pr_neg_16_zero", __VA_ARGS__)
#define ck_pr_cas_16_value(...) \
	SHIM_CALL(ck_pr_cas_16_value, "ck_pr_cas_16_value", __VA_ARGS__)

#define ck_pr_md_load_32(...) \
	SHIM_CALL(ck_pr_md_load_32, "ck_pr_load_32", __VA_ARGS__)
#define ck_pr_md_store_32(...) \
	SHIM_CALL(ck_pr_md_store_32, "ck_pr_store_32", __VA_ARGS__)
#define ck_pr_fas_32(...) SHIM_CALL(ck_pr_fas_32, "ck_pr_fas_32", __VA_ARGS__)
#define ck_pr_faa_32(...) SHIM_CALL(ck_pr_faa_32, "ck_pr_faa_32", __VA_ARGS__)
#define ck_pr_add_32(...) SHIM_CALL(ck_pr_add_32, "ck_pr_add_32", __VA_ARGS__)
#define ck_pr_sub_32(...) SHIM_CALL(ck_pr_sub_32, "ck_pr_sub_32", __VA_ARGS__)
#define ck_pr_and_32(...) SHIM_CALL(ck_pr_and_32, "ck_pr_and_32", __VA_ARGS__)
#define ck_pr_or_32(...) SHIM_CALL(ck_pr_or_32, "ck_pr_or_32", __VA_ARGS__)
#define ck_pr_xor_32(...) SHIM_CALL(ck_pr_xor_32, "ck_pr_xor_32", __VA_ARGS__)
#define ck_pr_inc_32(...) SHIM_CALL(ck_pr_inc_32, "ck_pr_inc_32", __VA_ARGS__)
#define ck_pr_dec_32(...) SHIM_CALL(ck_pr_dec_32, "ck_pr_dec_32", __VA_ARGS__)
#define ck_pr_neg_32(...) SHIM_CALL(ck_pr_neg_32, "ck_pr_neg_32", __VA_ARGS__)
#define ck_pr_not_32(...) SHIM_CALL(ck_pr_not_32, "ck_pr_not_32", __VA_ARGS__)
#define ck_pr_btc_32(...) SHIM_CALL(ck_pr_btc_32, "ck_pr_btc_32", __VA_ARGS__)
#define ck_pr_bts_32(...) SHIM_CALL(ck_pr_bts_32, "ck_pr_bts_32", __VA_ARGS__)
#define ck_pr_btr_32(...) SHIM_CALL(ck_pr_btr_32, "ck_pr_btr_32", __VA_ARGS__)
#define ck_pr_cas_32(...) SHIM_CALL(ck_pr_cas_32, "ck_pr_cas_32", __VA_ARGS__)
#define ck_pr_inc_32_is_zero(...) \
	SHIM_CALL(ck_pr_inc_32_is_zero, "ck_pr_inc_32_is_zero", __VA_ARGS__)
#define ck_pr_inc_32_zero(...) \
	SHIM_CALL(ck_pr_inc_32_zero, "ck_pr_inc_32_zero", __VA_ARGS__)
#define ck_pr_dec_32_is_zero(...) \
	SHIM_CALL(ck_pr_dec_32_is_zero, "ck_pr_dec_32_is_zero", __VA_ARGS__)
#define ck_pr_dec_32_zero(...) \
	SHIM_CALL(ck_pr_dec_32_zero, "ck_pr_dec_32_zero", __VA_ARGS__)
#define ck_pr_neg_32_is_zero(...) \
	SHIM_CALL(ck_pr_neg_32_is_zero, "ck_pr_neg_32_is_zero", __VA_ARGS__)
#define ck_pr_neg_32_zero(...) \
	SHIM_CALL(ck_pr_neg_32_zero, "ck_pr_neg_32_zero", __VA_ARGS__)
#define ck_pr_cas_32_value(...) \
	SHIM_CALL(ck_pr_cas_32_value, "ck_pr_cas_32_value", __VA_ARGS__)

#define ck_pr_md_load_64(...) \
	SHIM_CALL(ck_pr_md_load_64, "ck_pr_load_64", __VA_ARGS__)
#define ck_pr_md_store_64(...) \
	SHIM_CALL(ck_pr_md_store_64, "ck_pr_store_64", __VA_ARGS__)
#define ck_pr_fas_64(...) SHIM_CALL(ck_pr_fas_64, "ck_pr_fas_64", __VA_ARGS__)
#define ck_pr_faa_64(...) SHIM_CALL(ck_pr_faa_64, "ck_pr_faa_64", __VA_ARGS__)
#define ck_pr_add_64(...) SHIM_CALL(ck_pr_add_64, "ck_pr_add_64", __VA_ARGS__)
#define ck_pr_sub_64(...) SHIM_CALL(ck_pr_sub_64, "ck_pr_sub_64", __VA_ARGS__)
#define ck_pr_and_64(...) SHIM_CALL(ck_pr_and_64, "ck_pr_and_64", __VA_ARGS__)
#define ck_pr_or_64(...) SHIM_CALL(ck_pr_or_64, "ck_pr_or_64", __VA_ARGS__)
#define ck_pr_xor_64(...) SHIM_CALL(ck_pr_xor_64, "ck_pr_xor_64", __VA_ARGS__)
#define ck_pr_inc_64(...) SHIM_CALL(ck_pr_inc_64, "ck_pr_inc_64", __VA_ARGS__)
#define ck_pr_dec_64(...) SHIM_CALL(ck_pr_dec_64, "ck_pr_dec_64", __VA_ARGS__)
#define ck_pr_neg_64(...) SHIM_CALL(ck_pr_neg_64, "ck_pr_neg_64", __VA_ARGS__)
#define ck_pr_not_64(...) SHIM_CALL(ck_pr_not_64, "ck_pr_not_64", __VA_ARGS__)
#define ck_pr_btc_64(...) SHIM_CALL(ck_pr_btc_64, "ck_pr_btc_64", __VA_ARGS__)
#define ck_pr_bts_64(...) SHIM_CALL(ck_pr_bts_64, "ck_pr_bts_64", __VA_ARGS__)
#define ck_pr_btr_64(...) SHIM_CALL(ck_pr_btr_64, "ck_pr_btr_64", __VA_ARGS__)
#define ck_pr_cas_64(...) SHIM_CALL(ck_pr_cas_64, "ck_pr_cas_64", __VA_ARGS__)
#define ck_pr_inc_64_is_zero(...) \
	SHIM_CALL(ck_pr_inc_64_is_zero, "ck_pr_inc_64_is_zero", __VA_ARGS__)
#define ck_pr_inc_64_zero(...) \
	SHIM_CALL(ck_pr_inc_64_zero, "ck_pr_inc_64_zero", __VA_ARGS__)
#define ck_pr_dec_64_is_zero(...) \
	SHIM_CALL(ck_pr_dec_64_is_zero, "ck_pr_dec_64_is_zero", __VA_ARGS__)
#define ck_pr_dec_64_zero(...) \
	SHIM_CALL(ck_pr_dec_64_zero, "ck_pr_dec_64_zero", __VA_ARGS__)
#define ck_pr_neg_64_is_zero(...) \
	SHIM_CALL(ck_pr_neg_64_is_zero, "ck_pr_neg_64_is_zero", __VA_ARGS__)
#define ck_pr_neg_64_zero(...) \
	SHIM_CALL(ck_pr_neg_64_zero, "ck_pr_neg_64_zero", __VA_ARGS__)
#define ck_pr_cas_64_value(...) \
	SHIM_CALL(ck_pr_cas_64_value, "ck_pr_cas_64_value", __VA_ARGS__)

#define ck_pr_md_load_int(...) \
	SHIM_CALL(ck_pr_md_load_int, "ck_pr_load_int", __VA_ARGS__)
#define ck_pr_md_store_int(...) \
	SHIM_CALL(ck_pr_md_store_int, "ck_pr_store_int", __VA_ARGS__)
#define ck_pr_fas_int(...) \
	SHIM_CALL(ck_pr_fas_int, "ck_pr_fas_int", __VA_ARGS__)
#define ck_pr_faa_int(...) \
	SHIM_CALL(ck_pr_faa_int, "ck_pr_faa_int", __VA_ARGS__)
#define ck_pr_add_int(...) \
	SHIM_CALL(ck_pr_add_int, "ck_pr_add_int", __VA_ARGS__)
#define ck_pr_sub_int(...) \
	SHIM_CALL(ck_pr_sub_int, "ck_pr_sub_int", __VA_ARGS__)
#define ck_pr_and_int(...) \
	SHIM_CALL(ck_pr_and_int, "ck_pr_and_int", __VA_ARGS__)
#define ck_pr_or_int(...) SHIM_CALL(ck_pr_or_int, "ck_pr_or_int", __VA_ARGS__)
#define ck_pr_xor_int(...) \
	SHIM_CALL(ck_pr_xor_int, "ck_pr_xor_int", __VA_ARGS__)
#define ck_pr_inc_int(...) \
	SHIM_CALL(ck_pr_inc_int, "ck_pr_inc_int", __VA_ARGS__)
#define ck_pr_dec_int(...) \
	SHIM_CALL(ck_pr_dec_int, "ck_pr_dec_int", __VA_ARGS__)
#define ck_pr_neg_int(...) \
	SHIM_CALL(ck_pr_neg_int, "ck_pr_neg_int", __VA_ARGS__)
#define ck_pr_not_int(...) \
	SHIM_CALL(ck_pr_not_int, "ck_pr_not_int", __VA_ARGS__)
#define ck_pr_btc_int(...) \
	SHIM_CALL(ck_pr_btc_int, "ck_pr_btc_int", __VA_ARGS__)
#define ck_pr_bts_int(...) \
	SHIM_CALL(ck_pr_bts_int, "ck_pr_bts_int", __VA_ARGS__)
#define ck_pr_btr_int(...) \
	SHIM_CALL(ck_pr_btr_int, "ck_pr_btr_int", __VA_ARGS__)
#define ck_pr_cas_int(...) \
	SHIM_CALL(ck_pr_cas_int, "ck_pr_cas_int", __VA_ARGS__)
#define ck_pr_inc_int_is_zero(...) \
	SHIM_CALL(ck_pr_inc_int_is_zero, "ck_pr_inc_int_is_zero", __VA_ARGS__)
#define ck_pr_inc_int_zero(...) \
	SHIM_CALL(ck_pr_inc_int_zero, "ck_pr_inc_int_zero", __VA_ARGS__)
#define ck_pr_dec_int_is_zero(...) \
	SHIM_CALL(ck_pr_dec_int_is_zero, "ck_pr_dec_int_is_zero", __VA_ARGS__)
#define ck_pr_dec_int_zero(...) \
	SHIM_CALL(ck_pr_dec_int_zero, "ck_pr_dec_int_zero", __VA_ARGS__)
#define ck_pr_neg_int_is_zero(...) \
	SHIM_CALL(ck_pr_neg_int_is_zero, "ck_pr_neg_int_is_zero", __VA_ARGS__)
#define ck_pr_neg_int_zero(...) \
	SHIM_CALL(ck_pr_neg_int_zero, "ck_pr_neg_int_zero", __VA_ARGS__)
#define ck_pr_cas_int_value(...) \
	SHIM_CALL(ck_pr_cas_int_value, "ck_pr_cas_int_value", __VA_ARGS__)

#define ck_pr_md_load_uint(...) \
	SHIM_CALL(ck_pr_md_load_uint, "ck_pr_load_uint", __VA_ARGS__)
#define ck_pr_md_store_uint(...) \
	SHIM_CALL(ck_pr_md_store_uint, "ck_pr_store_uint", __VA_ARGS__)
#define ck_pr_fas_uint(...) \
	SHIM_CALL(ck_pr_fas_uint, "ck_pr_fas_uint", __VA_ARGS__)
#define ck_pr_faa_uint(...) \
	SHIM_CALL(ck_pr_faa_uint, "ck_pr_faa_uint", __VA_ARGS__)
#define ck_pr_add_uint(...) \
	SHIM_CALL(ck_pr_add_uint, "ck_pr_add_uint", __VA_ARGS__)
#define ck_pr_sub_uint(...) \
	SHIM_CALL(ck_pr_sub_uint, "ck_pr_sub_uint", __VA_ARGS__)
#define ck_pr_and_uint(...) \
	SHIM_CALL(ck_pr_and_uint, "ck_pr_and_uint", __VA_ARGS__)
#define ck_pr_or_uint(...) \
	SHIM_CALL(ck_pr_or_uint, "ck_pr_or_uint", __VA_ARGS__)
#define ck_pr_xor_uint(...) \
	SHIM_CALL(ck_pr_xor_uint, "ck_pr_xor_uint", __VA_ARGS__)
#define ck_pr_inc_uint(...) \
	SHIM_CALL(ck_pr_inc_uint, "ck_pr_inc_uint", __VA_ARGS__)
#define ck_pr_dec_uint(...) \
	SHIM_CALL(ck_pr_dec_uint, "ck_pr_dec_uint", __VA_ARGS__)
#define ck_pr_neg_uint(...) \
	SHIM_CALL(ck_pr_neg_uint, "ck_pr_neg_uint", __VA_ARGS__)
#define ck_pr_not_uint(...) \
	SHIM_CALL(ck_pr_not_uint, "ck_pr_not_uint", __VA_ARGS__)
#define ck_pr_btc_uint(...) \
	SHIM_CALL(ck_pr_btc_uint, "ck_pr_btc_uint", __VA_ARGS__)
#define ck_pr_bts_uint(...) \
	SHIM_CALL(ck_pr_bts_uint, "ck_pr_bts_uint", __VA_ARGS__)
#define ck_pr_btr_uint(...) \
	SHIM_CALL(ck_pr_btr_uint, "ck_pr_btr_uint", __VA_ARGS__)
#define ck_pr_cas_uint(...) \
	SHIM_CALL(ck_pr_cas_uint, "ck_pr_cas_uint", __VA_ARGS__)
#define ck_pr_inc_uint_is_zero(...) \
	SHIM_CALL(ck_pr_inc_uint_is_zero, "ck_pr_inc_uint_is_zero", __VA_ARGS__)
#define ck_pr_inc_uint_zero(...) \
	SHIM_CALL(ck_pr_inc_uint_zero, "ck_pr_inc_uint_zero", __VA_ARGS__)
#define ck_pr_dec_uint_is_zero(...) \
	SHIM_CALL(ck_pr_dec_uint_is_zero, "ck_pr_dec_uint_is_zero", __VA_ARGS__)
#define ck_pr_dec_uint_zero(...) \
	SHIM_CALL(ck_pr_dec_uint_zero, "ck_pr_dec_uint_zero", __VA_ARGS__)
#define ck_pr_neg_uint_is_zero(...) \
	SHIM_CALL(ck_pr_neg_uint_is_zero, "ck_pr_neg_uint_is_zero", __VA_ARGS__)
#define ck_pr_neg_uint_zero(...) \
	SHIM_CALL(ck_pr_neg_uint_zero, "ck_pr_neg_uint_zero", __VA_ARGS__)
#define ck_pr_cas_uint_value(...) \
	SHIM_CALL(ck_pr_cas_uint_value, "ck_pr_cas_uint_value", __VA_ARGS__)

#define ck_pr_md_load_char(...) \
	SHIM_CALL(ck_pr_md_load_char, "ck_pr_load_char", __VA_ARGS__)
#define ck_pr_md_store_char(...) \
	SHIM_CALL(ck_pr_md_store_char, "ck_pr_store_char", __VA_ARGS__)
#define ck_pr_fas_char(...) \
	SHIM_CALL(ck_pr_fas_char, "ck_pr_fas_char", __VA_ARGS__)
#define ck_pr_faa_char(...) \
	SHIM_CALL(ck_pr_faa_char, "ck_pr_faa_char", __VA_ARGS__)
#define ck_pr_add_char(...) \
	SHIM_CALL(ck_pr_add_char, "ck_pr_add_char", __VA_ARGS__)
#define ck_pr_sub_char(...) \
	SHIM_CALL(ck_pr_sub_char, "ck_pr_sub_char", __VA_ARGS__)
#define ck_pr_and_char(...) \
	SHIM_CALL(ck_pr_and_char, "ck_pr_and_char", __VA_ARGS__)
#define ck_pr_or_char(...) \
	SHIM_CALL(ck_pr_or_char, "ck_pr_or_char", __VA_ARGS__)
#define ck_pr_xor_char(...) \
	SHIM_CALL(ck_pr_xor_char, "ck_pr_xor_char", __VA_ARGS__)
#define ck_pr_inc_char(...) \
	SHIM_CALL(ck_pr_inc_char, "ck_pr_inc_char", __VA_ARGS__)
#define ck_pr_dec_char(...) \
	SHIM_CALL(ck_pr_dec_char, "ck_pr_dec_char", __VA_ARGS__)
#define ck_pr_neg_char(...) \
	SHIM_CALL(ck_pr_neg_char, "ck_pr_neg_char", __VA_ARGS__)
#define ck_pr_not_char(...) \
	SHIM_CALL(ck_pr_not_char, "ck_pr_not_char", __VA_ARGS__)
#define ck_pr_btc_char(...) \
	SHIM_CALL(ck_pr_btc_char, "ck_pr_btc_char", __VA_ARGS__)
#define ck_pr_bts_char(...) \
	SHIM_CALL(ck_pr_bts_char, "ck_pr_bts_char", __VA_ARGS__)
#define ck_pr_btr_char(...) \
	SHIM_CALL(ck_pr_btr_char, "ck_pr_btr_char", __VA_ARGS__)
#define ck_pr_cas_char(...) \
	SHIM_CALL(ck_pr_cas_char, "ck_pr_cas_char", __VA_ARGS__)
#define ck_pr_inc_char_is_zero(...) \
	SHIM_CALL(ck_pr_inc_char_is_zero, "ck_pr_inc_char_is_zero", __VA_ARGS__)
#define ck_pr_inc_char_zero(...) \
	SHIM_CALL(ck_pr_inc_char_zero, "ck_pr_inc_char_zero", __VA_ARGS__)
#define ck_pr_dec_char_is_zero(...) \
	SHIM_CALL(ck_pr_dec_char_is_zero, "ck_pr_dec_char_is_zero", __VA_ARGS__)
#define ck_pr_dec_char_zero(...) \
	SHIM_CALL(ck_pr_dec_char_zero, "ck_pr_dec_char_zero", __VA_ARGS__)
#define ck_pr_neg_char_is_zero(...) \
	SHIM_CALL(ck_pr_neg_char_is_zero, "ck_pr_neg_char_is_zero", __VA_ARGS__)
#define ck_pr_neg_char_zero(...) \
	SHIM_CALL(ck_pr_neg_char_zero, "ck_pr_neg_char_zero", __VA_ARGS__)
#define ck_pr_cas_char_value(...) \
	SHIM_CALL(ck_pr_cas_char_value, "ck_pr_cas_char_value", __VA_ARGS__)

#define ck_pr_md_load_ptr(...) \
	SHIM_CALL(ck_pr_md_load_ptr, "ck_pr_load_ptr", __VA_ARGS__)
#define ck_pr_md_store_ptr(...) \
	SHIM_CALL(ck_pr_md_store_ptr, "ck_pr_store_ptr", __VA_ARGS__)
#define ck_pr_fas_ptr(...) \
	SHIM_CALL(ck_pr_fas_ptr, "ck_pr_fas_ptr", __VA_ARGS__)
#define ck_pr_faa_ptr(...) \
	SHIM_CALL(ck_pr_faa_ptr, "ck_pr_faa_ptr", __VA_ARGS__)
#define ck_pr_add_ptr(...) \
	SHIM_CALL(ck_pr_add_ptr, "ck_pr_add_ptr", __VA_ARGS__)
#define ck_pr_sub_ptr(...) \
	SHIM_CALL(ck_pr_sub_ptr, "ck_pr_sub_ptr", __VA_ARGS__)
#define ck_pr_and_ptr(...) \
	SHIM_CALL(ck_pr_and_ptr, "ck_pr_and_ptr", __VA_ARGS__)
#define ck_pr_or_ptr(...) SHIM_CALL(ck_pr_or_ptr, "ck_pr_or_ptr", __VA_ARGS__)
#define ck_pr_xor_ptr(...) \
	SHIM_CALL(ck_pr_xor_ptr, "ck_pr_xor_ptr", __VA_ARGS__)
#define ck_pr_inc_ptr(...) \
	SHIM_CALL(ck_pr_inc_ptr, "ck_pr_inc_ptr", __VA_ARGS__)
#define ck_pr_dec_ptr(...) \
	SHIM_CALL(ck_pr_dec_ptr, "ck_pr_dec_ptr", __VA_ARGS__)
#define ck_pr_neg_ptr(...) \
	SHIM_CALL(ck_pr_neg_ptr, "ck_pr_neg_ptr", __VA_ARGS__)
#define ck_pr_not_ptr(...) \
	SHIM_CALL(ck_pr_not_ptr, "ck_pr_not_ptr", __VA_ARGS__)
#define ck_pr_btc_ptr(...) \
	SHIM_CALL(ck_pr_btc_ptr, "ck_pr_btc_ptr", __VA_ARGS__)
#define ck_pr_bts_ptr(...) \
	SHIM_CALL(ck_pr_bts_ptr, "ck_pr_bts_ptr", __VA_ARGS__)
#define ck_pr_btr_ptr(...) \
	SHIM_CALL(ck_pr_btr_ptr, "ck_pr_btr_ptr", __VA_ARGS__)
#define ck_pr_cas_ptr(...) \
	SHIM_CALL(ck_pr_cas_ptr, "ck_pr_cas_ptr", __VA_ARGS__)
#define ck_pr_inc_ptr_is_zero(...) \
	SHIM_CALL(ck_pr_inc_ptr_is_zero, "ck_pr_inc_ptr_is_zero", __VA_ARGS__)
#define ck_pr_inc_ptr_zero(...) \
	SHIM_CALL(ck_pr_inc_ptr_zero, "ck_pr_inc_ptr_zero", __VA_ARGS__)
#define ck_pr_dec_ptr_is_zero(...) \
	SHIM_CALL(ck_pr_dec_ptr_is_zero, "ck_pr_dec_ptr_is_zero", __VA_ARGS__)
#define ck_pr_dec_ptr_zero(...) \
	SHIM_CALL(ck_pr_dec_ptr_zero, "ck_pr_dec_ptr_zero", __VA_ARGS__)
#define ck_pr_neg_ptr_is_zero(...) \
	SHIM_CALL(ck_pr_neg_ptr_is_zero, "ck_pr_neg_ptr_is_zero", __VA_ARGS__)
#define ck_pr_neg_ptr_zero(...) \
	SHIM_CALL(ck_pr_neg_ptr_zero, "ck_pr_neg_ptr_zero", __VA_ARGS__)
#define ck_pr_cas_ptr_value(...) \
	SHIM_CALL(ck_pr_cas_ptr_value, "ck_pr_cas_ptr_value", __VA_ARGS__)

#endif
