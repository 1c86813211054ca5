/* SPDX-License-Identifier: Apache-2.0 */
/* Which saves, of which nobody said what is in them, are checkpoints nevertheless. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/minmax.h"
#include "checkpoints.h"

#define SERIES 3 /* saves in a row */

/* ---- series ---- */

static int by_series(const void *a, const void *b)
{
	const struct live_save *x = *(struct live_save *const *)a,
			       *y = *(struct live_save *const *)b;
	int differs;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	differs = live_places_compare(x->path, y->path);
	if (differs)
		return differs;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static bool is_regular(struct live_save *const *s)
{
	/* stamps are clamped, so that their differences are numbers */
	uint64_t first = (uint64_t)(s[1]->start_ns - s[0]->start_ns);
	uint64_t second = (uint64_t)(s[2]->start_ns - s[1]->start_ns);

	return first && second && base_max(first, second) / 2 <= base_min(first, second);
}

static void prove_series(struct live_save **s, size_t n)
{
	bool regular = false;

	for (size_t i = 0; i + SERIES <= n && !regular; i++)
		regular = is_regular(s + i);
	for (size_t i = 0; i < n && regular; i++)
		s[i]->unsure = false;
}

int live_series_prove(struct live_save *save, size_t saves)
{
	struct live_save **list = calloc(saves + 1, sizeof(*list));
	size_t n = 0, end;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < saves; i++)
		if (save[i].unsure && save[i].whole_ns != LIVE_NEVER && save[i].saver &&
		    !strcmp(save[i].saver, LIVE_MOVED_SAVER))
			list[n++] = &save[i];
	qsort(list, n, sizeof(struct live_save *), by_series);
	for (size_t at = 0; at < n; at = end) {
		for (end = at + 1; end < n && list[end]->process == list[at]->process &&
				   !live_places_compare(list[end]->path, list[at]->path);
		     end++)
			;
		prove_series(list + at, end - at);
	}
	free(list);
	return 0;
}

/* ---- what was opened ---- */

static void prove_alike(struct live_save *save, size_t saves, const struct live_save *like)
{
	for (size_t i = 0; i < saves; i++)
		if (save[i].unsure && !strcmp(save[i].saver, like->saver) &&
		    !live_places_compare(save[i].path, like->path))
			save[i].unsure = false;
}

void live_opened_prove(struct live_save *save, size_t saves, const struct live_load *load,
		       size_t loads)
{
	for (size_t l = 0; l < loads; l++)
		for (size_t i = 0; i < saves; i++) {
			const struct live_save s = save[i];

			if (!s.unsure || s.process == load[l].process ||
			    s.whole_ns > load[l].t_ns || !s.file.inode ||
			    s.file.inode != load[l].file.inode ||
			    s.file.size != load[l].file.size ||
			    s.file.mtime_ns != load[l].file.mtime_ns)
				continue;
			prove_alike(save, saves, &s);
		}
}

bool live_written_known(const struct live_written *w, const struct live_save *save, size_t saves)
{
	for (size_t i = 0; i < saves; i++) {
		const struct live_save *s = &save[i];
		int64_t end = s->whole_ns != LIVE_NEVER ? s->whole_ns : s->call_end_ns;

		if (s->process == w->process && s->start_ns <= w->end_ns && end >= w->start_ns)
			return true;
	}
	return false;
}
