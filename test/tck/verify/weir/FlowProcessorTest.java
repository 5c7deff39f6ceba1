// SPDX-License-Identifier: BSD-2-Clause
package weir;

import org.reactivestreams.Processor;

/** A run of a flow between a publisher and a stage. */
public class FlowProcessorTest extends ProcessorTest {
	@Override
	Processor<Long, Long> subject(int capacity) {
		return Subjects.flowStage(capacity);
	}
}
