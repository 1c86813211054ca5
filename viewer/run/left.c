/* SPDX-License-Identifier: Apache-2.0 */
#include "left.h"

#include <ctype.h>
#include <dirent.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "process.h"

/* Its counter is @begin; or begins so, where the rest is any wrapper's. */
static bool is_below(pid_t pid, const char *begin, size_t len, bool whole)
{
	struct view_process p;
	const char *units;
	bool yes;

	if (view_process_read_environ(&p, pid))
		return false;
	units = view_process_env(&p, "GPUSTARVE_UNITS");
	yes = units && !strncmp(units, begin, len) &&
	      (whole ? !units[len] : !strncmp(units + len, "/units-", 7));
	view_process_fini(&p);
	return yes;
}

static bool any_below(const char *begin, bool whole)
{
	DIR *d = opendir("/proc");
	bool any = false;

	for (struct dirent *e; d && !any && (e = readdir(d));) {
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);

		any = isdigit((unsigned char)e->d_name[0]) && pid != getpid() &&
		      is_below(pid, begin, strlen(begin), whole);
	}
	if (d)
		closedir(d);
	return any;
}

bool view_left_by(const char *counter)
{
	return counter[0] && any_below(counter, true);
}

bool view_left_by_run(const char *dir)
{
	return any_below(dir, false);
}
