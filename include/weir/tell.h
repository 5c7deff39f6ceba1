/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sending to actors, and asking them. The mailbox of an actor is its in-port
 * that was set up first. Nothing is allocated for an item, and the mailbox
 * never holds more than its capacity.
 */
#ifndef WEIR_TELL_H
#define WEIR_TELL_H

#include <weir/completion.h>
#include <weir/executor.h>
#include <weir/in.h>
#include <weir/system.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Puts an item into the actor's mailbox, as weir_in_put(). 0: the mailbox owns
 * the item now; a turn takes it, or it is dropped (in a system: a dead letter)
 * when the actor ends. On an error the item stays the caller's: -EAGAIN, the
 * mailbox is full. -EPIPE: it has ended, as it does with the actor. -EISCONN:
 * its tokens come over a link. -ENOTSUP: the actor has no in-port. -EINVAL:
 * null. Any thread that holds a reference of the actor, and its owner;
 * lock-free.
 */
WEIR_API WEIR_MUST_CHECK int weir_actor_tell(struct weir_actor *actor,
					     void *item);

/*
 * The same for an actor of a system. -ESRCH: the actor has ended; the item
 * stays the caller's. Any thread, with a short lock of the system, in which the
 * id is looked up; so who tells one actor much gets it by weir_system_actor()
 * and calls weir_actor_tell(). If the actor ends meanwhile, this thread may
 * call its ops->released.
 */
WEIR_API WEIR_MUST_CHECK int weir_system_tell(struct weir_system *system,
					      struct weir_actor_id to,
					      void *item);

/*
 * The same for who does not wait for an answer: an item that is not put, for
 * whatever reason, is a dead letter, and dropped as `items` says (NULL: plain
 * values). Any thread.
 */
WEIR_API void weir_system_send(struct weir_system *system,
			       struct weir_actor_id to,
			       const struct weir_items *items, void *item);

/* --- Questions ------------------------------------------------------------ */

/*
 * A question, embedded in a struct of yours that says what is asked and has
 * room for the answer. Two hold it: who asks, until weir_ask_unref(), and who
 * is asked, until weir_ask_reply() or weir_ask_fail().
 */
struct weir_ask {
	/*
	 * Of who asks: completes with the answer or an error. To be waited for
	 * by a thread, a callback or a port (completion.h).
	 */
	struct weir_completion answer;
	/*
	 * Nobody touches the question any more: its memory may be reused. Once,
	 * on any thread, holding no lock; must not block. NULL: the memory
	 * outlives the system.
	 */
	void (*released)(struct weir_ask *ask);
	/*
	 * Of who asks: the question comes there as an item once it is answered
	 * or has failed; set before weir_system_ask(), and kept. NULL: nowhere.
	 */
	struct weir_ask_in *reply_to;
	struct {
		struct weir_system *system;
		struct weir_timer timer;
		uint32_t refs;	 /* atomic */
		uint32_t timing; /* atomic */
	} WEIR_PRIVATE;
};

/*
 * Tells the actor the question: the item in its mailbox is `ask`. The rest of
 * the result comes as the error of `ask->answer`: what weir_system_tell() says;
 * -ETIMEDOUT: not answered by `deadline_ns` on the system's clock
 * (WEIR_FOREVER: no deadline), and the actor may still hold the question;
 * -ECANCELED: it was dropped (weir_ask_drop()). The system does not terminate
 * before the answer or the deadline. -EINVAL: null. -ENOTSUP, -ENOMEM: no
 * timer. Then nothing has happened. Any thread; a short lock of the system, and
 * no wait.
 *
 * With a `reply_to` also -EAGAIN: as many questions as it has room for are
 * under way, or have come and were not taken. -EPIPE: it was cancelled.
 * -EPERM: the caller is not the owner of its actor.
 */
WEIR_API WEIR_MUST_CHECK int weir_system_ask(struct weir_system *system,
					     struct weir_actor_id to,
					     struct weir_ask *ask,
					     uint64_t deadline_ns);

/*
 * Answers the question, with a value of yours (NULL is fine), or fails it with
 * an error (borrowed), and lets go of it. -EALREADY: the deadline was before;
 * the system may have ended since. -EINVAL: null. Who is asked, once.
 */
WEIR_API int weir_ask_reply(struct weir_ask *ask, void *value);
WEIR_API int weir_ask_fail(struct weir_ask *ask, struct weir_error *error);

/*
 * Fails the question with -ECANCELED: the `drop` of items (items.h) that are
 * questions. So who asks an actor that ends is answered.
 */
WEIR_API void weir_ask_drop(void *ask, void *unused);

/*
 * Lets go of a question, answered or not: the answer is not read any more, and
 * nobody waits for it. NULL is fine. Who has asked, once; with a `reply_to` the
 * turn that has taken the question from there.
 */
WEIR_API void weir_ask_unref(struct weir_ask *ask);

/* --- Answers as items ----------------------------------------------------- */

/*
 * An in-port of who asks, at which its questions come back, one after the
 * other: each once, when it is answered, has failed or is too late. The turn
 * takes a struct weir_ask from `in`, reads its `answer`, and lets go of it by
 * weir_ask_unref(). The in-port never overflows: a question has its place there
 * from when it is asked. A question that comes back when the actor has ended is
 * let go of; until then it holds a reference of the actor.
 */
struct weir_ask_in {
	struct weir_in in;
	struct {
		uint32_t asked; /* the owner's */
	} WEIR_PRIVATE;
};

/*
 * Sets up such an in-port of `actor` for up to `capacity` questions, as
 * weir_in_init(), with the same errors. weir_in_put() is refused with -EISCONN,
 * a link with -EINVAL. A drain of the executor does not end it. Owner.
 */
WEIR_API int weir_ask_in_init(struct weir_ask_in *in, struct weir_actor *actor,
			      size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
