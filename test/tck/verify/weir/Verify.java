// SPDX-License-Identifier: BSD-2-Clause
package weir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.testng.ITestResult;
import org.testng.TestListenerAdapter;
import org.testng.TestNG;

/**
 * Verify EXECUTOR CLASS FILE...: runs the tests of a class one after another, on
 * `threads` or a `loop`. Those that pass must be exactly those that the files
 * name: to the TCK a test that is
 * skipped is as good as one that passes, and many a failure is a skip.
 */
final class Verify {
	private Verify() {
	}

	private static Set<String> expected(String[] arguments)
		throws IOException {
		Set<String> names = new TreeSet<>();

		for (int i = 2; i < arguments.length; i++)
			names.addAll(Files.readAllLines(
				Paths.get(arguments[i])));
		return names;
	}

	private static Set<String> names(List<ITestResult> results) {
		Set<String> names = new TreeSet<>();

		for (ITestResult result : results)
			names.add(result.getName());
		return names;
	}

	private static void show(String what, List<ITestResult> results) {
		for (ITestResult result : results)
			System.out.println(what + " " + result.getName() + ": "
				+ result.getThrowable());
	}

	/** Those in one and not in the other; true: there are none. */
	private static boolean none(String what, Set<String> one,
		Set<String> other) {
		Set<String> rest = new TreeSet<>(one);

		rest.removeAll(other);
		for (String name : rest)
			System.out.println(what + " " + name);
		return rest.isEmpty();
	}

	public static void main(String[] arguments) throws Exception {
		TestListenerAdapter results = new TestListenerAdapter();
		TestNG testng = new TestNG(false);
		Set<String> expected = expected(arguments);
		Set<String> passed;
		boolean good;

		Pool.loop = arguments[0].equals("loop");
		testng.setTestClasses(new Class<?>[] {
			Class.forName("weir." + arguments[1])});
		testng.addListener(results);
		testng.run();

		passed = names(results.getPassedTests());
		show("skipped", results.getSkippedTests());
		show("failed", results.getFailedTests());
		show("failed", results.getConfigurationFailures());
		good = none("should pass:", expected, passed);
		good &= none("passes, add it to the list:", passed, expected);
		good &= results.getFailedTests().isEmpty();
		good &= results.getConfigurationFailures().isEmpty();
		System.out.println(passed.size() + " of " + expected.size()
			+ " passed");
		System.exit(good ? 0 : 1);
	}
}
