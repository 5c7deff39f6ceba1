// SPDX-License-Identifier: BSD-2-Clause
package weir;

import org.reactivestreams.Subscription;

/** A weir_subscription; valid for as long as somebody has it. */
final class WeirSubscription implements Subscription {
	private final Held held;

	WeirSubscription(long held) {
		this.held = new Held(held);
	}

	@Override
	public void request(long n) {
		request(held.address(), n);
	}

	@Override
	public void cancel() {
		cancel(held.address());
	}

	private native void request(long held, long n);

	private native void cancel(long held);
}
