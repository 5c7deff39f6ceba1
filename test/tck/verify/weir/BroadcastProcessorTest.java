// SPDX-License-Identifier: BSD-2-Clause
package weir;

import org.reactivestreams.Processor;

/** A subscriber over an in-port and a publisher over an out-port with a fan. */
public class BroadcastProcessorTest extends ProcessorTest {
	@Override
	Processor<Long, Long> subject(int capacity) {
		return Subjects.broadcastStage(capacity);
	}

	@Override
	public long maxSupportedSubscribers() {
		return Long.MAX_VALUE;
	}
}
