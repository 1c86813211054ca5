/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run's training would take and cost on other GPUs: an interval each, and what is true of
 * any GPU. The rules, in whole numbers (gpustarve-fit(1) says them in words):
 *
 *   work      each kind and precision of compute, the copies and the communication of the run take
 *             on GPU B between the least and the largest of their ratios of peaks (peaks.h): D, the
 *             change of the time in which the GPU worked, lies in [D0, D1]
 *   any loop  nothing runs before what it waits for, as fast GPUs as slow ones. So T', the training
 *             time, lies between T + min(D0, 0) and T + max(D1, 0), and is not below the work itself
 *   loader    one that sets the pace (check/scale.h) still sets it: a slower GPU hides in its
 *             wait. A step becomes longer, at most, by what the GPU takes beyond the fastest
 *             batches (but a hundredth), less what the trainer takes for one that is made
 *             (evidence/taking.h)
 *   any loader of workers makes no more batches than they can, however fast the GPU
 *   requests  inference holds the GPU and waits for them: that is in T, for they are paid for by
 *             requests, and come no faster for a faster GPU
 *   starved   the GPU's starved time of the run is not shorter on a faster GPU than T - work
 *
 * Everything outside of the training time (start-up, shutdown, what came once behind the last
 * kernel) is taken as it was. Prices are those
 * of the site's list and of the catalogue, each with its source and date.
 */
#ifndef FIT_PLACES_H
#define FIT_PLACES_H

#include <stdbool.h>
#include "cost/price_list.h"
#include "gpus.h"
#include "range.h"
#include "summary/summary.h"

enum fit_memory { /* has B room for what the run had in use at most? */
	FIT_MEMORY_UNKNOWN, /* the peak is not known, or within a fourteenth of the whole */
	FIT_MEMORY_FITS,
	FIT_MEMORY_SHORT
};

/* One GPU at one price, and what is known of the run there. */
struct fit_place {
	const struct fit_gpu *gpu; /* NULL: the table does not have it */
	const struct view_price *price; /* NULL: the run's own, as it was */
	bool own; /* the GPU of the run: all is as it was */
	const char *why; /* why nothing is known of its time; NULL: it is known */
	enum fit_memory memory;
	struct fit_range train_ns; /* of the job: each GPU's */
	struct fit_range step_ns; /* {0, 0}: the run has no steps */
	struct fit_range nano_usd; /* of the whole run */
	struct fit_range nano_usd_per_1k_steps; /* {0, 0}: no steps */
	bool has_usd;
};

struct fit {
	struct base_arena mem;
	struct fit_gpus table;
	struct view_prices prices;
	const char *model; /* the price model */
	const struct fit_gpu *own; /* what the table says of the run's GPU; NULL: nothing */
	const char *own_name;
	int64_t gpus;
	uint64_t steps;
	int64_t train_ns,
		work_ns; /* per GPU: training time, and of it the time in which it worked */
	int64_t requests_ns; /* of train_ns: it waited for requests, as inference does */
	int64_t outside_ns; /* per GPU: held, and not training */
	uint64_t memory_peak_bytes; /* the most of a GPU; 0: not known */
	uint64_t memory_total_bytes; /* of the run's GPUs; 0: not known */
	/* A GPU of any speed makes at most so many times the steps per second; 0: any. ppm */
	int64_t faster_most_ppm;
	/* One so many times as slow makes no step longer; 1e6: not known to be so for any */
	int64_t slower_free_ppm;
	struct fit_place *place; /* the cheapest first, by the middle; unknown ones last */
	size_t places;
	const struct fit_place *cheapest; /* NULL: the ranges do not tell */
};

/*
 * @model: of the prices; NULL: on-demand. @provider: only its prices; NULL: all. @f is to be freed
 * with _fini in any case. 0; -ENODATA: @why (static) says what the run lacks; -ENOMEM.
 */
int fit_make(struct fit *f, const struct view_summary *s, const char *model, const char *provider,
	     const char **why);
void fit_fini(struct fit *f);

void fit_text(const struct fit *f, const struct view_summary *s, FILE *out);
void fit_json(const struct fit *f, const struct view_summary *s, FILE *out);

#endif
