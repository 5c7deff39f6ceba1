// SPDX-License-Identifier: BSD-2-Clause
package weir;

import org.reactivestreams.Publisher;

/** A publisher over an out-port with a fan. */
public class BroadcastTest extends PublisherTest {
	@Override
	public Publisher<Long> createPublisher(long elements) {
		return Subjects.broadcast(elements, null);
	}

	@Override
	public Publisher<Long> createFailedPublisher() {
		return Subjects.broadcast(0, new RuntimeException("failed"));
	}
}
