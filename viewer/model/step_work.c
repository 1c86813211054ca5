/* SPDX-License-Identifier: Apache-2.0 */
/* How much of its data a step is of: with gradients of several batches a step is of more. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/units.h"
#include "model.h"

#define ONE 1000000
#define ALIKE_PPM 10000 /* a step that does so much more or less is another step */
#define BOUND_PPM 100000 /* of a run that was killed, whose last steps and batches may be lost */

struct view_step_work view_step_work(const struct view_summary *s)
{
	const struct view_outcome *o = view_outcome_of(s, "samples");

	/* what all loaders gave may be far from what steps took */
	if (!o || o->bound == VIEW_OUTCOME_AT_MOST)
		return (struct view_step_work){ .steps = s->result->steps };
	return (struct view_step_work){
		.num = o->num, .den = o->den, .steps = s->result->steps, .bound = o->bound
	};
}

int64_t view_step_work_each(const struct view_step_work *w)
{
	__int128 of = (__int128)w->den * (__int128)w->steps, most = INT64_C(1) << 61;

	if (w->num <= 0 || of <= 0)
		return 0;
	__int128 each = base_div_even((__int128)w->num * ONE, of);
	return (int64_t)(each < most ? each : most);
}

bool view_step_works_differ(const struct view_step_work *a, const struct view_step_work *b)
{
	int64_t x = view_step_work_each(a), y = view_step_work_each(b), alike;

	if (!x || !y)
		return false;
	alike = a->bound || b->bound ? BOUND_PPM : ALIKE_PPM;
	/* the last step may have no end, and then does not count */
	alike += (int64_t)(ONE / a->steps + ONE / b->steps);
	return llabs(base_ppm(y - x, x)) > alike && llabs(base_ppm(x - y, y)) > alike;
}

const char *view_step_work_text(char out[VIEW_STEP_WORK_TEXT], const struct view_step_work *w)
{
	int64_t each = view_step_work_each(w);

	snprintf(out, VIEW_STEP_WORK_TEXT, "%" PRId64 ".%02" PRId64, each / ONE,
		 each % ONE / (ONE / 100));
	return out;
}
