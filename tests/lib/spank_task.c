/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spank_task LIB COMMAND [ARGUMENT...]: a task of a step with a GPU, whose environment is this
 * one's, after the SPANK plugin has seen to it. The functions of SLURM that the plugin calls stand
 * here.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "task.h"

static int words;
static char **word;

spank_err_t spank_get_item(spank_t sp, spank_item_t item, ...)
{
	spank_err_t rc = ESPANK_SUCCESS;
	va_list arguments;

	(void)sp;
	va_start(arguments, item);
	if (item == S_JOB_STEPID) {
		*va_arg(arguments, uint32_t *) = 0;
	} else if (item == S_JOB_ARGV) {
		*va_arg(arguments, int *) = words;
		*va_arg(arguments, char ***) = word;
	} else {
		rc = ESPANK_BAD_ARG;
	}
	va_end(arguments);
	return rc;
}

spank_err_t spank_getenv(spank_t sp, const char *name, char *out, int len)
{
	const char *have = getenv(name);

	(void)sp;
	if (!have)
		return ESPANK_ENV_NOEXIST;
	if (strlen(have) >= (size_t)len)
		return ESPANK_NOSPACE;
	strcpy(out, have);
	return ESPANK_SUCCESS;
}

spank_err_t spank_setenv(spank_t sp, const char *name, const char *value, int overwrite)
{
	(void)sp;
	return setenv(name, value, overwrite) ? ESPANK_ERROR : ESPANK_SUCCESS;
}

spank_err_t spank_unsetenv(spank_t sp, const char *name)
{
	(void)sp;
	return unsetenv(name) ? ESPANK_ERROR : ESPANK_SUCCESS;
}

int main(int argc, char **argv)
{
	struct gs_spank g = { .on = true, .run = "/nonexistent" };

	if (argc < 3 || strlen(argv[1]) >= sizeof(g.lib))
		return 99;
	strcpy(g.lib, argv[1]);
	words = argc - 2;
	word = argv + 2;
	gs_spank_task(NULL, &g);
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 99;
}
