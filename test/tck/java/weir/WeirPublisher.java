// SPDX-License-Identifier: BSD-2-Clause
package weir;

import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;

/** A weir_publisher. Its items are Java objects, or plain values: Long. */
public final class WeirPublisher<T> implements Publisher<T>, AutoCloseable {
	static {
		Bridge.load();
	}

	final Held held;

	/** Holds a weir_publisher. */
	WeirPublisher(long held) {
		this.held = new Held(held);
	}

	@Override
	public void subscribe(Subscriber<? super T> subscriber) {
		subscribe(held.address(), subscriber);
	}

	@Override
	public void close() {
		held.close();
	}

	private native void subscribe(long held,
		Subscriber<? super T> subscriber);
}
