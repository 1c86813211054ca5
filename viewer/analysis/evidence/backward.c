/* SPDX-License-Identifier: Apache-2.0 */
#include "backward.h"

#define STANDS_NS INT64_C(200000000) /* as far back as the caller's own sample may lie */

/* The innermost frame is the call of the engine, as torch has it since 2.1, and before. */
static bool runs_engine(const struct ana_pystack *k)
{
	return ana_text_ends(k->leaf_file, "torch/autograd/__init__.py") ||
	       (ana_text_ends(k->leaf_file, "torch/autograd/graph.py") &&
		ana_text_ends(k->leaf_function, "_engine_run_backward"));
}

/* The stack in which the thread slept at @t, if that is in a call of the engine; 0: it is not. */
static uint32_t sleeps_in(struct ana_evidence *e, const struct ana_thread_samples *s, int64_t t)
{
	size_t i = ana_samples_from(s, t + 1);
	const struct wire_sample *w;

	if (i == s->head)
		return 0;
	w = &s->sample[i - 1];
	if (!w->stack || w->state == WIRE_STATE_RUNNING || t - w->t_ns > STANDS_NS ||
	    !runs_engine(ana_pystacks_get(&e->stacks, w->stack)))
		return 0;
	return w->stack;
}

uint32_t ana_backward_caller(struct ana_evidence *e, const struct ana_thread_samples *s, int64_t t)
{
	uint32_t found = 0, i;

	if (s->pid != e->pid)
		return 0;
	for (i = 0; i < e->threads; i++) {
		const struct ana_thread_samples *o = e->thread[i];
		uint32_t stack = o == s || o->pid != e->pid ? 0 : sleeps_in(e, o, t);

		if (stack && found)
			return 0;
		found = stack ? stack : found;
	}
	return found;
}
