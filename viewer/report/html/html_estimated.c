/* SPDX-License-Identifier: Apache-2.0 */
/* How what was not recorded was likely spent: an estimate, drawn and named as one. */
#include "html_priv.h"

static void put_share(struct html *h, int64_t ns, const char *key)
{
	html_pct(h, base_ppm(ns, h->s->result->estimated.of_ns),
		 "/ledger/estimated/%s %% /ledger/estimated/of_ns", key);
}

static void put_part(struct html *h, const struct ana_estimated_part *p, const char *key)
{
	HTML_NUMBER(h, html_ns(h, p->ns, "/ledger/estimated/%s/ns", key));
	HTML_NUMBER(h, html_pct(h, base_ppm(p->ns, h->s->result->estimated.of_ns),
				"/ledger/estimated/%s/ns %% /ledger/estimated/of_ns", key));
	HTML_NUMBER(h, html_ns(h, p->low_ns, "/ledger/estimated/%s/low_ns", key));
	HTML_NUMBER(h, html_ns(h, p->high_ns, "/ledger/estimated/%s/high_ns", key));
}

static void put_classes(struct html *h)
{
	const struct ana_estimated *e = &h->s->result->estimated;
	char key[64];

	for (int c = 0; c < ANA_CLASSES; c++) {
		if (!e->classes[c].high_ns)
			continue;
		snprintf(key, sizeof(key), "classes/%s", ana_class_names[c]);
		html_put(h, "<tr>");
		HTML_ROW(h, html_class(h, (enum ana_class)c));
		put_part(h, &e->classes[c], key);
		html_put(h, "</tr>\n");
	}
}

static void put_unknown(struct html *h)
{
	const struct ana_estimated *e = &h->s->result->estimated;

	html_put(h, "<tr>");
	HTML_ROW(h, html_put(h, "not known"));
	HTML_NUMBER(h, html_ns(h, e->unknown_ns, "/ledger/estimated/unknown_ns"));
	HTML_NUMBER(h, put_share(h, e->unknown_ns, "unknown_ns"));
	html_put(h, "<td></td><td></td></tr>\n");
}

void html_estimated(struct html *h)
{
	const struct ana_estimated *e = &h->s->result->estimated;

	if (!e->of_ns)
		return;
	html_put(h, "<div class=\"sampled\">\n<p>Sampled, not recorded: how ");
	html_ns(h, e->of_ns, "/ledger/estimated/of_ns");
	html_put(
		h,
		" of unobserved time were likely spent, in which kernels were not recorded. NVML told how busy the GPU was in ");
	html_ns(h, e->metered_ns, "/ledger/estimated/metered_ns");
	html_put(h,
		 " of it; waits, ranges and samples of threads tell the rest, by what they came to "
		 "while all was recorded. The truth lies from the least to the most nine times in "
		 "ten. None of this is in any other number.</p>\n");
	html_table(h, "Time that was not recorded, as sampled");
	HTML_HEADS(h, "Class", "n:Likely", "n:Of that time", "n:Least", "n:Most");
	html_put(h, "<tr>");
	HTML_ROW(h, html_put(h, "busy"));
	put_part(h, &e->busy, "busy");
	html_put(h, "</tr>\n");
	put_classes(h);
	put_unknown(h);
	html_table_end(h);
	html_put(h, "</div>\n");
}
