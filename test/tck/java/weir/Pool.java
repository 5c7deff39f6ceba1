// SPDX-License-Identifier: BSD-2-Clause
package weir;

/** What runs all that is over ports, flows and processes; one at a time. */
final class Pool {
	static {
		Bridge.load();
	}

	/** Until the collector has seen who has nothing any more. */
	private static final long PATIENCE_NS = 60_000_000_000L;

	/** A loop on a thread of its own, and not a pool of threads. */
	static boolean loop;

	private Pool() {
	}

	static void start() {
		if (loop)
			startLoop();
		else
			startThreads();
	}

	/** How many actors have not ended, or are held. */
	static native long alive();

	/** Stops all that is there, and waits until nobody holds it. */
	static void stop() {
		abort();
		awaitNobody(PATIENCE_NS);
		free();
	}

	/** Who is held for longer than that is a leak, which is an error. */
	static void awaitNobody(long patienceNs) {
		long begin = System.nanoTime();
		long last = -1;

		for (long now; (now = alive()) != 0; last = now) {
			if (now != last)
				System.out.println("held: " + now + " actors");
			if (System.nanoTime() - begin >= patienceNs)
				throw new IllegalStateException(
					"still held: " + now + " actors");
			System.gc();
		}
	}

	private static native void startThreads();

	private static native void startLoop();

	/** Only once for each start. */
	static native void abort();

	static native void free();
}
