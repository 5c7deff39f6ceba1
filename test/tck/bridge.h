/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A bridge to Java: what weir/stream.h describes looks like org.reactivestreams
 * there, and the other way round. README.md says what becomes of items, errors
 * and memory.
 *
 * jvm.c knows the virtual machine, values.c turns items and errors into Java's
 * and back, to_java.c has the native methods of the Java classes, from_java.c
 * makes ours of Java's objects. Every thread may call everything. What is tried
 * is made by range.c and collector.c, and on the executor of pool.c by ports.c,
 * flows.c and manager.c.
 */
#ifndef WEIR_TEST_TCK_BRIDGE_H
#define WEIR_TEST_TCK_BRIDGE_H

#include <jni.h>

#include <weir/weir.h>

/* --- jvm.c ---------------------------------------------------------------- */

/* Classes (global references) and methods; written once, when Java loads us. */
struct bridge_java {
	JavaVM *vm;
	jclass bridge, subscription, failure, argument, number;
	jclass null_pointer, illegal_state, out_of_memory;
	jmethodID report, error_of, subscribe;
	jmethodID new_subscription, new_failure, new_argument, number_of;
	jmethodID number_value;
	jmethodID request, cancel;
	jmethodID on_subscribe, on_next, on_error, on_complete;
};
extern struct bridge_java bridge_java;

/* This thread's; NULL: the virtual machine will not have it. */
JNIEnv *bridge_env(void);

/*
 * Around every call of Java: room for local references, which leave() drops.
 * NULL: there is no memory, or no virtual machine. leave() reports an exception
 * that has not been dealt with, and says so with -EPROTO; otherwise 0.
 */
JNIEnv *bridge_enter(void);
int bridge_leave(JNIEnv *env);

/* Takes a pending exception away and hands it to Bridge.report(). */
int bridge_failed(JNIEnv *env);

/*
 * Global references, and memory that Java has to do with; both counted, see
 * Bridge.java. NULL where there is no memory; then no exception is pending.
 * Drop and free take NULL.
 */
jobject bridge_hold(JNIEnv *env, jobject object);
void bridge_drop(JNIEnv *env, jobject global);
void *bridge_alloc(size_t size);
void bridge_free(void *memory);

/* Throws what stands for `code`; 0: nothing. */
void bridge_throw(JNIEnv *env, int code);

/* --- values.c ------------------------------------------------------------- */

/* Items that are Java objects; each holds a global reference, shared by all. */
extern const struct weir_items bridge_items;

/* NULL for null, and when there is no memory. */
void *bridge_item_new(JNIEnv *env, jobject object);

/*
 * A local reference of what Java sees of an item: itself where `items` is
 * bridge_items, a Long of a plain value. NULL: no memory.
 */
jobject bridge_item_object(JNIEnv *env, const struct weir_items *items,
			   void *item);

/* What number it is, a plain value or a Java Number; -1: neither. */
int64_t bridge_item_number(const struct weir_items *items, void *item);

/*
 * The error that stands for a Throwable: the one it was made from, or a new one
 * that has it as its cause. NULL for null.
 */
struct weir_error *bridge_error_new(JNIEnv *env, jthrowable throwable);

/*
 * A local reference of what stands for an error: the Throwable it was made
 * from, or a new WeirError (WeirArgumentError for -EINVAL). NULL: no memory.
 */
jthrowable bridge_throwable(JNIEnv *env, struct weir_error *error);

/* --- to_java.c ------------------------------------------------------------ */

/*
 * A reference that a Java object (Held.java) owns: `drop` is called once, by
 * its close() or by Java's cleaner. Its address is what Java has.
 */
struct bridge_held {
	void *object;
	void (*drop)(void *object);
};

/* 0: no memory; then the reference has been dropped. Free takes 0. */
jlong bridge_held_new(void *object, void (*drop)(void *object));
void bridge_held_free(jlong held);
/* One more reference of a subscriber. */
jlong bridge_held_subscriber(struct weir_subscriber *subscriber);
void *bridge_held_object(jlong held);

/* --- pool.c --------------------------------------------------------------- */

/* Where everything runs; there from Pool.start() to Pool.stop(). */
struct weir_executor *bridge_executor(void);

/* --- from_java.c ---------------------------------------------------------- */

/* Lives as long as publishers hold it. NULL: no memory. */
struct weir_subscriber *bridge_subscriber_new(JNIEnv *env, jobject subscriber);

/* One reference, the caller's. NULL: no memory. */
struct weir_subscription *bridge_subscription_new(JNIEnv *env,
						  jobject subscription);

/* The caller's to free. NULL: no memory. */
struct weir_publisher *bridge_publisher_new(JNIEnv *env, jobject publisher);
void bridge_publisher_free(struct weir_publisher *publisher);

#endif
