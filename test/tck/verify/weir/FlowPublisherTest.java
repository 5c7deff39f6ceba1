// SPDX-License-Identifier: BSD-2-Clause
package weir;

import org.reactivestreams.Publisher;

/** A publisher of runs of a flow. */
public class FlowPublisherTest extends PublisherTest {
	private static final int EIO = 5;

	@Override
	public Publisher<Long> createPublisher(long elements) {
		return Subjects.flow(elements);
	}

	@Override
	public Publisher<Long> createFailedPublisher() {
		return Subjects.failingFlow(-EIO);
	}
}
