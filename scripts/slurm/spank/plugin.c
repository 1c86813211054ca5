/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SPANK plugin: `srun --gpustarve[=DIR]`, `sbatch --gpustarve[=DIR]`, and recording by default
 * where the site wants it. plugstack.conf:
 *
 *	optional /opt/gpustarve/lib/.../gpustarve/slurm/gpustarve.so [default=on] [batch=off] [dir=DIR]
 *		[partitions_on=A,B] [partitions_off=C,D] [lib=/opt/gpustarve/lib/.../libprof.so]
 *		[run=/run/gpustarve]
 *
 * (one line). `optional`, never `required`: a required plugin that cannot be loaded keeps slurmd
 * from starting. SLURM wants plugins built for its own major version and leaves others out.
 *
 * It is loaded into srun, sbatch, salloc, slurmd and slurmstepd, the last two root's: it has no
 * thread, no descriptor and no symbol of its own, copies what it is given into buffers that are
 * bounded, leaves out what does not fit, and answers 0 whatever happens.
 */
#include <stdint.h> /* spank.h needs it and does not say so */

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The rest is hidden; SLURM looks these up by name. */
#pragma GCC visibility push(default)
#include <slurm/spank.h>
SPANK_PLUGIN(gpustarve, 1)
#pragma GCC visibility pop

#include "task.h"

static struct gs_spank settings = { .batch = true, .run = "/run/gpustarve" };

/* Fits, and is no more than one line. */
static bool take(char *out, size_t room, const char *text)
{
	size_t len = strnlen(text, room);

	if (len >= room || strpbrk(text, "\n\r"))
		return false;
	memcpy(out, text, len + 1);
	return true;
}

static bool is_off(const char *text)
{
	return !strcmp(text, "off") || !strcmp(text, "no") || !strcmp(text, "0");
}

/* In srun and sbatch as the user gave it, in slurmstepd as it came over the network. */
static int option_given(int value, const char *text, int remote)
{
	(void)value;
	settings.given = true;
	settings.off = false;
	if (!text || !*text || !strcmp(text, "(null)"))
		return 0;
	if (is_off(text))
		settings.off = true;
	else if (!take(settings.asked, sizeof(settings.asked), text) && !remote)
		slurm_error("gpustarve: --gpustarve: the folder's name is too long or of several "
			    "lines; the site's folder is used");
	return 0;
}

static struct spank_option option = {
	.name = (char *)"gpustarve",
	.arginfo = (char *)"dir",
	.usage = (char *)"Record why GPUs wait; runs go to DIR. off: record nothing",
	.has_arg = 2,
	.cb = option_given,
};

/* libprof.so lies one folder above this plugin, if the site does not say where. */
static void find_lib(void)
{
	char path[PATH_MAX], *slash, *real;
	Dl_info info;

	if (!dladdr((void *)&settings, &info) || !info.dli_fname ||
	    !take(path, sizeof(path) - sizeof("/../libprof.so"), info.dli_fname))
		return;
	slash = strrchr(path, '/');
	if (!slash)
		return;
	strcpy(slash, "/../libprof.so");
	real = realpath(path, NULL);
	if (real)
		take(settings.lib, sizeof(settings.lib), real);
	free(real);
}

static void read_argument(const char *text)
{
	if (!strncmp(text, "lib=", 4))
		take(settings.lib, sizeof(settings.lib), text + 4);
	else if (!strncmp(text, "dir=", 4))
		take(settings.dir, sizeof(settings.dir), text + 4);
	else if (!strncmp(text, "run=", 4))
		take(settings.run, sizeof(settings.run), text + 4);
	else if (!strncmp(text, "default=", 8))
		settings.on = !strcmp(text + 8, "on");
	else if (!strncmp(text, "partitions_on=", 14))
		take(settings.on_in, sizeof(settings.on_in), text + 14);
	else if (!strncmp(text, "partitions_off=", 15))
		take(settings.off_in, sizeof(settings.off_in), text + 15);
	else if (!strncmp(text, "batch=", 6))
		settings.batch = !strcmp(text + 6, "on");
	else
		slurm_info("gpustarve: plugstack.conf: %s: no such argument; left out", text);
}

int slurm_spank_init(spank_t sp, int count, char **argument)
{
	spank_context_t context = spank_context();

	for (int i = 0; i < count; i++)
		read_argument(argument[i]);
	if (context == S_CTX_LOCAL || context == S_CTX_ALLOCATOR || context == S_CTX_REMOTE)
		spank_option_register(sp, &option);
	return 0;
}

int slurm_spank_task_init(spank_t sp, int count, char **argument)
{
	(void)count;
	(void)argument;
	if (!settings.lib[0])
		find_lib();
	gs_spank_task(sp, &settings);
	return 0;
}
