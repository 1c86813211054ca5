/* SPDX-License-Identifier: Apache-2.0 */
#include "run_end.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include "base/minmax.h"
#include "base/vec.h"

int view_run_end_add(struct view_run_end *e, const struct base_json *root)
{
	int64_t status = base_json_get_int(root, "exit_status", INT64_MIN);
	struct view_run_wrapper w = { .start_ns = base_json_get_int(root, "start_unix_ns", 0),
				      .end_ns = INT64_MAX,
				      .told = status >= INT_MIN && status <= INT_MAX };

	if (!base_json_get(root, "exit_status"))
		return 0;
	if (w.told) {
		w.status = (int)status;
		if (__builtin_add_overflow(w.start_ns, base_json_get_int(root, "wall_ns", 0),
					   &w.end_ns))
			w.end_ns = INT64_MAX;
	}
	if (!base_vec_more(e->wrapper, e->wrappers, e->room))
		return -ENOMEM;
	e->wrapper[e->wrappers++] = w;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct view_run_wrapper *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* The first of the last start. */
static size_t last_start(const struct view_run_end *e)
{
	int64_t end_ns = INT64_MAX;
	size_t first = 0;

	for (size_t i = 0; i < e->wrappers; i++) {
		const struct view_run_wrapper *w = &e->wrapper[i];

		if (i && w->start_ns > end_ns)
			first = i;
		end_ns = i ? base_max(end_ns, w->end_ns) : w->end_ns;
	}
	return first;
}

struct view_run_ended view_run_end_tell(struct view_run_end *e)
{
	const struct view_run_wrapper *failed = NULL;
	struct view_run_ended ended = { .known = e->wrappers > 0 };

	if (e->wrappers)
		qsort(e->wrapper, e->wrappers, sizeof(*e->wrapper), by_start);
	for (size_t i = last_start(e); i < e->wrappers; i++) {
		const struct view_run_wrapper *w = &e->wrapper[i];

		ended.over |= w->told;
		ended.known &= w->told;
		if (w->status && (!failed || w->end_ns < failed->end_ns))
			failed = w;
	}
	if (failed)
		ended = (struct view_run_ended){ true, true, failed->status };
	return ended;
}

void view_run_end_fini(struct view_run_end *e)
{
	free(e->wrapper);
}
