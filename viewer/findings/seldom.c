/* SPDX-License-Identifier: Apache-2.0 */
#include "seldom.h"

#include "analysis/ranks/straggler_test.h"
#include "base/units.h"

bool view_rank_is_seldom(const struct view_summary *s, size_t i)
{
	const struct ana_rank *r = &s->result->ranks.row[i];

	return r->culprit == ANA_CULPRIT_NONE && r->late_much &&
	       r->late_much < ANA_STRAGGLER_EVENTS_LEAST &&
	       base_ppm(r->caused_ns, view_working_ns(s)) >= ANA_STRAGGLER_EFFECT_PPM;
}
