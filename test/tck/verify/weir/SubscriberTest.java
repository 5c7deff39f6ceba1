// SPDX-License-Identifier: BSD-2-Clause
package weir;

import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import org.reactivestreams.tck.SubscriberWhiteboxVerification;
import org.reactivestreams.tck.TestEnvironment;
import org.testng.annotations.AfterClass;
import org.testng.annotations.BeforeClass;

/** A subscriber over an in-port. */
public class SubscriberTest extends SubscriberWhiteboxVerification<Long> {
	/**
	 * The last of these is how often it looks for an error that it expects:
	 * 1.0.4 looks once only, however long it was to wait.
	 */
	public SubscriberTest() {
		super(new TestEnvironment(1000, 100, 200));
	}

	@BeforeClass
	public void startPool() {
		Pool.start();
	}

	@AfterClass
	public void stopPool() {
		Pool.stop();
	}

	@Override
	public Subscriber<Long> createSubscriber(
		WhiteboxSubscriberProbe<Long> probe) {
		return subject(new Told(probe));
	}

	/** Hands on to that one. */
	Subscriber<Long> subject(Subscriber<Long> to) {
		return Subjects.sink(to);
	}

	@Override
	public Long createElement(int element) {
		return (long) element;
	}

	/** What the sink hands on to. */
	private static final class Told implements Subscriber<Long> {
		private final WhiteboxSubscriberProbe<Long> probe;

		Told(WhiteboxSubscriberProbe<Long> probe) {
			this.probe = probe;
		}

		@Override
		public void onSubscribe(Subscription subscription) {
			probe.registerOnSubscribe(new SubscriberPuppet() {
				@Override
				public void triggerRequest(long n) {
					subscription.request(n);
				}

				@Override
				public void signalCancel() {
					subscription.cancel();
				}
			});
		}

		@Override
		public void onNext(Long element) {
			probe.registerOnNext(element);
		}

		@Override
		public void onError(Throwable thrown) {
			probe.registerOnError(thrown);
		}

		@Override
		public void onComplete() {
			probe.registerOnComplete();
		}
	}
}
