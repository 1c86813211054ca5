/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A SQLite file: the tables that nsys writes, with its names and numbers, so that its recipes and
 * people's queries run; and ours: run, gpus, classes, gaps, pieces, steps, findings, advice. Rows
 * go in by prepared statements in one transaction into a fresh file that is renamed at the end;
 * indexes are made last. Strings are bound, never pasted into SQL.
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <stdio.h>
#include <unistd.h>
#include "export.h"
#include "log.h"
#include "units.h"
#include "wire/strtab.h"

#define CACHE_KB 16384
#define TID_BITS 0xffffff

static const char schema[] =
	"CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
	"CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);"
	"CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);"
	"CREATE TABLE TARGET_INFO_GPU (id INTEGER PRIMARY KEY, name TEXT, busLocation TEXT,"
	" totalMemory INTEGER, smCount INTEGER, chipName TEXT, memoryBandwidth INTEGER);"
	"CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER,"
	" uuid TEXT, numMultiprocessors INTEGER);"
	"CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);"
	"CREATE TABLE ENUM_CUDA_MEMCPY_OPER (id INTEGER PRIMARY KEY, name TEXT, label TEXT);"
	"CREATE TABLE ENUM_CUDA_MEM_KIND (id INTEGER PRIMARY KEY, name TEXT, label TEXT);"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,"
	" contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,"
	" demangledName INTEGER, shortName INTEGER, graphId INTEGER);"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER,"
	" contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,"
	" bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER,"
	" srcDeviceId INTEGER, dstDeviceId INTEGER, graphId INTEGER);"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER,"
	" contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,"
	" bytes INTEGER, graphId INTEGER);"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER,"
	" deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER,"
	" globalPid INTEGER, graphId INTEGER);"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER,"
	" globalTid INTEGER, correlationId INTEGER, nameId INTEGER);"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER,"
	" deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER,"
	" globalPid INTEGER, syncType INTEGER);"
	"CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, textId INTEGER,"
	" globalTid INTEGER);"
	"CREATE TABLE run (name TEXT PRIMARY KEY, value);"
	"CREATE TABLE gpus (gpu INTEGER PRIMARY KEY, host TEXT, idx INTEGER, uuid TEXT, name TEXT,"
	" held_start_ns INTEGER, held_end_ns INTEGER, held_ns INTEGER, span_ns INTEGER,"
	" busy_ns INTEGER, idle_ns INTEGER, empty_ns INTEGER, queued_ns INTEGER,"
	" starved_ns INTEGER, ops INTEGER, gaps INTEGER, verdict TEXT, nano_usd INTEGER);"
	"CREATE TABLE classes (gpu INTEGER, class TEXT, ns INTEGER, nano_usd INTEGER,"
	" high_ns INTEGER, medium_ns INTEGER, low_ns INTEGER, none_ns INTEGER);"
	"CREATE TABLE pieces (gpu INTEGER, start_ns INTEGER, end_ns INTEGER, class TEXT,"
	" confidence TEXT, state TEXT, gap INTEGER);"
	"CREATE TABLE gaps (gap INTEGER PRIMARY KEY, gpu INTEGER, start_ns INTEGER,"
	" end_ns INTEGER, ns INTEGER, empty_ns INTEGER, class TEXT, pid INTEGER, tid INTEGER);"
	"CREATE TABLE steps (host TEXT, pid INTEGER, start_ns INTEGER, end_ns INTEGER,"
	" ns INTEGER, exposed_ns INTEGER);"
	"CREATE TABLE samples (t_ns INTEGER, pid INTEGER, tid INTEGER, whose TEXT, doing TEXT,"
	" period_ns INTEGER, stack INTEGER, native INTEGER, target INTEGER, fs INTEGER);"
	"CREATE TABLE batches (start_ns INTEGER, end_ns INTEGER, pid INTEGER, tid INTEGER,"
	" what TEXT, loader INTEGER, batch INTEGER, worker INTEGER, cpu_ns INTEGER,"
	" delay_ns INTEGER, read_bytes INTEGER);"
	"CREATE TABLE findings (class TEXT, ns INTEGER, nano_usd INTEGER, confidence TEXT,"
	" basis TEXT);"
	"CREATE TABLE advice (id TEXT, class TEXT, title TEXT, why TEXT, action TEXT,"
	" saving_upper_ns INTEGER, saving_upper_nano_usd INTEGER);"
	"CREATE TABLE caveats (text TEXT);";

static const char indexes[] =
	"CREATE INDEX kernel_start ON CUPTI_ACTIVITY_KIND_KERNEL (start);"
	"CREATE INDEX kernel_correlation ON CUPTI_ACTIVITY_KIND_KERNEL (correlationId);"
	"CREATE INDEX memcpy_start ON CUPTI_ACTIVITY_KIND_MEMCPY (start);"
	"CREATE INDEX memset_start ON CUPTI_ACTIVITY_KIND_MEMSET (start);"
	"CREATE INDEX runtime_start ON CUPTI_ACTIVITY_KIND_RUNTIME (start);"
	"CREATE INDEX runtime_correlation ON CUPTI_ACTIVITY_KIND_RUNTIME (correlationId);"
	"CREATE INDEX nvtx_start ON NVTX_EVENTS (start);"
	"CREATE INDEX gaps_gpu_start ON gaps (gpu, start_ns);"
	"CREATE INDEX pieces_gpu_start ON pieces (gpu, start_ns);"
	"CREATE INDEX samples_time ON samples (t_ns);"
	"CREATE INDEX batches_start ON batches (start_ns);"
	"CREATE INDEX steps_start ON steps (start_ns);";

enum insert {
	I_STRING,
	I_KERNEL,
	I_COPY,
	I_MEMSET,
	I_GRAPH,
	I_CALL,
	I_SYNC,
	I_RANGE,
	I_PIECE,
	I_GAP,
	I_STEP,
	I_SAMPLE,
	I_BATCH,
	INSERTS
};
static const char *const inserts[INSERTS] = {
	[I_STRING] = "INSERT INTO StringIds VALUES (?,?)",
	[I_KERNEL] = "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?,?,?,?,?,?,?,?,?,?)",
	[I_COPY] = "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[I_MEMSET] = "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (?,?,?,?,?,?,?,?,?)",
	[I_GRAPH] = "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (?,?,?,?,?,?,?,?)",
	[I_CALL] = "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?,?,?,?,?)",
	[I_SYNC] = "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (?,?,?,?,?,?,?,?)",
	[I_RANGE] = "INSERT INTO NVTX_EVENTS VALUES (?,?,?,?,?)",
	[I_PIECE] = "INSERT INTO pieces VALUES (?,?,?,?,?,?,?)",
	[I_GAP] = "INSERT INTO gaps VALUES (?,?,?,?,?,?,?,?,?)",
	[I_STEP] = "INSERT INTO steps VALUES (?,?,?,?,?,?)",
	[I_SAMPLE] = "INSERT INTO samples VALUES (?,?,?,?,?,?,?,?,?,?)",
	[I_BATCH] = "INSERT INTO batches VALUES (?,?,?,?,?,?,?,?,?,?,?)",
};

struct open_gap { /* of a GPU: the gap whose pieces come now */
	bool open;
	struct ana_piece first;
	int64_t classes[ANA_CLASSES], empty_ns;
	int64_t number;
};

struct page {
	struct view_export *x;
	sqlite3 *db;
	sqlite3_stmt *put[INSERTS];
	int column; /* bound last */
	struct wire_strtab *strings; /* ids are StringIds.id */
	size_t source;
	struct view_export_source *s;
	uint32_t *string; /* by name of the process's trace: its id, 0: not yet */
	struct ana_map tids; /* (process, tid) that does not fit 24 bits: the number it got */
	uint32_t next_tid;
	struct open_gap *gap; /* per GPU */
	int64_t gaps;
	int err;
};

/* --- binding --- */

static int fail(struct page *p, int rc)
{
	if (rc == SQLITE_OK || rc == SQLITE_DONE || p->err)
		return p->err;
	p->err = rc == SQLITE_FULL ? -ENOSPC : rc == SQLITE_NOMEM ? -ENOMEM : -EIO;
	return p->err;
}

static sqlite3_stmt *row(struct page *p, enum insert i)
{
	p->column = 0;
	return p->put[i];
}

static void add_int(struct page *p, sqlite3_stmt *s, int64_t v)
{
	sqlite3_bind_int64(s, ++p->column, v);
}

static void add_text(struct page *p, sqlite3_stmt *s, const char *text, size_t len)
{
	char valid[2 * WIRE_STRING_BYTES_MAX];
	size_t n = view_text_valid(valid, sizeof(valid), text, len);

	sqlite3_bind_text(s, ++p->column, valid, (int)n, SQLITE_TRANSIENT);
}

/* One of our own constants, or what outlives the statement. */
static void add_name(struct page *p, sqlite3_stmt *s, const char *text)
{
	sqlite3_bind_text(s, ++p->column, text, -1, SQLITE_STATIC);
}

static void add_null(struct page *p, sqlite3_stmt *s)
{
	sqlite3_bind_null(s, ++p->column);
}

static void add_known(struct page *p, sqlite3_stmt *s, int64_t v, bool known)
{
	if (known)
		add_int(p, s, v);
	else
		add_null(p, s);
}

static int insert(struct page *p, sqlite3_stmt *s)
{
	int rc = sqlite3_step(s);

	sqlite3_reset(s);
	p->x->rows++;
	return fail(p, rc);
}

static int script(struct page *p, const char *sql)
{
	return p->err ? p->err : fail(p, sqlite3_exec(p->db, sql, NULL, NULL, NULL));
}

/* A statement for a table with few rows. */
static sqlite3_stmt *once(struct page *p, const char *sql)
{
	sqlite3_stmt *s = NULL;

	p->column = 0;
	if (!p->err)
		fail(p, sqlite3_prepare_v2(p->db, sql, -1, &s, NULL));
	return s;
}

static void insert_once(struct page *p, sqlite3_stmt *s)
{
	if (s)
		insert(p, s);
	sqlite3_finalize(s);
}

/* --- names and ids --- */

static uint32_t string_id(struct page *p, const char *text, size_t len)
{
	uint32_t known = wire_strtab_count(p->strings);
	uint32_t id = wire_strtab_intern(p->strings, text, len);
	sqlite3_stmt *s;

	if (!id)
		p->err = -ENOMEM;
	if (id <= known)
		return id;
	s = row(p, I_STRING);
	add_int(p, s, id);
	add_text(p, s, text, len);
	insert(p, s);
	return id;
}

/* Ids of a trace may be anything: one that it does not name has no place in p->string. */
static uint32_t name_id(struct page *p, uint32_t name, const char *otherwise)
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
static int64_t global_pid(const struct page *p)
{
	return (int64_t)((uint64_t)p->s->pid << 24);
}

static int64_t global_tid(struct page *p, uint32_t tid)
{
	uint64_t key = (uint64_t)p->source << 32 | tid;
	uint32_t small = tid;

	if (tid > TID_BITS) {
		small = ana_map_get(&p->tids, key);
		if (small == ANA_MAP_NONE) {
			small = --p->next_tid &
				TID_BITS; /* from the top, where no Linux thread is */
			if (ana_map_put(&p->tids, key, small))
				p->err = -ENOMEM;
		}
	}
	return global_pid(p) | small;
}

/* --- events --- */

static uint32_t device_of(struct page *p, uint32_t ordinal)
{
	uint32_t gpu = view_export_gpu(p->s, ordinal);

	return gpu == ANA_MAP_NONE ? ordinal : view_export_gpu_number(p->x, gpu);
}

static void add_place(struct page *p, sqlite3_stmt *s, const struct wire_event *e)
{
	add_int(p, s, e->start_ns);
	add_int(p, s, e->end_ns);
	add_int(p, s,
		device_of(p, e->kind == WIRE_KIND_SYNC ? view_export_sync_device(p->s, e)
						       : e->device));
	add_int(p, s, e->context);
	add_int(p, s, (int32_t)e->stream);
	add_known(p, s, (int64_t)e->corr, e->corr != 0);
	add_known(p, s, global_pid(p), !p->s->s->unknown);
}

static void add_graph(struct page *p, sqlite3_stmt *s, const struct wire_event *e)
{
	add_known(p, s, e->graph, e->graph != 0);
}

/* nsys counts kinds of memory from 0, pageable. */
static void add_memory(struct page *p, sqlite3_stmt *s, uint8_t kind)
{
	add_known(p, s, kind - WIRE_MEM_PAGEABLE, kind != WIRE_MEM_UNKNOWN);
}

static int put_copy(struct page *p, const struct wire_event *e)
{
	sqlite3_stmt *s = row(p, I_COPY);

	add_place(p, s, e);
	add_int(p, s, (int64_t)e->bytes);
	add_int(p, s, e->copy);
	add_memory(p, s, e->src);
	add_memory(p, s, e->dst);
	add_known(p, s, device_of(p, e->device), e->peer != 0);
	add_known(p, s, e->peer ? device_of(p, e->peer - 1u) : 0, e->peer != 0);
	add_graph(p, s, e);
	return insert(p, s);
}

static int put_kernel(struct page *p, const struct wire_event *e)
{
	sqlite3_stmt *s = row(p, I_KERNEL);
	uint32_t name = name_id(p, e->name, "kernel without a name");

	row(p, I_KERNEL);
	add_place(p, s, e);
	add_int(p, s, name);
	add_int(p, s, name);
	add_graph(p, s, e);
	return insert(p, s);
}

static int put_op(void *arg, const struct wire_event *e)
{
	struct page *p = arg;
	sqlite3_stmt *s;

	if (e->op == WIRE_OP_COPY)
		return put_copy(p, e);
	if (e->op != WIRE_OP_MEMSET && e->op != WIRE_OP_GRAPH)
		return put_kernel(p, e);
	s = row(p, e->op == WIRE_OP_GRAPH ? I_GRAPH : I_MEMSET);
	add_place(p, s, e);
	if (e->op == WIRE_OP_MEMSET)
		add_int(p, s, (int64_t)e->bytes);
	add_graph(p, s, e);
	return insert(p, s);
}

static int put_call(void *arg, const struct wire_event *e)
{
	struct page *p = arg;
	uint32_t name = name_id(p, e->name, "call");
	sqlite3_stmt *s = row(p, I_CALL);

	add_int(p, s, e->start_ns);
	add_int(p, s, e->end_ns);
	add_int(p, s, global_tid(p, e->tid));
	add_known(p, s, (int64_t)e->corr, e->corr != 0);
	add_int(p, s, name);
	return insert(p, s);
}

/* An import left these out and counted them: no end is known, and so they are kernels without. */
static int put_bad_ops(struct page *p)
{
	const struct view_stream *v = p->s->s->s;
	int err = 0;
	size_t i;

	for (i = 0; p->s->s->imported && i < v->losses && !err; i++) {
		const Wire__LossSpan *l = v->loss[i];
		uint32_t name = string_id(p, "bad stamp", 9);
		sqlite3_stmt *s = row(p, I_KERNEL);

		if (l->reason != WIRE__LOSS_REASON__LOSS_BAD_STAMP)
			continue;
		add_int(p, s, l->start_ns);
		add_null(p, s);
		add_int(p, s, device_of(p, l->device));
		add_int(p, s, l->context);
		add_int(p, s, (int32_t)l->stream);
		add_known(p, s, (int64_t)l->correlation, l->correlation != 0);
		add_known(p, s, global_pid(p), !p->s->s->unknown);
		add_int(p, s, name);
		add_int(p, s, name);
		add_null(p, s);
		err = insert(p, s);
	}
	return err;
}

static int put_sync(void *arg, const struct wire_event *e)
{
	struct page *p = arg;
	sqlite3_stmt *s = row(p, I_SYNC);

	add_place(p, s, e);
	add_int(p, s, e->op);
	return insert(p, s);
}

#define NVTX_PUSH_POP 59

static int put_range(void *arg, const struct wire_event *e)
{
	struct page *p = arg;
	uint32_t name = name_id(p, e->name, "range");
	sqlite3_stmt *s = row(p, I_RANGE);

	add_int(p, s, e->start_ns);
	add_int(p, s, e->end_ns);
	add_int(p, s, NVTX_PUSH_POP);
	add_int(p, s, name);
	add_int(p, s, global_tid(p, e->tid));
	return insert(p, s);
}

static int put_sample(void *arg, const struct wire_sample *w)
{
	struct page *p = arg;
	const uint32_t text[] = { w->stack, w->native, w->target, w->fs };
	uint32_t id[4];
	sqlite3_stmt *s;
	size_t i;

	for (i = 0; i < 4; i++)
		id[i] = *view_export_name(p->s, text[i], NULL) ? name_id(p, text[i], "") : 0;
	s = row(p, I_SAMPLE);
	add_int(p, s, w->t_ns);
	add_int(p, s, w->pid);
	add_int(p, s, w->tid);
	add_name(p, s, view_export_role(w->role));
	add_name(p, s, view_export_doing(w));
	add_int(p, s, w->period_ns);
	for (i = 0; i < 4; i++)
		add_known(p, s, id[i], id[i] != 0);
	return insert(p, s);
}

static int put_batch(void *arg, const struct wire_batch *b)
{
	static const char *const names[] = { "other", "open", "fetch", "take", "pin", "close" };
	struct page *p = arg;
	sqlite3_stmt *s = row(p, I_BATCH);

	add_int(p, s, b->start_ns);
	add_int(p, s, b->end_ns);
	add_int(p, s, b->pid);
	add_int(p, s, b->tid);
	add_name(p, s, names[b->what < 6 ? b->what : 0]);
	add_int(p, s, b->loader);
	add_int(p, s, (int64_t)b->batch);
	add_known(p, s, b->worker - 1, b->worker != 0);
	add_int(p, s, (int64_t)b->cpu_ns);
	add_int(p, s, (int64_t)b->delay_ns);
	add_int(p, s, (int64_t)b->rchar_bytes);
	return insert(p, s);
}

static int put_source(struct page *p, size_t i)
{
	static const struct {
		uint8_t kind;
		int (*take)(void *arg, const struct wire_event *e);
	} kinds[] = {
		{ WIRE_KIND_OP, put_op },
		{ WIRE_KIND_API, put_call },
		{ WIRE_KIND_SYNC, put_sync },
		{ WIRE_KIND_RANGE, put_range },
	};
	size_t k;
	int err = 0;

	p->source = i;
	p->s = &p->x->source[i];
	p->string = calloc(wire_strtab_count(p->s->s->s->strings) + 1, sizeof(*p->string));
	if (!p->string)
		return -ENOMEM;
	for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]) && !err; k++)
		err = view_export_events(p->x, i, kinds[k].kind, kinds[k].take, p);
	if (!err)
		err = put_bad_ops(p);
	if (!err)
		err = view_export_evidence(p->x, i, put_sample, NULL, p);
	if (!err)
		err = view_export_evidence(p->x, i, NULL, put_batch, p);
	free(p->string);
	return err;
}

/* --- gaps --- */

static void put_caveat(void *arg, const char *text)
{
	struct page *p = arg;
	sqlite3_stmt *s = once(p, "INSERT INTO caveats VALUES (?)");

	add_text(p, s, text, strlen(text));
	insert_once(p, s);
}

static const char *state(const struct ana_piece *q)
{
	return !q->gap ? "outside" : q->queued ? "queued" : "empty";
}

/* All pieces of it have come. What lies outside of the span is no gap. */
static int close_gap(struct page *p, struct open_gap *g)
{
	sqlite3_stmt *s = row(p, I_GAP);
	int c, major = 0;

	if (!g->open || !g->first.gap)
		return 0;
	for (c = 1; c < ANA_CLASSES; c++)
		if (g->classes[c] > g->classes[major])
			major = c;
	add_int(p, s, g->number);
	add_int(p, s, g->first.gpu);
	add_int(p, s, g->first.gap_start_ns);
	add_int(p, s, g->first.gap_end_ns);
	add_int(p, s, g->first.gap_end_ns - g->first.gap_start_ns);
	add_int(p, s, g->empty_ns);
	add_name(p, s, ana_class_names[major]);
	add_known(p, s, g->first.pid, g->first.pid != 0);
	add_known(p, s, g->first.tid, g->first.pid != 0);
	g->open = false;
	return insert(p, s);
}

static int open_gap(struct page *p, struct open_gap *g, const struct ana_piece *q)
{
	int err = close_gap(p, g);

	*g = (struct open_gap){ .open = true, .first = *q };
	if (q->gap)
		g->number = ++p->gaps;
	return err;
}

static int put_piece(void *arg, const struct ana_piece *q)
{
	struct page *p = arg;
	struct open_gap *g = &p->gap[q->gpu];
	int64_t ns = q->end_ns - q->start_ns;
	sqlite3_stmt *s;

	if (!g->open || g->first.gap != q->gap || g->first.gap_start_ns != q->gap_start_ns)
		if (open_gap(p, g, q))
			return p->err;
	g->classes[q->class] += ns;
	g->empty_ns += q->queued ? 0 : ns;
	s = row(p, I_PIECE);
	add_int(p, s, q->gpu);
	add_int(p, s, q->start_ns);
	add_int(p, s, q->end_ns);
	add_name(p, s, ana_class_names[q->class]);
	add_name(p, s, ana_confidence_names[q->confidence]);
	add_name(p, s, state(q));
	add_known(p, s, g->number, q->gap);
	return insert(p, s);
}

static int put_step(void *arg, const struct ana_step *step)
{
	struct page *p = arg;
	const struct ana_source *from = &p->x->plan.source[step->process];
	sqlite3_stmt *s = row(p, I_STEP);

	add_name(p, s, from->hello ? from->hello->host : "");
	add_int(p, s, from->pid);
	add_int(p, s, step->start_ns);
	add_int(p, s, step->end_ns);
	add_int(p, s, step->end_ns - step->start_ns);
	add_int(p, s, step->exposed_ns);
	return insert(p, s);
}

static int put_gaps(struct page *p)
{
	size_t i, gpus = p->x->summary->result->gpus;
	int err;

	p->gap = calloc(gpus + 1, sizeof(*p->gap));
	if (!p->gap)
		return -ENOMEM;
	err = view_export_pieces(p->x, put_piece, put_step, p);
	for (i = 0; i < gpus && !err; i++)
		err = close_gap(p, &p->gap[i]);
	free(p->gap);
	if (!err && p->x->late_pieces)
		put_caveat(p, "some pieces of gaps came late: a gap may have two rows, each with a "
			      "part of empty_ns");
	return err;
}

/* --- the summary --- */

static void put_fact(struct page *p, const char *name, const char *text)
{
	sqlite3_stmt *s = once(p, "INSERT INTO run VALUES (?,?)");

	add_name(p, s, name);
	if (text)
		add_text(p, s, text, strlen(text));
	else
		add_null(p, s);
	insert_once(p, s);
}

static void put_number(struct page *p, const char *name, int64_t v, bool known)
{
	sqlite3_stmt *s = once(p, "INSERT INTO run VALUES (?,?)");

	add_name(p, s, name);
	add_known(p, s, v, known);
	insert_once(p, s);
}

static void put_run(struct page *p)
{
	const struct view_summary *v = p->x->summary;
	const struct ana_result *r = v->result;

	put_fact(p, "id", v->id);
	put_fact(p, "window", v->window == ANA_WINDOW_JOB ? "job" : "device");
	put_fact(p, "verdict", ana_verdict_names[r->judgement.verdict]);
	put_fact(p, "severity", ana_severity_names[r->judgement.severity]);
	put_fact(p, "imported", r->import_kind);
	put_number(p, "simulated", r->simulated, true);
	put_number(p, "complete", r->complete, true);
	put_number(p, "start_unix_ns", v->start_unix_ns, true);
	put_number(p, "wall_ns", v->wall_ns, true);
	put_number(p, "gpu_ns", r->gpu_ns, true);
	put_number(p, "starved_ns", v->starved_ns, true);
	put_number(p, "wasted_ns", v->wasted_ns, true);
	put_number(p, "nano_usd", v->cost.total, v->cost.known);
	put_number(p, "starved_nano_usd", v->cost.starved, v->cost.known);
	put_number(p, "wasted_nano_usd", v->cost.wasted, v->cost.known);
	put_number(p, "dropped_events", (int64_t)r->quality.dropped, true);
	put_number(p, "unobserved_ns", r->quality.unobserved_ns, true);
}

static void put_gpu(struct page *p, size_t i)
{
	const struct ana_gpu *g = &p->x->summary->result->gpu[i];
	const int64_t ns[] = { g->held_start_ns, g->held_end_ns,  g->held_ns,
			       g->span_ns,	 g->busy_ns,	  g->idle_ns,
			       g->empty_ns,	 g->queued_ns,	  view_gpu_starved_ns(g),
			       (int64_t)g->ops,	 (int64_t)g->gaps };
	sqlite3_stmt *s = once(p, "INSERT INTO gpus VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
	size_t k;

	add_int(p, s, (int64_t)i);
	add_text(p, s, g->host, strlen(g->host));
	add_int(p, s, g->index);
	if (g->uuid)
		add_name(p, s, g->uuid);
	else
		add_null(p, s);
	add_text(p, s, g->name, strlen(g->name));
	for (k = 0; k < sizeof(ns) / sizeof(ns[0]); k++)
		add_int(p, s, ns[k]);
	add_name(p, s, ana_verdict_names[g->judgement.verdict]);
	add_known(p, s, view_gpu_nano_usd(p->x->summary, i), p->x->summary->cost.known);
	insert_once(p, s);
}

static void put_class(struct page *p, size_t gpu, int c)
{
	const struct ana_gpu *g = &p->x->summary->result->gpu[gpu];
	const struct view_cost *cost = &p->x->summary->cost;
	sqlite3_stmt *s = once(p, "INSERT INTO classes VALUES (?,?,?,?,?,?,?,?)");
	int k;

	add_int(p, s, (int64_t)gpu);
	add_name(p, s, ana_class_names[c]);
	add_int(p, s, g->classes[c]);
	add_known(p, s, cost->gpu_class[gpu][c], cost->known);
	for (k = 0; k < ANA_CONFIDENCES; k++)
		add_int(p, s, g->confidence[c][k]);
	insert_once(p, s);
}

static void put_device(struct page *p, size_t i)
{
	const struct ana_gpu *g = &p->x->summary->result->gpu[i];
	uint32_t n = view_export_gpu_number(p->x, i);
	sqlite3_stmt *s = once(p, "INSERT INTO TARGET_INFO_GPU (id, name, totalMemory) "
				  "VALUES (?,?,?)");

	add_int(p, s, n);
	add_text(p, s, g->name, strlen(g->name));
	add_int(p, s, (int64_t)g->memory_total_bytes);
	insert_once(p, s);
}

static void put_uses(struct page *p, size_t i)
{
	const struct ana_gpu *g = &p->x->summary->result->gpu[i];
	const struct ana_device *d = &p->x->plan.device[i];
	uint32_t n = view_export_gpu_number(p->x, i);
	size_t u;

	for (u = 0; u < d->uses; u++) {
		sqlite3_stmt *s = once(p, "INSERT INTO TARGET_INFO_CUDA_DEVICE (gpuId, cudaId, "
					  "pid, uuid) VALUES (?,?,?,?)");

		add_int(p, s, n);
		add_int(p, s, n); /* as deviceId has it: it is the same GPU in every process */
		add_int(p, s, p->x->source[d->use[u].source].pid);
		if (g->uuid)
			add_name(p, s, g->uuid);
		else
			add_null(p, s);
		insert_once(p, s);
	}
}

static void put_gpus(struct page *p)
{
	const struct ana_result *r = p->x->summary->result;
	size_t i;
	int c;

	for (i = 0; i < r->gpus && !p->err; i++) {
		put_gpu(p, i);
		put_device(p, i);
		put_uses(p, i);
		for (c = 0; c < ANA_CLASSES; c++)
			if (r->gpu[i].classes[c])
				put_class(p, i, c);
	}
}

static void put_processes(struct page *p)
{
	size_t i;

	for (i = 0; i < p->x->plan.sources && !p->err; i++) {
		const Wire__Hello *h = p->x->plan.source[i].hello;
		const char *name = h && h->n_command ? h->command[0] : "";
		sqlite3_stmt *s = once(p, "INSERT INTO PROCESSES VALUES (?,?,?)");

		p->s = &p->x->source[i];
		add_int(p, s, global_pid(p));
		add_int(p, s, p->s->pid);
		add_text(p, s, name, strlen(name));
		insert_once(p, s);
	}
}

static void put_findings(struct page *p)
{
	const struct view_summary *v = p->x->summary;
	size_t i;

	for (i = 0; i < v->findings && !p->err; i++) {
		const struct view_finding *f = &v->finding[i];
		sqlite3_stmt *s = once(p, "INSERT INTO findings VALUES (?,?,?,?,?)");

		add_name(p, s, ana_class_names[f->class]);
		add_int(p, s, f->ns);
		add_known(p, s, f->nano_usd, v->cost.known);
		add_name(p, s, ana_confidence_names[f->confidence]);
		add_text(p, s, f->basis, strlen(f->basis));
		insert_once(p, s);
	}
	for (i = 0; i < v->advices && !p->err; i++) {
		const struct view_advice *a = &v->advice[i];
		sqlite3_stmt *s = once(p, "INSERT INTO advice VALUES (?,?,?,?,?,?,?)");

		add_text(p, s, a->id, strlen(a->id));
		add_name(p, s, ana_class_names[a->class]);
		add_text(p, s, a->title, strlen(a->title));
		add_text(p, s, a->why, strlen(a->why));
		add_text(p, s, a->action, strlen(a->action));
		add_int(p, s, a->saving_ns);
		add_known(p, s, a->saving_nano_usd, v->cost.known);
		insert_once(p, s);
	}
}

static const char enums[] =
	"INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES (0,'CUDA_MEMCPY_KIND_UNKNOWN','Unknown'),"
	"(1,'CUDA_MEMCPY_KIND_HTOD','Host-to-Device'),(2,'CUDA_MEMCPY_KIND_DTOH','Device-to-Host'),"
	"(3,'CUDA_MEMCPY_KIND_HTOA','Host-to-Array'),(4,'CUDA_MEMCPY_KIND_ATOH','Array-to-Host'),"
	"(5,'CUDA_MEMCPY_KIND_ATOA','Array-to-Array'),(6,'CUDA_MEMCPY_KIND_ATOD','Array-to-Device'),"
	"(7,'CUDA_MEMCPY_KIND_DTOA','Device-to-Array'),(8,'CUDA_MEMCPY_KIND_DTOD','Device-to-Device'),"
	"(9,'CUDA_MEMCPY_KIND_HTOH','Host-to-Host'),(10,'CUDA_MEMCPY_KIND_PTOP','Peer-to-Peer');"
	"INSERT INTO ENUM_CUDA_MEM_KIND VALUES (0,'CUDA_MEMOPR_MEMORY_KIND_PAGEABLE','Pageable'),"
	"(1,'CUDA_MEMOPR_MEMORY_KIND_PINNED','Pinned'),(2,'CUDA_MEMOPR_MEMORY_KIND_DEVICE','Device'),"
	"(3,'CUDA_MEMOPR_MEMORY_KIND_ARRAY','Array'),(4,'CUDA_MEMOPR_MEMORY_KIND_MANAGED','Managed');";

static void put_summary(struct page *p)
{
	const struct ana_result *r = p->x->summary->result;
	sqlite3_stmt *s = once(p, "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_TOOL', ?)");

	add_name(p, s, "gpustarve " GPUSTARVE_VERSION);
	insert_once(p, s);
	s = once(p, "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?)");
	add_int(p, s, r->imported ? 0 : p->x->summary->start_unix_ns);
	insert_once(p, s);
	script(p, enums);
	put_run(p);
	put_gpus(p);
	put_processes(p);
	put_findings(p);
	view_export_caveats(p->x, put_caveat, p);
}

/* --- the whole --- */

static int open_db(struct page *p, const char *path)
{
	char pragma[160];
	int i;

	unlink(path);
	if (fail(p,
		 sqlite3_open_v2(path, &p->db,
				 SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
				 NULL)))
		return p->err;
	/* The file is nobody's until it is renamed: no journal, no waiting for the disk. */
	snprintf(pragma, sizeof(pragma),
		 "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
		 "PRAGMA page_size=16384; PRAGMA cache_size=-%d; PRAGMA temp_store=FILE;",
		 CACHE_KB);
	script(p, pragma);
	script(p, schema);
	script(p, "BEGIN");
	for (i = 0; i < INSERTS && !p->err; i++)
		fail(p, sqlite3_prepare_v2(p->db, inserts[i], -1, &p->put[i], NULL));
	return p->err;
}

static void close_db(struct page *p)
{
	int i;

	for (i = 0; i < INSERTS; i++)
		sqlite3_finalize(p->put[i]);
	sqlite3_close(p->db);
}

static int fill(struct page *p)
{
	size_t i;
	int err = 0;

	put_summary(p);
	for (i = 0; i < p->x->plan.sources && !err && !p->err; i++)
		err = put_source(p, i);
	if (!err && !p->err)
		err = put_gaps(p);
	if (err)
		return err;
	script(p, indexes);
	script(p, "COMMIT");
	return p->err;
}

int view_export_sqlite(struct view_export *x)
{
	struct page p = { .x = x, .strings = wire_strtab_new(), .next_tid = TID_BITS };
	char *part = view_out_beside(x->file);
	int err = -ENOMEM;

	if (!p.strings || !part)
		goto out;
	err = open_db(&p, part);
	if (!err)
		err = fill(&p);
	close_db(&p);
	if (!err && rename(part, x->file))
		err = -errno;
	if (err)
		unlink(part);
out:
	ana_map_fini(&p.tids);
	wire_strtab_free(p.strings);
	free(part);
	return err;
}
