/* SPDX-License-Identifier: Apache-2.0 */
#include "words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/evidence/hotspot_chain.h"
#include "base/utf8.h"
#include "wire/evidence.h"

#define NAME_COLUMNS 40 /* of functions and other names without a path in them */

const char *const view_wait_names[VIEW_WAITS] = {
#define WAIT(symbol, word, name, ...) [WIRE_WAIT_##symbol] = (name),
#include "facts/waits.def"
};

const char *const view_role_names[VIEW_ROLES] = {
	[WIRE_ROLE_OTHER] = "trainer thread",
	[WIRE_ROLE_SUBMITTER] = "trainer",
	[WIRE_ROLE_WORKER] = "worker",
	[WIRE_ROLE_PIN] = "pin thread",
	[WIRE_ROLE_WORKER_OTHER] = "worker thread",
	[WIRE_ROLE_PRODUCER] = "producer",
	[WIRE_ROLE_FEEDER] = "feeding thread",
};

/* How a sentence says what the thread is blocked in: without a target, and with one after it. */
static const struct {
	const char *verb, *bare, *with;
} blocked[VIEW_WAITS] = {
#define WAIT(symbol, word, name, short, verb, what, on) [WIRE_WAIT_##symbol] = { verb, what, on },
#include "facts/waits.def"
};

/* Every row is whole, and every wait has one. */
enum {
	WAITS = 0
#define WAIT(symbol, word, name, ...) +(sizeof(word) > 1 && sizeof(name) > 1)
#include "facts/waits.def"
};

_Static_assert(WAITS == VIEW_WAITS && WIRE_WAIT_UNKNOWN == VIEW_WAITS - 1, "a row for each");

static const char *skip_columns(const char *text, size_t columns)
{
	while (*text && columns--) {
		size_t n = base_utf8_length(text, strlen(text));
		text += n ? n : 1;
	}
	return text;
}

const char *view_short_path(struct base_arena *mem, const char *path, size_t columns)
{
	size_t all = base_utf8_columns(path);

	if (all <= columns || columns < 8)
		return base_arena_text(mem, path);
	const char *tail = skip_columns(path, all - (columns - 3));
	const char *slash = strchr(tail, '/');
	if (slash && slash[1])
		return base_arena_printf(mem, "...%s", slash);
	/* One long name: its beginning and its end. */
	const char *name = view_file_name(path);
	all = base_utf8_columns(name);
	if (all <= columns)
		return base_arena_text(mem, name);
	size_t front = (columns - 3) / 2;
	const char *cut = skip_columns(name, front);
	return base_arena_printf(mem, "%.*s...%s", (int)(cut - name), name,
				 skip_columns(name, all - (columns - 3 - front)));
}

uint64_t view_steps_shown(const struct ana_result *r)
{
	return r->unrecorded.ns ? r->unrecorded.steps : r->steps;
}

const char *view_steps_of_words(const struct ana_result *r)
{
	if (!r->unrecorded.ns || r->unrecorded.counted == ANA_COUNTED_MARKS)
		return "";
	return r->unrecorded.counted == ANA_COUNTED_BATCHES
		       ? ", one for each batch of the loader as while kernels were recorded"
		       : " while kernels were recorded; how many there were in all is not known";
}

bool view_steps_recorded(const struct ana_result *r)
{
	return r->unrecorded.ns && r->unrecorded.counted == ANA_COUNTED_BATCHES;
}

const char *const view_step_source_words[] = {
	[ANA_STEPS_NONE] = "",
	[ANA_STEPS_RANGE] = "step ranges",
	[ANA_STEPS_OPTIMIZER] = "optimizer ranges",
	[ANA_STEPS_PERIOD] = "the period of the kernel sequence",
	[ANA_STEPS_BATCHES] = "the loader's batches",
};

const char *view_file_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path;
}

static const char *also(struct base_arena *mem, const struct view_hotspot *p)
{
	if (p->targets < 2)
		return "";
	return base_arena_printf(mem, " and %" PRIu64 " more", p->targets - 1);
}

/* What stands behind "a socket:"; NULL: the target says no more than that. */
static const char *other_end(const struct view_hotspot *p)
{
	const char *name = p->target;

	if (name && p->wait == WIRE_WAIT_SOCKET && !strncmp(name, "socket:", 7))
		name += 7;
	if (name != p->target && !strcmp(name, "unix"))
		return NULL; /* a pair without a name, such as that by which a loop wakes itself */
	if (!name || !*name || !strcmp(name, "socket") || !strcmp(name, "pipe") ||
	    !strcmp(name, "*"))
		return NULL;
	return name;
}

const char *view_words_blocked(struct base_arena *mem, const struct view_hotspot *p, size_t columns)
{
	const char *target = other_end(p);

	if (p->wait >= VIEW_WAITS || !blocked[p->wait].bare || p->runnable)
		return NULL;
	if (!target || !blocked[p->wait].with)
		return base_arena_text(mem, blocked[p->wait].bare);
	return base_arena_printf(mem, "%s %s%s%s%s%s", blocked[p->wait].with,
				 view_short_path(mem, target, columns), also(mem, p),
				 p->fs ? " (" : "",
				 p->fs ? view_short_path(mem, p->fs, columns) : "",
				 p->fs ? ")" : "");
}

/* "function\tfile" as "function (file)". */
static const char *leaf_text(struct base_arena *mem, const char *leaf, size_t columns)
{
	const char *tab = strchr(leaf, '\t');

	if (!tab)
		return view_short_path(mem, leaf, columns);
	const char *function = base_arena_copy(mem, leaf, (size_t)(tab - leaf));
	return base_arena_printf(
		mem, "%s (%s)",
		view_short_path(mem, function, columns == SIZE_MAX ? columns : NAME_COLUMNS),
		view_short_path(mem, columns == SIZE_MAX ? tab + 1 : view_file_name(tab + 1),
				columns));
}

static const char *running(struct base_arena *mem, const struct view_hotspot *p, size_t columns)
{
	if (view_words_training(p))
		return view_words_training(p);
	if (p->leaf)
		return base_arena_printf(mem, "running %s", leaf_text(mem, p->leaf, columns));
	return p->file ? "running Python" : "running";
}

static const char main_process[] = "the main process";

/* One that is called as the one that waits: "thread fill", of four. */
static const char *who_ran(const struct view_hotspot *p, const char *who)
{
	if (p->chains && !strcmp(who, p->chain[p->chains - 1].who))
		return "another of its kind";
	return who;
}

const char *view_words_cpu(struct base_arena *mem, const struct view_hotspot *p, size_t columns)
{
	const char *at = p->runnable ? p->has_cpu : NULL, *part[4];
	size_t i;

	for (i = 0; at && i < 4; i++) {
		size_t n = strcspn(at, "\t");

		part[i] = base_arena_copy(mem, at, n);
		at += n;
		if (i < 3 && *at++ != '\t')
			return "";
	}
	if (!at || !*part[0])
		return "";
	if (!*part[2])
		return base_arena_printf(mem, " while %s ran", who_ran(p, part[0]));
	/* The sentence tells that line itself. */
	if (p->file && !strcmp(part[2], p->file) && strtoul(part[3], NULL, 10) == p->line)
		return base_arena_printf(mem, " while %s ran the same line", who_ran(p, part[0]));
	return base_arena_printf(
		mem, " while %s ran at %s:%s", who_ran(p, part[0]),
		view_short_path(mem, columns == SIZE_MAX ? part[2] : view_file_name(part[2]),
				columns),
		part[3]);
}

const char *view_words_doing(struct base_arena *mem, enum ana_class c, const struct view_hotspot *p,
			     size_t columns)
{
	if (c == ANA_HOST_GC)
		return "in the garbage collector";
	if (p->runnable)
		return base_arena_printf(mem, "waiting for a CPU%s",
					 view_words_cpu(mem, p, columns));
	if (p->wait == WIRE_WAIT_NONE)
		return running(mem, p, columns);
	if (p->wait == WIRE_WAIT_SLEEP)
		return "asleep";
	if (p->wait == WIRE_WAIT_STOPPED)
		return "stopped";
	if (p->wait == WIRE_WAIT_QUEUE)
		return p->role == WIRE_ROLE_WORKER ? "waiting for work" : "waiting for a batch";
	if (p->target && (p->wait == WIRE_WAIT_LOCK || p->wait == WIRE_WAIT_LOCK_SHARED ||
			  p->wait == WIRE_WAIT_CHILD))
		return base_arena_printf(mem, "waiting in %s", p->target);
	const char *what = view_words_blocked(mem, p, columns);
	return what ? base_arena_printf(mem, "%s %s", blocked[p->wait].verb, what) : "";
}

/* How many of the workers it was is known. */
static bool counted(const struct view_hotspot *p, int64_t workers)
{
	/* Of several hotspots the one with most threads is known: others may have had others. */
	bool all = p->targets < 2 || (int64_t)p->workers == workers;

	return p->role == WIRE_ROLE_WORKER && all && p->workers > 0 &&
	       (int64_t)p->workers <= workers;
}

static const char *counted_were(struct base_arena *mem, int64_t some, int64_t all)
{
	if (some == all)
		return all == 1	  ? "the only worker was"
		       : all == 2 ? "both workers were"
				  : base_arena_printf(mem, "all %" PRId64 " workers were", all);
	return base_arena_printf(mem, "%" PRId64 " of %" PRId64 " workers %s", some, all,
				 some == 1 ? "was" : "were");
}

const char *view_words_who_was(struct base_arena *mem, enum ana_class c,
			       const struct view_hotspot *p, int64_t workers)
{
	if (counted(p, workers))
		return counted_were(mem, p->workers, workers);
	if (p->role == WIRE_ROLE_PRODUCER)
		return ana_class_is_input(c) ? "whoever made the batches was"
					     : "the thread that the main process waited for was";
	return base_arena_printf(mem, "%s %s", view_words_who(mem, c, p, workers),
				 p->role == WIRE_ROLE_WORKER && p->workers > 1 ? "were" : "was");
}

const char *view_words_who(struct base_arena *mem, enum ana_class c, const struct view_hotspot *p,
			   int64_t workers)
{
	if (counted(p, workers))
		return base_arena_printf(mem, "%" PRIu32 " of %" PRId64 " worker%s", p->workers,
					 workers, workers == 1 ? "" : "s");
	switch (p->role) {
	case WIRE_ROLE_WORKER:
		return p->workers > 1 ? "workers" : "a worker";
	case WIRE_ROLE_PIN:
		return "the pin thread";
	case WIRE_ROLE_WORKER_OTHER:
		return "a worker's thread";
	case WIRE_ROLE_SUBMITTER:
		return main_process;
	case WIRE_ROLE_PRODUCER:
		return ana_class_is_input(c) ? "whoever makes the batches" : "the awaited thread";
	case WIRE_ROLE_FEEDER:
		return "the thread that feeds the main process";
	default:
		return "another thread";
	}
}

/* "the main process waited in queue.get at train.py:40 for"; what it waits for is told next. */
static const char *wait_of(struct base_arena *mem, const struct view_link *l, bool first,
			   size_t columns)
{
	const struct view_hotspot at = { .file = l->file, .line = l->line };
	const char *line = view_words_hotspot(mem, &at, columns);
	const char *who = first ? l->who : "which";

	if (l->waits_in && !strcmp(l->waits_in, ANA_CHAIN_NAP))
		return base_arena_printf(mem, "%s was asleep, looking for the next item%s%s%s of",
					 who, line ? " (" : "", line ? line : "", line ? ")" : "");
	return base_arena_printf(mem, "%s waited in %s%s%s for", who,
				 l->waits_in ? l->waits_in : "a wait", line ? " at " : "",
				 line ? line : "");
}

const char *view_words_chain(struct base_arena *mem, const struct view_hotspot *p, size_t columns)
{
	const char *text = "";

	for (size_t i = 0; i + 1 < p->chains; i++) {
		text = base_arena_printf(
			mem, "%s%s %s, ", text, wait_of(mem, &p->chain[i], !i, columns),
			view_short_path(mem, p->chain[i + 1].who,
					columns == SIZE_MAX ? columns : NAME_COLUMNS));
	}
	return base_arena_printf(mem, "%swhich was", text);
}

const char *view_words_hotspot(struct base_arena *mem, const struct view_hotspot *p, size_t columns)
{
	const char *line = p->line ? base_arena_printf(mem, ":%" PRIu32, p->line) : "";

	if (!p->file)
		return NULL;
	return base_arena_printf(
		mem, "%s%s",
		view_short_path(mem, columns == SIZE_MAX ? p->file : view_file_name(p->file),
				columns),
		line);
}

const char *view_words_line(struct base_arena *mem, const struct view_hotspot *p, size_t columns)
{
	const char *hotspot = view_words_hotspot(mem, p, columns);

	if (!p->function || !p->function[0])
		return hotspot;
	return base_arena_printf(mem, "%s %s", hotspot ? hotspot : "?",
				 view_short_path(mem, p->function,
						 columns == SIZE_MAX ? columns : NAME_COLUMNS));
}

/* Module path, tab, offset in hexadecimal, tab, build id. */
const char *view_words_native(struct base_arena *mem, const struct view_hotspot *p)
{
	if (!p->native)
		return NULL;
	size_t path = strcspn(p->native, "\t"), offset = 0;
	if (p->native[path])
		offset = strcspn(p->native + path + 1, "\t");
	const char *module = view_file_name(base_arena_copy(mem, p->native, path));
	if (p->symbol)
		return base_arena_printf(mem, "%s %s", module, p->symbol);
	if (!offset)
		return module;
	return base_arena_printf(mem, "%s+0x%.*s", module, (int)offset, p->native + path + 1);
}
