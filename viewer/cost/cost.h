/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run cost. Amounts and prices are nano-dollars (amount.h). A price without a source and a
 * date does not exist.
 */
#ifndef VIEW_COST_H
#define VIEW_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "amount.h"
#include "analysis/ledger.h"
#include "base/amounts.h"

struct view_rate { /* of one GPU of the run */
	bool known;
	int64_t nano_usd_per_hour; /* of what the run holds: the fraction below applied */
	int64_t list_nano_usd_per_hour;
	uint32_t fraction_num, fraction_den; /* 1/1, or MIG slices and the share of a shared GPU */
	char gpu[128];
	char price_model[16]; /* on-demand, spot, reserved, owned; not known: as asked for, or "" */
	char label[96]; /* what is priced: "aws p5.48xlarge us-east-1", "--price" */
	char source[160]; /* who says so */
	char date[32];
	bool assumed; /* the provider is not known: the cheapest price known for this GPU */
	bool guide; /* an order of magnitude out of an article */
};

struct view_cost {
	struct view_rate *rate; /* per GPU of the result, same order */
	size_t gpus;
	bool known; /* every GPU has a price */
	/* [gpu][class] nano-dollars, each rounded half to even */
	int64_t (*gpu_class)[ANA_CLASSES];
	int64_t classes[ANA_CLASSES]; /* sums of these */
	/* of what compute consists of; each rounded by itself per GPU */
	int64_t work[ANA_WORKS];
	/* [gpu][cause] what comm.skew costs by cause; sums to gpu_class[gpu][ANA_COMM_SKEW] */
	int64_t (*gpu_skew)[ANA_CLASSES];
	int64_t skew[ANA_CLASSES]; /* sums of these */
	/* of excluded.no_process: each GPU's dollars split as its time is, sums of these */
	int64_t vacant[ANA_VACANTS];
	int64_t total, wasted, starved; /* the latter two with their causes of comm.skew */
	int64_t quanta[ANA_CLASSES]; /* view_cost_close's, by which classes are shown everywhere */
};

/* Of the same GPU at the same price from the same source: one line of every list. */
bool view_rate_same(const struct view_rate *a, const struct view_rate *b);

/*
 * Its fraction is one that a reader sees through, as of MIG slices: "2/7". A GPU's share over time
 * has a million in it, and is told in percent.
 */
bool view_rate_in_parts(const struct view_rate *r);
/* What is said behind a fraction: MIG slices, or what others who used the GPU left. */
#define VIEW_RATE_PART_WORDS ", its part of a shared GPU"

/* Fills @c from the result and per-GPU rates (takes ownership of @rate). Free with _fini. */
int view_cost_compute(struct view_cost *c, const struct ana_result *r, struct view_rate *rate,
		      const bool waste[ANA_CLASSES]);
void view_cost_fini(struct view_cost *c);

/*
 * How sums of the run are shown: all in the scale of what it cost, so that they can be held against
 * each other: "0.140 ¢" beside "0.554 ¢". Rates and projections have a scale of their own.
 */
struct base_scale view_cost_scale(const struct view_cost *c);
/*
 * Quanta of an amount: of what a class cost those that close the ledger, so that the same amount is
 * the same text wherever it stands; half to even else.
 */
int64_t view_cost_quanta(const struct view_cost *c, int64_t nano_usd);
const char *view_cost_text(char *out, const struct view_cost *c, int64_t nano_usd);

/*
 * Quanta of the classes that sum to the total's; where no time counts under another class's causes,
 * those that starved also to what is shown as starved, and those of waste to what is shown as
 * wasted.
 */
void view_cost_close(const struct view_cost *c, const bool waste[ANA_CLASSES],
		     int64_t quanta[ANA_CLASSES]);
/*
 * The same of their time: tenths of a percent of what was held, each by itself in a document whose
 * classes are not all of that.
 */
void view_shares_close(const struct ana_result *r, const bool waste[ANA_CLASSES],
		       int64_t quanta[ANA_CLASSES]);

#endif
