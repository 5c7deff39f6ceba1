/* SPDX-License-Identifier: BSD-2-Clause */
/* Streams and consumers: made if they are missing, else compared. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "nats/nats_state.h"

#define MS_NS UINT64_C(1000000)

/* What a call comes to, with what JetStream says. */
static int errno_of(natsStatus s, jsErrCode code)
{
	if (s == NATS_OK)
		return 0;
	if (code == JSStreamNotFoundErr || code == JSConsumerNotFoundErr)
		return -ENOENT;
	if (code == JSNotEnabledErr || code == JSNotEnabledForAccountErr)
		return -ENOTSUP;
	if (code != 0)
		return -EINVAL;
	return weir__nats_errno(s);
}

/* The connection's, if there is one now. */
static jsCtx *context_of(struct weir_nats *nats)
{
	jsCtx *js;

	weir__nats_lock(nats);
	js = weir__nats_connected(nats) ? nats->js : NULL;
	weir__nats_unlock(nats);
	return js;
}

static int begin(struct weir_nats *nats, uint64_t timeout_ns, jsCtx **js,
		 jsOptions *options)
{
	uint64_t ms = timeout_ns / MS_NS;

	*js = context_of(nats);
	if (!*js)
		return -ENOTCONN;
	if (jsOptions_Init(options) != NATS_OK)
		return -EIO;
	options->Wait = ms == 0 ? 1 : ms > INT32_MAX ? INT32_MAX : (int64_t)ms;
	return 0;
}

static int differs(const char **field, const char *name)
{
	if (field)
		*field = name;
	return -EEXIST;
}

/* What is 0 fits any. */
static bool fits(int64_t wanted, int64_t has)
{
	return wanted == 0 || wanted == has;
}

/* --- Streams -------------------------------------------------------------- */

static jsStorageType storage_of(const struct weir_nats_stream *stream)
{
	return stream->storage == WEIR_NATS_STORAGE_MEMORY ? js_MemoryStorage
							   : js_FileStorage;
}

static jsRetentionPolicy retention_of(const struct weir_nats_stream *stream)
{
	switch (stream->retention) {
	case WEIR_NATS_RETENTION_INTEREST:
		return js_InterestPolicy;
	case WEIR_NATS_RETENTION_WORK:
		return js_WorkQueuePolicy;
	default:
		return js_LimitsPolicy;
	}
}

static bool same_subjects(const struct weir_nats_stream *stream,
			  const jsStreamConfig *config)
{
	size_t i;

	if (stream->n_subjects == 0)
		return true;
	if (config->SubjectsLen < 0 ||
	    (size_t)config->SubjectsLen != stream->n_subjects)
		return false;
	for (i = 0; i < stream->n_subjects; i++)
		if (strcmp(config->Subjects[i], stream->subjects[i]) != 0)
			return false;
	return true;
}

static int compare_stream(const struct weir_nats_stream *stream,
			  const jsStreamConfig *config, const char **field)
{
	if (!same_subjects(stream, config))
		return differs(field, "subjects");
	if (storage_of(stream) != config->Storage)
		return differs(field, "storage");
	if (retention_of(stream) != config->Retention)
		return differs(field, "retention");
	if (!fits(stream->max_messages, config->MaxMsgs))
		return differs(field, "max_messages");
	if (!fits(stream->max_bytes, config->MaxBytes))
		return differs(field, "max_bytes");
	if (!fits((int64_t)stream->max_age_ns, config->MaxAge))
		return differs(field, "max_age_ns");
	if (!fits((int64_t)stream->duplicates_ns, config->Duplicates))
		return differs(field, "duplicates_ns");
	if (!fits(stream->replicas, config->Replicas))
		return differs(field, "replicas");
	return 0;
}

static int add_stream(jsCtx *js, jsOptions *options,
		      const struct weir_nats_stream *stream)
{
	jsStreamConfig config;
	jsErrCode code = 0;
	natsStatus s;

	if (jsStreamConfig_Init(&config) != NATS_OK)
		return -EIO;
	config.Name = stream->name;
	config.Subjects = (const char **)(void *)stream->subjects;
	config.SubjectsLen = (int)stream->n_subjects;
	config.Storage = storage_of(stream);
	config.Retention = retention_of(stream);
	if (stream->max_messages > 0)
		config.MaxMsgs = stream->max_messages;
	if (stream->max_bytes > 0)
		config.MaxBytes = stream->max_bytes;
	config.MaxAge = (int64_t)stream->max_age_ns;
	config.Duplicates = (int64_t)stream->duplicates_ns;
	if (stream->replicas > 0)
		config.Replicas = stream->replicas;
	s = js_AddStream(NULL, js, &config, options, &code);
	return code == JSStreamNameExistErr ? -EEXIST : errno_of(s, code);
}

static int get_stream(jsCtx *js, jsOptions *options,
		      const struct weir_nats_stream *stream, const char **field)
{
	jsStreamInfo *info = NULL;
	jsErrCode code = 0;
	natsStatus s;
	int rc;

	s = js_GetStreamInfo(&info, js, stream->name, options, &code);
	if (s != NATS_OK)
		return s == NATS_NOT_FOUND ? -ENOENT : errno_of(s, code);
	rc = compare_stream(stream, info->Config, field);
	jsStreamInfo_Destroy(info);
	return rc;
}

int weir_nats_stream_ensure_wait(struct weir_nats *nats,
				 const struct weir_nats_stream *stream,
				 uint64_t timeout_ns, const char **field)
{
	jsOptions options;
	jsCtx *js;
	size_t i;
	int rc;

	if (!nats || !stream || !stream->name ||
	    !stream->subjects != !stream->n_subjects)
		return -EINVAL;
	for (i = 0; i < 4; i++)
		if (stream->reserved[i] != 0)
			return -EINVAL;
	rc = begin(nats, timeout_ns, &js, &options);
	if (rc == 0)
		rc = get_stream(js, &options, stream, field);
	if (rc != -ENOENT)
		return rc;
	rc = add_stream(js, &options, stream);
	/* somebody has made it meanwhile */
	return rc == -EEXIST ? get_stream(js, &options, stream, field) : rc;
}

/* --- Consumers ------------------------------------------------------------ */

static jsAckPolicy policy_of(const struct weir_nats_consumer *consumer)
{
	return consumer->acks == WEIR_NATS_ACKS_NONE ? js_AckNone
						     : js_AckExplicit;
}

static int compare_consumer(const struct weir_nats_consumer *consumer,
			    const jsConsumerConfig *config, const char **field)
{
	const char *filter = config->FilterSubject ? config->FilterSubject : "";

	if (strcmp(consumer->filter ? consumer->filter : "", filter) != 0)
		return differs(field, "filter");
	if (!fits((int64_t)consumer->ack_wait_ns, config->AckWait))
		return differs(field, "ack_wait_ns");
	if (!fits(consumer->max_deliver, config->MaxDeliver))
		return differs(field, "max_deliver");
	if (!fits(consumer->max_ack_pending, config->MaxAckPending))
		return differs(field, "max_ack_pending");
	if (config->AckPolicy != policy_of(consumer))
		return differs(field, "acks");
	/* it is no consumer of the kind that is made here */
	if (config->DeliverSubject && *config->DeliverSubject)
		return differs(field, "durable");
	return 0;
}

static int get_consumer(jsCtx *js, jsOptions *options,
			const struct weir_nats_consumer *consumer,
			const char **field)
{
	jsConsumerInfo *info = NULL;
	jsErrCode code = 0;
	natsStatus s;
	int rc;

	s = js_GetConsumerInfo(&info, js, consumer->stream, consumer->durable,
			       options, &code);
	if (s != NATS_OK)
		return s == NATS_NOT_FOUND ? -ENOENT : errno_of(s, code);
	rc = compare_consumer(consumer, info->Config, field);
	jsConsumerInfo_Destroy(info);
	return rc;
}

static int add_consumer(jsCtx *js, jsOptions *options,
			const struct weir_nats_consumer *consumer)
{
	jsConsumerConfig config;
	jsErrCode code = 0;
	natsStatus s;

	if (jsConsumerConfig_Init(&config) != NATS_OK)
		return -EIO;
	config.Durable = consumer->durable;
	config.FilterSubject = consumer->filter;
	config.AckPolicy = policy_of(consumer);
	config.AckWait = (int64_t)consumer->ack_wait_ns;
	config.MaxDeliver = consumer->max_deliver;
	config.MaxAckPending = consumer->max_ack_pending;
	s = js_AddConsumer(NULL, js, consumer->stream, &config, options, &code);
	return errno_of(s, code);
}

int weir_nats_consumer_ensure_wait(struct weir_nats *nats,
				   const struct weir_nats_consumer *consumer,
				   uint64_t timeout_ns, const char **field)
{
	jsOptions options;
	jsCtx *js;
	size_t i;
	int rc;

	if (!nats || !consumer || !consumer->stream || !consumer->durable ||
	    consumer->max_deliver < 0 || consumer->max_ack_pending < 0 ||
	    (unsigned)consumer->acks > WEIR_NATS_ACKS_NONE)
		return -EINVAL;
	for (i = 0; i < 3; i++)
		if (consumer->reserved[i] != 0)
			return -EINVAL;
	rc = begin(nats, timeout_ns, &js, &options);
	if (rc == 0)
		rc = get_consumer(js, &options, consumer, field);
	/* whoever makes it meanwhile makes the same, or this is refused */
	return rc == -ENOENT ? add_consumer(js, &options, consumer) : rc;
}
