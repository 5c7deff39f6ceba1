// SPDX-License-Identifier: BSD-2-Clause
package weir;

import org.reactivestreams.Subscriber;

/** A subscriber that is the beginning of a run of a flow. */
public class FlowSubscriberTest extends SubscriberTest {
	@Override
	Subscriber<Long> subject(Subscriber<Long> to) {
		return Subjects.flowTo(to);
	}
}
