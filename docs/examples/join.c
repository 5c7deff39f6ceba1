/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An actor of one's own: it has two in-ports and an out-port, and fires when
 * there is a token in both and room in the third. Nothing in its turn has to
 * be checked.
 */
#include <stdio.h>

#include <weir/weir.h>

struct adder {
	struct weir_actor actor;
	struct weir_in left, right;
	struct weir_out sum;
};

static inline int add(struct weir_actor *actor)
{
	struct adder *self = weir_container_of(actor, struct adder, actor);
	uintptr_t left = (uintptr_t)weir_in_take(&self->left);
	uintptr_t right = (uintptr_t)weir_in_take(&self->right);

	return weir_out_put(&self->sum, (void *)(left + right));
}
WEIR_TURN(add)

static const struct weir_actor_ops adder_ops = {
	.name = "adder",
	.turns = add_n,
};

static int adder_init(struct adder *self, struct weir_executor *executor)
{
	int rc = weir_actor_init(&self->actor, &adder_ops, executor);

	if (rc == 0)
		rc = weir_in_init(&self->left, &self->actor, 4, NULL);
	if (rc == 0)
		rc = weir_in_init(&self->right, &self->actor, 4, NULL);
	if (rc == 0)
		rc = weir_out_init(&self->sum, &self->actor, NULL);
	return rc;
}

static int print(void *item, void *context)
{
	(void)context;
	printf("%zu\n", (size_t)item);
	return 0;
}

int main(void)
{
	struct adder adder;
	struct weir_consumer printer;
	struct weir_loop *loop;
	uintptr_t i;

	if (weir_loop_new(&loop, NULL) < 0 ||
	    adder_init(&adder, weir_loop_executor(loop)) < 0 ||
	    weir_consumer_init(
		    &printer, weir_loop_executor(loop),
		    &(struct weir_consumer_options){.consume = print}) < 0 ||
	    weir_chain_start(
		    (struct weir_actor *[]){&adder.actor, &printer.actor}, 2) <
		    0)
		return 1;
	/* Anybody may put tokens into an in-port without a link. */
	for (i = 1; i <= 3; i++)
		if (weir_in_put(&adder.left, (void *)i) < 0 ||
		    weir_in_put(&adder.right, (void *)(10 * i)) < 0)
			return 1;
	/* The end of one is enough: the adder has nothing to add to then. */
	weir_in_end(&adder.left, NULL);
	while (weir_executor_alive(weir_loop_executor(loop)))
		weir_loop_wait(loop, 64, WEIR_FOREVER);
	return weir_loop_free(loop) < 0;
}
