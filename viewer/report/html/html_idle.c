/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs that did nothing, in the verdict: all of them, or some beside others that worked. */
#include "findings/unused.h"
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
