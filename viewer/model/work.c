/* SPDX-License-Identifier: Apache-2.0 */
/* What compute consists of, in the order in which it is shown. */
#include <stdlib.h>
#include "base/minmax.h"
#include "model.h"

static int most_first(const void *left, const void *right)
{
	const struct view_work *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->place - b->place;
}

size_t view_work_rows(const struct view_summary *s, struct view_work rows[ANA_WORKS])
{
	const struct ana_work *w = &s->result->work;
	size_t n = 0;

	for (int i = 0; i < ANA_WORKS; i++)
		if (w->ns[i] || w->count[i])
			rows[n++] = (struct view_work){ i,
							facts_kinds[i / FACTS_PRECISIONS].name,
							facts_precisions[i % FACTS_PRECISIONS].name,
							w->ns[i],
							s->cost.work[i],
							w->count[i] };
	qsort(rows, n, sizeof(*rows), most_first);
	return n;
}

bool view_work_is_fp32(const struct view_work *w)
{
	return w->place == ANA_WORK(FACTS_KIND_MATMUL, FACTS_PRECISION_FP32) ||
	       w->place == ANA_WORK(FACTS_KIND_ATTENTION, FACTS_PRECISION_FP32) ||
	       w->place == ANA_WORK(FACTS_KIND_CONVOLUTION, FACTS_PRECISION_FP32);
}

const char *const view_phase_words[ANA_PHASES] = { [ANA_PHASE_STEPS] = "in steps",
						   [ANA_PHASE_EVALUATION] = "evaluating or logging",
						   [ANA_PHASE_OTHER] = "in neither",
						   [ANA_PHASE_MIXED] = "in several of these" };

const char *view_given_up_words(const struct ana_recording *r)
{
	static const char *const words[] = { "nothing", "calls", "calls and kernels",
					     "calls, kernels, copies and waits" };

	return words[base_min(r->deepest, 3)];
}
