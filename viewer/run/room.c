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

#define FREE_FLOOR (64ull << 20)
#define FLOOR_SHARE 8
#define ROOM_BYTES 65536 /* less than this may be too little for what the collector has at hand */

bool view_run_is_full(int err)
{
	return err == -ENOSPC || err == -EDQUOT;
}

/*
 * NULL: there is room. Asked without writing: what is left may be just enough for the job. What
 * libprof and the collector leave free is so in spool.h and limit free-floor.
 */
static const char *why_full(const char *dir)
{
	unsigned long long floor = FREE_FLOOR, all, left;
	struct statvfs fs;

	if (statvfs(dir, &fs) || !fs.f_blocks)
		return NULL;
	all = (unsigned long long)fs.f_blocks * fs.f_frsize;
	left = (unsigned long long)fs.f_bavail * fs.f_frsize;
	if (left < ROOM_BYTES)
		return strerror(ENOSPC);
	if (floor > all / FLOOR_SHARE)
		floor = all / FLOOR_SHARE;
	return left < floor + ROOM_BYTES ? "No space left on device beyond the 64 MiB, or the "
					   "eighth of a small disk, that stay free"
					 : NULL;
}

static void tell(struct view_run *r, const char *why)
{
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

void view_run_no_room(struct view_run *r, int err)
{
	const char *why = err ? strerror(-err) : why_full(r->dir);

	tell(r, why ? why : "its files stayed empty");
}

void view_run_hear(struct view_run *r)
{
	const char *why;

	if (!view_node_spoke(&r->node))
		return;
	why = why_full(r->dir);
	if (why) {
		tell(r, why);
		view_node_skip(&r->node);
	} else {
		view_node_pass_on(&r->node);
		r->told = true;
	}
}
