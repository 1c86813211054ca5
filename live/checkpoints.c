/* SPDX-License-Identifier: Apache-2.0 */
/* Saves are told apart by process, place and time alone. */
#include "checkpoints.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/minmax.h"

#define OTHERS_PARTS 10 /* of the largest state that was saved: less is not all of it */
#define MEMORY_PARTS 1000 /* of a GPU's memory in use */

#define LOOK_BACK 16 /* so many saves of a process that are under way at a time are kept apart */
#define TIME_MAX (INT64_C(1) << 61)
#define STAMP_SLACK_NS 10000000 /* times of change are as coarse as the kernel's tick */

struct work {
	const struct live_save *save;
	size_t saves;
	struct live_checkpoints *c;
	uint32_t *order;
	uint32_t *at_place; /* the save before it at the same place; UINT32_MAX: none */
	uint32_t *of_process; /* ... of the same process */
};

int64_t live_clamped(int64_t t)
{
	return base_clamp(t, -TIME_MAX, TIME_MAX);
}

struct live_file live_file_of(const Wire__Checkpoint *c)
{
	return (struct live_file){ c->inode, c->size, c->mtime_ns };
}

void live_save_begin(struct live_save *s, const Wire__Checkpoint *c)
{
	*s = (struct live_save){ .start_ns = live_clamped(c->start_ns),
				 .call_end_ns = LIVE_NEVER,
				 .whole_ns = LIVE_NEVER,
				 .path = c->path,
				 .saver = c->saver };
}

static int64_t first(int64_t had, int64_t t)
{
	return had ? base_min(had, t) : t;
}

/* @from: it is told of itself, or of a folder around it. */
static void move(struct live_save *s, int64_t t, const char *from)
{
	size_t folder = live_place_folder(s->path), n = strlen(from);

	while (n > 1 && from[n - 1] == '/')
		n--;
	s->moved_ns = first(s->moved_ns, t);
	if (n <= folder && live_path_below(s->path, from))
		s->left_ns = first(s->left_ns, t);
}

/* The first that happened counts. */
static void gone(struct live_save *s, int64_t t, bool deleted)
{
	if (s->gone_ns && s->gone_ns <= t)
		return;
	s->gone_ns = t;
	s->deleted = deleted;
}

bool live_tells_of_save(const Wire__Checkpoint *c)
{
	return c->number && ((c->state >= WIRE__SAVE_STATE__SAVE_BEGUN &&
			      c->state <= WIRE__SAVE_STATE__SAVE_HANDED) ||
			     (c->state >= WIRE__SAVE_STATE__SAVE_CHANGED &&
			      c->state <= WIRE__SAVE_STATE__SAVE_MOVED));
}

void live_save_tell(struct live_save *s, const Wire__Checkpoint *c)
{
	int64_t end = live_clamped(c->end_ns);

	switch (c->state) {
	case WIRE__SAVE_STATE__SAVE_BEGUN:
		s->before_inode = c->before_inode;
		s->vacant = !c->before_inode;
		break;
	case WIRE__SAVE_STATE__SAVE_WHOLE:
		s->whole_ns = base_max(end, s->start_ns);
		s->file = live_file_of(c);
		s->synced |= c->synced;
		break;
	case WIRE__SAVE_STATE__SAVE_FAILED:
		s->failed = true;
		break;
	case WIRE__SAVE_STATE__SAVE_DELETED:
	case WIRE__SAVE_STATE__SAVE_CHANGED:
		gone(s, base_max(end, 1), c->state == WIRE__SAVE_STATE__SAVE_DELETED);
		return;
	case WIRE__SAVE_STATE__SAVE_MOVED:
		move(s, base_max(end, 1), c->path);
		return;
	default:
		break;
	}
	s->unsure |= c->content == WIRE__SAVE_CONTENT__CONTENT_NONE;
	s->state |= c->content == WIRE__SAVE_CONTENT__CONTENT_STATE;
	/* The call's own end is the first that is told. */
	if (c->state != WIRE__SAVE_STATE__SAVE_BEGUN && s->call_end_ns == LIVE_NEVER)
		s->call_end_ns = base_max(end, s->start_ns);
	if (s->failed)
		s->whole_ns = LIVE_NEVER;
}

bool live_path_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	while (n > 1 && folder[n - 1] == '/')
		n--;
	return n && !strncmp(path, folder, n) && path[n] == '/';
}

static int by_place(const void *a, const void *b, void *arg)
{
	const struct live_save *save = arg;
	const uint32_t *x = a, *y = b;
	int differs = strcmp(save[*x].path, save[*y].path);

	return differs ? differs : *x < *y ? -1 : *x > *y;
}

static int by_process(const void *a, const void *b, void *arg)
{
	const struct live_save *save = arg;
	const uint32_t *x = a, *y = b;
	uint32_t p = save[*x].process, q = save[*y].process;

	return p != q ? p < q ? -1 : 1 : *x < *y ? -1 : *x > *y;
}

static void link_places(struct work *w)
{
	const struct live_save *s = w->save;

	qsort_r(w->order, w->saves, sizeof(*w->order), by_place, (void *)(uintptr_t)w->save);
	for (size_t i = 0; i < w->saves; i++) {
		uint32_t at = w->order[i];
		bool same = i && !strcmp(s[at].path, s[w->order[i - 1]].path);

		w->at_place[at] = same ? w->order[i - 1] : UINT32_MAX;
	}
}

static void link_processes(struct work *w)
{
	const struct live_save *s = w->save;

	qsort_r(w->order, w->saves, sizeof(*w->order), by_process, (void *)(uintptr_t)w->save);
	for (size_t i = 0; i < w->saves; i++) {
		uint32_t at = w->order[i];
		bool same = i && s[at].process == s[w->order[i - 1]].process;

		w->of_process[at] = same ? w->order[i - 1] : UINT32_MAX;
	}
}

static bool under_way(const struct live_save *s, int64_t t)
{
	if (s->whole_ns != LIVE_NEVER)
		return t < s->whole_ns;
	return !s->failed || t < s->call_end_ns;
}

/* Of a folder that its process is saving just then. */
static bool is_part(const struct work *w, uint32_t at)
{
	const struct live_save *s = w->save;
	uint32_t i = w->of_process[at];

	for (int n = 0; n < LOOK_BACK && i != UINT32_MAX; n++, i = w->of_process[i])
		if (under_way(&s[i], s[at].start_ns) && live_path_below(s[at].path, s[i].path))
			return true;
	return false;
}

/* Whether its process has saved to the same place in this checkpoint. */
static bool is_again(const struct work *w, uint32_t at, uint32_t checkpoint)
{
	const struct live_save *s = w->save;

	for (uint32_t i = w->at_place[at]; i != UINT32_MAX; i = w->at_place[i]) {
		if (w->c->of_save[i] != checkpoint)
			return false; /* those before are of earlier ones */
		if (s[i].process == s[at].process)
			return true;
	}
	return false;
}

static int64_t later(int64_t t, int64_t ns)
{
	return t > LIVE_NEVER - ns ? LIVE_NEVER : t + ns;
}

/* Saves come by their beginnings. */
static void join(struct work *w)
{
	struct live_checkpoints *c = w->c;
	int64_t open_until = 0;

	for (uint32_t at = 0; at < w->saves; at++) {
		const struct live_save *s = &w->save[at];
		uint32_t last = (uint32_t)c->checkpoints - 1;

		c->of_save[at] = LIVE_NO_CHECKPOINT;
		if (!s->path[0] || is_part(w, at))
			continue;
		if (!c->checkpoints || s->start_ns > open_until || is_again(w, at, last)) {
			last = (uint32_t)c->checkpoints++;
			c->checkpoint[last] = (struct live_checkpoint){ .start_ns = s->start_ns,
									.there_ns = s->start_ns,
									.gone_ns = LIVE_NEVER,
									.unsure = true };
			open_until = s->start_ns;
		}
		c->of_save[at] = last;
		c->checkpoint[last].unsure &= s->unsure;
		c->checkpoint[last].unmoved |= live_save_unmoved(s);
		c->checkpoint[last].there_ns =
			base_max(c->checkpoint[last].there_ns, live_save_there(s));
		if (s->call_end_ns != LIVE_NEVER)
			open_until = base_max(open_until, later(s->call_end_ns, LIVE_JOIN_NS));
	}
}

/* A save that finds the file of an earlier one where it writes destroys it. */
static void overwrite(struct work *w)
{
	const struct live_save *s = w->save;

	for (uint32_t at = 0; at < w->saves; at++) {
		uint32_t i = w->at_place[at];

		for (int n = 0; s[at].before_inode && n < LOOK_BACK && i != UINT32_MAX;
		     n++, i = w->at_place[i]) {
			uint32_t of = w->c->of_save[i];

			if (s[i].file.inode != s[at].before_inode || of == LIVE_NO_CHECKPOINT ||
			    of == w->c->of_save[at])
				continue;
			if (w->c->checkpoint[of].gone_ns > s[at].start_ns)
				w->c->checkpoint[of].gone_ns = s[at].start_ns;
		}
	}
}

/* A file is whole before it is watched: what is told of before is a clock that was set. */
static void lose(struct work *w)
{
	for (uint32_t at = 0; at < w->saves; at++) {
		const struct live_save *s = &w->save[at];
		int64_t t = base_max(s->gone_ns, s->start_ns);
		struct live_checkpoint *c;

		if (!s->gone_ns || w->c->of_save[at] == LIVE_NO_CHECKPOINT)
			continue;
		c = &w->c->checkpoint[w->c->of_save[at]];
		if (t >= c->gone_ns)
			continue;
		c->gone_ns = t;
		c->deleted = s->deleted;
	}
}

int live_checkpoints_make(const struct live_save *save, size_t saves, struct live_checkpoints *c)
{
	struct work w = { .save = save, .saves = saves, .c = c };
	size_t n = saves + 1;
	int err = -ENOMEM;

	*c = (struct live_checkpoints){ .checkpoint = calloc(n, sizeof(*c->checkpoint)),
					.of_save = calloc(n, sizeof(*c->of_save)) };
	w.order = calloc(n, sizeof(*w.order));
	w.at_place = calloc(n, sizeof(*w.at_place));
	w.of_process = calloc(n, sizeof(*w.of_process));
	if (!c->checkpoint || !c->of_save || !w.order || !w.at_place || !w.of_process)
		goto out;
	for (uint32_t i = 0; i < saves; i++)
		w.order[i] = i;
	link_places(&w);
	link_processes(&w);
	join(&w);
	overwrite(&w);
	lose(&w);
	err = 0;
out:
	free(w.order);
	free(w.at_place);
	free(w.of_process);
	if (err)
		live_checkpoints_fini(c);
	return err;
}

void live_checkpoints_fini(struct live_checkpoints *c)
{
	free(c->checkpoint);
	free(c->of_save);
	*c = (struct live_checkpoints){ 0 };
}

uint64_t *live_state_bytes(const struct live_checkpoints *c, const struct live_save *save,
			   size_t saves)
{
	uint64_t *bytes = calloc(c->checkpoints + 1, sizeof(*bytes));
	bool *other = calloc(c->checkpoints + 1, sizeof(*other));

	for (size_t i = 0; bytes && other && i < saves; i++) {
		uint32_t of = c->of_save[i];

		if (of == LIVE_NO_CHECKPOINT)
			continue;
		bytes[of] = live_bytes_sum(bytes[of], save[i].file.size);
		other[of] |= !save[i].state || !save[i].file.size;
	}
	for (size_t i = 0; bytes && other && i < c->checkpoints; i++)
		bytes[i] = other[i] ? 0 : bytes[i];
	if (!other) {
		free(bytes);
		bytes = NULL;
	}
	free(other);
	return bytes;
}

enum live_small live_small_of(uint64_t bytes, uint64_t largest, uint64_t memory)
{
	if (!bytes)
		return LIVE_SMALL_NOT;
	if (bytes < LIVE_STATE_LEAST)
		return LIVE_SMALL_LITTLE;
	if (bytes < largest / OTHERS_PARTS)
		return LIVE_SMALL_OTHERS;
	return bytes < memory / MEMORY_PARTS ? LIVE_SMALL_MEMORY : LIVE_SMALL_NOT;
}

static bool same_file(const struct live_file *a, const struct live_file *b)
{
	return a->inode == b->inode && a->size == b->size && a->mtime_ns == b->mtime_ns;
}

static bool opened(const struct live_save *s, const struct live_load *l)
{
	if (!s->file.inode)
		return !l->file.inode && strstr(s->path, "://") && !strcmp(s->path, l->path);
	if (same_file(&s->file, &l->file))
		return true;
	return l->file.inode && live_path_below(l->path, s->path) &&
	       l->file.mtime_ns >= s->start_ns - STAMP_SLACK_NS && l->file.mtime_ns <= s->whole_ns;
}

size_t live_opened(const struct live_save *save, size_t saves, const struct live_checkpoints *c,
		   const struct live_load *load, int64_t before_ns)
{
	for (size_t i = saves; i--;) {
		const struct live_save *s = &save[i];

		if (s->start_ns < before_ns && s->whole_ns <= load->t_ns &&
		    c->of_save[i] != LIVE_NO_CHECKPOINT && opened(s, load))
			return i;
	}
	return SIZE_MAX;
}
