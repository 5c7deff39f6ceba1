// SPDX-License-Identifier: BSD-2-Clause
package weir;

import org.reactivestreams.Subscriber;

/**
 * What is tried here: publishers, subscribers and processors that are written
 * in C. Those over ports want the pool to be started.
 */
final class Subjects {
	static {
		Bridge.load();
	}

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
		return new WeirPublisher<>(newSource(n, error));
	}

	/** Passes everything on; `capacity` is a power of two. */
	static <T> WeirProcessor<T, T> stage(int capacity) {
		WeirPublisher<T> out = new WeirPublisher<>(newStage(capacity));

		return new WeirProcessor<>(
			new WeirSubscriber<>(subscriberOf(out.held.address())),
			out);
	}

	/**
	 * Hands on to another subscriber, which has a subscription at once, and
	 * requests what that requests.
	 */
	static <T> WeirSubscriber<T> sink(Subscriber<T> to) {
		return new WeirSubscriber<>(newSink(to));
	}

	private static native long newRange(long n, Throwable error, int code);

	private static native long newSource(long n, Throwable error);

	private static native long newStage(int capacity);

	private static native long subscriberOf(long stage);

	private static native long newSink(Subscriber<?> to);
}
