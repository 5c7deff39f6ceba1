// SPDX-License-Identifier: BSD-2-Clause
package weir;

/** What is tried here: publishers and processors that are written in C. */
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

	private static native long newRange(long n, Throwable error, int code);
}
