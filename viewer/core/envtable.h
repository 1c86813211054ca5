/* SPDX-License-Identifier: Apache-2.0 */
/* The environment variables of gpustarve, all programs of it. docs/OPERATIONS.md lists the same. */
#ifndef VIEW_ENVTABLE_H
#define VIEW_ENVTABLE_H

struct view_env_entry {
	const char *name, *fallback, *meaning;
};

extern const struct view_env_entry view_env_table[]; /* ends with a NULL name */

#endif
