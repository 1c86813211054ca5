/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libprof is preloaded for what uses CUDA through PyTorch and the like, and named to the driver
 * and to NVTX for what preloading does not reach. What the user has set stays.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/log.h"
#include "needs.h"
#include "run.h"

static void set_env(struct view_run *r, const char *name, const char *value)
{
	r->env[r->envs++] = (struct view_env){ name, value };
}

static void set_unless_set(struct view_run *r, const char *name, const char *value)
{
	const char *have = getenv(name);

	if (!have || !have[0])
		set_env(r, name, value);
}

/* True if the list (spaces or colons between) names @path already. */
static bool listed(const char *list, const char *path)
{
	size_t want = strlen(path);

	for (size_t len; *list; list += len + (list[len] != '\0')) {
		len = strcspn(list, ": ");
		if (len == want && !strncmp(list, path, len))
			return true;
	}
	return false;
}

static void set_preload(struct view_run *r)
{
	const char *have = getenv("LD_PRELOAD");

	if (have && listed(have, r->libprof))
		return;
	bool more = have && have[0];
	/* Last: a sanitizer's runtime has to come first, and nothing else cares. */
	int n = snprintf(r->preload, sizeof(r->preload), "%s%s%s", more ? have : "",
			 more ? ":" : "", r->libprof);
	if (n < (int)sizeof(r->preload))
		set_env(r, "LD_PRELOAD", r->preload);
}

/* Programs that let nothing be preloaded are left to CUDA; so is what the user says is one. */
static bool may_preload(const struct view_run *r)
{
	const char *said = getenv("GPUSTARVE_PRELOAD");
	char name[VIEW_NEEDS_NAME];

	if (said && (!strcmp(said, "0") || !strcmp(said, "off") || !strcmp(said, "no")))
		return false;
	if (!view_needs_sanitizer(r->command[0], getenv("PATH"), name))
		return true;
	if (!r->quiet)
		view_note("%s needs %s, so that libprof is not preloaded: %s", r->command[0], name,
			  strstr(name, "asan") ? "GPUs are recorded through CUDA alone"
					       : "nothing is recorded of it");
	return false;
}

static void set_labels(struct view_run *r)
{
	const char *have = getenv("GPUSTARVE_LABELS");
	size_t at = 0;

	if (!r->labels)
		return;
	if (have && have[0])
		at = (size_t)snprintf(r->labels_text, sizeof(r->labels_text), "%s", have);
	for (size_t i = 0; i < r->labels && at < sizeof(r->labels_text); i++)
		at += (size_t)snprintf(r->labels_text + at, sizeof(r->labels_text) - at, "%s%s=%s",
				       at ? "," : "", r->label[i].key, r->label[i].value);
	if (at < sizeof(r->labels_text))
		set_env(r, "GPUSTARVE_LABELS", r->labels_text);
	else
		view_note("labels: longer than %zu bytes; run.json has them, the trace does not",
			  sizeof(r->labels_text));
}

/* A file of this wrapper alone: appending to it is safe on this node, whatever the file system. */
static void set_counter(struct view_run *r)
{
	int n = snprintf(r->counter, sizeof(r->counter), "%s/units-%s-%ld.txt", r->dir, r->host,
			 (long)getpid());

	if (n < (int)sizeof(r->counter))
		set_env(r, "GPUSTARVE_UNITS", r->counter);
}

/*
 * Other tools that load themselves into CUDA through these variables; some refuse to start where
 * they are set. What they start in turn is preloaded and sees to itself; some preload themselves
 * into all of that, too, and libprof then keeps out of CUDA there (libprof/entry.c).
 */
static const struct tool {
	const char *name;
	bool keeps_cuda;
} tools[] = {
	{ "ncu", true },
	{ "ncu-ui", false },
	{ "nv-nsight-cu-cli", true },
	{ "nsys", false },
	{ "nsys-launcher", false },
	{ "cuda-gdb", false },
	{ "compute-sanitizer", true },
	{ "nvprof", false },
};

/* NULL: the command is none. */
static const struct tool *other_tool(const char *command)
{
	const char *slash = strrchr(command, '/'), *name = slash ? slash + 1 : command;

	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++)
		if (!strcmp(name, tools[i].name))
			return &tools[i];
	return NULL;
}

/* Is @command one that keeps CUDA to itself, or are we started by one? */
static bool keeps_cuda(const char *command)
{
	const struct tool *t = other_tool(command);

	return (t && t->keeps_cuda) || getenv("NV_NSIGHT_INJECTION_TRANSPORT_TYPE") ||
	       getenv("NV_SANITIZER_INJECTION_TRANSPORT_TYPE");
}

/* CUDA loads one library, and what the user or another tool has set stays. */
static void say_who_is_injected(const struct view_run *r)
{
	const char *have = getenv("CUDA_INJECTION64_PATH");

	if (keeps_cuda(r->command[0]) && !r->quiet)
		view_note("ncu and compute-sanitizer load themselves into all that they start: "
			  "nothing of it is recorded");
	if (have && have[0] && strcmp(have, r->libprof) != 0 && !r->quiet)
		view_note("CUDA_INJECTION64_PATH is set: CUDA loads %s in place of libprof, so "
			  "that nothing is recorded; unset it",
			  have);
}

void view_run_environment(struct view_run *r)
{
	set_env(r, "GPUSTARVE_OUT", r->base);
	set_env(r, "GPUSTARVE_RUN_ID", r->id);
	if (r->node.socket[0])
		set_env(r, "GPUSTARVE_SOCKET", r->node.socket);
	if (r->own_socket)
		set_env(r, "GPUSTARVE_QUIET_ERRORS", "1");
	if (r->level)
		set_env(r, "GPUSTARVE_LEVEL", r->level);
	if (r->max_overhead)
		set_env(r, "GPUSTARVE_MAX_OVERHEAD", r->max_overhead);
	if (r->max_trace)
		set_env(r, "GPUSTARVE_MAX_TRACE", r->max_trace);
	set_labels(r);
	set_counter(r);
	/* CUDA does not cut its variables at them. */
	if (strpbrk(r->libprof, ": "))
		view_note("%s: the path holds a space or a colon and no link without one could be "
			  "made in /tmp/gpustarve-links-%u, so that only CUDA programs load it; "
			  "install gpustarve elsewhere",
			  r->libprof, (unsigned)getuid());
	else if (may_preload(r))
		set_preload(r);
	say_who_is_injected(r);
	if (other_tool(r->command[0]) || keeps_cuda(r->command[0]))
		return;
	set_unless_set(r, "CUDA_INJECTION64_PATH", r->libprof);
	set_unless_set(r, "NVTX_INJECTION64_PATH", r->libprof);
}
