/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace tells of saves, of loads and of who ended how, as insurance.h wants it. */
#ifndef VIEW_SAVES_READ_H
#define VIEW_SAVES_READ_H

#include "analysis/ledger.h"
#include "insurance.h"
#include "trace/trace.h"

#define SAVES_MAX 16384u /* of a run; one that tells of more has no insurance */
#define SAVES_WRITTEN_MAX 1024u /* times; what comes after is of the last one */
#define SAVES_LOADS_MAX 1024u /* the first ones; what later ones opened is not known */

struct saves_facts { /* owns its arrays; texts are the trace's */
	struct saves_input in;
	struct live_save *save;
	struct live_load *load;
	struct saves_process *process;
	struct saves_gpu *gpu;
	struct live_written *written;
	uint64_t untold;
	bool too_many;
};

/* 0 or -ENOMEM. @r is of @t. Free with saves_facts_fini. */
int saves_facts_read(struct saves_facts *f, const struct view_trace *t, const struct ana_result *r);
void saves_facts_fini(struct saves_facts *f);

/*
 * Reads and insures. 0 and @out; 1: the trace tells nothing of it (an import, no GPU was held by a
 * process, too much to be true); or -ENOMEM.
 */
int saves_of_run(struct view_insurance *out, const struct view_trace *t,
		 const struct ana_result *r);

#endif
