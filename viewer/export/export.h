/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpustarve export: a run in other tools' formats. Events stream from the trace and pieces of idle
 * time from the engine; memory does not grow with the run. Every total is the summary's own number.
 *
 * A format is one function. It gets the summary, walks over events and pieces as often as it likes,
 * and writes, the same bytes each time. One thread.
 */
#ifndef VIEW_EXPORT_H
#define VIEW_EXPORT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "analysis/read/event_feed.h"
#include "analysis/map.h"
#include "analysis/plan/plan.h"
#include "analysis/read/row_feed.h"
#include "order.h"
#include "export_out.h"
#include "summary/summary.h"
#include "trace/trace.h"
#include "wire/evidence.h"

struct view_export_source { /* a process of the trace */
	const struct ana_source *s;
	int64_t pid; /* its own, or another number where that one is taken by another host's */
	struct ana_map gpu_of; /* ordinal to GPU of the result */
	uint32_t last_ordinal, last_gpu;
	struct ana_map ordinal_of; /* context to ordinal, as operations show them; live runs */
	uint32_t last_context;
	uint64_t steps; /* that were written, of those no range marks */
};

struct view_export {
	const char *path; /* of the run */
	struct view_summary *summary;
	struct view_trace *trace;
	struct ana_plan plan; /* which GPU and process is which */
	struct view_export_source *source; /* of plan.sources, in their order */
	struct wire_scratch *scratch;
	struct view_out out; /* not of formats that write a file of their own */
	const char *file; /* -o, NULL: stdout */
	bool folder; /* it is one, and there; the format writes a file per process into it */
	const char *table; /* csv */
	const volatile sig_atomic_t *stop;
	/* what is written; told to the user */
	uint64_t rows;
	uint64_t late_pieces; /* of view_export_pieces: that came out of order */
	/* progress */
	void (*progress)(void *arg, double done);
	void *progress_arg;
	uint64_t seen, expected; /* events and pieces */
};

struct view_export_format {
	const char *name, *what;
	bool binary; /* not for a terminal */
	bool own_file; /* x->out is not opened; writes x->file itself */
	bool folders; /* may write into a folder; x->out is not opened then */
	bool gzip; /* always; otherwise where the file's name ends in .gz */
	unsigned int passes; /* over the trace, for the progress; 0: the summary is all */
	int (*write)(struct view_export *x); /* 0 or negative errno */
};

extern const struct view_export_format view_export_formats[];
const struct view_export_format *view_export_find(const char *name); /* NULL: none */

int view_export_kineto(struct view_export *x);
int view_export_perfetto(struct view_export *x);
int view_export_sqlite(struct view_export *x);
int view_export_folded(struct view_export *x);
int view_export_pprof(struct view_export *x);
int view_export_prometheus(struct view_export *x);
int view_export_focus(struct view_export *x);
int view_export_csv(struct view_export *x);

/* events.c: 0 or -ENOMEM; the summary and the trace are there already. */
int view_export_init(struct view_export *x);
void view_export_fini(struct view_export *x);

struct view_export_kind {
	uint8_t kind; /* WIRE_KIND_OP, ... */
	int (*take)(void *arg, const struct wire_event *e); /* 0: go on */
};

/*
 * A process's events: kind by kind as they stand in @kind, each kind's in order of start.
 * Operations that the engine left out (no such GPU, bad stamps) are left out here. 0, -ENOMEM,
 * -EINTR (the user wants no more), or what a take returned.
 */
int view_export_events(struct view_export *x, size_t source, const struct view_export_kind *kind,
		       size_t kinds, void *arg);

/* Its samples or, if @sample is NULL, its batches, in order of time. As above. */
int view_export_evidence(struct view_export *x, size_t source,
			 int (*sample)(void *arg, const struct wire_sample *w),
			 int (*batch)(void *arg, const struct wire_batch *b), void *arg);

/*
 * The pieces of idle time, per GPU in order of start (but see order.h), and the steps where @step
 * is given. 0 or negative errno, as above.
 */
int view_export_pieces(struct view_export *x, int (*take)(void *arg, const struct ana_piece *p),
		       int (*step)(void *arg, const struct ana_step *s), void *arg);

/* Shares of time with the samples that explain them. 0 or negative errno. */
int view_export_hotspots(struct view_export *x,
			 int (*take)(void *arg, const struct ana_hotspot_sample *s), void *arg);

/* The GPU of the result that a process calls @ordinal; ANA_MAP_NONE: not one of the result's. */
uint32_t view_export_gpu(struct view_export_source *s, uint32_t ordinal);

/*
 * What a synchronisation record's process calls the device it is of. CUPTI's records name only the
 * context; operations tell whose that is, so they have to be read before.
 */
uint32_t view_export_sync_device(const struct view_export_source *s, const struct wire_event *e);

/* Names of GPUs in other tools: the index, where each has one of its own, else the position. */
uint32_t view_export_gpu_number(const struct view_export *x, size_t gpu);

/* The text of an event's name; never NULL. */
const char *view_export_name(const struct view_export_source *s, uint32_t name, size_t *len);

/* One id for a launch and its operation, unique over processes. */
uint64_t view_export_flow(size_t source, uint64_t corr);

/* "Memcpy HtoD (Pageable -> Device)", as Kineto writes it; the copy's own name where it has one. */
#define VIEW_EXPORT_COPY_BYTES 64
const char *view_export_copy_name(char out[VIEW_EXPORT_COPY_BYTES], const struct wire_event *e);

/* What a sample's thread did, and whose it is, in a word or two; never NULL. */
const char *view_export_doing(const struct wire_sample *w);
const char *view_export_role(uint8_t role);
const char *view_export_wait(uint8_t wait); /* NULL: it does not wait */

/* "kernel", "memset" ... of an operation without a name. */
const char *view_export_op_name(const struct wire_event *e);

/* What the reader of any export must know: simulated GPUs, lost events. One call per remark. */
void view_export_caveats(const struct view_export *x, void (*tell)(void *arg, const char *text),
			 void *arg);

#endif
