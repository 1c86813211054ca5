/* SPDX-License-Identifier: Apache-2.0 */
/* Findings are classes, ranked by their time; ties keep the classes' order. */
#include "findings.h"

#include <stdlib.h>
#include "units.h"

#define FINDINGS_MAX 16

static const char *const meaning[ANA_CLASSES] = {
	[ANA_COMPUTE] = "a kernel was running",
	[ANA_COMM] = "a collective was running and no other kernel",
	[ANA_COPY] = "a copy was running and no kernel",
	[ANA_INPUT_FETCH] = "the loader read from storage or network",
	[ANA_INPUT_PREP] = "the loader decoded or transformed samples",
	[ANA_INPUT_CPU_STARVED] = "loader workers wanted a processor and got none",
	[ANA_INPUT_PIPELINE] = "the loader held too few batches in flight, or waited in order",
	[ANA_INPUT_HANDOFF] = "a finished batch was on its way to the trainer",
	[ANA_INPUT_EPOCH] = "an epoch's loader was starting",
	[ANA_INPUT_INLINE] = "the training thread prepared the batch itself",
	[ANA_INPUT_H2D] = "the batch was being copied to the GPU",
	[ANA_INPUT_UNKNOWN] = "the trainer waited for its next batch",
	[ANA_HOST_DISPATCH] = "Python and the framework were preparing the next launch",
	[ANA_HOST_SYNC] = "the trainer had waited for the GPU to drain, then had to refill it",
	[ANA_HOST_ALLOC] = "memory was being allocated or freed",
	[ANA_HOST_GC] = "Python's garbage collector ran",
	[ANA_HOST_LOCK] = "the training thread waited for a lock",
	[ANA_HOST_CHECKPOINT] = "a checkpoint was being written",
	[ANA_HOST_PHASE] = "evaluation or logging",
	[ANA_HOST_CPU_STARVED] = "the training thread wanted a processor and got none",
	[ANA_HOST_WARMUP] = "modules were being loaded or compiled for first use",
	[ANA_HOST_NET] = "the training thread waited for the network",
	[ANA_HOST_UNKNOWN] = "nothing was submitted, and the records do not tell why",
	[ANA_DEVICE_TURNAROUND] = "the pause between two operations that were already queued",
	[ANA_DEVICE_LAUNCH] = "a launch was on its way to the GPU",
	[ANA_DEVICE_DEPENDENCY] = "queued work waited for another stream",
	[ANA_DEVICE_GRAPH] = "a pause inside one graph launch",
	[ANA_DEVICE_CONTENTION] = "another job held the GPU",
	[ANA_DEVICE_LOST] = "records of this time were lost",
	[ANA_DEVICE_UNKNOWN] = "work was queued but did not run, and the records do not tell why",
	[ANA_COMM_SKEW] = "waiting inside a collective for a rank that came late",
	[ANA_EXCLUDED_STARTUP] = "before the first GPU operation",
	[ANA_EXCLUDED_TEARDOWN] = "after the last GPU operation",
	[ANA_EXCLUDED_UNOBSERVED] = "not observed",
	[ANA_EXCLUDED_NO_PROCESS] = "allocated, but no process used it",
};

static const char *const basis[ANA_CLASSES] = {
	[ANA_INPUT_UNKNOWN] = "nothing submitted, inside a loader wait",
	[ANA_INPUT_EPOCH] = "nothing submitted, inside an iterator's first loader wait",
	[ANA_INPUT_H2D] = "a pageable host-to-device copy was next",
	[ANA_HOST_DISPATCH] = "nothing submitted, inside a submitting call or an operator",
	[ANA_HOST_SYNC] = "nothing submitted, inside a blocking synchronisation",
	[ANA_HOST_ALLOC] = "nothing submitted, inside an allocation call",
	[ANA_HOST_WARMUP] = "inside a module load, or a launch that took over 1 ms",
	[ANA_HOST_CHECKPOINT] = "nothing submitted, inside a range named for a checkpoint",
	[ANA_HOST_PHASE] = "nothing submitted, inside a range named for a phase",
	[ANA_HOST_UNKNOWN] = "nothing submitted; no call, wait or range covers it",
	[ANA_DEVICE_LAUNCH] = "submitted and started within the time a launch takes",
	[ANA_DEVICE_DEPENDENCY] = "submitted, behind a stream wait",
	[ANA_DEVICE_GRAPH] = "both neighbours belong to one graph launch",
	[ANA_DEVICE_UNKNOWN] = "submitted; nothing explains the wait",
	[ANA_DEVICE_LOST] = "records were dropped or had unusable stamps",
	[ANA_COPY] = "a copy or memset ran, and no kernel",
	[ANA_COMM] = "a collective ran, and no other kernel",
	[ANA_EXCLUDED_UNOBSERVED] = "tracing was off, cut short or held by another tool",
};

const char *view_class_meaning(enum ana_class c)
{
	return meaning[c] ? meaning[c] : "";
}

static bool is_doubt(int c)
{
	return c == ANA_HOST_UNKNOWN || c == ANA_DEVICE_UNKNOWN || c == ANA_DEVICE_LOST ||
	       c == ANA_EXCLUDED_UNOBSERVED;
}

static enum ana_confidence usual(const int64_t by[ANA_CONFIDENCES])
{
	int best = ANA_NONE;

	for (int k = ANA_LOW; k >= ANA_HIGH; k--)
		if (by[k] >= by[best] && by[k] > 0)
			best = k;
	return (enum ana_confidence)best;
}

static void fill(const struct view_summary *s, int c, struct view_finding *f)
{
	const struct ana_result *r = s->result;

	f->class = (enum ana_class)c;
	f->ns = r->classes[c];
	f->ppm = view_ppm(r->classes[c], r->gpu_ns);
	f->nano_usd = s->cost.classes[c];
	f->of_starved_ppm = ana_class_is_input(c) ? view_ppm(f->ns, s->starved_ns) : -1;
	for (int k = 0; k < ANA_CONFIDENCES; k++)
		f->by_confidence[k] = r->confidence[c][k];
	f->confidence = usual(f->by_confidence);
	f->basis = basis[c] ? basis[c] : "";
}

static int by_size(const void *a, const void *b)
{
	const struct view_finding *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (int)x->class - (int)y->class;
}

void view_findings_add(struct view_summary *s)
{
	s->finding = view_arena_array(&s->mem, ANA_CLASSES, sizeof(*s->finding));
	for (int c = 0; c < ANA_CLASSES; c++)
		if (s->result->classes[c] > 0 && (s->waste[c] || is_doubt(c) || c == ANA_COMM))
			fill(s, c, &s->finding[s->findings++]);
	qsort(s->finding, s->findings, sizeof(*s->finding), by_size);
	if (s->findings > FINDINGS_MAX)
		s->findings = FINDINGS_MAX;
}
