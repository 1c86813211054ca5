/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a result.
 */
#include "analysis/ledger.h"

#include <stdlib.h>
#include "analysis/picture/picture.h"
#include "analysis/series/series.h"
#include "analysis/evidence/hotspots.h"

static void free_hotspots(struct ana_result *r)
{
	size_t i;

	for (i = 0; i < r->hotspots; i++)
		ana_hotspot_fini(&r->hotspot[i]);
	free(r->hotspot);
	for (i = 0; i < r->targets; i++)
		ana_target_fini(&r->target[i]);
	free(r->target);
}

static void free_loaders(struct ana_result *r)
{
	size_t i;

	for (i = 0; i < r->loaders; i++) {
		free(r->loader[i].start);
		free(r->loader[i].dataset);
		free(r->loader[i].kind);
		free(r->loader[i].made_file);
	}
	free(r->loader);
}

void ana_result_free(struct ana_result *r)
{
	size_t i;

	if (!r)
		return;
	for (i = 0; i < r->gpus; i++) {
		free(r->gpu[i].host);
		free(r->gpu[i].uuid);
		free(r->gpu[i].name);
		free(r->gpu[i].mig_profile);
		free(r->gpu[i].held);
		free(r->gpu[i].life);
		free(r->gpu[i].vacant);
		free(r->timeline[i].bucket);
	}
	free(r->gpu);
	free(r->timeline);
	free(r->attempt);
	free(r->top_gap);
	for (i = 0; i < r->processes; i++) {
		free(r->process[i].host);
		free(r->process[i].role);
		free(r->process[i].ended);
	}
	free(r->process);
	for (i = 0; i < r->quality.note_count; i++)
		free(r->quality.notes[i]);
	free(r->quality.notes);
	free_hotspots(r);
	free_loaders(r);
	ana_ranks_fini(&r->ranks);
	ana_series_free(r->series);
	ana_picture_free(r->picture);
	free(r->loader_kind);
	free(r->import_kind);
	free(r->level);
	free(r);
}
