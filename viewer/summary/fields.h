/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members of summary.json that stand in the model as they do in the file: one row each says their
 * key, where they lie, how they are written and how they are read back. What is computed while it
 * is written, has no member of its own or hangs on another one stands in the functions that write
 * and read by hand. test_house_summary holds the rows against docs/summary.schema.json. Private to
 * summary/.
 */
#ifndef VIEW_SUMMARY_FIELDS_H
#define VIEW_SUMMARY_FIELDS_H

#include <stddef.h>
#include <stdint.h>
#include "base/jsondoc.h"
#include "base/jsonout.h"
#include "summary.h"

/* How far numbers of a hostile file are taken stands in summary_priv.h. */
enum summary_kind {
	SUMMARY_TEXT, /* NULL: null */
	SUMMARY_NAME, /* NULL: "" */
	SUMMARY_BOOL,
	SUMMARY_COUNT, /* uint64_t */
	SUMMARY_COUNT_KNOWN, /* uint64_t; 0: null */
	SUMMARY_SMALL, /* uint32_t */
	SUMMARY_NUMBER, /* int64_t, whatever it is */
	SUMMARY_STAMP, /* int64_t, as the next ones */
	SUMMARY_SPAN, /* time of one GPU or rank */
	SUMMARY_SPAN_KNOWN, /* -1: null */
	SUMMARY_TOTAL, /* a sum over them */
	SUMMARY_TOTAL_KNOWN, /* -1: null */
	SUMMARY_PPM_KNOWN, /* a percentage in the file; -1: null */
};

struct summary_field {
	const char *key; /* NULL: the end */
	enum summary_kind kind;
	size_t at;
};

extern const struct summary_field summary_gpu_head[]; /* struct ana_gpu */
extern const struct summary_field summary_gpu_memory[];
extern const struct summary_field summary_gpu_rest[];
extern const struct summary_field summary_vacancy[]; /* struct ana_vacancy */
extern const struct summary_field summary_copies[]; /* struct ana_copies */
extern const struct summary_field summary_quality_head[]; /* struct ana_quality */
extern const struct summary_field summary_quality_rest[];
extern const struct summary_field summary_evidence[];
extern const struct summary_field summary_metered[]; /* struct ana_metered */
extern const struct summary_field summary_recording[]; /* struct ana_recording */
extern const struct summary_field summary_unrecorded[]; /* struct ana_unrecorded */
extern const struct summary_field summary_units[]; /* struct ana_units */
extern const struct summary_field summary_estimated[]; /* struct ana_estimated */
extern const struct summary_field summary_estimated_part[]; /* struct ana_estimated_part */
extern const struct summary_field summary_gap[]; /* struct ana_gap */
extern const struct summary_field summary_gap_rest[];
extern const struct summary_field summary_settings[]; /* struct ana_loader_facts */
extern const struct summary_field summary_need_workers[]; /* struct view_loader */
extern const struct summary_field summary_need_times[];
extern const struct summary_field summary_need_cores[];
extern const struct summary_field summary_bytes[];
extern const struct summary_field summary_rank_counts[]; /* struct ana_rank */
extern const struct summary_field summary_clock[]; /* struct ana_clock */
extern const struct summary_field summary_group[]; /* struct ana_group */
extern const struct summary_field summary_saves[]; /* struct view_saves */
extern const struct summary_field summary_ranks[]; /* struct ana_ranks */

/* The members of @from, in order, into the object that is open. */
void summary_put_fields(struct base_jsonout *j, const struct summary_field *f, const void *from);

/* And back; texts are in the memory of @s. */
void summary_read_fields(struct view_summary *s, const struct base_json *node,
			 const struct summary_field *f, void *into);

#endif
