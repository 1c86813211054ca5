/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --alert, --exec and --budget of `gpustarve run`: what is watched while the command runs, with or
 * without a terminal. Nothing here ends, signals or waits for anything. One thread.
 */
#ifndef VIEW_RUN_ALERTS_H
#define VIEW_RUN_ALERTS_H

#include <stdbool.h>
#include "follow.h"
#include "live/hook.h"
#include "serving.h"

struct view_alerts { /* zero at first */
	struct live_watch watch;
	const char *budget; /* as given; NULL: none */
	bool dollars; /* a condition speaks of them */
	bool told_unpriced, told_unwritten;
	const char *last; /* the condition that fired last, for the status line; NULL: none yet */
	bool quiet;
	struct view_serving serving;
};

/* Options as they come. False: wrong, which has been said. Texts must stay. */
bool view_alerts_condition(struct view_alerts *a, const char *text);
bool view_alerts_exec(struct view_alerts *a, const char *command); /* of the alert before it */
bool view_alerts_budget(struct view_alerts *a, const char *usd);

static inline bool view_alerts_any(const struct view_alerts *a)
{
	return a->watch.entries > 0;
}

/* @dir: the run directory, @id: the run. Reads what has fired already. */
void view_alerts_begin(struct view_alerts *a, const char *dir);

/* Looks at the run as it was followed last. */
void view_alerts_look(struct view_alerts *a, const struct view_follow *f, const char *id);

#endif
