// SPDX-License-Identifier: BSD-2-Clause
package weir;

import org.reactivestreams.Subscriber;
import org.reactivestreams.tck.SubscriberBlackboxVerification;
import org.reactivestreams.tck.TestEnvironment;
import org.testng.annotations.AfterClass;
import org.testng.annotations.BeforeClass;

/** A subscriber over an in-port that requests what that has room for. */
public class InPortTest extends SubscriberBlackboxVerification<Long> {
	/** As in SubscriberTest. */
	public InPortTest() {
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
	public Subscriber<Long> createSubscriber() {
		return Subjects.inPort(new Probe<>(0, 0));
	}

	@Override
	public Long createElement(int element) {
		return (long) element;
	}
}
