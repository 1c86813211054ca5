/* SPDX-License-Identifier: Apache-2.0 */
/* In place of trace/remote.c and cmd/put*.c where there is nothing to build objects/ with. */
#include <errno.h>
#include <string.h>
#include "cmd/cmd.h"
#include "core/log.h"
#include "trace/remote.h"

#define WITHOUT                                                                     \
	"this gpustarve was built without libcurl, GnuTLS or expat; build it with " \
	"libcurl4-openssl-dev, libgnutls28-dev and libexpat1-dev"

bool view_is_remote(const char *path)
{
	return !strncmp(path, "s3://", 5);
}

int view_remote_open(struct view_remote **r, const char *url, const char **why)
{
	(void)r;
	(void)url;
	*why = WITHOUT;
	return -ENOSYS;
}

void view_remote_close(struct view_remote *r)
{
	(void)r;
}

const char *view_remote_folder(const struct view_remote *r)
{
	(void)r;
	return "";
}

size_t view_remote_segments(const struct view_remote *r)
{
	(void)r;
	return 0;
}

const char *view_remote_trouble(const struct view_remote *r)
{
	(void)r;
	return NULL;
}

const char *view_remote_name(const struct view_remote *r, size_t i)
{
	(void)r;
	(void)i;
	return "";
}

int view_remote_segment(struct view_remote *r, size_t i, struct wire_file **f)
{
	(void)r;
	(void)i;
	(void)f;
	return -ENOSYS;
}

const struct base_options view_put_options = {
	.command = "put",
	.usage = "usage: gpustarve put RUN s3://BUCKET[/PREFIX]\n\n",
	.opt = (const struct base_opt[]){ { BASE_HELP }, { 0 } },
	.error = view_error,
};

int view_cmd_put(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	view_error("put: %s", WITHOUT);
	return VIEW_EXIT_ERROR;
}
