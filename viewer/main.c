/* SPDX-License-Identifier: Apache-2.0 */
/* gpustarve: finds the command, runs it. */
#include <stdio.h>
#include <string.h>
#include "cmd/cmd.h"
#include "cmd/import.h"
#include "core/log.h"
#include "base/spelling.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
};

static const struct command commands[] = {
	{ "run", view_cmd_run, "run a command and record what its GPUs do" },
	{ "top", view_cmd_top, "watch a run while it goes on" },
	{ "report", view_cmd_report, "show where the GPU time of a run went" },
	{ "verify", view_cmd_verify, "recompute a run's summary from its trace" },
	{ "check", view_cmd_check, "hold runs against budgets and a baseline" },
	{ "import", view_cmd_import, "make a run of another tool's trace" },
	{ "export", view_cmd_export, "write a run for other tools" },
	{ "job", view_cmd_job, "what a scheduler's hooks call, and its jobs" },
	{ "dump", view_cmd_dump, "print what a trace holds" },
	{ "digest", view_cmd_digest, "make what the fleet keeps of a run" },
	{ "fleet", view_cmd_fleet, "sum up the runs of an organisation" },
	{ "prices", view_cmd_prices, "list, look up and import prices" },
	{ "doctor", view_cmd_doctor, "say what is here and what is missing" },
};

static void usage(FILE *f)
{
	fputs("usage: gpustarve COMMAND [options]\n"
	      "\n"
	      "How long did the GPUs of a job starve, why, and what did it cost?\n"
	      "\n",
	      f);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		fprintf(f, "  %-8s %s\n", commands[i].name, commands[i].help);
	fputs("\n"
	      "  gpustarve run -- python train.py\n"
	      "\n"
	      "gpustarve COMMAND --help shows the options of a command.\n",
	      f);
}

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static int unknown(const char *name)
{
	size_t best = BASE_SPELLING_OTHER;
	const char *near = NULL;

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		size_t far = base_spelling_distance(name, strlen(name), commands[i].name);
		if (far < best) {
			best = far;
			near = commands[i].name;
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
	const struct command *c = find(name);

	if (c)
		return c->run(argc - 1, argv + 1);
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
		puts("gpustarve " GPUSTARVE_VERSION);
		return VIEW_EXIT_OK;
	}
	if (name[0])
		return unknown(name);
	usage(stderr);
	return VIEW_EXIT_ERROR;
}
