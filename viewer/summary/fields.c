/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the members, and the two functions that go by them. */
#include <string.h>
#include "fields.h"
#include "summary_priv.h"

/* The types that a kind takes, for _Generic: a row of another type does not compile. */
#define TYPE_TEXT char * : 0, const char *
#define TYPE_NAME TYPE_TEXT
#define TYPE_BOOL bool
#define TYPE_COUNT uint64_t
#define TYPE_COUNT_KNOWN uint64_t
#define TYPE_SMALL uint32_t
#define TYPE_NUMBER int64_t
#define TYPE_STAMP int64_t
#define TYPE_SPAN int64_t
#define TYPE_SPAN_KNOWN int64_t
#define TYPE_TOTAL int64_t
#define TYPE_TOTAL_KNOWN int64_t
#define TYPE_PPM_KNOWN int64_t

#define AS(kind, member, key)                                                                  \
	{                                                                                      \
		key, SUMMARY_##kind,                                                           \
			offsetof(OWNER, member) +                                              \
				0 * sizeof(_Generic(((OWNER *)NULL)->member, TYPE_##kind : 0)) \
	}
#define F(kind, member) AS(kind, member, #member)

/* clang-format off */
#define OWNER struct ana_gpu
const struct summary_field summary_gpu_head[] = {
	F(NAME, host),
	F(SMALL, index),
	F(TEXT, uuid),
	F(NAME, name),
	F(SPAN, held_ns),
	F(SPAN_KNOWN, allocated_ns),
	F(SPAN, span_ns),
	F(COUNT, ops),
	F(SMALL, streams),
	F(COUNT, ops_without_launch),
	F(SPAN, busy_ns),
	F(SPAN, compute_ns),
	F(SPAN, copy_exposed_ns),
	F(SPAN, comm_exposed_ns),
	F(SPAN, idle_ns),
	F(SPAN, empty_ns),
	F(SPAN, queued_ns),
	F(COUNT, gaps),
	F(SPAN, loader_wait_ns),
	F(SPAN, loader_exposed_ns),
	{ 0 }
};

const struct summary_field summary_gpu_memory[] = {
	F(COUNT_KNOWN, memory_used_peak_bytes),
	F(COUNT_KNOWN, memory_total_bytes),
	{ 0 }
};

const struct summary_field summary_gpu_rest[] = {
	F(TEXT, mig_profile),
	F(SMALL, mig_slices),
	F(SMALL, mig_slices_total),
	F(SMALL, shared_with),
	F(COUNT, input_kernels),
	F(TOTAL, input_kernel_ns),
	F(STAMP, held_start_ns),
	F(STAMP, held_end_ns),
	{ 0 }
};
#undef OWNER

#define OWNER struct ana_vacancy
const struct summary_field summary_vacancy[] = {
	AS(TOTAL, ns[ANA_VACANT_BEFORE], "before_ns"),
	AS(TOTAL, ns[ANA_VACANT_BETWEEN], "between_ns"),
	AS(TOTAL, ns[ANA_VACANT_AFTER], "after_ns"),
	AS(TOTAL, ns[ANA_VACANT_NEVER], "never_ns"),
	AS(TOTAL, ns[ANA_VACANT_UNKNOWN], "unknown_ns"),
	F(TOTAL, gaps),
	F(TOTAL, longest_ns),
	F(TOTAL, unseen_ns),
	{ 0 }
};
#undef OWNER

#define OWNER struct ana_copies
const struct summary_field summary_copies[] = {
	F(COUNT, count),
	F(COUNT, bytes),
	F(TOTAL, ns),
	F(TOTAL, exposed_ns),
	F(COUNT, pageable_count),
	F(COUNT, pageable_bytes),
	F(COUNT, synchronous),
	{ 0 }
};
#undef OWNER

#define OWNER struct ana_quality
const struct summary_field summary_quality_head[] = {
	F(COUNT, events),
	F(COUNT, dropped),
	F(COUNT, invalid),
	F(TOTAL, unobserved_ns),
	F(TOTAL, stepped_down_ns),
	{ 0 }
};

const struct summary_field summary_quality_rest[] = {
	F(COUNT, ops_before_launch),
	F(COUNT, launches_expired),
	F(COUNT, damage_bytes),
	F(COUNT, damage_spans),
	F(COUNT, frames_missing),
	{ 0 }
};

const struct summary_field summary_evidence[] = {
	F(COUNT, samples),
	AS(COUNT, samples_torn, "torn"),
	AS(COUNT, samples_without_python, "without_python"),
	AS(COUNT, samples_lost, "lost"),
	F(TOTAL, gap_unsampled_ns),
	{ 0 }
};
#undef OWNER

#define OWNER struct ana_metered
const struct summary_field summary_metered[] = {
	F(TOTAL, known_ns),
	F(TOTAL, busy_ns),
	F(TOTAL, gpm_ns),
	{ 0 }
};
#undef OWNER

#define OWNER struct ana_unrecorded
const struct summary_field summary_unrecorded[] = {
	F(TOTAL, ns),
	F(TOTAL, span_ns),
	F(COUNT, batches),
	F(TOTAL, wait_ns),
	{ 0 }
};
#undef OWNER

#define OWNER struct ana_recording
const struct summary_field summary_recording[] = {
	F(TOTAL, time_ns),
	F(TOTAL, spent_ns),
	AS(PPM_KNOWN, limit_ppm, "limit_pct"),
	AS(PPM_KNOWN, worst_ppm, "worst_pct"),
	F(SMALL, deepest),
	F(SMALL, full_launch_ns),
	F(SMALL, no_api_launch_ns),
	F(SMALL, no_kernels_launch_ns),
	F(SMALL, least_launch_ns),
	F(SMALL, left_ns),
	F(SMALL, passed),
	F(BOOL, learnt),
	{ 0 }
};
#undef OWNER

#define OWNER struct ana_units
const struct summary_field summary_units[] = {
	F(TOTAL, known_ns),
	F(TOTAL, busy_ns),
	F(TOTAL, tensor_ns),
	F(TOTAL_KNOWN, dram_ns),
	{ 0 }
};
#undef OWNER

#define OWNER struct ana_estimated
const struct summary_field summary_estimated[] = {
	F(TOTAL, of_ns),
	F(TOTAL, metered_ns),
	F(TOTAL, unknown_ns),
	{ 0 }
};
#undef OWNER

#define OWNER struct ana_estimated_part
const struct summary_field summary_estimated_part[] = {
	F(TOTAL, ns),
	F(TOTAL, low_ns),
	F(TOTAL, high_ns),
	{ 0 }
};
#undef OWNER

#define OWNER struct ana_gap
const struct summary_field summary_gap[] = {
	F(SMALL, gpu),
	F(STAMP, start_ns),
	F(STAMP, end_ns),
	F(SPAN, empty_ns),
	{ 0 }
};

const struct summary_field summary_gap_rest[] = {
	F(SPAN, class_ns),
	F(NUMBER, pid),
	F(NUMBER, tid),
	{ 0 }
};
#undef OWNER

#define OWNER struct ana_loader_facts
const struct summary_field summary_settings[] = {
	F(TEXT, start),
	F(TEXT, made_file),
	F(SMALL, made_line),
	F(SMALL, trainers),
	F(COUNT, iterators),
	F(TOTAL, open_ns),
	F(COUNT, taken),
	F(TOTAL, take_ns),
	F(COUNT, handed),
	F(TOTAL, hand_ns),
	F(COUNT, made),
	F(COUNT, made_samples),
	F(TOTAL, fetch_ns),
	F(TOTAL, fetch_cpu_ns),
	F(TOTAL, fetch_delay_ns),
	F(TOTAL_KNOWN, fetch_p1_ns),
	F(TOTAL_KNOWN, fetch_median_ns),
	F(TOTAL_KNOWN, fetch_p95_ns),
	F(COUNT, rchar_bytes),
	F(COUNT, read_bytes),
	F(COUNT, major_faults),
	F(TOTAL, seen_ns),
	{ 0 }
};
#undef OWNER

#define OWNER struct view_loader
const struct summary_field summary_need_workers[] = {
	AS(TOTAL, facts.workers, "workers_now"),
	AS(TOTAL, need.needed, "workers_needed"),
	AS(TOTAL, need.advised, "workers_advised"),
	{ 0 }
};

const struct summary_field summary_need_times[] = {
	AS(TOTAL, facts.fetch_ns, "fetch_ns"),
	AS(TOTAL, facts.fetch_cpu_ns, "fetch_cpu_ns"),
	AS(TOTAL, facts.step_ns, "step_ns"),
	AS(TOTAL, facts.wait_ns, "wait_ns"),
	AS(TOTAL_KNOWN, facts.fed_median_ns, "fed_median_ns"),
	AS(TOTAL, need.predicted_step_ns, "predicted_step_ns"),
	AS(TOTAL, need.most_step_ns, "predicted_step_most_ns"),
	AS(PPM_KNOWN, busy_ppm, "workers_busy_pct"),
	{ 0 }
};

const struct summary_field summary_need_cores[] = {
	AS(TOTAL, facts.cores, "cores"),
	AS(TOTAL, need.cores_needed, "cores_needed"),
	AS(TOTAL, saving_ns, "saving_upper_ns"),
	AS(TOTAL, saving_least_ns, "saving_lower_ns"),
	{ 0 }
};

const struct summary_field summary_bytes[] = {
	F(TOTAL_KNOWN, batch_bytes),
	AS(PPM_KNOWN, disk_ppm, "page_cache_miss_pct"),
	F(TOTAL_KNOWN, read_bytes_per_s),
	F(TOTAL_KNOWN, needed_bytes_per_s),
	{ 0 }
};
#undef OWNER

#define OWNER struct ana_rank
const struct summary_field summary_rank_counts[] = {
	F(COUNT, collectives),
	F(COUNT, matched),
	F(COUNT, late),
	F(COUNT, late_much),
	{ 0 }
};
#undef OWNER

#define OWNER struct ana_clock
const struct summary_field summary_clock[] = {
	F(NAME, host),
	F(BOOL, aligned),
	F(STAMP, offset_ns),
	F(STAMP, drift_ppb),
	{ 0 }
};
#undef OWNER

#define OWNER struct ana_group
const struct summary_field summary_group[] = {
	F(BOOL, told),
	F(COUNT, matched),
	F(COUNT, refused),
	F(TOTAL, waited_ns),
	{ 0 }
};
#undef OWNER

#define OWNER struct ana_ranks
const struct summary_field summary_ranks[] = {
	F(COUNT, matched),
	F(COUNT, refused),
	F(TOTAL, refused_ns),
	F(COUNT, p2p),
	F(SPAN, late_ns),
	F(SPAN, step_ns),
	{ 0 }
};
#undef OWNER
#define OWNER struct view_saves
const struct summary_field summary_saves[] = {
	F(COUNT, saves),
	F(COUNT, whole),
	F(COUNT, failed),
	F(COUNT, synced),
	F(COUNT, untold),
	F(COUNT, unsure),
	F(COUNT, deleted),
	F(COUNT, unmoved),
	AS(COUNT, writtens, "written"),
	F(COUNT, written_bytes),
	AS(TOTAL_KNOWN, written_ns, "written_unix_ns"),
	F(COUNT, checkpoints),
	AS(COUNT_KNOWN, state.bytes, "state_bytes"),
	AS(COUNT_KNOWN, state.most_bytes, "state_most_bytes"),
	F(COUNT, kills),
	F(COUNT, failures),
	F(COUNT, starts),
	F(TOTAL, instants_ns),
	AS(TOTAL, mean_ns, "mean_loss_ns"),
	AS(TOTAL, worst_ns, "worst_loss_ns"),
	F(TOTAL_KNOWN, now_ns),
	F(TOTAL_KNOWN, every_ns),
	F(TOTAL, silent_ns),
	F(TOTAL, lost_silent_ns),
	F(TOTAL, start_up_ns),
	F(TOTAL_KNOWN, exposed_ns),
	F(TOTAL, between_ns),
	F(TOTAL_KNOWN, best_ns),
	{ 0 }
};
#undef OWNER
/* clang-format on */

static void put_known(struct base_jsonout *j, const struct summary_field *f, int64_t v)
{
	if (v < 0)
		base_json_null(j, f->key);
	else if (f->kind == SUMMARY_PPM_KNOWN)
		base_json_percent(j, f->key, v);
	else
		base_json_int(j, f->key, v);
}

static void put_count(struct base_jsonout *j, const struct summary_field *f, uint64_t v)
{
	if (!v && f->kind == SUMMARY_COUNT_KNOWN)
		base_json_null(j, f->key);
	else
		base_json_uint(j, f->key, v);
}

static void put_text(struct base_jsonout *j, const struct summary_field *f, const void *at)
{
	const char *text;

	memcpy(&text, at, sizeof(text)); /* of char or of const char */
	base_json_string(j, f->key, text || f->kind == SUMMARY_TEXT ? text : "");
}

static void put_field(struct base_jsonout *j, const struct summary_field *f, const void *at)
{
	switch (f->kind) {
	case SUMMARY_TEXT:
	case SUMMARY_NAME:
		put_text(j, f, at);
		break;
	case SUMMARY_BOOL:
		base_json_bool(j, f->key, *(const bool *)at);
		break;
	case SUMMARY_COUNT:
	case SUMMARY_COUNT_KNOWN:
		put_count(j, f, *(const uint64_t *)at);
		break;
	case SUMMARY_SMALL:
		base_json_uint(j, f->key, *(const uint32_t *)at);
		break;
	case SUMMARY_NUMBER:
	case SUMMARY_STAMP:
	case SUMMARY_SPAN:
	case SUMMARY_TOTAL:
		base_json_int(j, f->key, *(const int64_t *)at);
		break;
	case SUMMARY_SPAN_KNOWN:
	case SUMMARY_TOTAL_KNOWN:
	case SUMMARY_PPM_KNOWN:
		put_known(j, f, *(const int64_t *)at);
		break;
	}
}

void summary_put_fields(struct base_jsonout *j, const struct summary_field *f, const void *from)
{
	for (; f->key; f++)
		put_field(j, f, (const char *)from + f->at);
}

static int64_t number_of(const struct base_json *node, const struct summary_field *f)
{
	switch (f->kind) {
	case SUMMARY_STAMP:
		return summary_stamp(node, f->key);
	case SUMMARY_SPAN:
		return summary_span(node, f->key);
	case SUMMARY_SPAN_KNOWN:
		return summary_within(node, f->key, -1, -1, SUMMARY_SPAN_MAX);
	case SUMMARY_TOTAL:
		return summary_total(node, f->key);
	case SUMMARY_TOTAL_KNOWN:
		return summary_within(node, f->key, -1, -1, SUMMARY_TOTAL_MAX);
	case SUMMARY_PPM_KNOWN:
		return summary_ppm(node, f->key, -1);
	default:
		return base_json_get_int(node, f->key, 0);
	}
}

static void read_field(struct view_summary *s, const struct base_json *node,
		       const struct summary_field *f, void *at)
{
	char *text;

	switch (f->kind) {
	case SUMMARY_TEXT:
		text = summary_text(s, node, f->key);
		memcpy(at, &text, sizeof(text));
		break;
	case SUMMARY_NAME:
		text = summary_text_or_empty(s, node, f->key);
		memcpy(at, &text, sizeof(text));
		break;
	case SUMMARY_BOOL:
		*(bool *)at = base_json_get_bool(node, f->key, false);
		break;
	case SUMMARY_COUNT:
	case SUMMARY_COUNT_KNOWN:
		*(uint64_t *)at = base_json_get_uint(node, f->key, 0);
		break;
	case SUMMARY_SMALL:
		*(uint32_t *)at = summary_u32(node, f->key);
		break;
	default:
		*(int64_t *)at = number_of(node, f);
	}
}

void summary_read_fields(struct view_summary *s, const struct base_json *node,
			 const struct summary_field *f, void *into)
{
	for (; f->key; f++)
		read_field(s, node, f, (char *)into + f->at);
}
