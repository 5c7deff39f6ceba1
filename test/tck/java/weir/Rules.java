// SPDX-License-Identifier: BSD-2-Clause
package weir;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.LongFunction;
import org.reactivestreams.Processor;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/**
 * Holds the subjects to rules that the TCK looks at too: publishers for many,
 * subscribers of every kind, and processors. As in Smoke, whoever runs it ends
 * it when it takes too long.
 */
final class Rules {
	private static final long MANY = 2_000;
	private static final long PATIENCE_S = 30;
	private static final int EISCONN = 106;

	private Rules() {
	}

	private static void await(BooleanSupplier holds) {
		while (!holds.getAsBoolean())
			Thread.onSpinWait();
	}

	/** A subscription that is on the watch for what it is asked. */
	private static final class Upstream implements Subscription {
		private final long bound; // of what is requested and not sent
		private final CompletableFuture<Void> cancel =
			new CompletableFuture<>();
		private long requested;
		private long sent;
		private String broken = "";

		Upstream(long bound) {
			this.bound = bound;
		}

		@Override
		public synchronized void request(long n) {
			requested += n;
			if (n <= 0)
				broken = "3.9: " + n;
			else if (requested - sent > bound)
				broken = "no room for " + (requested - sent);
		}

		@Override
		public void cancel() {
			cancel.complete(null);
		}

		private synchronized boolean take() {
			Smoke.same(broken, "");
			if (requested == sent)
				return false;
			sent++;
			return true;
		}

		void awaitCancel() {
			cancel.orTimeout(PATIENCE_S, TimeUnit.SECONDS).join();
		}

		/** Sends the numbers up to `last`, as they are requested. */
		void send(Subscriber<Long> to, long last) {
			for (long i = sent + 1; i <= last; i++) {
				await(this::take);
				to.onNext(i);
			}
		}

		/** As good a time as any to see what was asked at last. */
		synchronized void check() {
			Smoke.same(broken, "");
		}
	}

	// --- Publishers

	private static void eachGetsAll(
		LongFunction<WeirPublisher<Long>> make) {
		for (long batch : new long[] {1, 7, 1000, Long.MAX_VALUE}) {
			Probe<Long> probe = new Probe<>(batch, 0);

			try (WeirPublisher<Long> from = make.apply(MANY)) {
				from.subscribe(probe);
			}
			Smoke.same(probe.end.join(), null);
			Smoke.same(probe.received, MANY);
		}
	}

	private static void nothingIsAnEnd(
		LongFunction<WeirPublisher<Long>> make) {
		Probe<Long> probe = new Probe<>(0, 0);

		try (WeirPublisher<Long> from = make.apply(0)) {
			from.subscribe(probe);
		}
		Smoke.same(probe.end.join(), null);
		Smoke.same(probe.received, 0L);
	}

	/** One is a few ahead of the other; then both get the rest. */
	private static void twoGetTheSame(
		LongFunction<WeirPublisher<Long>> make) {
		Probe<Long> one = new Probe<>(0, 0);
		Probe<Long> other = new Probe<>(0, 0);

		try (WeirPublisher<Long> from = make.apply(MANY)) {
			from.subscribe(one);
			from.subscribe(other);
		}
		other.subscription.join();
		for (long i = 1; i <= Subjects.FAN; i++) {
			long n = i;

			one.subscription.join().request(1);
			await(() -> one.received == n);
		}
		Smoke.same(other.received, 0L);
		other.subscription.join().request(Long.MAX_VALUE);
		one.subscription.join().request(Long.MAX_VALUE);
		Smoke.same(one.end.join(), null);
		Smoke.same(other.end.join(), null);
		Smoke.same(one.received, MANY);
		Smoke.same(other.received, MANY);
	}

	private static void oneLeavesAndOneIsWrong(
		LongFunction<WeirPublisher<Long>> make) {
		Probe<Long> leaves = new Probe<>(16, MANY / 2);
		Probe<Long> wrong = new Probe<>(0, 0);

		try (WeirPublisher<Long> from = make.apply(MANY)) {
			Smoke.throwsNullPointer(() -> from.subscribe(null));
			from.subscribe(wrong);
			wrong.subscription.join().request(0);
			Smoke.check(wrong.end.join()
				instanceof IllegalArgumentException, "3.9");
		}
		try (WeirPublisher<Long> from = make.apply(MANY)) {
			from.subscribe(leaves);
		}
		Smoke.same(leaves.end.join(), null);
		Smoke.same(leaves.received, MANY / 2);
	}

	private static void publishers() {
		List<LongFunction<WeirPublisher<Long>>> all = List.of(
			n -> Subjects.broadcast(n, null), Subjects::flow);

		for (LongFunction<WeirPublisher<Long>> make : all) {
			eachGetsAll(make);
			nothingIsAnEnd(make);
			twoGetTheSame(make);
			oneLeavesAndOneIsWrong(make);
		}
	}

	private static void failures() {
		Throwable error = new Exception("to C and back");
		Probe<Long> source = new Probe<>(0, 0);
		Probe<Long> flow = new Probe<>(0, 0);

		try (WeirPublisher<Long> from = Subjects.broadcast(0, error)) {
			from.subscribe(source);
		}
		try (WeirPublisher<Long> from = Subjects.failingFlow(-5)) {
			from.subscribe(flow);
		}
		Smoke.check(source.end.join() == error, "another Throwable");
		Smoke.same(((WeirError) flow.end.join()).code(), -5);
	}

	/** Who cannot be served is told so, after onSubscribe (1.9). */
	private static void oneTooMany() {
		Probe<Long> first = new Probe<>(0, 0);
		Probe<Long> probe = new Probe<>(0, 0);

		try (WeirPublisher<Long> from = Subjects.source(1, null)) {
			from.subscribe(first);
			from.subscribe(probe);
			Smoke.same(((WeirError) probe.end.join()).code(),
				-EISCONN);
		}
		Smoke.check(probe.subscription.isDone(), "1.9");
		first.subscription.join().cancel();
	}

	// --- Subscribers, which hand on to a probe

	/** Requests no more than it has room for, and gets all (2.1). */
	private static void takesAll(
		Function<Probe<Long>, Subscriber<Long>> make, long bound) {
		Probe<Long> probe = new Probe<>(32, 0);
		Subscriber<Long> to = make.apply(probe);
		Upstream from = new Upstream(bound);

		to.onSubscribe(from);
		from.send(to, MANY);
		to.onComplete();
		Smoke.same(probe.end.join(), null);
		Smoke.same(probe.received, MANY);
		from.check();
		Smoke.check(!from.cancel.isDone(), "2.3");
	}

	/** With items before it, and without; the very error (2.10). */
	private static void takesAnError(
		Function<Probe<Long>, Subscriber<Long>> make, long bound) {
		for (long n : new long[] {0, 3}) {
			Throwable error = new Exception("through C");
			Probe<Long> probe = new Probe<>(32, 0);
			Subscriber<Long> to = make.apply(probe);
			Upstream from = new Upstream(bound);

			to.onSubscribe(from);
			from.send(to, n);
			to.onError(error);
			Smoke.check(probe.end.join() == error,
				"another Throwable: " + probe.end.join());
			Smoke.same(probe.received, n);
		}
	}

	/** Who needs no more cancels, and takes what comes yet (2.6, 2.8). */
	private static void cancels(
		Function<Probe<Long>, Subscriber<Long>> make, long bound) {
		Probe<Long> probe = new Probe<>(32, 5);
		Subscriber<Long> to = make.apply(probe);
		Upstream from = new Upstream(bound);

		to.onSubscribe(from);
		from.send(to, 5);
		from.awaitCancel();
		if (from.take())
			to.onNext(6L);
		Smoke.same(probe.end.join(), null);
		Smoke.same(probe.received, 5L);
	}

	private static void cancelsASecond(
		Function<Probe<Long>, Subscriber<Long>> make, long bound) {
		Probe<Long> probe = new Probe<>(32, 0);
		Subscriber<Long> to = make.apply(probe);
		Upstream from = new Upstream(bound);
		Upstream second = new Upstream(0);

		to.onSubscribe(from);
		to.onSubscribe(second);
		second.awaitCancel();
		second.check();
		from.send(to, 3);
		to.onComplete();
		Smoke.same(probe.end.join(), null);
		Smoke.same(probe.received, 3L);
		Smoke.check(!from.cancel.isDone(), "2.5");
	}

	private static void refusesNull(
		Function<Probe<Long>, Subscriber<Long>> make, long bound) {
		Subscriber<Long> to = make.apply(new Probe<>(32, 0));

		Smoke.throwsNullPointer(() -> to.onSubscribe(null));
		to.onSubscribe(new Upstream(bound));
		Smoke.throwsNullPointer(() -> to.onNext(null));
		Smoke.throwsNullPointer(() -> to.onError(null));
		to.onComplete();
	}

	/** Requested and not taken are `bound` at most. */
	private static void subscriber(
		Function<Probe<Long>, Subscriber<Long>> make, long bound) {
		takesAll(make, bound);
		takesAnError(make, bound);
		cancels(make, bound);
		cancelsASecond(make, bound);
		refusesNull(make, bound);
	}

	/** One that is a processor too, with the probe behind it. */
	private static Subscriber<Long> before(Processor<Long, Long> processor,
		Probe<Long> probe) {
		processor.subscribe(probe);
		return processor;
	}

	private static void subscribers() {
		subscriber(Subjects::sink, 64);
		subscriber(Subjects::inPort, 64);
		subscriber(Subjects::flowTo, 16);
		subscriber(Subjects::manager, 16);
	}

	private static void processors() {
		subscriber(p -> before(Subjects.stage(8), p), 8);
		subscriber(p -> before(Subjects.broadcastStage(8), p), 8);
		subscriber(p -> before(Subjects.flowStage(8), p), 16);
	}

	/** Also who has requested nothing, with items that wait (1.4, 4.2). */
	private static void allGetTheError() {
		WeirProcessor<Long, Long> stage = Subjects.broadcastStage(16);
		Throwable error = new Exception("for all");
		Probe<Long> one = new Probe<>(1, 0);
		Probe<Long> other = new Probe<>(0, 0);
		Upstream from = new Upstream(16);

		stage.subscribe(one);
		stage.subscribe(other);
		other.subscription.join();
		one.subscription.join();
		stage.onSubscribe(from);
		from.send(stage, 1);
		await(() -> one.received == 1);
		stage.onError(error);
		Smoke.check(one.end.join() == error, "another Throwable");
		Smoke.check(other.end.join() == error, "another Throwable");
		Smoke.same(other.received, 0L);
	}

	/** Java to C to Java to C to Java. */
	private static void flowsPassOn(Publisher<Long> from) {
		WeirProcessor<Long, Long> first = Subjects.flowStage(16);
		WeirProcessor<Long, Long> second = Subjects.flowStage(64);
		Probe<Long> probe = new Probe<>(100, 0);

		second.subscribe(probe);
		first.subscribe(second);
		from.subscribe(first);
		Smoke.same(probe.end.join(), null);
		Smoke.same(probe.received, MANY);
	}

	static void all() {
		Smoke.run("publishers for many", Rules::publishers);
		Smoke.run("publishers that fail", Rules::failures);
		Smoke.run("one too many", Rules::oneTooMany);
		Smoke.run("subscribers", Rules::subscribers);
		Smoke.run("processors", Rules::processors);
		Smoke.run("all get the error", Rules::allGetTheError);
		Smoke.run("flows pass on",
			() -> flowsPassOn(Subjects.flow(MANY)));
	}
}
