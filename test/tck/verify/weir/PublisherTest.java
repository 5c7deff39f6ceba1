// SPDX-License-Identifier: BSD-2-Clause
package weir;

import org.reactivestreams.Publisher;
import org.reactivestreams.tck.PublisherVerification;
import org.reactivestreams.tck.TestEnvironment;
import org.testng.annotations.AfterClass;
import org.testng.annotations.BeforeClass;

/** A publisher over an out-port. */
public class PublisherTest extends PublisherVerification<Long> {
	/**
	 * The last of these is how often it looks for an error that it expects:
	 * 1.0.4 looks once only, however long it was to wait.
	 */
	public PublisherTest() {
		super(new TestEnvironment(1000, 100, 200), 1000);
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
	public Publisher<Long> createPublisher(long elements) {
		return Subjects.source(elements, null);
	}

	@Override
	public Publisher<Long> createFailedPublisher() {
		return Subjects.source(0, new RuntimeException("failed"));
	}
}
