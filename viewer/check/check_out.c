/* SPDX-License-Identifier: Apache-2.0 */
#include "check_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/log.h"
#include "base/files.h"

const struct check_format check_formats[] = {
	{ "text", "for people (default)", check_out_text },
	{ "json", "gpustarve.check/1", check_out_json },
	{ "junit", "JUnit XML, a test case per judgement", check_out_junit },
	{ "github", "workflow commands: annotations at the line", check_out_github },
	{ "gitlab", "GitLab code quality", check_out_gitlab },
	{ "markdown", "for a job summary or a comment", check_out_markdown },
	{ 0 },
};

const struct check_format *check_out_format(const char *option, const char *name, size_t len)
{
	for (const struct check_format *f = check_formats; f->name; f++)
		if (strlen(f->name) == len && !strncmp(f->name, name, len))
			return f;
	view_error("%s %.*s: no such format; one of text, json, junit, github, gitlab, markdown",
		   option, (int)(len < 100 ? len : 100), name);
	return NULL;
}

int check_out_write(const struct check_result *r, const struct check_format *format,
		    const char *path)
{
	bool to_file = path && strcmp(path, "-");
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int err;

	if (!f)
		return -ENOMEM;
	format->write(r, f);
	err = fclose(f) ? -ENOMEM : 0;
	if (!err && to_file)
		err = base_file_write(path, text, len);
	else if (!err && (fwrite(text, 1, len, stdout) != len || fflush(stdout)))
		err = errno ? -errno : -EIO;
	if (err)
		view_error("%s: %s; name a file in a folder you may write to",
			   to_file ? path : "standard output", strerror(-err));
	free(text);
	return err;
}

const char *check_out_path(const struct check_result *r, const char *file)
{
	char here[4096];

	if (!file)
		return NULL;
	if (file[0] != '/')
		return file;
	if (getcwd(here, sizeof(here))) {
		size_t len = strlen(here);
		if (!strncmp(file, here, len) && file[len] == '/')
			return base_arena_text(r->mem, file + len + 1);
	}
	return strrchr(file, '/') + 1;
}
