/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joins parts of a trace.
 */
#include "merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int view_import_part_init(struct view_import_part *p)
{
	memset(p, 0, sizeof(*p));
	return view_import_trace_init(&p->t);
}

void view_import_part_fini(struct view_import_part *p)
{
	size_t i;

	free(p->text);
	for (i = 0; i < VIEW_IMPORT_IDS; i++)
		free(p->id[i]);
	view_import_trace_fini(&p->t);
	memset(p, 0, sizeof(*p));
}

/* Room for the numbers 0 to @n of a list that knows @known of them. */
static int grow(uint32_t **list, uint32_t known, uint32_t n)
{
	uint32_t *more;

	if (*list && known == n)
		return 0;
	more = realloc(*list, ((size_t)n + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	*list = more;
	return 0;
}

/* Texts are numbered from 1. */
static int join_texts(struct view_import_trace *t, struct view_import_part *p)
{
	uint32_t n = wire_strtab_count(p->t.texts), i;
	int err = grow(&p->text, p->texts, n);

	if (err)
		return err;
	p->text[0] = 0;
	for (i = p->texts + 1; i <= n; i++) {
		size_t len;
		const char *text = wire_strtab_get(p->t.texts, i, &len);

		p->text[i] = wire_strtab_intern(t->texts, text, len);
		if (!p->text[i])
			return -ENOMEM;
		p->texts = i;
	}
	return 0;
}

static int join_ids(struct view_import_trace *t, struct view_import_part *p,
		    enum view_import_ids which)
{
	const struct view_import_map *m = &p->t.ids[which];
	int err = grow(&p->id[which], p->ids[which], m->n);
	uint32_t i;

	for (i = p->ids[which]; !err && i < m->n; i++) {
		struct view_import_id_key key = m->key[i];

		key.text = p->text[key.text];
		err = view_import_id_by_key(t, which, key, &p->id[which][i]);
		p->ids[which] = err ? i : i + 1;
	}
	return err;
}

static void renumber(const struct view_import_part *p, struct wire_event *e)
{
	e->name = p->text[e->name];
	if (e->corr & VIEW_IMPORT_ODD_CORRELATION)
		e->corr = VIEW_IMPORT_ODD_CORRELATION | p->text[(uint32_t)e->corr];
	if (e->kind == WIRE_KIND_API || e->kind == WIRE_KIND_RANGE) {
		e->tid = p->id[VIEW_IMPORT_TID][e->tid];
		return;
	}
	e->device = p->id[VIEW_IMPORT_DEVICE][e->device];
	e->stream = p->id[VIEW_IMPORT_STREAM][e->stream];
	e->context = p->id[VIEW_IMPORT_CONTEXT][e->context];
}

static int join_table(struct view_import_trace *t, struct view_import_part *p, size_t kind)
{
	struct view_import_table *from = &p->t.table[kind];
	size_t i;
	int err = 0;

	for (i = 0; !err && i < from->n; i++) {
		uint32_t process = from->process[i];

		if (process != VIEW_IMPORT_NO_PROCESS)
			process = p->id[VIEW_IMPORT_PID][process];
		renumber(p, &from->ev[i]);
		err = view_import_add(t, &from->ev[i], process);
	}
	from->n = 0;
	return err;
}

int view_import_merge(struct view_import_trace *t, struct view_import_part *p)
{
	int err = join_texts(t, p), which;
	size_t kind;

	for (which = 0; !err && which < VIEW_IMPORT_STRING; which++)
		err = join_ids(t, p, (enum view_import_ids)which);
	for (kind = 0; !err && kind < WIRE_KIND_MAX; kind++)
		err = join_table(t, p, kind);
	t->rows += p->t.rows;
	t->skipped += p->t.skipped;
	if (p->t.has_window)
		view_import_window(t, p->t.window_start, p->t.window_end);
	p->t.rows = p->t.skipped = 0;
	p->t.has_window = false;
	return err;
}
