// SPDX-License-Identifier: BSD-2-Clause
package weir;

import org.reactivestreams.Subscriber;

/**
 * What is tried here: publishers, subscribers and processors that are written
 * in C. All but the first two want the pool to be started.
 */
final class Subjects {
	static {
		Bridge.load();
	}

	/** The capacity of a fan. */
	static final int FAN = 8;

	private Subjects() {
	}

	/** The numbers 1 to n, then `error`, or the end if that is null. */
	static WeirPublisher<Long> range(long n, Throwable error) {
		return new WeirPublisher<>(newRange(n, error, 0));
	}

	/** The numbers 1 to n, then an error of C's with that code. */
	static WeirPublisher<Long> failing(long n, int code) {
		return new WeirPublisher<>(newRange(n, null, code));
	}

	/** As range(), over a port. An error comes behind the last number. */
	static WeirPublisher<Long> source(long n, Throwable error) {
		return new WeirPublisher<>(newSource(n, error, 0));
	}

	/** The same for many, of whom nobody is more than FAN items ahead. */
	static WeirPublisher<Long> broadcast(long n, Throwable error) {
		return new WeirPublisher<>(newSource(n, error, FAN));
	}

	/** The numbers 1 to n by a flow, one run for each subscriber. */
	static WeirPublisher<Long> flow(long n) {
		return new WeirPublisher<>(newFlowSource(n, 0));
	}

	/** A flow of nothing but an error of C's with that code. */
	static WeirPublisher<Long> failingFlow(int code) {
		return new WeirPublisher<>(newFlowSource(0, code));
	}

	private static <T> WeirProcessor<T, T> stage(int capacity, int fan) {
		WeirPublisher<T> out =
			new WeirPublisher<>(newStage(capacity, fan));

		return new WeirProcessor<>(
			new WeirSubscriber<>(subscriberOf(out.held.address())),
			out);
	}

	/** Passes everything on; `capacity` is a power of two. */
	static <T> WeirProcessor<T, T> stage(int capacity) {
		return stage(capacity, 0);
	}

	/** The same for many, all of whom get everything. */
	static <T> WeirProcessor<T, T> broadcastStage(int capacity) {
		return stage(capacity, FAN);
	}

	/** A run of a flow, and the stage that it sends everything to. */
	static <T> WeirProcessor<T, T> flowStage(int capacity) {
		WeirPublisher<T> out =
			new WeirPublisher<>(newStage(capacity, 0));

		return new WeirProcessor<>(
			flowTo(subscriberOf(out.held.address())), out);
	}

	private static <T> WeirSubscriber<T> flowTo(long subscriber) {
		try (Held to = new Held(subscriber)) {
			return new WeirSubscriber<>(newFlow(to.address()));
		}
	}

	/** A run of a flow that sends everything to another subscriber. */
	static <T> WeirSubscriber<T> flowTo(Subscriber<T> to) {
		return flowTo(newSubscriber(to));
	}

	/**
	 * Hands on to another subscriber, which has a subscription at once, and
	 * requests what that requests.
	 */
	static <T> WeirSubscriber<T> sink(Subscriber<T> to) {
		return new WeirSubscriber<>(newSink(to, true));
	}

	/** The same, but requests what its in-port has room for. */
	static <T> WeirSubscriber<T> inPort(Subscriber<T> to) {
		return new WeirSubscriber<>(newSink(to, false));
	}

	/**
	 * A process manager, each of whose processes hands an element on to
	 * another subscriber. It requests what processes there may be.
	 */
	static <T> WeirSubscriber<T> manager(Subscriber<T> to) {
		return new WeirSubscriber<>(newManager(to));
	}

	private static native long newRange(long n, Throwable error, int code);

	private static native long newSource(long n, Throwable error, int fan);

	private static native long newStage(int capacity, int fan);

	private static native long subscriberOf(long stage);

	private static native long newSink(Subscriber<?> to, boolean byHand);

	private static native long newFlowSource(long n, int code);

	private static native long newFlow(long to);

	private static native long newSubscriber(Subscriber<?> to);

	private static native long newManager(Subscriber<?> to);
}
