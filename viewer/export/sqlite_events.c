/* SPDX-License-Identifier: Apache-2.0 */
/* Names, operations, calls, ranges, samples and batches of a process. */
#include <errno.h>
#include <stdlib.h>
#include "sqlite_db.h"

/* --- names and ids --- */

static uint32_t string_id(struct view_db *p, const char *text, size_t len)
{
	uint32_t known = wire_strtab_count(p->strings);
	uint32_t id = wire_strtab_intern(p->strings, text, len);
	sqlite3_stmt *s;

	if (!id)
		p->err = -ENOMEM;
	if (id <= known)
		return id;
	s = view_db_row(p, I_STRING);
	view_db_int(p, s, id);
	view_db_text(p, s, text, len);
	view_db_insert(p, s);
	return id;
}

/* Ids of a trace may be anything: one that it does not name has no place in p->string. */
static uint32_t name_id(struct view_db *p, uint32_t name, const char *otherwise)
{
	size_t len;
	const char *text = view_export_name(p->s, name, &len);

	if (!len)
		return string_id(p, otherwise, strlen(otherwise));
	if (!p->string[name])
		p->string[name] = string_id(p, text, len);
	return p->string[name];
}

/* nsys packs a process into bits 24 to 47 and a thread into those below. */
int64_t view_db_pid(const struct view_db *p)
{
	return (int64_t)((uint64_t)p->s->pid << 24);
}

static int64_t global_tid(struct view_db *p, uint32_t tid)
{
	uint64_t key = (uint64_t)p->source << 32 | tid;
	uint32_t small = tid;

	if (tid > VIEW_DB_TID_BITS) {
		small = ana_map_get(&p->tids, key);
		if (small == ANA_MAP_NONE) {
			small = --p->next_tid &
				VIEW_DB_TID_BITS; /* from the top, where no Linux thread is */
			if (ana_map_put(&p->tids, key, small))
				p->err = -ENOMEM;
		}
	}
	return view_db_pid(p) | small;
}

/* --- events --- */

static uint32_t device_of(struct view_db *p, uint32_t ordinal)
{
	uint32_t gpu = view_export_gpu(p->s, ordinal);

	return gpu == ANA_MAP_NONE ? ordinal : view_export_gpu_number(p->x, gpu);
}

static void add_place(struct view_db *p, sqlite3_stmt *s, const struct wire_event *e)
{
	view_db_int(p, s, e->start_ns);
	view_db_int(p, s, e->end_ns);
	view_db_int(p, s,
		    device_of(p, e->kind == WIRE_KIND_SYNC ? view_export_sync_device(p->s, e)
							   : e->device));
	view_db_int(p, s, e->context);
	view_db_int(p, s, (int32_t)e->stream);
	view_db_known(p, s, (int64_t)e->corr, e->corr != 0);
	view_db_known(p, s, view_db_pid(p), !p->s->s->unknown);
}

static void add_graph(struct view_db *p, sqlite3_stmt *s, const struct wire_event *e)
{
	view_db_known(p, s, e->graph, e->graph != 0);
}

/* nsys counts kinds of memory from 0, pageable. */
static void add_memory(struct view_db *p, sqlite3_stmt *s, uint8_t kind)
{
	view_db_known(p, s, kind - WIRE_MEM_PAGEABLE, kind != WIRE_MEM_UNKNOWN);
}

static int put_copy(struct view_db *p, const struct wire_event *e)
{
	sqlite3_stmt *s = view_db_row(p, I_COPY);

	add_place(p, s, e);
	view_db_int(p, s, (int64_t)e->bytes);
	view_db_int(p, s, e->copy);
	add_memory(p, s, e->src);
	add_memory(p, s, e->dst);
	view_db_known(p, s, device_of(p, e->device), e->peer != 0);
	view_db_known(p, s, e->peer ? device_of(p, e->peer - 1u) : 0, e->peer != 0);
	add_graph(p, s, e);
	return view_db_insert(p, s);
}

static int put_kernel(struct view_db *p, const struct wire_event *e)
{
	sqlite3_stmt *s = view_db_row(p, I_KERNEL);
	uint32_t name = name_id(p, e->name, "kernel without a name");

	view_db_row(p, I_KERNEL);
	add_place(p, s, e);
	view_db_int(p, s, name);
	view_db_int(p, s, name);
	add_graph(p, s, e);
	return view_db_insert(p, s);
}

static int put_op(void *arg, const struct wire_event *e)
{
	struct view_db *p = arg;
	sqlite3_stmt *s;

	if (e->op == WIRE_OP_COPY)
		return put_copy(p, e);
	if (e->op != WIRE_OP_MEMSET && e->op != WIRE_OP_GRAPH)
		return put_kernel(p, e);
	s = view_db_row(p, e->op == WIRE_OP_GRAPH ? I_GRAPH : I_MEMSET);
	add_place(p, s, e);
	if (e->op == WIRE_OP_MEMSET)
		view_db_int(p, s, (int64_t)e->bytes);
	add_graph(p, s, e);
	return view_db_insert(p, s);
}

static int put_call(void *arg, const struct wire_event *e)
{
	struct view_db *p = arg;
	uint32_t name = name_id(p, e->name, "call");
	sqlite3_stmt *s = view_db_row(p, I_CALL);

	view_db_int(p, s, e->start_ns);
	view_db_int(p, s, e->end_ns);
	view_db_int(p, s, global_tid(p, e->tid));
	view_db_known(p, s, (int64_t)e->corr, e->corr != 0);
	view_db_int(p, s, name);
	return view_db_insert(p, s);
}

/* An import left these out and counted them: no end is known, and so they are kernels without. */
static int put_bad_ops(struct view_db *p)
{
	const struct view_stream *v = p->s->s->s;
	int err = 0;
	size_t i;

	for (i = 0; p->s->s->imported && i < v->losses && !err; i++) {
		const Wire__LossSpan *l = v->loss[i];
		uint32_t name = string_id(p, "bad stamp", 9);
		sqlite3_stmt *s = view_db_row(p, I_KERNEL);

		if (l->reason != WIRE__LOSS_REASON__LOSS_BAD_STAMP)
			continue;
		view_db_int(p, s, l->start_ns);
		view_db_null(p, s);
		view_db_int(p, s, device_of(p, l->device));
		view_db_int(p, s, l->context);
		view_db_int(p, s, (int32_t)l->stream);
		view_db_known(p, s, (int64_t)l->correlation, l->correlation != 0);
		view_db_known(p, s, view_db_pid(p), !p->s->s->unknown);
		view_db_int(p, s, name);
		view_db_int(p, s, name);
		view_db_null(p, s);
		err = view_db_insert(p, s);
	}
	return err;
}

static int put_sync(void *arg, const struct wire_event *e)
{
	struct view_db *p = arg;
	sqlite3_stmt *s;

	if (e->op == WIRE_SYNC_HOST_FUNCTION) /* nsys has no word for it */
		return 0;
	s = view_db_row(p, I_SYNC);
	add_place(p, s, e);
	view_db_int(p, s, e->op);
	return view_db_insert(p, s);
}

#define NVTX_PUSH_POP 59

static int put_range(void *arg, const struct wire_event *e)
{
	struct view_db *p = arg;
	uint32_t name = name_id(p, e->name, "range");
	sqlite3_stmt *s = view_db_row(p, I_RANGE);

	view_db_int(p, s, e->start_ns);
	view_db_int(p, s, e->end_ns);
	view_db_int(p, s, NVTX_PUSH_POP);
	view_db_int(p, s, name);
	view_db_int(p, s, global_tid(p, e->tid));
	return view_db_insert(p, s);
}

static int put_sample(void *arg, const struct wire_sample *w)
{
	struct view_db *p = arg;
	const uint32_t text[] = { w->stack, w->native, w->target, w->fs };
	uint32_t id[4];
	sqlite3_stmt *s;
	size_t i;

	for (i = 0; i < 4; i++)
		id[i] = *view_export_name(p->s, text[i], NULL) ? name_id(p, text[i], "") : 0;
	s = view_db_row(p, I_SAMPLE);
	view_db_int(p, s, w->t_ns);
	view_db_int(p, s, w->pid);
	view_db_int(p, s, w->tid);
	view_db_name(p, s, view_export_role(w->role));
	view_db_name(p, s, view_export_doing(w));
	view_db_int(p, s, w->period_ns);
	for (i = 0; i < 4; i++)
		view_db_known(p, s, id[i], id[i] != 0);
	return view_db_insert(p, s);
}

static int put_batch(void *arg, const struct wire_batch *b)
{
	static const char *const names[] = { "other", "open", "fetch", "take", "pin", "close" };
	struct view_db *p = arg;
	sqlite3_stmt *s = view_db_row(p, I_BATCH);

	view_db_int(p, s, b->start_ns);
	view_db_int(p, s, b->end_ns);
	view_db_int(p, s, b->pid);
	view_db_int(p, s, b->tid);
	view_db_name(p, s, names[b->what < 6 ? b->what : 0]);
	view_db_int(p, s, b->loader);
	view_db_int(p, s, (int64_t)b->batch);
	view_db_known(p, s, b->worker - 1, b->worker != 0);
	view_db_int(p, s, (int64_t)b->cpu_ns);
	view_db_int(p, s, (int64_t)b->delay_ns);
	view_db_int(p, s, (int64_t)b->rchar_bytes);
	return view_db_insert(p, s);
}

int view_db_source(struct view_db *p, size_t i)
{
	static const struct view_export_kind kinds[] = {
		{ WIRE_KIND_OP, put_op },
		{ WIRE_KIND_API, put_call },
		{ WIRE_KIND_SYNC, put_sync },
		{ WIRE_KIND_RANGE, put_range },
	};
	int err;

	p->source = i;
	p->s = &p->x->source[i];
	p->string = calloc(wire_strtab_count(p->s->s->s->strings) + 1, sizeof(*p->string));
	if (!p->string)
		return -ENOMEM;
	err = view_export_events(p->x, i, kinds, sizeof(kinds) / sizeof(kinds[0]), p);
	if (!err)
		err = put_bad_ops(p);
	if (!err)
		err = view_export_evidence(p->x, i, put_sample, NULL, p);
	if (!err)
		err = view_export_evidence(p->x, i, NULL, put_batch, p);
	free(p->string);
	return err;
}
