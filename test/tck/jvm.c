/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The virtual machine: looked into once when it loads us, and never asked for
 * a class again, as a thread of ours would look in the wrong place. Threads
 * become Java's when they first call it, as daemons, so that they keep no
 * program from ending, and leave it when they end.
 */
#include "bridge.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <ck_pr.h>

#define FRAME 16 /* local references of one call of Java */

struct bridge_java bridge_java;

static pthread_key_t attached;
static uint64_t live_references, live_memory;

static void detach(void *vm)
{
	(*(JavaVM *)vm)->DetachCurrentThread(vm);
}

JNIEnv *bridge_env(void)
{
	JavaVM *vm = bridge_java.vm;
	char name[16] = ""; /* the thread's, as Linux has it */
	JavaVMAttachArgs args = {.version = JNI_VERSION_1_8, .name = name};
	void *env = NULL;

	if ((*vm)->GetEnv(vm, &env, JNI_VERSION_1_8) == JNI_OK)
		return env;
	(void)pthread_getname_np(pthread_self(), name, sizeof(name));
	if ((*vm)->AttachCurrentThreadAsDaemon(vm, &env, &args) != JNI_OK)
		return NULL;
	if (pthread_setspecific(attached, vm) != 0) {
		detach(vm);
		return NULL;
	}
	return env;
}

JNIEnv *bridge_enter(void)
{
	JNIEnv *env = bridge_env();

	if (!env || (*env)->PushLocalFrame(env, FRAME) == 0)
		return env;
	(*env)->ExceptionClear(env); /* OutOfMemoryError */
	return NULL;
}

int bridge_leave(JNIEnv *env)
{
	int rc = bridge_failed(env);

	(*env)->PopLocalFrame(env, NULL);
	return rc;
}

int bridge_failed(JNIEnv *env)
{
	jthrowable thrown = (*env)->ExceptionOccurred(env);

	if (!thrown)
		return 0;
	(*env)->ExceptionClear(env);
	(*env)->CallStaticVoidMethod(env, bridge_java.bridge,
				     bridge_java.report, thrown);
	if ((*env)->ExceptionCheck(env))
		(*env)->ExceptionClear(env); /* nobody is left to tell */
	(*env)->DeleteLocalRef(env, thrown);
	return -EPROTO;
}

jobject bridge_hold(JNIEnv *env, jobject object)
{
	jobject global = (*env)->NewGlobalRef(env, object);

	if (global)
		ck_pr_inc_64(&live_references);
	else
		(*env)->ExceptionClear(env);
	return global;
}

void bridge_drop(JNIEnv *env, jobject global)
{
	if (!global)
		return;
	(*env)->DeleteGlobalRef(env, global);
	ck_pr_dec_64(&live_references);
}

void *bridge_alloc(size_t size)
{
	void *memory = calloc(1, size);

	if (memory)
		ck_pr_inc_64(&live_memory);
	return memory;
}

void bridge_free(void *memory)
{
	if (!memory)
		return;
	free(memory);
	ck_pr_dec_64(&live_memory);
}

void bridge_throw(JNIEnv *env, int code)
{
	switch (code) {
	case 0:
		return;
	case -EINVAL:
		(*env)->ThrowNew(env, bridge_java.null_pointer, "null");
		return;
	case -ENOMEM:
		(*env)->ThrowNew(env, bridge_java.out_of_memory, "weir");
		return;
	default:
		(*env)->ThrowNew(env, bridge_java.illegal_state,
				 strerrordesc_np(-code));
		return;
	}
}

/* What JNI_OnLoad asks for; the first thing not found ends it. */
struct look {
	JNIEnv *env;
	bool failed;
};

static jclass find(struct look *look, const char *name)
{
	JNIEnv *env = look->env;
	jclass local = look->failed ? NULL : (*env)->FindClass(env, name);
	jclass global = local ? (*env)->NewGlobalRef(env, local) : NULL;

	look->failed |= !global;
	return global;
}

static jmethodID method(struct look *look, jclass class, const char *name,
			const char *type)
{
	JNIEnv *env = look->env;
	jmethodID id = NULL;

	if (!look->failed)
		id = (*env)->GetMethodID(env, class, name, type);
	look->failed |= !id;
	return id;
}

static jmethodID static_method(struct look *look, jclass class,
			       const char *name, const char *type)
{
	JNIEnv *env = look->env;
	jmethodID id = NULL;

	if (!look->failed)
		id = (*env)->GetStaticMethodID(env, class, name, type);
	look->failed |= !id;
	return id;
}

static void find_classes(struct look *look, struct bridge_java *java)
{
	java->bridge = find(look, "weir/Bridge");
	java->subscription = find(look, "weir/WeirSubscription");
	java->failure = find(look, "weir/WeirError");
	java->argument = find(look, "weir/WeirArgumentError");
	java->number = find(look, "java/lang/Number");
	java->null_pointer = find(look, "java/lang/NullPointerException");
	java->illegal_state = find(look, "java/lang/IllegalStateException");
	java->out_of_memory = find(look, "java/lang/OutOfMemoryError");

	java->report = static_method(look, java->bridge, "report",
				     "(Ljava/lang/Throwable;)V");
	java->error_of = static_method(look, java->bridge, "errorOf",
				       "(Ljava/lang/Throwable;)J");
	java->subscribe = static_method(look, java->bridge, "subscribe",
					"(Lorg/reactivestreams/Publisher;J)V");
	java->number_of = static_method(look, java->bridge, "numberOf",
					"(J)Ljava/lang/Object;");
	java->new_subscription =
		method(look, java->subscription, "<init>", "(J)V");
	java->new_failure = method(look, java->failure, "<init>",
				   "(Ljava/lang/String;IJ)V");
	java->new_argument = method(look, java->argument, "<init>",
				    "(Ljava/lang/String;J)V");
	java->number_value = method(look, java->number, "longValue", "()J");
}

/* The methods of the API; a class is kept loaded by those that name it. */
static void find_api(struct look *look, struct bridge_java *java)
{
	jclass subscriber = find(look, "org/reactivestreams/Subscriber");
	jclass subscription = find(look, "org/reactivestreams/Subscription");

	java->on_subscribe = method(look, subscriber, "onSubscribe",
				    "(Lorg/reactivestreams/Subscription;)V");
	java->on_next =
		method(look, subscriber, "onNext", "(Ljava/lang/Object;)V");
	java->on_error =
		method(look, subscriber, "onError", "(Ljava/lang/Throwable;)V");
	java->on_complete = method(look, subscriber, "onComplete", "()V");
	java->request = method(look, subscription, "request", "(J)V");
	java->cancel = method(look, subscription, "cancel", "()V");
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
	void *env = NULL;
	struct look look = {0};

	if ((*vm)->GetEnv(vm, &env, JNI_VERSION_1_8) != JNI_OK ||
	    pthread_key_create(&attached, detach) != 0)
		return JNI_ERR;
	bridge_java.vm = vm;
	look.env = env;
	find_classes(&look, &bridge_java);
	find_api(&look, &bridge_java);
	return look.failed ? JNI_ERR : JNI_VERSION_1_8;
}

JNIEXPORT jlong JNICALL Java_weir_Bridge_references(JNIEnv *env, jclass class)
{
	return (jlong)ck_pr_load_64(&live_references);
}

JNIEXPORT jlong JNICALL Java_weir_Bridge_memory(JNIEnv *env, jclass class)
{
	return (jlong)ck_pr_load_64(&live_memory);
}
