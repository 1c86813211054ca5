/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of a job that were given different prices, which a report of the job cannot have all. */
#include <stdio.h>
#include <string.h>
#include "runjson.h"
#include "trace_priv.h"

#define TOLD 4

struct prices { /* each once, as they are met */
	char text[TOLD][sizeof(((struct view_run_price *)0)->price) + 2];
	size_t n;
	bool more;
};

static void tell(struct prices *all, const struct view_run_price *p)
{
	char text[sizeof(all->text[0])];

	snprintf(text, sizeof(text), "%s%s", p->price[0] ? "$" : "",
		 p->price[0]   ? p->price
		 : p->model[0] ? p->model
			       : "none");
	for (size_t i = 0; i < all->n; i++)
		if (!strcmp(all->text[i], text))
			return;
	if (all->n < TOLD)
		memcpy(all->text[all->n++], text, sizeof(text));
	else
		all->more = true;
}

void view_trace_note_prices(struct view_trace *t)
{
	struct prices all = { .n = 0 };
	char list[TOLD * (sizeof(all.text[0]) + 2)] = "";

	for (size_t i = 0; i < t->parts; i++) {
		struct view_run_price p;

		view_run_price_read(t->part[i].path, &p);
		tell(&all, &p);
	}
	for (size_t i = 0; i < all.n; i++) {
		strcat(list, i ? ", " : "");
		strcat(list, all.text[i]);
	}
	if (all.n > 1)
		view_trace_note(t,
				"its runs were given different prices (%s%s): all dollars here are "
				"at one, and gpustarve fleet counts each run at its own",
				list, all.more ? ", and others" : "");
}
