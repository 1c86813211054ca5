/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of a name and a value.
 */
#include "digest_tries.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/files.h"
#include "core/clock.h"
#include "core/files.h"

#define TEXT_MAX 4096
#define HEAD "gpustarve digest tries 1 " GPUSTARVE_VERSION "\n"

static void read_line(struct coll_digest_tries *t, const char *line, int64_t *trace_ns)
{
	static const char error[] = "error ";

	if (sscanf(line, "attempts %9u", &t->attempts) == 1 ||
	    sscanf(line, "next %" SCNd64, &t->next_ns) == 1 ||
	    sscanf(line, "trace %" SCNd64, trace_ns) == 1)
		return;
	if (!strncmp(line, error, sizeof(error) - 1))
		snprintf(t->error, sizeof(t->error), "%s", line + sizeof(error) - 1);
}

void coll_digest_tries_read(struct coll_digest_tries *t, int run_fd, int64_t trace_ns)
{
	int64_t of_ns = 0;
	char *line, *rest;
	uint8_t *text;
	size_t len;

	*t = (struct coll_digest_tries){ .attempts = 0 };
	if (coll_file_read_at(run_fd, COLL_DIGEST_TRIES, TEXT_MAX, &text, &len))
		return;
	rest = (char *)text;
	if (!strncmp(rest, HEAD, sizeof(HEAD) - 1)) {
		rest += sizeof(HEAD) - 1;
		while ((line = strsep(&rest, "\n")))
			read_line(t, line, &of_ns);
	}
	if (of_ns != trace_ns)
		*t = (struct coll_digest_tries){ .attempts = 0 };
	free(text);
}

int coll_digest_tries_write(const struct coll_digest_tries *t, const char *run_dir,
			    int64_t trace_ns)
{
	char path[PATH_MAX], tmp[PATH_MAX], text[TEXT_MAX];
	int fd, err, len;

	len = snprintf(text, sizeof(text),
		       HEAD "attempts %u\nnext %" PRId64 "\ntrace %" PRId64 "\nerror %s\n",
		       t->attempts, t->next_ns, trace_ns, t->error);
	if (snprintf(path, sizeof(path), "%s/" COLL_DIGEST_TRIES, run_dir) >= (int)sizeof(path) ||
	    snprintf(tmp, sizeof(tmp), "%s/" COLL_DIGEST_TRIES ".tmp", run_dir) >= (int)sizeof(tmp))
		return -ENAMETOOLONG;
	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	err = base_write_all(fd, text, (size_t)len);
	close(fd);
	if (!err && rename(tmp, path))
		err = -errno;
	if (err)
		unlink(tmp);
	return err;
}

void coll_digest_tries_remove(const char *run_dir)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/" COLL_DIGEST_TRIES, run_dir) < (int)sizeof(path))
		unlink(path);
}

bool coll_digest_tries_parked(const struct coll_digest_tries *t)
{
	return t->attempts >= COLL_DIGEST_ATTEMPTS;
}

int64_t coll_digest_tries_wait_ns(const struct coll_digest_tries *t, int64_t now_ns)
{
	const int64_t most = COLL_DIGEST_PAUSE_MAX_S * COLL_SECOND_NS;

	if (!t->attempts || t->next_ns <= now_ns)
		return 0;
	if (t->next_ns - most > now_ns) /* the clock was set back, or it is made up */
		return most;
	return t->next_ns - now_ns;
}

int64_t coll_digest_pause_ns(unsigned int failures)
{
	int64_t s = COLL_DIGEST_PAUSE_MIN_S;
	unsigned int i;

	for (i = 1; i < failures && s < COLL_DIGEST_PAUSE_MAX_S; i++)
		s *= 2;
	s = s < COLL_DIGEST_PAUSE_MAX_S ? s : COLL_DIGEST_PAUSE_MAX_S;
	return (s + random() % s) * COLL_SECOND_NS / 2;
}
