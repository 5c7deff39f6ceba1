/* SPDX-License-Identifier: BSD-2-Clause */
/* Publishers over out-ports as users set them up: with relays where an out-port
 * cannot have a subscriber of its own. */
#include <weir/reactive.h>

#include "stream/reactive.h"

static int publisher_signalled(struct weir_port *port)
{
	return weir__reactive_out_signalled(port, weir__relay);
}

static const struct weir__port_ops publisher_ops = {
	.signalled = publisher_signalled,
	.other_ended = weir__reactive_out_other_ended,
	.close = weir__reactive_out_close,
	.fini = weir__reactive_out_fini,
};

int weir_reactive_out_init(struct weir_reactive_out *reactive,
			   struct weir_out *out,
			   const struct weir_reactive_out_options *options)
{
	return weir__reactive_out_init(reactive, out, options, &publisher_ops);
}
