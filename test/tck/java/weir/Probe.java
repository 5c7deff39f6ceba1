// SPDX-License-Identifier: BSD-2-Clause
package weir;

import java.util.concurrent.CompletableFuture;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/** A subscriber of Java's that wants the numbers 1, 2, 3 and so on. */
class Probe<T> implements Subscriber<T> {
	/** Null: the end, or this one has cancelled; otherwise the error. */
	final CompletableFuture<Throwable> end = new CompletableFuture<>();
	final CompletableFuture<Subscription> subscription =
		new CompletableFuture<>();
	volatile long received; // -1: one came out of order
	private final long batch;
	private final long cancelAt;

	/** Requests so many at a time; cancels with that one, 0: never. */
	Probe(long batch, long cancelAt) {
		this.batch = batch;
		this.cancelAt = cancelAt;
	}

	@Override
	public void onSubscribe(Subscription subscription) {
		if (!this.subscription.complete(subscription))
			throw new AssertionError("1.9, 2.12");
		if (batch > 0)
			subscription.request(batch);
	}

	@Override
	public void onNext(T element) {
		long next = ((Number) element).longValue();

		if (end.isDone())
			return; // was under way when this cancelled (2.8)
		received = received < 0 || next != received + 1 ? -1 : next;
		if (received == cancelAt) {
			subscription.join().cancel();
			end.complete(null);
		} else if (batch > 0 && received % batch == 0) {
			subscription.join().request(batch);
		}
	}

	@Override
	public void onError(Throwable thrown) {
		end.complete(thrown);
	}

	@Override
	public void onComplete() {
		end.complete(null);
	}
}
