/* SPDX-License-Identifier: Apache-2.0 */
/* The page: its sections in order, then what stands around them. */
#include "html.h"

#include <stdlib.h>
#include "html_priv.h"

static void put_sections(struct html *h)
{
	html_verdict(h);
	html_advice(h);
	html_ledger(h);
	html_findings(h);
	html_timelines(h);
	html_gpus(h);
	html_steps(h);
	html_loader(h);
	html_copies(h);
	html_flame(h);
	html_ranks(h);
	html_cost(h);
	html_quality(h);
	html_run(h);
	html_method(h);
}

/* The sections are written first: the list at the top names those that there are. */
void view_html_write(const struct view_summary *s, FILE *f)
{
	struct html h = { .s = s };
	char *text = NULL;
	size_t len = 0;

	h.f = open_memstream(&text, &len);
	if (!h.f)
		return;
	put_sections(&h);
	if (!fclose(h.f)) {
		h.f = f;
		html_head(&h);
		fwrite(text, 1, len, f);
		html_foot(&h);
	}
	free(text);
	view_arena_fini(&h.mem);
}
