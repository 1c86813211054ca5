/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of saves, loads, processes and GPUs of a run, as LEDGER 9 needs it. */
#ifndef VIEW_SAVE_H
#define VIEW_SAVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "analysis/ledger.h"
#include "analysis/time/span.h"
#include "live/checkpoints.h"

#define SAVES_EXTENT_MAX (INT64_C(1) << 56) /* longer than that is no run */

struct saves_process {
	uint32_t part; /* its run, of a job's */
	int64_t start_ns, end_ns;
	bool holds; /* a GPU */
	bool ordered; /* it said that it ended, and with status 0 as far as that is known */
	bool failed; /* not ordered, and no signal ended it: it did so by itself */
	bool runs; /* nobody saw its end, and it may well go on */
	bool told; /* it said that it ended: all that it gave its GPUs is known */
	int64_t word_ns; /* when it was last heard of */
};

struct saves_gpu {
	const struct ana_life *life; /* what held is of, where that may be of several runs */
	size_t lives;
	const struct ana_span *held; /* by processes; merged, in order */
	size_t helds;
	int64_t held_ns; /* with what no process held */
	int64_t submitted_ns; /* when its last kernel was; 0: not known, or it had none */
	int64_t last_end_ns; /* of its last operation; 0: it had none */
};

struct saves_input {
	const struct live_save *save; /* by start_ns */
	size_t saves;
	const struct live_load *load;
	size_t loads;
	const struct saves_process *process;
	size_t processes;
	const struct saves_gpu *gpu;
	size_t gpus;
	/* By what is no save that is known (LEDGER 9). */
	const struct live_written *written;
	size_t writtens;
	uint64_t memory_bytes; /* the most in use of one GPU's; 0: not known */
	bool over; /* nothing of the run goes on */
};

#endif
