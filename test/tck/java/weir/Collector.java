// SPDX-License-Identifier: BSD-2-Clause
package weir;

import org.reactivestreams.Publisher;

/** A subscriber of C's that wants the numbers 1, 2, 3 and so on. */
final class Collector {
	static {
		Bridge.load();
	}

	/** How it ends; as in collector.c. */
	static final int COMPLETE = 1;
	static final int ERROR = 2;
	static final int CANCELLED = 3;
	static final int BROKEN = 4;

	final WeirSubscriber<Object> subscriber;

	/**
	 * Requests so many at a time, cancels with one and breaks at another;
	 * 0: never.
	 */
	Collector(long batch, long cancelAt, long breakAt) {
		subscriber = new WeirSubscriber<>(
			make(batch, cancelAt, breakAt));
	}

	/** The last number; -1: one came out of order. */
	long received() {
		return received(subscriber.held.address());
	}

	/** Waits for the end. */
	int end() {
		return end(subscriber.held.address());
	}

	/** Of one that has ended with ERROR. */
	Throwable error() {
		return error(subscriber.held.address());
	}

	/** C subscribes to a publisher of Java's. */
	Collector to(Publisher<?> publisher) {
		subscribe(publisher, subscriber.held.address());
		return this;
	}

	private static native long make(long batch, long cancelAt,
		long breakAt);

	private native long received(long held);

	private native int end(long held);

	private native Throwable error(long held);

	private native void subscribe(Publisher<?> publisher, long held);
}
