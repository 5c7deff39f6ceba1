// SPDX-License-Identifier: BSD-2-Clause
package weir;

import org.reactivestreams.Processor;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/** A weir_processor. */
public final class WeirProcessor<T, R> implements Processor<T, R>,
	AutoCloseable {
	private final WeirSubscriber<T> in;
	private final WeirPublisher<R> out;

	WeirProcessor(WeirSubscriber<T> in, WeirPublisher<R> out) {
		this.in = in;
		this.out = out;
	}

	@Override
	public void subscribe(Subscriber<? super R> subscriber) {
		out.subscribe(subscriber);
	}

	@Override
	public void onSubscribe(Subscription subscription) {
		in.onSubscribe(subscription);
	}

	@Override
	public void onNext(T element) {
		in.onNext(element);
	}

	@Override
	public void onError(Throwable thrown) {
		in.onError(thrown);
	}

	@Override
	public void onComplete() {
		in.onComplete();
	}

	@Override
	public void close() {
		in.close();
		out.close();
	}
}
