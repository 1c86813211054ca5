/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time that GPUs did not work, as stacks: the class, whose thread, its Python frames and the native
 * ones below them, what it waited for. Time that no sample explains is a stack of the class alone.
 * The stacks of a class sum to the class, in ns and in nano-dollars. Memory grows with the number
 * of different stacks, up to VIEW_STACKS_MAX.
 */
#ifndef EXPORT_STACKS_H
#define EXPORT_STACKS_H

#include "export.h"

#define VIEW_STACKS_MAX (1u << 18) /* time of more different ones counts as not sampled */
#define VIEW_STACK_FRAMES 136u
#define VIEW_FRAME_BYTES 512u

struct view_frame {
	char name[VIEW_FRAME_BYTES]; /* valid UTF-8 */
	char file[VIEW_FRAME_BYTES]; /* "": none */
	int64_t line;
};

struct view_stack {
	struct view_frame frame[VIEW_STACK_FRAMES]; /* outermost first */
	size_t frames;
	int c; /* its class */
	int64_t ns, nano_usd;
};

/* Hands out one stack after the other. 0, -ENOMEM, or what @take returned. */
int view_export_stacks(struct view_export *x, int (*take)(void *arg, const struct view_stack *s),
		       void *arg);

#endif
