// SPDX-License-Identifier: BSD-2-Clause
package weir;

/** The threads that run what is over ports; one pool at a time. */
final class Pool {
	static {
		Bridge.load();
	}

	private Pool() {
	}

	static native void start();

	/** How many actors have not ended, or are held. */
	static native long alive();

	/** Stops all that is there, and waits until nobody holds it. */
	static void stop() {
		long last = -1;

		abort();
		for (long now; (now = alive()) != 0; last = now) {
			if (now != last)
				System.out.println("held: " + now + " actors");
			System.gc();
		}
		free();
	}

	private static native void abort();

	private static native void free();
}
