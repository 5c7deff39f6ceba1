// SPDX-License-Identifier: BSD-2-Clause
package weir;

/** A weir_error of -EINVAL, as after request(0); rule 3.9 wants that class. */
public final class WeirArgumentError extends IllegalArgumentException {
	private static final long serialVersionUID = 1;

	final transient Held held;

	WeirArgumentError(String message, long held) {
		super(message);
		this.held = new Held(held);
	}
}
