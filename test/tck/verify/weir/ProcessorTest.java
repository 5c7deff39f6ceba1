// SPDX-License-Identifier: BSD-2-Clause
package weir;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.reactivestreams.Processor;
import org.reactivestreams.Publisher;
import org.reactivestreams.tck.IdentityProcessorVerification;
import org.reactivestreams.tck.TestEnvironment;
import org.testng.annotations.AfterClass;
import org.testng.annotations.BeforeClass;

/** A subscriber over an in-port and a publisher over an out-port. */
public class ProcessorTest extends IdentityProcessorVerification<Long> {
	private ExecutorService executor;

	/**
	 * The last of these is how often it looks for an error that it expects:
	 * 1.0.4 looks once only, however long it was to wait.
	 */
	public ProcessorTest() {
		super(new TestEnvironment(1000, 100, 200), 1000);
	}

	@BeforeClass
	public void startPool() {
		executor = Executors.newFixedThreadPool(4);
		Pool.start();
	}

	@AfterClass
	public void stopPool() {
		Pool.stop();
		executor.shutdown();
	}

	@Override
	public Processor<Long, Long> createIdentityProcessor(int bufferSize) {
		int capacity = 1;

		while (capacity < bufferSize)
			capacity *= 2;
		return subject(capacity);
	}

	Processor<Long, Long> subject(int capacity) {
		return Subjects.stage(capacity);
	}

	/** An out-port without a fan has one subscriber. */
	@Override
	public long maxSupportedSubscribers() {
		return 1;
	}

	@Override
	public Publisher<Long> createFailedPublisher() {
		return Subjects.source(0, new RuntimeException("failed"));
	}

	@Override
	public ExecutorService publisherExecutorService() {
		return executor;
	}

	@Override
	public Long createElement(int element) {
		return (long) element;
	}
}
