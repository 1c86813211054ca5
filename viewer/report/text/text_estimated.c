/* SPDX-License-Identifier: Apache-2.0 */
/* How what was not recorded was likely spent. */
#include "base/units.h"
#include "text_priv.h"

static void put_row(struct page *p, const char *name, int64_t ns,
		    const struct ana_estimated_part *within)
{
	const struct ana_estimated *e = &p->s->result->estimated;
	base_unit time, share, low, high;
	const char *from = "";

	base_duration(time, ns);
	base_percent(share, base_ppm(ns, e->of_ns));
	if (within)
		from = base_arena_printf(&p->mem, "%s to %s", base_duration(low, within->low_ns),
					 base_duration(high, within->high_ns));
	if (text_narrow(p))
		fprintf(p->f, "~ %-20s %9s %5s%%\n", name, time, share);
	else
		fprintf(p->f, "~ %-20s %12s %7s %%   %s\n", name, time, share, from);
}

void text_estimated(struct page *p)
{
	const struct ana_estimated *e = &p->s->result->estimated;
	base_unit of, metered;

	if (!e->of_ns)
		return;
	text_heading(p, "Sampled, not recorded: how unobserved time was likely spent");
	text_line(p, base_arena_printf(&p->mem,
				       "%s without kernels, of which NVML told of %s; in no other "
				       "number; nine times in ten the truth lies in the range",
				       base_duration(of, e->of_ns),
				       base_duration(metered, e->metered_ns)));
	put_row(p, "busy", e->busy.ns, &e->busy);
	for (int c = 0; c < ANA_CLASSES; c++)
		if (e->classes[c].high_ns)
			put_row(p, ana_class_names[c], e->classes[c].ns, &e->classes[c]);
	put_row(p, "not known", e->unknown_ns, NULL);
}
