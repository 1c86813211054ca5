/* SPDX-License-Identifier: Apache-2.0 */
/* gpustarve: finds the command, runs it. */
#include <stdio.h>
#include <string.h>
#include "cmd/cmd.h"
#include "cmd/commands.h"
#include "core/log.h"
#include "trace/newest.h"
#include "base/spelling.h"
#include "base/version.h"

static void usage(FILE *f)
{
	fputs("usage: gpustarve COMMAND [options]\n"
	      "\n"
	      "How long did the GPUs of a job starve, why, and what did it cost?\n"
	      "\n",
	      f);
	for (const struct view_command *c = view_commands; c->name; c++)
		fprintf(f, "  %-8s %s\n", c->name, c->help);
	fputs("\n"
	      "  gpustarve run -- python train.py\n"
	      "\n"
	      "gpustarve COMMAND --help shows the options of a command.\n",
	      f);
}

static const struct view_command *find(const char *name)
{
	for (const struct view_command *c = view_commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

static int unknown(const char *name)
{
	size_t best = BASE_SPELLING_OTHER;
	const char *near = NULL;

	for (const struct view_command *c = view_commands; c->name; c++) {
		size_t far = base_spelling_distance(name, strlen(name), c->name);
		if (far < best) {
			best = far;
			near = c->name;
		}
	}
	if (near)
		view_error("%s: no such command; did you mean %s? See gpustarve --help", name,
			   near);
	else
		view_error("%s: no such command; see gpustarve --help", name);
	return VIEW_EXIT_ERROR;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	const struct view_command *c = find(name);

	if (c)
		return !c->takes_runs || view_name_runs(c->options, argc - 1, argv + 1)
			       ? c->run(argc - 1, argv + 1)
			       : VIEW_EXIT_ERROR;
	if (!strcmp(name, "help") && argc > 2) {
		char help[] = "--help", *asked[] = { argv[2], help, NULL };

		c = find(argv[2]);
		return c ? c->run(2, asked) : unknown(argv[2]);
	}
	if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
		usage(stdout);
		return VIEW_EXIT_OK;
	}
	if (!strcmp(name, "--version")) {
		base_version_print(stdout, "gpustarve");
		return VIEW_EXIT_OK;
	}
	if (name[0])
		return unknown(name);
	usage(stderr);
	return VIEW_EXIT_ERROR;
}
