/* SPDX-License-Identifier: Apache-2.0 */
#include "run_end.h"

#include <limits.h>
#include <stddef.h>

/* Of the command that the record is of. */
static int64_t end_ns(const struct base_json *root)
{
	int64_t end, start = base_json_get_int(root, "start_unix_ns", 0);

	if (__builtin_add_overflow(start, base_json_get_int(root, "wall_ns", 0), &end))
		return INT64_MAX;
	return end;
}

void view_run_end_add(struct view_run_end *e, const struct base_json *root)
{
	int64_t status = base_json_get_int(root, "exit_status", INT64_MIN);
	int64_t at = end_ns(root);

	if (!base_json_get(root, "exit_status"))
		return;
	if (status < INT_MIN || status > INT_MAX) {
		e->untold = true;
		return;
	}
	e->told = true;
	if (!status || (e->status && at >= e->failed_ns))
		return;
	e->status = (int)status;
	e->failed_ns = at;
}

bool view_run_end_status(const struct view_run_end *e, int *status)
{
	bool known = e->status || (e->told && !e->untold);

	*status = known ? e->status : 0;
	return known;
}
