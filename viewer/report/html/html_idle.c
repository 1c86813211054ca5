/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs that did nothing, in the verdict: all of them, or some beside others that worked. */
#include "findings/unused.h"
#include "findings/vacant_words.h"
#include "html_priv.h"

/* "3 of 4 GPUs idle", beside what the others did. */
void html_idle_badge(struct html *h)
{
	struct view_unused u = view_unused_gpus(h->s);

	if (!(u.no_process + u.no_work) || view_all_unused(h->s))
		return;
	html_put(h, " <span class=\"badge warn\">");
	html_count(h, u.no_process + u.no_work, "/ledger/unused/gpus");
	html_put(h, " of ");
	html_count(h, h->s->result->gpus, "#/gpus");
	html_put(h, " GPUs idle</span>");
}

static void put_unused_cost(struct html *h, const struct view_unused *u)
{
	if (h->s->cost.known)
		html_usd(h, u->nano_usd, "/ledger/unused/usd");
	else
		html_ns(h, u->ns, "/ledger/unused/ns");
}

/* Of a run in which GPUs did nothing for half of the time or more. */
void html_idle_headline(struct html *h)
{
	struct view_unused u = view_unused_gpus(h->s);
	bool one = u.no_process + u.no_work == 1;

	html_put(h, "<h1><span class=\"bad\">");
	put_unused_cost(h, &u);
	html_put(h, "</span> of ");
	html_whole(h);
	html_put(h, " went to ");
	html_put(h, one ? "a GPU" : "GPUs");
	html_put(h, u.no_work && u.no_process ? " that no process used or on which nothing ran"
		    : u.no_work		      ? " on which nothing ran"
					      : " that no process used");
	html_put(h, ".</h1>\n");
}

/* GPUs that did nothing, beside others that worked. */
void html_idle(struct html *h)
{
	struct view_unused u = view_unused_gpus(h->s);

	if (!(u.no_process + u.no_work))
		return;
	html_put(h, "<div><dt>Idle</dt><dd><b>");
	put_unused_cost(h, &u);
	html_put(h, "</b> ");
	if (u.no_process) {
		html_put(h, "No process used ");
		html_count(h, u.no_process, "/ledger/unused/no_process_gpus");
	}
	if (u.no_work) {
		html_put(h, u.no_process ? ", and nothing ran on " : "Nothing ran on ");
		html_count(h, u.no_work, "/ledger/unused/no_work_gpus");
	}
	html_put(h, " of ");
	html_count(h, h->s->result->gpus, "#/gpus");
	html_put(h, h->s->result->gpus == 1 ? " GPU." : " GPUs.");
	if (u.no_work)
		html_put(h, " What is held without any work counts as start-up, and not as waste.");
	html_put(h, "</dd></div>\n");
}

static void put_amount(struct html *h, const struct view_vacant *v)
{
	const char *part = ana_vacant_names[v->part];

	if (h->s->cost.known)
		html_usd_closed(h, v->nano_usd, v->quanta, "/ledger/no_process/%s_usd", part);
	else
		html_ns(h, v->ns, "/ledger/no_process/%s_ns", part);
}

static void put_gaps(struct html *h)
{
	const struct ana_vacancy *v = &h->s->result->vacancy;

	html_put(h, " (");
	html_count(h, (uint64_t)v->gaps, "/ledger/no_process/gaps");
	html_put(h, v->gaps == 1 ? " gap of " : " gaps, the longest ");
	html_ns(h, v->longest_ns, "/ledger/no_process/longest_ns");
	html_put(h, ")");
}

static void put_parts(struct html *h)
{
	struct view_vacant part[ANA_VACANTS];
	size_t n = view_vacants(h->s, part);

	for (size_t i = 0; i < n; i++) {
		html_put(h, i ? ", " : " ");
		put_amount(h, &part[i]);
		html_put(h, " ");
		html_put(h, view_vacant_words[part[i].part]);
		if (part[i].part == ANA_VACANT_BETWEEN)
			put_gaps(h);
	}
	html_put(h, ".");
}

/* When GPUs that the job had were used by nobody. */
void html_vacancy(struct html *h)
{
	const struct ana_result *r = h->s->result;
	bool told = view_vacancy_told(h->s);

	if (!told && !r->vacancy.unseen_ns)
		return;
	html_put(h, "<div><dt>No process</dt><dd>");
	if (told) {
		html_put(h, "<b>");
		if (h->s->cost.known)
			html_usd(h, h->s->cost.classes[ANA_EXCLUDED_NO_PROCESS],
				 "/ledger/classes/%s/usd",
				 ana_class_names[ANA_EXCLUDED_NO_PROCESS]);
		else
			html_ns(h, r->classes[ANA_EXCLUDED_NO_PROCESS], "/ledger/classes/%s/ns",
				ana_class_names[ANA_EXCLUDED_NO_PROCESS]);
		html_put(h, "</b> The job had GPUs, and no process used them:");
		put_parts(h);
	}
	if (r->vacancy.unseen_ns) {
		html_put(h, told ? " For " : "<b>For ");
		html_ns(h, r->vacancy.unseen_ns, "/ledger/no_process/unseen_ns");
		html_put(h, told ? "" : "</b>");
		html_put(h, " of GPU time it is not known whether anybody used the GPUs: tasks of "
			    "the job were not recorded.");
	}
	html_put(h, "</dd></div>\n");
}
