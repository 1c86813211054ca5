/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives up, for good, what a report needs nothing of. Whoever reads traces of others may be led by
 * one to do what its sender likes, under an account that can read tokens, keys and other people's
 * runs: from here on this process opens what it is told and the system's own libraries and tables,
 * writes into one folder, makes no socket, starts no program, looks into no other process and takes
 * so much memory and no more. By Landlock and a filter of system calls, as far as the kernel has
 * them; before any thread.
 */
#ifndef VIEW_CONFINE_H
#define VIEW_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

#define VIEW_CONFINE_MEMORY (4ull << 30) /* address space, as collectors give their children */

struct view_confine {
	const char *const
		*read; /* files, or folders with all below; the site's prices go without saying */
	size_t reads;
	const char *write; /* a folder; NULL: no file is written */
};

/*
 * False: files stay as they were, for the kernel has no Landlock or forbids it to us; the rest
 * holds all the same. A path that is not there is left out. Sanitizers need what is given up here:
 * with them this does nothing, and false.
 */
bool view_confine(const struct view_confine *c);

/* The folder that a file lies in; what is a folder already, itself. Free it. */
char *view_confine_folder(const char *path, bool is_file);

#endif
