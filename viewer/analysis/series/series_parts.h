/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How series are gathered during the walks. Memory, whatever the run: 20 MB of timeline buckets,
 * 4 MB of steps, 60 KB of cells per thread and 10 MB of stacks; each part's room is laid out before
 * the walks, by how many of them there are. Private to the engine.
 */
#ifndef ANALYSIS_SERIES_PARTS_H
#define ANALYSIS_SERIES_PARTS_H

#include <stdbool.h>
#include "analysis/observer.h"
#include "analysis/map.h"
#include "series.h"
#include "analysis/time/timeline.h"
#include "wire/evidence.h"
#include "wire/strtab.h"

/* Laid out before the walks; read by all of them. */
struct ana_series_plan {
	int64_t start, end; /* the axis */
	int64_t cell_ns;
	size_t cells;
	size_t fine; /* buckets of a timeline while the walks run in one that is drawn */
	size_t step_buckets; /* per process, a power of 2 */
	uint32_t nodes; /* of flames, per component */
};

void ana_series_plan(struct ana_series_plan *p, const struct ana_result *r, size_t sources,
		     size_t components, size_t buckets);

/* ---- steps of one process -------------------------------------------------------------------- */

struct ana_slowest_steps { /* the slowest, slowest first */
	struct ana_step step[ANA_SERIES_OUTLIERS];
	size_t count;
};
void ana_slowest_steps_add(struct ana_slowest_steps *s, const struct ana_step *step);

struct ana_step_gather {
	struct ana_step_series line; /* owned */
	size_t room, max;
	uint64_t histogram[ANA_HISTOGRAM_BINS];
	struct ana_slowest_steps slow;
};
void ana_step_gather_init(struct ana_step_gather *g, uint32_t process, size_t max);
int ana_step_gather_add(struct ana_step_gather *g, const struct ana_step *s); /* 0 or -ENOMEM */
void ana_step_gather_fini(struct ana_step_gather *g);

/* ---- loaders of the processes of one walk ---------------------------------------------------- */

struct ana_last_sample { /* of a thread, however long ago */
	bool has_last;
	struct wire_sample last;
};

#define ANA_READY_MAX 16u

struct ana_ready { /* batches made and not taken, of the iterators of a process open at once */
	struct ana_ready_row {
		bool used;
		uint32_t loader;
		int64_t count;
	} row[ANA_READY_MAX];
	size_t next;
};

struct ana_worker_watch { /* of one process */
	struct ana_map thread_of; /* by pid and tid */
	struct ana_last_sample *thread;
	uint32_t threads, room;
	struct ana_ready ready;
};

struct ana_loader_gather {
	int64_t start, cell_ns;
	struct ana_loader_cell *cell; /* ready: what it changes by; owned */
	size_t cells;
	bool any, has_states, has_ready;
};
int ana_loader_gather_init(struct ana_loader_gather *g, const struct ana_series_plan *p);
void ana_loader_gather_fini(struct ana_loader_gather *g);
void ana_loader_gather_sample(struct ana_loader_gather *g, struct ana_last_sample *t,
			      const struct wire_sample *s);
void ana_loader_gather_batch(struct ana_loader_gather *g, struct ana_ready *ready,
			     const struct ana_loader_facts *of, const struct wire_batch *b);
/* Sums; the order does not matter. */
void ana_loader_gather_merge(struct ana_loader_gather *to, const struct ana_loader_gather *from);

/* ---- stacks of the processes of one component ------------------------------------------------ */

struct ana_flame_grow { /* parent UINT32_MAX: a root */
	uint32_t parent, frame;
	int64_t self_ns;
};
struct ana_flame_root {
	uint32_t process, node;
	uint8_t role;
	struct ana_map leaf_of; /* by class and stack */
};
struct ana_flames {
	uint32_t max; /* nodes but for "(other)", names too */
	char **name;
	uint32_t names, name_room;
	struct ana_map name_of; /* by hash */
	struct ana_flame_grow *node;
	uint32_t nodes, node_room;
	struct ana_map node_of; /* by parent and frame */
	struct ana_flame_root *root;
	uint32_t roots, root_room;
	struct ana_map root_of; /* by process and role */
	uint32_t leaves; /* remembered in leaf_of, in all */
	int err;
};
void ana_flames_init(struct ana_flames *f, uint32_t max);
void ana_flames_fini(struct ana_flames *f);
/* Books a share of the time of a class that samples tell of: input.* and host.* only. */
void ana_flames_add(struct ana_flames *f, uint32_t process, const struct wire_strtab *strings,
		    enum ana_class c, const struct wire_sample *w, int64_t ns);
/* Puts those of all components together. 0 or -ENOMEM. */
int ana_flames_finish(struct ana_flames *f, size_t count, struct ana_series *out);

/* ---- all together ---------------------------------------------------------------------------- */

struct ana_coarse { /* the buckets of a GPU's timeline that are drawn */
	int64_t start, end, width;
	int64_t *longest_ns; /* borrowed from the result */
	int64_t *at, at_start, at_end; /* of longest_ns: the bucket that the last gap lay in */
};

struct ana_series_parts {
	struct ana_series_plan plan;
	struct ana_series *out; /* borrowed */
	struct ana_coarse *coarse; /* per GPU */
	struct ana_step_gather **steps; /* per source, NULL: it has none; owned */
	struct ana_worker_watch **watch; /* the same */
	size_t sources;
	struct ana_flames *flames; /* per component */
	size_t components;
	struct ana_loader_gather loaders; /* of all */
};

/* Gives the result its series, with room for the parts. 0 or -ENOMEM; fini in any case. */
int ana_series_begin(struct ana_series_parts *x, struct ana_result *r, size_t sources,
		     size_t components, size_t buckets);
/* After everything else of the result is known. 0 or -ENOMEM. */
int ana_series_finish(struct ana_series_parts *x, struct ana_result *r);
void ana_series_parts_fini(struct ana_series_parts *x);

/*
 * series_walk.c: looks on while one component is walked. Everything it writes to is its own until
 * it is merged, or belongs to a process or a GPU of that component.
 */
struct ana_series_walk {
	struct ana_observer observer; /* for ana_walk_init */
	struct ana_series_parts *parts;
	struct ana_flames *flames;
	struct ana_loader_gather loaders;
};

/* 0 or -ENOMEM; fini in any case. */
int ana_series_walk_init(struct ana_series_walk *x, struct ana_series_parts *parts,
			 uint32_t component);
/* A GPU is walked; takes its longest gaps over from @top. */
void ana_series_walk_gaps(struct ana_series_walk *x, uint32_t gpu, struct ana_top *top);
/* All is walked. Sums into what all components share: one call at a time. */
void ana_series_walk_merge(struct ana_series_walk *x);
void ana_series_walk_fini(struct ana_series_walk *x);

/* Windows around the longest gaps; makes the timelines coarse. 0 or -ENOMEM. */
int ana_series_zoom(struct ana_result *r);

#endif
