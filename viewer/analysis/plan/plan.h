/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known before any event is read: which processes (streams) and GPUs a run has, which
 * belong together, how long each was held, and when nobody watched. Made once, then read by all
 * threads; each component is walked on its own.
 */
#ifndef ANALYSIS_PLAN_H
#define ANALYSIS_PLAN_H

#include "analysis/ledger.h"
#include "analysis/read/name_flags.h"
#include "period.h"
#include "analysis/time/span.h"
#include "trace/trace.h"

#define ANA_DEVICES_MAX 4096u

struct ana_source { /* one stream: a process, or in imports a process of one file */
	const struct view_stream *s;
	const Wire__Hello *hello; /* NULL: not known */
	bool imported, unknown; /* unknown: holds the ops whose process the file does not tell */
	uint32_t file; /* imports */
	int64_t pid;
	int64_t start_ns, end_ns; /* its life, not of imports */
	const char *ended;
	uint64_t ops, calls, events;
	uint32_t component;
	uint32_t run_phase; /* of a job: allocations.h */
	uint64_t steps; /* once it is walked */
	/* from its ranges */
	bool has_step, has_optimizer, has_user;
	int64_t first_step_ns;
	uint32_t range_threads; /* threads that emit ranges: 0, 1, or 2 for several */
	uint32_t range_thread; /* the one */
	uint64_t batches;
	/* Its kernels were not recorded, to be cheap or because another client of CUPTI had them */
	struct ana_spans unrecorded;
	uint64_t batches_unrecorded; /* of batches: that came meanwhile */
	int64_t waits_unrecorded_ns; /* for them */
	uint32_t loader_name; /* of the first loader wait, 0: none */
	struct ana_anchor anchor; /* begins each step, where no range tells */
	bool step_is_batch; /* nothing tells but the loader's batches: each is a step */
};

struct ana_rank_recorder; /* ranks/skew.h */
struct ana_spill; /* ranks/spill.h */

struct ana_use { /* a process on a GPU */
	uint32_t source, ordinal;
	uint64_t ops;
};

struct ana_device {
	const Wire__Device *facts; /* may be NULL */
	uint32_t source; /* where it was seen first */
	uint32_t ordinal;
	bool imported;
	struct ana_use *use;
	size_t uses, use_room;
	uint64_t ops;
	uint32_t component;
	int64_t first_ns,
		last_ns; /* of the blocks with its operations; no operation lies outside */
	struct ana_spans held; /* by its processes; empty with window device */
	struct ana_spans given; /* by the scheduler, as far as that is known */
	struct ana_spans unended; /* those of them of which the end is not known */
	bool unseen; /* who else of the job used it is not known: some tasks were not recorded */
	struct ana_spans run_phases; /* of a job with several: when processes of each used it */
	struct ana_spans lost, unobserved;
	/* of unobserved: recording it all would have cost too much */
	struct ana_spans stepped_down;
	struct ana_spans unrecorded; /* that, and what another client of CUPTI had */
	struct ana_spans contended; /* processes that are not of the run were on it */
	int64_t clock_ns; /* how far the axis jumped forwards while it was held */
	struct ana_rank_recorder *recorder; /* for the comparison of ranks; NULL: not needed */
};

struct ana_allocation; /* allocations.h */
struct ana_allocated_gpu;
struct ana_unused;

struct ana_component {
	uint32_t *source, *device;
	size_t sources, devices;
	uint64_t events;
};

struct ana_plan {
	struct view_trace *trace;
	struct ana_source *source;
	size_t sources;
	struct ana_device *device;
	size_t devices, device_room;
	struct ana_component *component;
	size_t components;
	uint64_t devices_left_out;
	uint32_t run_phases;
	struct ana_allocation *allocation; /* allocations.h */
	size_t allocations;
	struct ana_allocated_gpu *allocated_gpu; /* by allocation */
	size_t allocated_gpus, allocated_gpu_room;
	struct ana_unused *unused;
	size_t unuseds, unused_room;
	struct ana_spill *spill; /* for the recorders' logs; NULL: there are none */
	size_t log_room; /* bytes of memory for each of these */
};

/* 0 or -ENOMEM. The plan borrows from the trace. */
int ana_plan_make(struct ana_plan *p, struct view_trace *t, const struct ana_options *o);
void ana_plan_fini(struct ana_plan *p);

/* Reads the ranges of one source; any thread, one source at a time. 0 or -ENOMEM. */
int ana_plan_scan(struct ana_plan *p, struct ana_source *s, struct wire_scratch *scratch);

/* stamps.c: adds what records with bad stamps may have covered. 0 or -ENOMEM. */
int ana_plan_stamps(struct ana_plan *p, const struct ana_component *c,
		    struct wire_scratch *scratch);

/*
 * meters.c: the readings of NVML's meters about the device, of all its processes, by start, then
 * end. *@to is to be freed; NULL: there are none. 0 or -ENOMEM.
 */
int ana_plan_meters(const struct ana_plan *p, const struct ana_device *d, struct view_meter **to,
		    size_t *n);

/* Its number as people know it: NVML's, else the process's. */
uint32_t ana_device_index(const struct ana_device *d);

/*
 * Of @others, processes that @teller saw beside itself on the device at @t, those that are not of
 * the run.
 */
uint32_t ana_plan_strangers(const struct ana_plan *p, const struct ana_device *d,
			    const struct ana_use *teller, int64_t t, uint32_t others);

/* Times that come from files, kept so small that differences cannot overflow. */
static inline int64_t ana_clamp_time(int64_t t)
{
	const int64_t max = INT64_C(1) << 61;

	return t < -max ? -max : t > max ? max : t;
}

/* Whether the waits of this source count for the device. */
bool ana_plan_waits(const struct ana_plan *p, const struct ana_device *d, uint32_t source);

/* Earliest step of the file or process that the device's first use belongs to; INT64_MAX: none. */
int64_t ana_plan_first_step(const struct ana_plan *p, const struct ana_device *d);

#endif
