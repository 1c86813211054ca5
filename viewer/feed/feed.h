/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program's loader can do, measured without a GPU: the time that who makes batches takes for
 * one, whatever the program does with them in between, and what that comes to at a GPU's pace.
 *
 *	feed_read.c	a recording (GPUSTARVE_LOADER) to the time of each batch and the lines it went to
 *	feed_pace.c	so many workers at a step of a given length: what the GPU would wait
 *	feed_text.c, feed_json.c	what is shown
 *
 * Times are nanoseconds. One thread.
 */
#ifndef FEED_H
#define FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "base/arena.h"
#include "core/worker_count.h"
#include "model/model.h"

struct feed_line { /* where making batches takes its time */
	struct view_hotspot where;
	int64_t ns;
	int64_t leaf_lead; /* of the candidate for the innermost frame, by majority vote */
};

struct feed_loader { /* all iterators of the same settings */
	const char *kind, *dataset; /* torch, queue; class of the data set, NULL: not known */
	/* settings; -1: not known. workers 0: the main process makes them */
	int64_t workers, prefetch, batch;
	uint32_t makers; /* threads that made batches */
	/* each batch that counts, in order: what its maker took, less waits for a CPU */
	int64_t *made_ns;
	size_t made, made_room;
	uint64_t warm; /* batches left out: the first of each maker, where it made several */
	/* of made_ns; with 95 % between the two, 0: too few to tell */
	int64_t mean_ns, low_ns, high_ns;
	int64_t median_ns, p95_ns;
	int64_t cpu_ns, delay_ns; /* a batch's, on average; delay: it could run and had no CPU */
	int64_t total_ns; /* of made_ns */
	struct feed_line *line; /* most time first */
	size_t lines;
	int64_t line_ns; /* of total_ns, with samples */
	uint64_t samples;
};

struct feed {
	struct base_arena mem; /* of all texts and arrays here */
	struct feed_loader *loader; /* most time in making first */
	size_t loaders;
	int64_t cores; /* that this process may use; 0: not known */
	uint64_t processes; /* that were recorded */
};

/*
 * From the recording in folder @dir. 0; -ENODATA: no batch was seen; other negative errno. Free it
 * with feed_fini whatever is returned.
 */
int feed_read(struct feed *f, const char *dir);
void feed_fini(struct feed *f);

/* How many workers one step of @step_ns needs; false: no batch was made. */
bool feed_need(const struct feed *f, const struct feed_loader *l, int64_t step_ns,
	       struct view_worker_count *n);

struct feed_pace {
	int64_t step_ns; /* from batch to batch, on average */
	int64_t wait_ppm; /* of it, waiting for a batch */
};

/*
 * At a step of @step_ns (0: takes no time) with so many workers: the batches as they were measured,
 * in their order, workers by turns and so many of each ahead, and no more of them at a time than
 * the cores beside the main process's carry.
 */
void feed_pace(const struct feed *f, const struct feed_loader *l, int64_t workers, int64_t step_ns,
	       struct feed_pace *out);

/*
 * Of each loader; @step_ns 0: none was given. @from: "the median step without its waits in a.gst",
 * NULL.
 */
void feed_text(struct feed *f, int64_t step_ns, const char *from, FILE *out);
void feed_json(struct feed *f, int64_t step_ns, FILE *out);

#endif
