/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of the ranks of a run side by side: which collectives of their GPUs were the same,
 * who came late to them, what that rank was doing meanwhile, and whose fault that makes it.
 *
 * A rank is a GPU here: one row per GPU that ran collectives. docs/CAUSES.md has the rules. Part of
 * the result, which owns it; nothing of it is there (rows 0) in runs of one GPU, or without
 * collectives.
 */
#ifndef ANALYSIS_RANKS_H
#define ANALYSIS_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "class.h"

enum ana_culprit {
	ANA_CULPRIT_NONE, /* what others waited for it is chance, or too little to say */
	ANA_CULPRIT_STABLE, /* this rank, again and again */
	ANA_CULPRIT_ROTATING, /* it was late at times, and at other times others were */
	ANA_CULPRITS
};
extern const char *const ana_culprit_names[ANA_CULPRITS]; /* none stable rotating */

enum ana_rank_state {
	ANA_RANK_ENDED, /* with the others */
	ANA_RANK_DEAD, /* its process ended, or was lost, while others went on */
	ANA_RANK_HUNG, /* it lived on and came to no further collective, for which others waited */
	ANA_RANK_STATES
};
extern const char *const ana_rank_state_names[ANA_RANK_STATES]; /* ended dead hung */

struct ana_rank {
	uint32_t gpu; /* in ana_result.gpu */
	uint32_t process; /* in ana_result.process: the one with most collectives on it */
	bool has_rank;
	int32_t rank;
	uint64_t collectives; /* that its GPU ran, point-to-point left out */
	uint64_t matched; /* ... of these, found on the other GPUs, too */
	uint64_t late; /* ... to which it came last */
	uint64_t late_much; /* ... by so much that it counts: ana_ranks.late_ns */
	int64_t caused_ns; /* GPU time that others waited for it, exposed; sum of causes */
	int64_t causes[ANA_CLASSES]; /* of that, by what it did meanwhile */
	int64_t waited_ns; /* its own comm.skew */
	int64_t lateness_median_ns; /* over the matched ones, against the median rank */
	enum ana_culprit culprit;
	int64_t straggler_ppm; /* slower (> 0) in the same kernels than the median of the others */
	bool has_straggler; /* the line above is known */
	bool straggler; /* ... and enough to say so */
	enum ana_rank_state state;
	int64_t last_ns; /* end of its last collective, send or receive, on its own clock */
	int64_t ended_ns; /* of its process, on its own clock */
	/*
	 * A dead one: so many others had work under way, then and ever after, that never ended; so
	 * long their GPUs were held from then on. Of these others, whose row, and their own part.
	 */
	uint64_t left;
	int64_t left_ns;
	uint32_t behind; /* one more than the row; 0: none */
	int64_t behind_ns;
	char *last_name; /* of that kernel; NULL: not known */
	/*
	 * where most of the time of its top cause went, by its own samples; NULL and 0: not known
	 */
	enum ana_class top_cause; /* of causes; ANA_CLASSES: there is none */
	char *file, *function;
	uint32_t line;
	uint8_t role; /* enum wire_role */
};

struct ana_clock { /* of one host, against the first rank's */
	char *host;
	int64_t offset_ns; /* to be added to its stamps, at the middle of what was matched */
	int64_t drift_ppb; /* how much faster the first host's clock runs */
	/* 95 % of the common ends agree at least so well after that; -1: none */
	int64_t residual_ns;
	uint64_t points; /* collectives it was found from; 0: it stands as it is */
	bool aligned; /* false: nothing of this host could be matched to others' */
};

struct ana_group { /* a communicator, as far as records tell */
	char *name; /* of the kernel that most of its collectives were */
	uint32_t *member; /* in ana_ranks.row, ascending */
	size_t members;
	bool told; /* by NCCL (its calls' ranges); else learnt of what ended together */
	uint64_t matched;
	/* collectives of members without a counterpart, or with an impossible one */
	uint64_t refused;
	int64_t waited_ns; /* comm.skew within it */
};

struct ana_ranks {
	struct ana_rank *row; /* by rank, then GPU */
	size_t rows;
	struct ana_clock *clock; /* per host; one host: one entry with offset 0 */
	size_t clocks;
	struct ana_group *group; /* most collectives first */
	size_t groups;
	uint64_t matched; /* collectives, each once */
	uint64_t refused; /* kernels: their time stays comm */
	int64_t refused_ns; /* exposed */
	uint64_t p2p; /* point-to-point kernels */
	uint64_t p2p_matched; /* ... sends and receives of which the other side was found, or all */
	int64_t late_ns; /* what counts as much: 1 % of a step */
	int64_t step_ns; /* the step it was taken from */
	int64_t *pair_ns; /* [waiting row * rows + late row]; NULL: more than ANA_PAIR_ROWS rows */
};

#define ANA_PAIR_ROWS 256u

/* Something of them was matched: what ranks waited for each other is told, as far as that goes. */
static inline bool ana_ranks_compared(const struct ana_ranks *r)
{
	return r->matched || r->p2p_matched;
}

void ana_ranks_fini(struct ana_ranks *r);

#endif
