// SPDX-License-Identifier: BSD-2-Clause
package weir;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.SubmissionPublisher;
import org.reactivestreams.FlowAdapters;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;

/**
 * Tries the bridge in both directions. Whoever runs it ends it when it takes
 * too long. Prints what it does; ends with 1 when something is not as it
 * should be.
 */
final class Smoke {
	private static final long MANY = 100_000;

	/** What Bridge.report() has reported since it was asked last. */
	private static volatile Throwable reported;

	private Smoke() {
	}

	static void check(boolean holds, String what) {
		if (!holds)
			throw new AssertionError(what);
	}

	static void same(Object is, Object should) {
		if (is != should && (is == null || !is.equals(should)))
			throw new AssertionError("is " + is + ", should be "
				+ should);
	}

	private static Throwable reported() {
		Throwable last = reported;

		reported = null;
		return last;
	}

	static void throwsNullPointer(Runnable call) {
		try {
			call.run();
		} catch (NullPointerException expected) {
			return;
		}
		throw new AssertionError("no NullPointerException");
	}

	/** A publisher of Java's, with a thread of its own. */
	private static Publisher<Long> submitted(long n, Throwable error) {
		return subscriber -> {
			SubmissionPublisher<Long> from =
				new SubmissionPublisher<>();

			FlowAdapters.toPublisher(from).subscribe(subscriber);
			new Thread(() -> {
				for (long i = 1; i <= n && from.hasSubscribers();)
					from.submit(i++);
				if (error == null)
					from.close();
				else
					from.closeExceptionally(error);
			}).start();
		};
	}

	/** Counts what it is asked to do. */
	private static final class Counting implements Subscription {
		private int requests;
		private int cancels;

		@Override
		public void request(long n) {
			requests++;
		}

		@Override
		public void cancel() {
			cancels++;
		}
	}

	// --- C's publisher, Java's subscriber

	private static void javaGetsAll() {
		for (long batch : new long[] {1, 7, 1000, Long.MAX_VALUE}) {
			Probe<Long> probe = new Probe<>(batch, 0);

			try (WeirPublisher<Long> from =
				Subjects.range(MANY, null)) {
				from.subscribe(probe);
			}
			same(probe.end.join(), null);
			same(probe.received, MANY);
		}
	}

	private static void javaCancels() {
		Probe<Long> probe = new Probe<>(16, MANY / 2);

		try (WeirPublisher<Long> from = Subjects.range(MANY, null)) {
			from.subscribe(probe);
		}
		same(probe.end.join(), null);
		same(probe.received, MANY / 2);
		probe.subscription.join().request(1); // 3.6
		probe.subscription.join().cancel(); // 3.7
		same(probe.received, MANY / 2);
	}

	private static void javaGetsItsOwnError() {
		Throwable error = new Exception("to C and back");
		Probe<Long> probe = new Probe<>(5, 0);

		try (WeirPublisher<Long> from = Subjects.range(3, error)) {
			from.subscribe(probe);
		}
		check(probe.end.join() == error, "another Throwable");
		same(probe.received, 3L);
	}

	private static void requestOfNothingIsAnError() {
		for (long n : new long[] {0, -1, Long.MIN_VALUE}) {
			Probe<Long> probe = new Probe<>(0, 0);
			Throwable error;

			try (WeirPublisher<Long> from =
				Subjects.range(3, null)) {
				from.subscribe(probe);
			}
			probe.subscription.join().request(n);
			error = probe.end.join();
			check(error instanceof IllegalArgumentException,
				"3.9: " + error);
			check(error.getMessage().contains("3.9"),
				error.getMessage());
		}
	}

	private static void cKnowsItsOwnErrorAgain() {
		Probe<Long> probe = new Probe<>(1, 0);
		Collector to = new Collector(1, 0, 0);
		WeirError error;

		try (WeirPublisher<Long> from = Subjects.failing(0, -5)) {
			from.subscribe(probe);
		}
		error = (WeirError) probe.end.join();
		same(error.code(), -5);
		same(error.getMessage(), "range: as told");
		to.to(submitted(0, error));
		same(to.end(), Collector.ERROR);
		check(((WeirError) to.error()).held.same(error.held),
			"another weir_error");
	}

	private static void nobodyCannotSubscribe() {
		try (WeirPublisher<Long> from = Subjects.range(3, null)) {
			throwsNullPointer(() -> from.subscribe(null));
		}
	}

	private static void whoThrowsIsCancelledAndReported() {
		RuntimeException thrown = new RuntimeException("in onNext");
		Probe<Long> probe = new Probe<>(Long.MAX_VALUE, 0) {
			@Override
			public void onNext(Long element) {
				super.onNext(element);
				if (element == 10)
					throw thrown;
			}
		};

		try (WeirPublisher<Long> from = Subjects.range(MANY, null)) {
			from.subscribe(probe);
		}
		same(probe.received, 10L);
		check(!probe.end.isDone(), "2.13: a signal behind it");
		check(reported() == thrown, "not reported");
	}

	// --- Java's publisher, C's subscriber

	private static void cGetsAll() {
		for (long batch : new long[] {1, 7, 1000}) {
			Collector to = new Collector(batch, 0, 0)
				.to(submitted(MANY, null));

			same(to.end(),
				Collector.COMPLETE);
			same(to.received(), MANY);
		}
	}

	private static void cGetsAllFromC() {
		Collector to = new Collector(100, 0, 0);

		try (WeirPublisher<Long> from = Subjects.range(MANY, null)) {
			from.subscribe(to.subscriber); // through Java all the same
		}
		same(to.end(), Collector.COMPLETE);
		same(to.received(), MANY);
		to.subscriber.close();
	}

	private static void cCancels() {
		Collector to = new Collector(16, MANY / 2, 0);

		to.to(submitted(MANY, null));
		same(to.end(), Collector.CANCELLED);
		same(to.received(), MANY / 2);
	}

	private static void cGetsAnErrorOfJavas() {
		Throwable error = new Error("to C and back");
		Collector to = new Collector(8, 0, 0);

		to.subscriber.onSubscribe(new Counting());
		for (long i = 1; i <= 3; i++)
			to.subscriber.onNext(i);
		to.subscriber.onError(error);
		same(to.end(), Collector.ERROR);
		same(to.received(), 3L);
		check(to.error() == error, "another Throwable");
	}

	private static void aPublisherThatThrowsIsAnError() {
		RuntimeException thrown = new RuntimeException("in subscribe");
		Collector to = new Collector(8, 0, 0);

		to.to(subscriber -> {
			throw thrown;
		});
		same(to.end(), Collector.ERROR);
		check(to.error() == thrown,
			"another Throwable");
	}

	private static void nullIsNoSignal() {
		Collector to = new Collector(8, 0, 0);

		throwsNullPointer(() -> to.subscriber.onSubscribe(null));
		throwsNullPointer(() -> to.subscriber.onNext(null));
		throwsNullPointer(() -> to.subscriber.onError(null));
		FlowAdapters.toFlowPublisher(submitted(MANY, null))
			.subscribe(FlowAdapters.toFlowSubscriber(to.subscriber));
		same(to.end(), Collector.COMPLETE);
		same(to.received(), MANY);
	}

	private static void aSecondSubscriptionIsCancelled() {
		Collector to = new Collector(8, 0, 0);
		Counting first = new Counting();
		Counting second = new Counting();

		to.subscriber.onSubscribe(first);
		to.subscriber.onSubscribe(second);
		same(first.requests, 1);
		same(first.cancels, 0);
		same(second.requests, 0);
		same(second.cancels, 1);
		to.subscriber.onComplete();
	}

	private static void whoBreaksIsCancelledAndReported() {
		Collector to = new Collector(8, 0, 3);
		Counting from = new Counting();

		to.subscriber.onSubscribe(from);
		for (long i = 1; i < 5; i++)
			to.subscriber.onNext(i);
		to.subscriber.onComplete();
		same(to.end(), Collector.BROKEN);
		same(to.received(), 2L);
		same(from.cancels, 1);
		check(reported() instanceof IllegalStateException,
			"not reported");
	}

	// --- Over ports

	private static void javaGetsAllOfASource() {
		for (long batch : new long[] {1, 7, 1000, Long.MAX_VALUE}) {
			Probe<Long> probe = new Probe<>(batch, 0);

			try (WeirPublisher<Long> from =
				Subjects.source(MANY, null)) {
				from.subscribe(probe);
			}
			same(probe.end.join(), null);
			same(probe.received, MANY);
		}
	}

	private static void aSourceEndsAsItShould() {
		Throwable error = new Exception("to C and back");

		for (Throwable end : new Throwable[] {null, error})
			for (long n : new long[] {0, 3}) {
				Probe<Long> probe = new Probe<>(n, 0);

				try (WeirPublisher<Long> from =
					Subjects.source(n, end)) {
					from.subscribe(probe);
				}
				check(probe.end.join() == end,
					"another Throwable");
				same(probe.received, n);
			}
	}

	private static void requestOfNothingIsAnErrorOfASource() {
		Probe<Long> probe = new Probe<>(0, 0);
		Throwable error;

		try (WeirPublisher<Long> from = Subjects.source(3, null)) {
			from.subscribe(probe);
			probe.subscription.join().request(0);
			error = probe.end.join();
		}
		check(error instanceof IllegalArgumentException, "3.9");
		check(error.getMessage().contains("3.9"), error.getMessage());
	}

	private static void javaCancelsAStage() {
		WeirProcessor<Long, Long> stage = Subjects.stage(64);
		Probe<Long> probe = new Probe<>(16, MANY / 2);

		stage.subscribe(probe);
		submitted(MANY, null).subscribe(stage);
		same(probe.end.join(), null);
		same(probe.received, MANY / 2);
	}

	/** Java to C to Java to C to Java. */
	private static void stagesPassOn() {
		WeirProcessor<Long, Long> first = Subjects.stage(16);
		WeirProcessor<Long, Long> second = Subjects.stage(64);
		Probe<Long> probe = new Probe<>(100, 0);

		second.subscribe(probe);
		first.subscribe(second);
		submitted(MANY, null).subscribe(first);
		same(probe.end.join(), null);
		same(probe.received, MANY);
	}

	private static void aStagePassesErrorsOn() {
		Throwable error = new Error("through C");
		WeirProcessor<Long, Long> stage = Subjects.stage(4);
		Probe<Long> probe = new Probe<>(0, 0);

		stage.subscribe(probe);
		submitted(0, error).subscribe(stage);
		check(probe.end.join() == error, "another Throwable");
	}

	private static void whatCannotBeMadeLeavesNothing() {
		try {
			Subjects.stage(3); // no power of two
		} catch (OutOfMemoryError expected) {
			return;
		}
		throw new AssertionError("a stage of 3");
	}

	private static void aSinkHandsOn() {
		Probe<Long> probe = new Probe<>(32, 0);

		submitted(MANY, null).subscribe(Subjects.sink(probe));
		same(probe.end.join(), null);
		same(probe.received, MANY);
	}

	private static void aSinkCancels() {
		Probe<Long> probe = new Probe<>(32, MANY / 2);

		submitted(MANY, null).subscribe(Subjects.sink(probe));
		same(probe.end.join(), null);
		same(probe.received, MANY / 2);
	}

	/** A thread of the pool. */
	private static Thread ofThePool() {
		CompletableFuture<Thread> thread = new CompletableFuture<>();
		Probe<Long> probe = new Probe<>(1, 0) {
			@Override
			public void onNext(Long element) {
				super.onNext(element);
				thread.complete(Thread.currentThread());
			}
		};

		try (WeirPublisher<Long> from = Subjects.source(1, null)) {
			from.subscribe(probe);
		}
		same(probe.end.join(), null);
		return thread.join();
	}

	/** Who holds an actor for ever keeps nothing from being told of it. */
	private static void aLeakIsTold() {
		Pool.start();
		try (WeirPublisher<Long> from = Subjects.source(1, null)) {
			Pool.abort();
			Pool.awaitNobody(0);
			check(from == null, "no leak");
		} catch (IllegalStateException expected) {
			same(expected.getMessage(), "still held: 1 actors");
		}
		Pool.awaitNobody(Long.MAX_VALUE);
		Pool.free();
	}

	private static void threadsAreGuests() {
		Thread thread;

		Pool.start();
		thread = ofThePool();
		check(thread.isDaemon(), "no daemon");
		check(thread.isAlive(), "detached");
		Pool.stop();
		check(!thread.isAlive(), "not detached");
	}

	// --- All of it

	static void run(String name, Runnable test) {
		System.out.println(name);
		test.run();
		same(reported(), null);
	}

	/** What nobody has any more is collected some time. */
	private static void nothingIsLeft() {
		String last = "";

		while (Bridge.memory() + Bridge.references() + Pool.alive()
			!= 0) {
			String now = Bridge.memory() + " pieces of memory, "
				+ Bridge.references() + " references, "
				+ Pool.alive() + " actors";

			if (!now.equals(last))
				System.out.println("still there: " + now);
			last = now;
			System.gc();
		}
	}

	public static void main(String[] arguments) {
		Thread.setDefaultUncaughtExceptionHandler(
			(thread, thrown) -> reported = thrown);
		try {
			javaSubscribes();
			cSubscribes();
			on("threads", false);
			on("a loop", true);
		} catch (Throwable failure) {
			failure.printStackTrace();
			System.exit(1);
		}
	}

	private static void on(String what, boolean loop) {
		System.out.println("on " + what);
		Pool.loop = loop;
		Pool.start();
		overPorts();
		Rules.all();
		run("nothing is left", Smoke::nothingIsLeft);
		Pool.stop();
		run("threads are guests", Smoke::threadsAreGuests);
		run("a leak is told", Smoke::aLeakIsTold);
	}

	private static void javaSubscribes() {
		run("Java gets all", Smoke::javaGetsAll);
		run("Java cancels", Smoke::javaCancels);
		run("Java gets its own error", Smoke::javaGetsItsOwnError);
		run("request of nothing is an error",
			Smoke::requestOfNothingIsAnError);
		run("nobody cannot subscribe", Smoke::nobodyCannotSubscribe);
		run("who throws is cancelled and reported",
			Smoke::whoThrowsIsCancelledAndReported);
	}

	private static void cSubscribes() {
		run("C gets all", Smoke::cGetsAll);
		run("C gets all from C", Smoke::cGetsAllFromC);
		run("C cancels", Smoke::cCancels);
		run("C gets an error of Java's", Smoke::cGetsAnErrorOfJavas);
		run("C knows its own error again",
			Smoke::cKnowsItsOwnErrorAgain);
		run("a publisher that throws is an error",
			Smoke::aPublisherThatThrowsIsAnError);
		run("null is no signal", Smoke::nullIsNoSignal);
		run("a second subscription is cancelled",
			Smoke::aSecondSubscriptionIsCancelled);
		run("who breaks is cancelled and reported",
			Smoke::whoBreaksIsCancelledAndReported);
	}

	private static void overPorts() {
		run("Java gets all of a source", Smoke::javaGetsAllOfASource);
		run("a source ends as it should", Smoke::aSourceEndsAsItShould);
		run("request of nothing is an error of a source",
			Smoke::requestOfNothingIsAnErrorOfASource);
		run("stages pass on", Smoke::stagesPassOn);
		run("Java cancels a stage", Smoke::javaCancelsAStage);
		run("a stage passes errors on", Smoke::aStagePassesErrorsOn);
		run("what cannot be made leaves nothing",
			Smoke::whatCannotBeMadeLeavesNothing);
		run("a sink hands on", Smoke::aSinkHandsOn);
		run("a sink cancels", Smoke::aSinkCancels);
	}
}
