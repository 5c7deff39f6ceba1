/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Items and errors, in both directions. An object that comes from Java goes
 * back there as itself, whatever has become of it in between.
 */
#include "bridge.h"

#include <stdio.h>

#include <ck_pr.h>

/* A global reference with as many holders as the item has. */
struct element {
	jobject object;
	uint32_t refs;
};

static void element_drop(void *item, void *context)
{
	struct element *element = item;
	JNIEnv *env;

	ck_pr_fence_release();
	if (ck_pr_faa_32(&element->refs, (uint32_t)-1) != 1)
		return;
	ck_pr_fence_acquire();
	/* No frame: this makes no local reference. */
	env = bridge_env();
	if (env)
		bridge_drop(env, element->object);
	bridge_free(element);
}

static int element_share(void *item, void *context)
{
	struct element *element = item;

	ck_pr_inc_32(&element->refs);
	return 0;
}

const struct weir_items bridge_items = {
	.drop = element_drop,
	.share = element_share,
};

void *bridge_item_new(JNIEnv *env, jobject object)
{
	struct element *element;

	if (!object)
		return NULL;
	element = bridge_alloc(sizeof(*element));
	if (!element)
		return NULL;
	element->refs = 1;
	element->object = bridge_hold(env, object);
	if (!element->object) {
		bridge_free(element);
		return NULL;
	}
	return element;
}

jobject bridge_item_object(JNIEnv *env, const struct weir_items *items,
			   void *item)
{
	jobject object;

	if (items)
		return (*env)->NewLocalRef(env,
					   ((struct element *)item)->object);
	object = (*env)->CallStaticObjectMethod(env, bridge_java.bridge,
						bridge_java.number_of,
						(jlong)(intptr_t)item);
	return bridge_failed(env) < 0 ? NULL : object;
}

int64_t bridge_item_number(const struct weir_items *items, void *item)
{
	jobject object;
	int64_t number = -1;
	JNIEnv *env;

	if (!items)
		return (intptr_t)item;
	env = bridge_env();
	object = ((struct element *)item)->object;
	if (env && (*env)->IsInstanceOf(env, object, bridge_java.number))
		number = (*env)->CallLongMethod(env, object,
						bridge_java.number_value);
	return env && bridge_failed(env) < 0 ? -1 : number;
}

/* --- Errors --------------------------------------------------------------- */

static void throwable_drop(void *cause)
{
	JNIEnv *env = bridge_env();

	if (env)
		bridge_drop(env, cause);
}

struct weir_error *bridge_error_new(JNIEnv *env, jthrowable throwable)
{
	struct weir_error *error;
	jlong held;
	void *cause;

	if (!throwable)
		return NULL;
	held = (*env)->CallStaticLongMethod(env, bridge_java.bridge,
					    bridge_java.error_of, throwable);
	if (bridge_failed(env) == 0 && held)
		return weir_error_ref(bridge_held_object(held));
	cause = bridge_hold(env, throwable);
	if (!cause || weir_error_new(&error, -EREMOTEIO, "Java", "an exception",
				     cause, throwable_drop, NULL) < 0) {
		bridge_drop(env, cause);
		return weir_error_of(-ENOMEM);
	}
	return error;
}

static void error_drop(void *error)
{
	weir_error_unref(error);
}

/* Java's object for an error that did not come from there. */
static jobject make_throwable(JNIEnv *env, struct weir_error *error, jlong held)
{
	const char *words = error->message;
	char text[256];
	jstring string;

	if (*words == '\0')
		words = weir_strerror(error->code);
	(void)snprintf(text, sizeof(text), "%s%s%s", error->origin,
		       *error->origin ? ": " : "", words);
	string = (*env)->NewStringUTF(env, text);
	if (!string)
		return NULL;
	if (error->code == -EINVAL)
		return (*env)->NewObject(env, bridge_java.argument,
					 bridge_java.new_argument, string,
					 held);
	return (*env)->NewObject(env, bridge_java.failure,
				 bridge_java.new_failure, string,
				 (jint)error->code, held);
}

jthrowable bridge_throwable(JNIEnv *env, struct weir_error *error)
{
	jlong held;
	jobject object;

	if (error->drop_cause == throwable_drop)
		return (*env)->NewLocalRef(env, error->cause);
	held = bridge_held_new(weir_error_ref(error), error_drop);
	if (!held)
		return NULL;
	object = make_throwable(env, error, held);
	/* If Java had no memory for the object, what it was to hold stays. */
	return bridge_failed(env) < 0 ? NULL : object;
}
