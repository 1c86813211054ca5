/* SPDX-License-Identifier: Apache-2.0 */
/* What a run's loader did and needs: fills view_summary.loader. */
#ifndef VIEW_LOADER_H
#define VIEW_LOADER_H

#include "model/model.h"

/* From the result, its hotspots, and the dollars. */
void view_loader_add(struct view_summary *s);

/* The facts of the loader that most time was spent in; NULL: it told nothing. */
const struct ana_loader_facts *view_loader_facts(const struct view_summary *s);

/* Where the call stands that made it, if it told that and it is no library's. */
bool view_loader_made_at(const struct view_summary *s, struct view_hotspot *at);

/* Its workers; -1: not known. */
int64_t view_loader_workers(const struct view_summary *s);

/*
 * To keep up takes more workers, and these more cores: those here carry no more than there are, or
 * the first one and with little use. (False where nobody has so many.)
 */
bool view_loader_wants_cores(const struct view_summary *s);

/*
 * What the run would have been shorter by, over all GPUs, with steps of @then_ns; never more than
 * it waited. 0 without view_loader.has_need.
 */
int64_t view_loader_spared_ns(const struct view_summary *s, int64_t then_ns);

/* The part of one trainer and batch of a time summed over GPUs. */
int64_t view_loader_each_ns(const struct view_summary *s, int64_t all_ns);

/*
 * For how long GPUs would wait, at least, if each trainer made its batches itself: making one, less
 * what of a wait for one was hidden behind queued work. 0 without view_loader.has_need.
 */
int64_t view_loader_inline_ns(const struct view_summary *s);

/*
 * The step without its wait that workers are counted by (core/worker_count.h); *median: of the
 * steps, else their average.
 */
int64_t view_loader_pace_ns(const struct view_summary *s, bool *median);

/*
 * What took longest of fetching was a socket: what files say of bytes and the page cache is not
 * about it.
 */
bool view_loader_by_socket(const struct view_summary *s);

#endif
