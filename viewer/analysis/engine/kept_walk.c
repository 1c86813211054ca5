/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A walk amid its work as bytes, and back.
 */
#include "kept_priv.h"

#include <errno.h>
#include <stdlib.h>
#include "analysis/evidence/hotspots_kept.h"
#include "analysis/walk/walk.h"

bool ana_kept_can(const struct ana_walk *w)
{
	return !ana_walk_compares(w) && !w->exact && !w->observer && w->processes && w->gpus;
}

/* Another program's structs are as another version's. */
static void archive_identity(const struct ana_kept *k, struct ana_archive *a)
{
	uint64_t of[] = { ana_kept_identity(k),	       sizeof(struct ana_walk),
			  sizeof(struct ana_proc),     sizeof(struct ana_gpu_state),
			  sizeof(struct ana_thread),   sizeof(struct wire_sample),
			  sizeof(struct ana_evidence), sizeof(struct wire_batch),
			  k->result->timeline[0].count };

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		uint64_t was = of[i];

		ana_archive_field(a, was);
		ana_archive_check(a, was == of[i]);
	}
}

static void archive_numbers(struct ana_walk *w, struct ana_archive *a)
{
	ana_archive_field(a, w->now);
	ana_archive_stamp(a, &w->floor);
	ana_archive_stamp(a, &w->floor_was);
	ana_archive_stamp(a, &w->forgotten);
	ana_archive_field(a, w->rows);
	ana_archive_field(a, w->gaps_open);
	ana_archive_field(a, w->lost_graphs);
	ana_archive_stamp(a, &w->unsampled_at);
	ana_archive_stamp(a, &w->booked);
	ana_archive_field(a, w->unsampled_pieces);
	ana_kept_quality(&w->quality, a);
}

static void archive_turns(struct ana_walk *w, struct ana_archive *a)
{
	ana_turns_archive(&w->ops_turns, w->processes, a);
	ana_turns_archive(&w->calls_turns, w->processes, a);
	ana_turns_archive(&w->ranges_turns, w->processes, a);
	ana_turns_archive(&w->syncs_turns, w->processes, a);
}

/* As many as there is room for; ana_top_archive() has room for those alone that it reads. */
static void archive_top(struct ana_walk *w, struct ana_archive *a)
{
	struct ana_top read = { .max = w->top.max };

	if (!a->reading) {
		ana_top_archive(&w->top, w->plan->devices, a);
		return;
	}
	ana_top_archive(&read, w->plan->devices, a);
	ana_archive_check(a, read.count <= w->top.max);
	for (size_t i = 0; i < read.count && !a->err; i++)
		w->top.gap[w->top.count++] = read.gap[i];
	ana_top_fini(&read);
}

/* @gpu: copies of the result's. */
static void archive_walk(const struct ana_kept *k, struct ana_walk *w, struct ana_gpu *gpu,
			 struct ana_archive *a)
{
	archive_identity(k, a);
	for (uint32_t i = 0; i < w->processes && !a->err; i++)
		ana_process_archive(w, &w->process[i], a);
	for (uint32_t i = 0; i < w->gpus && !a->err; i++) {
		ana_kept_gpu(&gpu[i], a);
		ana_gpu_archive(w, &w->gpu[i], a);
	}
	if (a->err)
		return;
	archive_turns(w, a);
	archive_numbers(w, a);
	archive_top(w, a);
	ana_hotspots_archive_open(&w->hotspots, a);
	if (a->reading)
		ana_archive_check(a, a->pos == a->len);
}

static struct ana_gpu *copy_gpus(const struct ana_walk *w)
{
	struct ana_gpu *gpu = calloc(w->gpus + 1, sizeof(*gpu));

	for (uint32_t i = 0; gpu && i < w->gpus; i++)
		gpu[i] = *w->gpu[i].gpu;
	return gpu;
}

int ana_kept_walk_write(const struct ana_kept *k, struct ana_walk *w, uint8_t **bytes, size_t *len)
{
	struct ana_archive a = { .reading = false };
	struct ana_gpu *gpu = copy_gpus(w);

	if (!gpu)
		return -ENOMEM;
	archive_walk(k, w, gpu, &a);
	free(gpu);
	if (a.err) {
		free(a.at);
		return a.err;
	}
	*bytes = a.at;
	*len = a.len;
	return 0;
}

int ana_kept_walk_read(const struct ana_kept *k, struct ana_walk *w, const uint8_t *bytes,
		       size_t len)
{
	/* never written to: the same object serves both directions */
	struct ana_archive a = { .reading = true, .at = (uint8_t *)bytes, .len = len };
	struct ana_gpu *gpu = copy_gpus(w);

	if (!gpu)
		return -ENOMEM;
	archive_walk(k, w, gpu, &a);
	for (uint32_t i = 0; i < w->gpus && !a.err; i++)
		ana_kept_put_gpu(w->gpu[i].gpu, &gpu[i]);
	free(gpu);
	w->paused = w->now;
	return a.err;
}
