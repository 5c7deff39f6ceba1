// SPDX-License-Identifier: BSD-2-Clause
package weir;

import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/**
 * A weir_subscriber. The objects that it gets are its items. It stays valid
 * until it is closed or nobody in Java has it any more; only then is it
 * released.
 */
public final class WeirSubscriber<T> implements Subscriber<T>, AutoCloseable {
	static {
		Bridge.load();
	}

	final Held held;
	private volatile Subscription upstream; // the first
	private volatile boolean broken;

	/** Holds a weir_subscriber. */
	WeirSubscriber(long held) {
		this.held = new Held(held);
	}

	@Override
	public void onSubscribe(Subscription subscription) {
		if (upstream == null)
			upstream = subscription;
		returned(onSubscribe(held.address(), subscription),
			subscription);
	}

	@Override
	public void onNext(T element) {
		if (!broken)
			returned(onNext(held.address(), element), element);
	}

	@Override
	public void onError(Throwable thrown) {
		if (!broken)
			returned(onError(held.address(), thrown), thrown);
	}

	@Override
	public void onComplete() {
		if (!broken)
			returned(onComplete(held.address()), this);
	}

	@Override
	public void close() {
		held.close();
	}

	/** A publisher has thrown instead of telling us (1.9). */
	void reject(Throwable thrown) {
		if (upstream == null)
			onSubscribe(new Subscription() {
				@Override
				public void request(long n) {
				}

				@Override
				public void cancel() {
				}
			});
		onError(thrown);
	}

	/** What a signal has returned, given `argument` (2.13). */
	private void returned(int code, Object argument) {
		if (code == 0)
			return;
		if (argument == null)
			throw new NullPointerException();
		broken = true;
		upstream.cancel();
		Bridge.report(new IllegalStateException(
			"a signal has returned " + code));
	}

	private native int onSubscribe(long held, Subscription subscription);

	private native int onNext(long held, T element);

	private native int onError(long held, Throwable thrown);

	private native int onComplete(long held);
}
