/* SPDX-License-Identifier: Apache-2.0 */
/* Steps. */
#include "html_priv.h"

void html_steps(struct html *h)
{
	static const char *const from[] = { "", "step ranges", "optimizer ranges",
					    "the period of the kernel sequence" };
	const struct view_summary *s = h->s;
	const struct ana_result *r = s->result;

	if (!r->steps)
		return;
	html_section(h, "steps", "Steps");
	html_put(h, "<p>");
	html_count(h, r->steps, "/steps/count");
	fprintf(h->f, " steps, told by %s", from[r->step_source]);
	if (r->step_median_ns >= 0) {
		html_put(h, "; the median took ");
		html_ns(h, r->step_median_ns, "/steps/median_ns");
		html_put(h, ", and 95 of 100 took at most ");
		html_ns(h, r->step_p95_ns, "/steps/p95_ns");
	}
	if (s->step_nano_usd >= 0) {
		html_put(h, "; each cost ");
		html_price(h, s->step_nano_usd, "/cost/usd_per_step");
	}
	html_put(h, ".</p>\n");
	html_section_end(h);
}
