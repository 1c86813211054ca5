/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run directory that takes no more. The collector, the processes and we ourselves notice it, each
 * with a file of its own; whoever started the job wants to read of it once, and soon.
 */
#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>
#include "core/log.h"
#include "others.h"
#include "run.h"

#define ROOM_BYTES 65536 /* less than this may be too little for what the collector has at hand */

bool view_run_is_full(int err)
{
	return err == -ENOSPC || err == -EDQUOT;
}

void view_run_no_room(struct view_run *r, int err)
{
	const char *why = err ? strerror(-err) : "its files stayed empty";

	if (r->told)
		return;
	r->told = true;
	if (view_run_has_data(r->dir))
		view_error("%s: not all of the trace could be written: %s; make room there (the "
			   "job is not affected, the report has what was written)",
			   r->shown, why);
	else
		view_error("%s: nothing could be written: %s; make room there or give another "
			   "folder with -o (the job is not affected, there may be no report)",
			   r->shown, why);
}

/* Asked without writing: what is left may be just enough for the job. */
static int room_error(const char *dir)
{
	struct statvfs fs;

	if (statvfs(dir, &fs) || !fs.f_blocks)
		return 0;
	return (unsigned long long)fs.f_bavail * fs.f_frsize < ROOM_BYTES ? -ENOSPC : 0;
}

void view_run_hear(struct view_run *r)
{
	int err;

	if (!view_node_spoke(&r->node))
		return;
	err = room_error(r->dir);
	if (err) {
		view_run_no_room(r, err);
		view_node_skip(&r->node);
	} else {
		view_node_pass_on(&r->node);
		r->told = true;
	}
}
