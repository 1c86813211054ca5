/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command `gpustarve import`. @argv[0] is "import"; returns the exit status: 0, or 1 after an
 * error that it has told on stderr.
 */
#ifndef VIEW_CMD_IMPORT_H
#define VIEW_CMD_IMPORT_H

int view_cmd_import(int argc, char **argv);

#endif
