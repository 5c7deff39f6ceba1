// SPDX-License-Identifier: BSD-2-Clause
package weir;

import org.reactivestreams.Publisher;

/** Loads the C part, counts what is alive there, and is called by it. */
public final class Bridge {
	static {
		System.load(System.getProperty("weir.bridge"));
	}

	private Bridge() {
	}

	/** Does nothing but load the C part, the first time. */
	static void load() {
	}

	/** Global references that C holds. */
	public static native long references();

	/** Pieces of memory that C has for us. */
	public static native long memory();

	/** From C: an object has thrown what it must not (2.13). */
	static void report(Throwable thrown) {
		Thread thread = Thread.currentThread();

		thread.getUncaughtExceptionHandler()
			.uncaughtException(thread, thrown);
	}

	/** From C: of which weir_error that is, or 0. */
	static long errorOf(Throwable thrown) {
		if (thrown instanceof WeirError)
			return ((WeirError) thrown).held.address();
		if (thrown instanceof WeirArgumentError)
			return ((WeirArgumentError) thrown).held.address();
		return 0;
	}

	/** From C: a plain value. */
	static Object numberOf(long value) {
		return value;
	}

	/** From C: a Java publisher gets a subscriber of C's. */
	static void subscribe(Publisher<Object> publisher, long held) {
		WeirSubscriber<Object> subscriber = new WeirSubscriber<>(held);

		try {
			publisher.subscribe(subscriber);
		} catch (Throwable thrown) {
			subscriber.reject(thrown);
		}
	}
}
