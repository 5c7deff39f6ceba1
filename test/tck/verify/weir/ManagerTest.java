// SPDX-License-Identifier: BSD-2-Clause
package weir;

import org.reactivestreams.Subscriber;

/** A process manager as a subscriber. */
public class ManagerTest extends SubscriberTest {
	@Override
	Subscriber<Long> subject(Subscriber<Long> to) {
		return Subjects.manager(to);
	}
}
