/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of what all actors and ports have. What else a kind of port has
 * stands beside its table of functions.
 */
#include "actor/layout.h"

#include <weir/version.h>

#include "actor/gate.h"
#include "actor/in_lane.h"
#include "actor/port.h"
#include "base/memory.h"
#include "executor/living.h"
#include "executor/registry.h"

static const struct weir__layout_of all = {
	.self = &all,
	.fields =
		{
			WEIR__FIELD(LIVING_FIRST, struct weir__living_list,
				    first),
			WEIR__FIELD(LIVING_NEXT, struct weir__living, next),
			WEIR__FIELD(LIVING_EXECUTOR, struct weir__living,
				    executor),
			WEIR__FIELD(EXECUTOR_REGISTRY, struct weir_executor,
				    registry),
			WEIR__PLACE(REGISTRY_BLOCKS, struct weir__registry,
				    blocks),
			WEIR__FIELD(REGISTRY_N_BLOCKS, struct weir__registry,
				    n_blocks),
			WEIR__FIELD(REGISTRY_N_TASKS, struct weir__registry,
				    n_tasks),
			WEIR__FIELD(REGISTRY_LAYOUT, struct weir__registry,
				    layout),
			WEIR__PLACE(ACTOR_TASK, struct weir_actor, task),
			WEIR__FIELD(ACTOR_EXECUTOR, struct weir_actor,
				    executor),
			WEIR__FIELD(ACTOR_OPS, struct weir_actor, ops),
			WEIR__FIELD(ACTOR_NAME, struct weir_actor_ops, name),
			WEIR__FIELD(ACTOR_PORTS, struct weir_actor, ports),
			WEIR__FIELD(ACTOR_REFS, struct weir_actor, refs),
			WEIR__FIELD(ACTOR_GATE, struct weir_actor, gate),
			WEIR__FIELD(ACTOR_STATE, struct weir_actor, state),
			WEIR__FIELD(PORT_ACTOR, struct weir_port, actor),
			WEIR__FIELD(PORT_NEXT, struct weir_port, next),
			WEIR__FIELD(PORT_BLOCK, struct weir_port, block),
			WEIR__FIELD(PORT_BLOCKED, struct weir_port, blocked),
			{
				/* no address has a bit-field: it is behind */
				.what = WEIR__IS_PORT_BURST,
				.size = sizeof(uint16_t),
				.bits = 15,
				.at = offsetof(struct weir_port, blocked) +
				      sizeof(uint32_t),
			},
			WEIR__FIELD(PORT_KIND, struct weir_port, kind),
			WEIR__FIELD(PORT_FLAGS, struct weir_port, flags),
			WEIR__FIELD(PORT_OPS, struct weir__other_port, ops),
			WEIR__FIELD(OPS_AWAITS, struct weir__port_ops, awaits),
			WEIR__FIELD(OPS_LAYOUT, struct weir__port_ops, layout),
			{0},
		},
};

_Static_assert(offsetof(struct weir_port, kind) ==
		       offsetof(struct weir_port, blocked) + sizeof(uint32_t) +
			       sizeof(uint16_t),
	       "the burst is where the table says");

const struct weir__layout weir__layout = {
	.magic = "weir-layout",
	.version = WEIR__LAYOUT_VERSION,
	.pointer = sizeof(void *),
	.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
	.weir = WEIR_VERSION,
	.size = sizeof(weir__layout),
	.self = &weir__layout,
	.living = &weir__living,
	.kinds = weir__port_kinds,
	.all = &all,
};

/*
 * What readers of this version take for granted. Whoever changes one of these
 * raises WEIR__LAYOUT_VERSION.
 */
#define AS_EVER(condition) \
	_Static_assert(condition, "another version of the layout")
AS_EVER(WEIR__GATE_SCHEDULED == 1 && WEIR__GATE_SIGNALLED == 2);
AS_EVER(WEIR__GATE_SUSPENDED == 8 && WEIR__GATE_SUSPENDED_PARENT == 16);
AS_EVER(WEIR__GATE_PORTLESS == 32 && WEIR__GATE_ONE == 256);
AS_EVER(WEIR__PORT_IN == 0 && WEIR__PORT_OUT == 1 && WEIR__PORT_OTHER == 2);
AS_EVER(WEIR__PORT_ADAPTER == 3);
AS_EVER(WEIR__PORT_IGNORED == 1 && WEIR__PORT_ENDED == 2);
AS_EVER(WEIR__IN_LINKED == 1 && WEIR_MERGE_OPEN == 2);
AS_EVER(WEIR_FAN_BROADCAST == 0 && WEIR__LINE_WORDS == 16);
AS_EVER(WEIR__TAIL_ENDED == 1 && WEIR__TAIL_ONE == 2);
AS_EVER(WEIR__STATE_RUNNING == 2 && WEIR__STATE_ENDED == 4);
AS_EVER(WEIR_EXECUTOR_OTHER == 0 && WEIR_EXECUTOR_SIM == 4);
AS_EVER(WEIR_WAIT_NONE == 0 && WEIR_WAIT_OTHER == 13);
