/* SPDX-License-Identifier: Apache-2.0 */
#include "cgroup.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/files.h"

#define TEXT_BYTES 16384

/* "slurm", "slurm_n1", "slurmstepd.scope", "n1_slurmstepd.scope" */
static bool is_slurms(const char *part, size_t len)
{
	static const char scope[] = "slurmstepd.scope";
	size_t n = sizeof(scope) - 1;

	return (len >= 5 && !strncmp(part, "slurm", 5)) ||
	       (len > n && !strncmp(part + len - n, scope, n));
}

static int64_t job_of(const char *part, size_t len)
{
	int64_t v = 0;

	if (len < 5 || len > 14 || strncmp(part, "job_", 4) != 0)
		return -1;
	for (size_t i = 4; i < len; i++) {
		if (part[i] < '0' || part[i] > '9')
			return -1;
		v = v * 10 + (part[i] - '0');
	}
	return v > VIEW_JOB_NUMBER_MAX ? -1 : v;
}

int64_t view_job_in_cgroup(const char *text)
{
	bool below = false; /* a folder of Slurm's, in this line */

	for (size_t len; *text; text += len + (text[len] != '\0')) {
		len = strcspn(text, "/\n");
		int64_t job = below ? job_of(text, len) : -1;

		if (job >= 0)
			return job;
		below = (below || is_slurms(text, len)) && text[len] != '\n';
	}
	return -1;
}

void view_job_from_cgroup(struct view_job_identity *id)
{
	int fd = view_job_known(id) ? -1 : open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
	char text[TEXT_BYTES];
	size_t len = 0;

	if (fd < 0)
		return;
	if (!base_read_upto(fd, text, sizeof(text) - 1, &len)) {
		text[len] = '\0';
		id->number[VIEW_JOB_ID] = view_job_in_cgroup(text);
	}
	close(fd);
}
