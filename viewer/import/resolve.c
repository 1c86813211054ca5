/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the ids of a file to numbers, and from its records to processes.
 */
#include "records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PID_BITS 0xffffff /* of a global id >> 24; above them host and virtual machine */

struct order {
	const struct view_import_map *map;
	const struct wire_strtab *texts;
	bool null_first;
};

static bool is_null(struct view_import_id_key k)
{
	return k.text && k.num;
}

/* Numbers, then text; no id as the text None, or first where only equality counts. */
static int compare(const void *a, const void *b, void *arg)
{
	const struct order *o = arg;
	struct view_import_id_key x = o->map->key[*(const uint32_t *)a];
	struct view_import_id_key y = o->map->key[*(const uint32_t *)b];
	int c;

	if (o->null_first && is_null(x) != is_null(y))
		return is_null(x) ? -1 : 1;
	if (!x.text != !y.text)
		return x.text ? 1 : -1;
	if (!x.text)
		return x.num < y.num ? -1 : x.num > y.num;
	c = strcmp(wire_strtab_get(o->texts, x.text, NULL),
		   wire_strtab_get(o->texts, y.text, NULL));
	return c ? c : is_null(y) - is_null(x);
}

/* Numbers in order within [0, max]: an id keeps its own where that is free and in order. */
static int assign(const struct view_import_map *m, const uint32_t *order, int64_t max, bool dense)
{
	int64_t next = 0;
	uint32_t i;

	for (i = 0; i < m->n; i++) {
		struct view_import_id_key k = m->key[order[i]];
		int64_t v = next;

		if (!dense && !k.text && k.num > next && k.num <= max)
			v = k.num;
		if (next > max)
			return -E2BIG;
		m->value[order[i]] = v;
		next = v == INT64_MAX ? v : v + 1;
	}
	return 0;
}

static int number_ids(struct view_import_trace *t, enum view_import_ids which, int64_t max)
{
	struct view_import_map *m = &t->ids[which];
	struct order by = { m, t->texts, which == VIEW_IMPORT_CONTEXT };
	uint32_t *order = calloc(m->n + 1, sizeof(*order));
	uint32_t i;
	int err = -ENOMEM;

	m->value = calloc(m->n + 1, sizeof(*m->value));
	if (!order || !m->value)
		goto out;
	for (i = 0; i < m->n; i++)
		order[i] = i;
	qsort_r(order, m->n, sizeof(*order), compare, &by);
	err = assign(m, order, max, false);
	if (err)
		err = assign(m, order, max, true);
out:
	free(order);
	return err;
}

/* The plain pid where all processes are of one host and virtual machine. */
static void strip_nsys_pids(struct view_import_trace *t)
{
	struct view_import_map *m = &t->ids[VIEW_IMPORT_PID];
	uint32_t i;

	for (i = 0; i < m->n; i++)
		if (m->key[i].text || (m->key[i].num ^ m->key[0].num) & ~(int64_t)PID_BITS)
			return;
	for (i = 0; i < m->n; i++)
		m->value[i] = m->key[i].num & PID_BITS;
}

static uint32_t value(const struct view_import_trace *t, enum view_import_ids which, uint32_t id)
{
	return (uint32_t)t->ids[which].value[id];
}

static void number_events(struct view_import_trace *t, struct view_import_table *b, bool host)
{
	size_t i;

	for (i = 0; i < b->n; i++) {
		struct wire_event *e = &b->ev[i];

		if (host) {
			e->tid = value(t, VIEW_IMPORT_TID, e->tid);
			continue;
		}
		e->device = value(t, VIEW_IMPORT_DEVICE, e->device);
		e->stream = value(t, VIEW_IMPORT_STREAM, e->stream);
		e->context = value(t, VIEW_IMPORT_CONTEXT, e->context);
	}
}

/* The only process that has API records with a correlation id; NO_PROCESS if not exactly one. */
static uint32_t only_launcher(const struct view_import_trace *t)
{
	const struct view_import_table *api = &t->table[WIRE_KIND_API];
	uint32_t sole = VIEW_IMPORT_NO_PROCESS;
	size_t i;

	for (i = 0; i < api->n; i++) {
		if (!api->ev[i].corr || api->process[i] == sole)
			continue;
		if (sole != VIEW_IMPORT_NO_PROCESS)
			return VIEW_IMPORT_NO_PROCESS;
		sole = api->process[i];
	}
	return sole;
}

static bool any_without_process(const struct view_import_table *b)
{
	size_t i;

	for (i = 0; i < b->n; i++)
		if (b->process[i] == VIEW_IMPORT_NO_PROCESS)
			return true;
	return false;
}

static void give_process(struct view_import_table *b, uint32_t process)
{
	size_t i;

	for (i = 0; i < b->n; i++)
		if (b->process[i] == VIEW_IMPORT_NO_PROCESS)
			b->process[i] = process;
}

static int by_pid(const void *a, const void *b)
{
	const struct view_import_process *x = a, *y = b;

	if ((x->id == VIEW_IMPORT_NO_PROCESS) != (y->id == VIEW_IMPORT_NO_PROCESS))
		return x->id == VIEW_IMPORT_NO_PROCESS ? 1 : -1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* Marks the processes that have records. @seen[pids] is for the records that name none. */
static void mark_seen(const struct view_import_trace *t, uint8_t *seen)
{
	uint32_t pids = t->ids[VIEW_IMPORT_PID].n;
	size_t k, i;

	for (k = 0; k < WIRE_KIND_MAX; k++)
		for (i = 0; i < t->table[k].n; i++) {
			uint32_t p = t->table[k].process[i];

			seen[p == VIEW_IMPORT_NO_PROCESS ? pids : p] = 1;
		}
}

static int list_processes(struct view_import_trace *t, const uint8_t *seen)
{
	uint32_t pids = t->ids[VIEW_IMPORT_PID].n, i;

	t->process = calloc((size_t)pids + 1, sizeof(*t->process));
	if (!t->process)
		return -ENOMEM;
	for (i = 0; i <= pids; i++) {
		if (!seen[i])
			continue;
		t->process[t->processes++] = (struct view_import_process){
			.pid = i < pids ? t->ids[VIEW_IMPORT_PID].value[i] : 0,
			.id = i < pids ? i : VIEW_IMPORT_NO_PROCESS,
		};
	}
	if (t->processes > VIEW_IMPORT_PROCESSES_MAX)
		return -E2BIG;
	qsort(t->process, t->processes, sizeof(*t->process), by_pid);
	return 0;
}

/* From indices into the PID map to indices into process[]. */
static int number_processes(struct view_import_trace *t)
{
	uint32_t pids = t->ids[VIEW_IMPORT_PID].n;
	uint32_t *place = calloc((size_t)pids + 1, sizeof(*place));
	size_t k, i;

	if (!place)
		return -ENOMEM;
	for (i = 0; i < t->processes; i++) {
		uint32_t id = t->process[i].id;

		place[id == VIEW_IMPORT_NO_PROCESS ? pids : id] = (uint32_t)i;
	}
	for (k = 0; k < WIRE_KIND_MAX; k++)
		for (i = 0; i < t->table[k].n; i++) {
			uint32_t *p = &t->table[k].process[i];

			*p = place[*p == VIEW_IMPORT_NO_PROCESS ? pids : *p];
		}
	for (i = 0; i < t->table[0].n; i++)
		t->process[t->table[0].process[i]].bad_ops++;
	free(place);
	return 0;
}

static int resolve_processes(struct view_import_trace *t)
{
	uint8_t *seen = calloc((size_t)t->ids[VIEW_IMPORT_PID].n + 1, 1);
	uint32_t sole;
	int err;

	if (!seen)
		return -ENOMEM;
	sole = only_launcher(t);
	if (sole != VIEW_IMPORT_NO_PROCESS && any_without_process(&t->table[WIRE_KIND_OP])) {
		give_process(&t->table[0], sole);
		give_process(&t->table[WIRE_KIND_OP], sole);
		give_process(&t->table[WIRE_KIND_SYNC], sole);
	}
	mark_seen(t, seen);
	err = list_processes(t, seen);
	free(seen);
	return err ? err : number_processes(t);
}

/* --- how copies were called --- */

struct call {
	uint32_t process;
	uint64_t corr;
};

static int by_call(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->corr < y->corr ? -1 : x->corr > y->corr;
}

/* The API records that copy and return when it is done: cudaMemcpy, cuMemcpyHtoD_v2. */
static size_t list_synchronous(const struct view_import_trace *t, struct call *call)
{
	const struct view_import_table *api = &t->table[WIRE_KIND_API];
	size_t i, n = 0;

	for (i = 0; i < api->n; i++) {
		const char *name = wire_strtab_get(t->texts, api->ev[i].name, NULL);

		if (api->ev[i].corr && strstr(name, "Memcpy") && !strstr(name, "Async"))
			call[n++] = (struct call){ api->process[i], api->ev[i].corr };
	}
	qsort(call, n, sizeof(*call), by_call);
	return n;
}

/* These files do not say how a copy was called; the name of the call does, where it is there. */
static int mark_asynchronous(struct view_import_trace *t)
{
	struct view_import_table *ops = &t->table[WIRE_KIND_OP];
	struct call *call = calloc(t->table[WIRE_KIND_API].n + 1, sizeof(*call)), wanted;
	size_t i, n;

	if (!call)
		return -ENOMEM;
	n = list_synchronous(t, call);
	for (i = 0; i < ops->n; i++) {
		if (ops->ev[i].op != WIRE_OP_COPY)
			continue;
		wanted = (struct call){ ops->process[i], ops->ev[i].corr };
		if (!bsearch(&wanted, call, n, sizeof(*call), by_call))
			ops->ev[i].flags |= WIRE_EV_FL_ASYNC;
	}
	free(call);
	return 0;
}

int view_import_resolve(struct view_import_trace *t)
{
	/* Streams compare as signed numbers, for CUPTI's -1. */
	static const int64_t max[VIEW_IMPORT_IDS] = {
		[VIEW_IMPORT_PID] = INT64_MAX,	    [VIEW_IMPORT_TID] = UINT32_MAX,
		[VIEW_IMPORT_DEVICE] = UINT32_MAX,  [VIEW_IMPORT_STREAM] = INT32_MAX,
		[VIEW_IMPORT_CONTEXT] = UINT32_MAX,
	};
	int which, err;

	if (!t->table[WIRE_KIND_OP].n)
		return -ENODATA;
	for (which = 0; which < VIEW_IMPORT_STRING; which++) {
		err = number_ids(t, (enum view_import_ids)which, max[which]);
		if (err)
			return err;
	}
	if (t->nsys_pids)
		strip_nsys_pids(t);
	number_events(t, &t->table[0], false);
	number_events(t, &t->table[WIRE_KIND_OP], false);
	number_events(t, &t->table[WIRE_KIND_SYNC], false);
	number_events(t, &t->table[WIRE_KIND_API], true);
	number_events(t, &t->table[WIRE_KIND_RANGE], true);
	err = resolve_processes(t);
	return err ? err : mark_asynchronous(t);
}
