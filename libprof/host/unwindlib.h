/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libunwind's unwinder for other processes, found at run time and used on our own: with it, memory
 * is read by us, so that a stack that changes under it ends a walk and not the program, and the
 * modules are ours, so that it never asks the loader. Its declarations, as far as we use them; they
 * are the same from 1.2 on but for one word, which a walk from a known place finds out.
 */
#ifndef PROF_UNWINDLIB_H
#define PROF_UNWINDLIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { /* registers of x86-64, as DWARF numbers them */
	PROF_UNW_RSP = 7,
	PROF_UNW_RIP = 16,
};

enum { /* errors that we return to it */
	PROF_UNW_EBADREG = 3,
	PROF_UNW_EINVAL = 8,
	PROF_UNW_ENOINFO = 10,
};

#define PROF_UNW_CACHE_GLOBAL 1 /* caching policy */
#define PROF_UNW_REMOTE_TABLE 2 /* unw_dyn_info.format: the table is in the process's memory */

struct prof_unw_table { /* unw_dyn_info with unw_dyn_remote_table_info: words */
	uint64_t next, previous, start, end, gp;
	int32_t format, pad;
	uint64_t rest[5]; /* from 1.5 or so on load_offset; name, segbase, words, table */
};

struct prof_unw_callbacks { /* unw_accessors; later versions have more at the end */
	int (*find_proc_info)(void *space, uint64_t ip, void *info, int need, void *arg);
	void (*put_unwind_info)(void *space, void *info, void *arg);
	int (*dynamic_list)(void *space, uint64_t *list, void *arg);
	int (*memory)(void *space, uint64_t address, uint64_t *value, int write, void *arg);
	int (*reg)(void *space, int number, uint64_t *value, int write, void *arg);
	int (*fpreg)(void *space, int number, void *value, int write, void *arg);
	int (*resume)(void *space, void *cursor, void *arg);
	int (*proc_name)(void *space, uint64_t ip, char *text, size_t room, uint64_t *offset,
			 void *arg);
	void *later[8];
};

struct prof_unw_cursor {
	uint64_t opaque[512]; /* 127 words so far */
};

struct prof_unwindlib {
	void *(*create)(struct prof_unw_callbacks *callbacks, int order);
	int (*caching)(void *space, int policy);
	void (*flush)(void *space, uint64_t low, uint64_t high); /* 0, 0: all */
	int (*init)(struct prof_unw_cursor *cursor, void *space, void *arg);
	int (*step)(struct prof_unw_cursor *cursor);
	int (*get)(struct prof_unw_cursor *cursor, int number, uint64_t *value);
	int (*search)(void *space, uint64_t ip, struct prof_unw_table *table, void *info, int need,
		      void *arg);
};

/* Loads it, visible to us alone. 0 or -ENOENT. Takes the loader's lock. */
int prof_unwindlib_load(struct prof_unwindlib *lib);

#endif
