// SPDX-License-Identifier: BSD-2-Clause
package weir;

/** A weir_error that was not made from a Throwable. */
public final class WeirError extends RuntimeException {
	private static final long serialVersionUID = 1;

	final transient Held held;
	private final int code;

	WeirError(String message, int code, long held) {
		super(message);
		this.held = new Held(held);
		this.code = code;
	}

	/** A negative errno. */
	public int code() {
		return code;
	}
}
