// SPDX-License-Identifier: BSD-2-Clause
package weir;

import java.lang.ref.Cleaner;

/**
 * Holds a reference of something of C's, until it is closed or nobody in Java
 * has it any more. To be closed only when no call that uses it is under way.
 */
final class Held implements AutoCloseable {
	private static final Cleaner CLEANER = Cleaner.create();

	private final Cleaner.Cleanable drop;
	private volatile long address;

	/** What bridge_held_new() has returned. */
	Held(long address) {
		if (address == 0)
			throw new OutOfMemoryError("weir");
		this.address = address;
		// Must not refer to this object, or it would stay for ever.
		drop = CLEANER.register(this, () -> drop(address));
	}

	long address() {
		long address = this.address;

		if (address == 0)
			throw new IllegalStateException("closed");
		return address;
	}

	/** True if both hold the same thing. */
	boolean same(Held other) {
		return object(address()) == object(other.address());
	}

	@Override
	public void close() {
		address = 0;
		drop.clean(); // once, whoever comes first
	}

	private static native void drop(long address);

	private native long object(long address);
}
