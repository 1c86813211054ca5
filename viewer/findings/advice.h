/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a piece of advice is fitted to the run: each function may word action, brief and why anew, by
 * the loader's settings and by what samples showed, and says whether the advice holds here at all.
 * Private to advice*.c.
 */
#ifndef VIEW_ADVICE_H
#define VIEW_ADVICE_H

#include "model/model.h"

typedef bool view_advise(struct view_summary *s, struct view_advice *a);

/*
 * The number of workers and their cores (advice_workers.c), of other makers (advice_maker.c); fill
 * all of @a.
 */
view_advise view_advise_workers, view_advise_makers, view_advise_inline;

view_advise view_advise_unknown, view_advise_epoch, view_advise_h2d, view_advise_fetch,
	view_advise_pipeline;
view_advise view_advise_handoff; /* advice_handoff.c */
view_advise view_advise_worker_cpu, view_advise_host_cpu; /* advice_cpu.c */
view_advise view_advise_uneven, view_advise_comm; /* advice_rank.c */
view_advise view_advise_no_process, view_advise_idle_gpu; /* advice_idle.c */
view_advise view_advise_dispatch, view_advise_copy, view_advise_sync, view_advise_lock,
	view_advise_host_wait, view_advise_no_work, view_advise_warmup; /* advice_host.c */
view_advise view_advise_find_out; /* advice_host.c: would make a cause known, and saves nothing */

#define VIEW_BUSY_PPM 850000 /* of the workers' time: they do nothing else but make batches */

/*
 * More workers are advised, on the cores there are; or more workers and cores
 * (view_loader_wants_cores).
 */
bool view_advice_more_workers(const struct view_summary *s);
bool view_advice_more_cores(const struct view_summary *s);
/*
 * Batches are made sooner than they come from a worker: the main process can make them
 * (advice_handoff.c).
 */
bool view_advice_without_workers(const struct view_summary *s);
/* Workers want a CPU and get none; they wait for each other. */
bool view_advice_workers_starved(const struct view_summary *s);
bool view_advice_workers_serialised(const struct view_summary *s);

/* Time and dollars of a class, with what others waited for ranks that were late by it. */
int64_t view_advice_ns(const struct view_summary *s, enum ana_class c);
int64_t view_advice_nano_usd(const struct view_summary *s, enum ana_class c);

/* Whether a rank that leads (seldom.h) is late by it. */
bool view_advice_is_late(const struct view_summary *s, enum ana_class c);

/*
 * "; for 30.1 s of it others waited inside collectives for rank 2, which came late ..."; "": none
 * was.
 */
const char *view_advice_late(struct view_summary *s, enum ana_class c);

/* ", on rank 2": where most of the class is others' waiting for ranks that are known; "". */
const char *view_advice_for_rank(struct view_summary *s, enum ana_class c);

/* " (train.py:88 step)": the line of a class's first hotspot, in parentheses; "": none is known. */
const char *view_advice_line(struct view_summary *s, enum ana_class c);

#endif
