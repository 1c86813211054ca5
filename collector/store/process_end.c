/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One small JSON file, by way of a temporary name.
 */
#include "process_end.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/escape.h"

static int write_file(const char *path, const char *text, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666), err = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = write(fd, text, len);
	if (n < 0)
		err = -errno;
	else if ((size_t)n != len)
		err = -ENOSPC;
	else if (fdatasync(fd))
		err = -errno;
	close(fd);
	return err;
}

int coll_process_end_write(const char *run_dir, const char *stream_hex,
			   const struct coll_hello *who, int64_t end_ns)
{
	char path[PATH_MAX], tmp[PATH_MAX], host[6 * COLL_HOST_BYTES + 8], text[2048];
	int n, err;

	n = snprintf(path, sizeof(path), "%s/exit-coll-%s.json", run_dir, stream_hex);
	if (n < 0 || (size_t)n >= sizeof(path) - 8)
		return -ENAMETOOLONG;
	snprintf(tmp, sizeof(tmp), "%.*s.tmp", n, path);
	base_escape_text(host, sizeof(host), BASE_AS_JSON_ANYWHERE, who->host);
	n = snprintf(text, sizeof(text),
		     "{\"exits\":[{\"host\":\"%s\",\"pid\":%" PRId64 ",\"start_ns\":%" PRId64
		     ",\"end_ns\":%" PRId64 ",\"status\":null}]}\n",
		     host, who->pid, who->start_ns, end_ns);
	if (n < 0 || (size_t)n >= sizeof(text))
		return -EINVAL;
	err = write_file(tmp, text, (size_t)n);
	if (!err && rename(tmp, path))
		err = -errno;
	if (err)
		unlink(tmp);
	return err;
}
