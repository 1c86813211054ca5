/* SPDX-License-Identifier: Apache-2.0 */
#include "serving.h"

#include <dirent.h>
#include <sys/stat.h>
#include "base/minmax.h"
#include "summary/analyse.h"

/* A trace of up to so many bytes, some million events, is judged within a second. */
#define SMALL_BYTES (32L << 20)
#define HELD_MAX (INT64_MAX / 2)

bool view_small_trace(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	struct stat st;
	int64_t bytes = 0;

	while (d && (e = readdir(d)))
		if (!fstatat(dirfd(d), e->d_name, &st, 0) && S_ISREG(st.st_mode))
			bytes += st.st_size;
	if (d)
		closedir(d);
	return d && bytes <= SMALL_BYTES;
}

static bool is_serving(const struct view_follow *f)
{
	struct view_analysis a = { .window = ANA_WINDOW_JOB,
				   .rates = f->rates,
				   .quiet_when_empty = true };
	struct view_summary *s = NULL;
	bool serves;

	if (!view_small_trace(f->tail.dir) || view_analyse(f->tail.dir, &a, &s))
		return false;
	serves = view_kind_serves(s->kind.kind);
	view_summary_free(s);
	return serves;
}

bool view_serving_look(struct view_serving *v, const struct view_follow *f)
{
	if (f->totals.held_ns < v->until_ns)
		return v->serves;
	v->serves = is_serving(f);
	v->until_ns = 2 * base_min(f->totals.held_ns, HELD_MAX);
	return v->serves;
}
