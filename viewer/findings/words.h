/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words for what a sample showed: who, doing what, at which line. Strings of a trace go through
 * unchanged (they may be anything): pages escape or tame them. Any thread.
 */
#ifndef VIEW_WORDS_H
#define VIEW_WORDS_H

#include <stdint.h>
#include "base/arena.h"
#include "model/model.h"

/* By enum ana_step_source: "step ranges", ...; "" for none. */
extern const char *const view_step_source_words[];
/* As pages count them: also where sums do not go by them (struct ana_unrecorded). */
uint64_t view_steps_shown(const struct ana_result *r);
/* " while kernels were recorded", where the count is of that time alone; else "". */
const char *view_steps_of_words(const struct ana_result *r);
/* The count is of all, and their times are of those that were recorded. */
bool view_steps_recorded(const struct ana_result *r);

/* What stands behind the path's last slash; the path where nothing does; NULL stays NULL. */
const char *view_file_name(const char *path);

#define VIEW_WAITS 16
extern const char *const view_wait_names[VIEW_WAITS]; /* by enum wire_wait: "none", "read", ... */

#define VIEW_ROLES 7
extern const char *const view_role_names[VIEW_ROLES]; /* by enum wire_role: "worker", ... */

/*
 * What the thread was blocked on: "reading /data/shard-17.bin (nfs4)", "a lock shared between
 * processes"; NULL if it ran or waited for a CPU. Targets longer than @columns lose their front.
 */
const char *view_words_blocked(struct base_arena *mem, const struct view_hotspot *p,
			       size_t columns);

/*
 * " while process mill ran at mill.py:12": who had the CPU that the thread lacked; "": nobody is
 * known.
 */
const char *view_words_cpu(struct base_arena *mem, const struct view_hotspot *p, size_t columns);

/* "running resize (Image.py)", "blocked reading /data/x (nfs4)", "waiting for a CPU", "asleep". */
const char *view_words_doing(struct base_arena *mem, enum ana_class c, const struct view_hotspot *p,
			     size_t columns);

/* activity.c: "decoding images", of a thread that ran well-known code; NULL: of any other. */
const char *view_words_activity(const struct view_hotspot *p);

/*
 * The same of a training thread in torch's own code: "running the backward pass"; that, of
 * autograd's thread, too.
 */
const char *view_words_training(const struct view_hotspot *p);

/*
 * "workers", "3 of 4 workers", "the main process", "the pin thread". @workers: of the loader, -1.
 * Who was waited for made batches where that is what the GPU waited for (@c), else anything.
 */
const char *view_words_who(struct base_arena *mem, enum ana_class c, const struct view_hotspot *p,
			   int64_t workers);

/* "both workers were", "the main process was". */
const char *view_words_who_was(struct base_arena *mem, enum ana_class c,
			       const struct view_hotspot *p, int64_t workers);

/*
 * "the main process waited in queue.get at train.py:40 for thread produce, which was": of a chain
 * of two or more, up to whose line it is.
 */
const char *view_words_chain(struct base_arena *mem, const struct view_hotspot *p, size_t columns);

/* "dataset.py:88 __getitem__"; whole paths if @columns is SIZE_MAX; NULL: no line is known. */
const char *view_words_line(struct base_arena *mem, const struct view_hotspot *p, size_t columns);

/* "dataset.py:88"; NULL: no file is known. */
const char *view_words_hotspot(struct base_arena *mem, const struct view_hotspot *p,
			       size_t columns);

/* "libjpeg.so.62 jpeg_read_scanlines", "libc.so.6+0x1b2f3"; NULL: no native frame is known. */
const char *view_words_native(struct base_arena *mem, const struct view_hotspot *p);

/* The end of a path in at most @columns: ".../shards/shard-17.bin". */
const char *view_short_path(struct base_arena *mem, const char *path, size_t columns);

#endif
