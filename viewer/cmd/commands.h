/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of gpustarve, as its --help lists them. */
#ifndef VIEW_COMMANDS_H
#define VIEW_COMMANDS_H

#include "base/options.h"

struct view_command {
	const char *name;
	int (*run)(int argc, char **argv); /* see cmd.h */
	const struct base_options *options;
	const char *help;
	bool takes_runs; /* its operands are runs: -1 is the newest */
};

extern const struct view_command view_commands[]; /* ends with a NULL name */

#endif
