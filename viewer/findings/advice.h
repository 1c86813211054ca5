/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a piece of advice is fitted to the run: each function may word action, brief and why anew, by
 * the loader's settings and by what samples showed, and says whether the advice holds here at all.
 * Private to advice*.c.
 */
#ifndef VIEW_ADVICE_H
#define VIEW_ADVICE_H

#include "summary/summary.h"

typedef bool view_advise(struct view_summary *s, struct view_advice *a);

struct view_rule {
	enum ana_class class;
	const char *id, *title;
	view_advise *fit; /* NULL: it always holds, as it stands */
	const char *brief, *action;
};

/* The number of workers (advice_loader.c); fills all of @a. */
view_advise view_advise_workers;

view_advise view_advise_unknown, view_advise_epoch, view_advise_h2d, view_advise_fetch,
	view_advise_prep, view_advise_worker_cpu, view_advise_pipeline, view_advise_handoff;
view_advise view_advise_sync, view_advise_lock, view_advise_host_cpu; /* advice_host.c */

/* " (train.py:88 step)": the line of a class's first place, in parentheses; "": none is known. */
const char *view_advice_line(struct view_summary *s, enum ana_class c);

#endif
