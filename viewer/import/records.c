/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the records of one foreign file.
 */
#include "records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "facts/names.h"
#include "number.h"

#define TABLE_FIRST_ROOM 4096

int view_import_trace_init(struct view_import_trace *t)
{
	memset(t, 0, sizeof(*t));
	t->texts = wire_strtab_new_guarded();
	return t->texts ? 0 : -ENOMEM;
}

void view_import_trace_fini(struct view_import_trace *t)
{
	size_t i;

	for (i = 0; i < VIEW_IMPORT_IDS; i++) {
		free(t->ids[i].key);
		free(t->ids[i].slot);
		free(t->ids[i].value);
	}
	for (i = 0; i < WIRE_KIND_MAX; i++) {
		free(t->table[i].ev);
		free(t->table[i].process);
	}
	free(t->device);
	free(t->process);
	wire_strtab_free(t->texts);
	memset(t, 0, sizeof(*t));
}

/* The slot of a key: where it is, or the empty one where it belongs. */
static uint32_t *find_slot(const struct view_import_map *m, struct view_import_id_key k)
{
	uint64_t h = ((uint64_t)k.num ^ (uint64_t)k.text << 40) * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t i = (uint32_t)(h >> 32) & (m->slots - 1);

	for (;; i = (i + 1) & (m->slots - 1)) {
		const struct view_import_id_key *at;

		if (!m->slot[i])
			return &m->slot[i];
		at = &m->key[m->slot[i] - 1];
		if (at->num == k.num && at->text == k.text)
			return &m->slot[i];
	}
}

static int map_grow(struct view_import_map *m)
{
	uint32_t slots = m->slots ? m->slots * 2 : 64, i;
	struct view_import_id_key *key;
	uint32_t *slot;

	if (slots > UINT32_C(1) << 30)
		return -E2BIG;
	key = realloc(m->key, slots / 2 * sizeof(*key));
	if (!key)
		return -ENOMEM;
	m->key = key;
	slot = calloc(slots, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	free(m->slot);
	m->slot = slot;
	m->slots = slots;
	m->room = slots / 2;
	for (i = 0; i < m->n; i++)
		*find_slot(m, m->key[i]) = i + 1;
	return 0;
}

static int map_get(struct view_import_map *m, struct view_import_id_key k, uint32_t *out)
{
	uint32_t *slot;
	int err;

	if (m->last < m->n && m->key[m->last].num == k.num && m->key[m->last].text == k.text) {
		*out = m->last;
		return 0;
	}
	if (m->n == m->room) {
		err = map_grow(m);
		if (err)
			return err;
	}
	slot = find_slot(m, k);
	if (!*slot) {
		m->key[m->n++] = k;
		*slot = m->n;
	}
	*out = m->last = *slot - 1;
	return 0;
}

int view_import_id(struct view_import_trace *t, enum view_import_ids which,
		   const struct view_import_value *v, uint32_t *out)
{
	struct view_import_id_key k = { .num = v->num };

	if (v->type == VIEW_IMPORT_NULL ||
	    (v->type == VIEW_IMPORT_TEXT && view_import_int(v->text, v->len, &k.num))) {
		/* as the ledger's rules have it, no id sorts as the text None */
		bool null = v->type == VIEW_IMPORT_NULL;

		k.text = wire_strtab_intern(t->texts, null ? "None" : v->text, null ? 4 : v->len);
		k.num = null;
		if (!k.text)
			return -ENOMEM;
	}
	return map_get(&t->ids[which], k, out);
}

int view_import_id_by_key(struct view_import_trace *t, enum view_import_ids which,
			  struct view_import_id_key key, uint32_t *out)
{
	return map_get(&t->ids[which], key, out);
}

int view_import_correlation(struct view_import_trace *t, const struct view_import_value *v,
			    uint64_t *out)
{
	char text[256] = "\"";
	size_t len = v->len < sizeof(text) - 1 ? v->len : sizeof(text) - 1;
	uint32_t id;

	*out = 0;
	if (v->type == VIEW_IMPORT_NULL)
		return 0;
	if (v->type == VIEW_IMPORT_INT && v->num > 0) {
		*out = (uint64_t)v->num;
		return 0;
	}
	if (v->type == VIEW_IMPORT_INT) {
		memcpy(text, &v->num, sizeof(v->num));
		len = sizeof(v->num);
	} else {
		memcpy(text + 1, v->text, len); /* the text "5" is not the number 5 */
		len++;
	}
	id = wire_strtab_intern(t->texts, text, len);
	*out = VIEW_IMPORT_ODD_CORRELATION | id;
	return id ? 0 : -ENOMEM;
}

int view_import_name(struct view_import_trace *t, const char *text, size_t len, uint32_t *out)
{
	*out = len ? wire_strtab_intern(t->texts, text, len) : 0;
	return *out || !len ? 0 : -ENOMEM;
}

static int table_grow(struct view_import_table *b)
{
	size_t room = b->room ? b->room * 2 : TABLE_FIRST_ROOM;
	struct wire_event *ev;
	uint32_t *process;

	if (room > UINT32_MAX / 2)
		return -E2BIG;
	ev = realloc(b->ev, room * sizeof(*ev));
	if (!ev)
		return -ENOMEM;
	b->ev = ev;
	process = realloc(b->process, room * sizeof(*process));
	if (!process)
		return -ENOMEM;
	b->process = process;
	b->room = room;
	return 0;
}

int view_import_add(struct view_import_trace *t, const struct wire_event *e, uint32_t process)
{
	bool bad = e->kind == WIRE_KIND_OP && e->end_ns < e->start_ns;
	struct view_import_table *b = &t->table[bad ? 0 : e->kind];
	int err;

	if (b->n == b->room) {
		err = table_grow(b);
		if (err)
			return err;
	}
	b->ev[b->n] = *e;
	b->process[b->n++] = process;
	return 0;
}

static bool begins(const char *text, size_t len, const char *with)
{
	size_t n = strlen(with);

	return len >= n && !memcmp(text, with, n);
}

int view_import_add_range(struct view_import_trace *t, struct wire_event *e, uint32_t process,
			  const char *name, size_t len, bool as_operator)
{
	int err;

	e->kind = WIRE_KIND_RANGE;
	e->op = as_operator ? WIRE_RANGE_OPERATOR : WIRE_RANGE_USER;
	if (facts_name_is_loader(name, len))
		e->op = WIRE_RANGE_LOADER;
	else if (begins(name, len, "ProfilerStep#"))
		e->op = WIRE_RANGE_STEP;
	if (as_operator && e->op != WIRE_RANGE_OPERATOR)
		e->flags |= WIRE_EV_FL_OPERATOR;
	err = view_import_name(t, name, len, &e->name);
	return err ? err : view_import_add(t, e, process);
}

void view_import_window(struct view_import_trace *t, int64_t start, int64_t end)
{
	if (!t->has_window || start < t->window_start)
		t->window_start = start;
	if (!t->has_window || end > t->window_end)
		t->window_end = end;
	t->has_window = true;
}

struct view_import_device *view_import_device_new(struct view_import_trace *t)
{
	struct view_import_device *d;

	d = realloc(t->device, (t->devices + 1) * sizeof(*d));
	if (!d)
		return NULL;
	t->device = d;
	d += t->devices++;
	memset(d, 0, sizeof(*d));
	return d;
}

const char *view_import_strerror(int err)
{
	switch (-err) {
	case ENOMEM:
		return "out of memory";
	case E2BIG:
		return "it has more processes or rows than one trace can have";
	default:
		return strerror(-err);
	}
}
