/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files that write and read summary.json share: summary_write.c, summary_read.c have the
 * whole, *_why.c the causes (loader, findings, advice), *_ranks.c the ranks. Private to them.
 */
#ifndef VIEW_SUMMARY_PRIV_H
#define VIEW_SUMMARY_PRIV_H

#include "base/jsondoc.h"
#include "base/jsonout.h"
#include "summary.h"

void summary_put_confidence(struct base_jsonout *j, const int64_t by[ANA_CONFIDENCES]);
void summary_put_loader(struct base_jsonout *j, const struct view_summary *s);
void summary_put_findings(struct base_jsonout *j, const struct view_summary *s);
void summary_put_causes(struct base_jsonout *j, const struct view_summary *s);
void summary_put_advice(struct base_jsonout *j, const struct view_summary *s);
void summary_put_classes(struct base_jsonout *j, const char *key, const int64_t *classes);
/* make.c: the folder's name without its ending. */
const char *summary_id_from_path(struct view_summary *s, const char *path);
/* summary_job.c: run.user and run.slurm; @t may be NULL. */
void summary_make_job(struct view_summary *s, const struct view_trace *t);
void summary_put_job(struct base_jsonout *j, const struct view_summary *s);
void summary_read_job(struct view_summary *s, const struct base_json *run);
/* alerts.c: those that fired; no member where none did. @t may be NULL. */
void summary_make_alerts(struct view_summary *s, const struct view_trace *t);
void summary_put_alerts(struct base_jsonout *j, const struct view_summary *s);
void summary_read_alerts(struct view_summary *s, const struct base_json *alerts);
/* outcomes.c: cost.outcomes; no member where nothing is known. After the cost. */
void summary_make_outcomes(struct view_summary *s, const struct view_trace *t);
void summary_put_outcomes(struct base_jsonout *j, const struct view_summary *s);
void summary_read_outcomes(struct view_summary *s, const struct base_json *outcomes);
/* summary_saves.c: saves; no member where nothing is to tell. 0 or -ENOMEM; @t may be NULL. */
int summary_make_saves(struct view_summary *s, const struct view_trace *t);
void summary_put_saves(struct base_jsonout *j, const struct view_summary *s);
void summary_read_saves(struct view_summary *s, const struct base_json *saves);
/* compute.c: ledger.compute, read when the cost is; ledger.units, where there are any. */
void summary_put_units(struct base_jsonout *j, const struct ana_result *r);
void summary_read_units(struct view_summary *s, const struct base_json *units);
void summary_put_work(struct base_jsonout *j, const struct view_summary *s);
void summary_read_work(struct view_summary *s, const struct base_json *compute);
/* no_process.c: no_process of a GPU and of the ledger, where it is known what a job was given. */
void summary_put_gpu_vacancy(struct base_jsonout *j, const struct ana_gpu *g);
void summary_read_gpu_vacancy(struct view_summary *s, const struct base_json *node,
			      struct ana_gpu *g);
void summary_put_vacancy(struct base_jsonout *j, const struct view_summary *s);
void summary_read_vacancy(struct view_summary *s, const struct base_json *node,
			  struct ana_vacancy *v);
/* estimated.c: ledger.estimated, where there is any. */
void summary_put_estimated(struct base_jsonout *j, const struct ana_estimated *e);
void summary_read_estimated(struct view_summary *s, const struct base_json *node);
/* step_picture.c: two steps from near. */
void summary_put_picture(struct base_jsonout *j, const struct view_summary *s);
void summary_read_picture(struct view_summary *s, const struct base_json *picture);
/* Nothing where no ranks were compared. */
void summary_put_ranks(struct base_jsonout *j, const struct view_summary *s);

/* Members of @node, in the summary's memory. */
char *summary_text(struct view_summary *s, const struct base_json *node, const char *key);
char *summary_text_or_empty(struct view_summary *s, const struct base_json *node, const char *key);

/*
 * Numbers of a hostile file are kept to where sums of them cannot overflow: time of one GPU to 2^56
 * (two years), sums over GPUs to 2^60.
 */
#define SUMMARY_SPAN_MAX (INT64_C(1) << 56)
#define SUMMARY_TOTAL_MAX (INT64_C(1) << 60)
#define SUMMARY_STAMP_MAX (INT64_C(1) << 61)

int64_t summary_within(const struct base_json *node, const char *key, int64_t otherwise,
		       int64_t least, int64_t most);
int64_t summary_span(const struct base_json *node, const char *key);
int64_t summary_total(const struct base_json *node, const char *key);
uint32_t summary_u32(const struct base_json *node, const char *key);
int64_t summary_usd(const struct base_json *node, const char *key, int64_t otherwise);
int64_t summary_ppm(const struct base_json *node, const char *key, int64_t otherwise);
/* The index of @text among @names; @otherwise: it is none. */
int summary_by_name(const char *text, const char *const *names, int n, int otherwise);
void summary_read_confidence(const struct base_json *node, int64_t by[ANA_CONFIDENCES]);

void summary_read_loader(struct view_summary *s, const struct base_json *loader);
void summary_read_findings(struct view_summary *s, const struct base_json *findings);
void summary_read_advice(struct view_summary *s, const struct base_json *advice);
void summary_read_classes(const struct base_json *node, int64_t classes[ANA_CLASSES]);
int64_t summary_stamp(const struct base_json *node, const char *key);
void summary_read_ranks(struct view_summary *s, const struct base_json *ranks);

#endif
