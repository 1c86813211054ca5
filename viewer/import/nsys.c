/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nsys SQLite exports: rows of the activity tables become records.
 */
#include "nsys.h"

#include <errno.h>
#include <string.h>
#include "facts/kernel.h"

#define PREFIX "CUPTI_ACTIVITY_KIND_"
#define NVTX_PUSH_POP 59
#define NVTX_START_END 60
#define PID_SHIFT 24

/* Columns that all tables begin with here. */
enum {
	C_START,
	C_END,
	C_DEVICE,
	C_PID,
	C_STREAM,
	C_CONTEXT,
	C_CORRELATION,
	C_BASE,
};
#define BASE_COLUMNS \
	"start", "end", "deviceId", "globalPid", "streamId", "contextId", "correlationId"

int nsys_each_row(struct nsys *r, const char *table, const char *const columns[], size_t n,
		  int (*add)(struct nsys *r, sqlite3_stmt *s, int arg), int arg)
{
	sqlite3_stmt *s;
	int got;

	got = view_import_db_select(&r->db, table, columns, n, &s);
	while (!got && s && (got = view_import_db_next(&r->db, s)) > 0) {
		r->t->rows++;
		got = add(r, s, arg);
	}
	if (got == -ENOMEM || got == -E2BIG)
		view_import_fail(r->job, got, "%s", view_import_strerror(got));
	sqlite3_finalize(s);
	return got;
}

/*
 * The row's times; a missing end becomes @start + @no_end. False: no start (or no end, where
 * @no_end is NULL), so there is nothing to place: the row is left out and counted.
 */
static bool take_times(struct nsys *r, sqlite3_stmt *s, const int *no_end, struct wire_event *e)
{
	struct view_import_value start = view_import_db_int(s, C_START),
				 end = view_import_db_int(s, C_END);

	if (start.type == VIEW_IMPORT_NULL || (end.type == VIEW_IMPORT_NULL && !no_end) ||
	    start.num == INT64_MIN) {
		r->t->skipped++;
		return false;
	}
	e->start_ns = start.num;
	e->end_ns = end.type == VIEW_IMPORT_NULL ? start.num + *no_end : end.num;
	view_import_window(r->t, e->start_ns, e->end_ns > e->start_ns ? e->end_ns : e->start_ns);
	return true;
}

static int process_of(struct nsys *r, struct view_import_value global, uint32_t *process)
{
	*process = VIEW_IMPORT_NO_PROCESS;
	if (global.type != VIEW_IMPORT_INT)
		return 0;
	global.num >>= PID_SHIFT;
	return view_import_id(r->t, VIEW_IMPORT_PID, &global, process);
}

static int id_of(struct nsys *r, enum view_import_ids which, sqlite3_stmt *s, int column,
		 uint32_t *out)
{
	struct view_import_value v = view_import_db_int(s, column);

	return view_import_id(r->t, which, &v, out);
}

static int take_place(struct nsys *r, sqlite3_stmt *s, struct wire_event *e, uint32_t *process)
{
	struct view_import_value corr = view_import_db_int(s, C_CORRELATION);
	int err = process_of(r, view_import_db_int(s, C_PID), process);

	if (!err)
		err = id_of(r, VIEW_IMPORT_DEVICE, s, C_DEVICE, &e->device);
	if (!err)
		err = id_of(r, VIEW_IMPORT_STREAM, s, C_STREAM, &e->stream);
	if (!err)
		err = id_of(r, VIEW_IMPORT_CONTEXT, s, C_CONTEXT, &e->context);
	if (!err)
		err = view_import_correlation(r->t, &corr, &e->corr);
	return err;
}

/* The thread that @column's global id names; *process is NO_PROCESS if it names none. */
static int take_thread(struct nsys *r, sqlite3_stmt *s, int column, struct wire_event *e,
		       uint32_t *process)
{
	struct view_import_value global = view_import_db_int(s, column);
	int err = process_of(r, global, process);

	global.num &= NSYS_ID_BITS;
	return err ? err : view_import_id(r->t, VIEW_IMPORT_TID, &global, &e->tid);
}

enum {
	C_DEMANGLED = C_BASE,
	C_SHORT,
	C_COPY,
	C_SRC,
	C_DST,
	C_BYTES,
	C_SRC_DEVICE,
	C_DST_DEVICE,
	C_GRAPH,
	C_OP_COLUMNS
};

/* The full name, unless only the short one says that this is a collective. */
static int kernel_name(struct nsys *r, sqlite3_stmt *s, uint32_t *out)
{
	uint32_t full, brief;
	int err = nsys_string(r, view_import_db_int(s, C_DEMANGLED), &full);

	if (!err)
		err = nsys_string(r, view_import_db_int(s, C_SHORT), &brief);
	if (err)
		return err;
	*out = full;
	if (!full ||
	    (brief && facts_kernel_is_collective(wire_strtab_get(r->t->texts, brief, NULL)) &&
	     !facts_kernel_is_collective(wire_strtab_get(r->t->texts, full, NULL))))
		*out = brief;
	return 0;
}

/* nsys counts memory kinds from 0 (pageable), CUPTI from 1. */
static uint8_t memory_kind(struct view_import_value v)
{
	if (v.type != VIEW_IMPORT_INT || v.num < 0 || v.num > WIRE_MEM_MANAGED - WIRE_MEM_PAGEABLE)
		return WIRE_MEM_UNKNOWN;
	return (uint8_t)(v.num + WIRE_MEM_PAGEABLE);
}

static void describe_copy(sqlite3_stmt *s, struct wire_event *e)
{
	struct view_import_value copy = view_import_db_int(s, C_COPY),
				 device = view_import_db_int(s, C_DEVICE);
	struct view_import_value other = view_import_db_int(s, C_DST_DEVICE);

	if (copy.type == VIEW_IMPORT_INT && copy.num > 0 && copy.num <= WIRE_COPY_P2P)
		e->copy = (uint8_t)copy.num;
	e->src = memory_kind(view_import_db_int(s, C_SRC));
	e->dst = memory_kind(view_import_db_int(s, C_DST));
	if (other.type == VIEW_IMPORT_INT && nsys_is(device, other.num))
		other = view_import_db_int(s, C_SRC_DEVICE);
	if (e->copy == WIRE_COPY_P2P && other.type == VIEW_IMPORT_INT && other.num >= 0 &&
	    other.num < UINT16_MAX)
		e->peer = (uint16_t)(other.num + 1);
}

static int add_op(struct nsys *r, sqlite3_stmt *s, int op)
{
	static const int no_end = -1; /* a bad op */
	struct view_import_value bytes = view_import_db_int(s, C_BYTES),
				 graph = view_import_db_int(s, C_GRAPH);
	struct wire_event e = { .kind = WIRE_KIND_OP, .op = (uint8_t)op };
	uint32_t process;
	int err = 0;

	if (!take_times(r, s, &no_end, &e))
		return 0;
	if (bytes.type == VIEW_IMPORT_INT && bytes.num > 0)
		e.bytes = (uint64_t)bytes.num;
	if (graph.type == VIEW_IMPORT_INT && graph.num > 0)
		e.graph = (uint32_t)graph.num;
	if (op == WIRE_OP_COPY)
		describe_copy(s, &e);
	if (op == WIRE_OP_KERNEL)
		err = kernel_name(r, s, &e.name);
	if (!err)
		err = take_place(r, s, &e, &process);
	return err ? err : view_import_add(r->t, &e, process);
}

static int read_ops(struct nsys *r)
{
	static const char *const columns[C_OP_COLUMNS] = {
		BASE_COLUMNS, "demangledName", "shortName",   "copyKind",    "srcKind",
		"dstKind",    "bytes",	       "srcDeviceId", "dstDeviceId", "graphId",
	};
	static const struct {
		const char *name;
		int op;
	} tables[] = {
		{ PREFIX "KERNEL", WIRE_OP_KERNEL },
		{ PREFIX "MEMCPY", WIRE_OP_COPY },
		{ PREFIX "MEMSET", WIRE_OP_MEMSET },
		{ PREFIX "GRAPH_TRACE", WIRE_OP_GRAPH },
	};
	size_t i;
	int err;

	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		err = nsys_each_row(r, tables[i].name, columns, C_OP_COLUMNS, add_op, tables[i].op);
		if (err)
			return err;
	}
	return 0;
}

enum {
	C_API_CORRELATION = C_END + 1,
	C_API_NAME,
	C_API_THREAD,
	C_API_COLUMNS
};

static int add_api(struct nsys *r, sqlite3_stmt *s, int unused)
{
	static const int no_end = 0;
	struct view_import_value corr = view_import_db_int(s, C_API_CORRELATION);
	struct wire_event e = { .kind = WIRE_KIND_API, .op = WIRE_DOMAIN_RUNTIME };
	uint32_t process;
	const char *name;
	int err;

	(void)unused;
	if (!take_times(r, s, &no_end, &e))
		return 0;
	err = take_thread(r, s, C_API_THREAD, &e, &process);
	if (!err && process == VIEW_IMPORT_NO_PROCESS) {
		r->t->skipped++;
		return 0;
	}
	if (!err)
		err = view_import_correlation(r->t, &corr, &e.corr);
	if (!err)
		err = nsys_string(r, view_import_db_int(s, C_API_NAME), &e.name);
	if (err)
		return err;
	name = wire_strtab_get(r->t->texts, e.name, NULL);
	if (!strncmp(name, "cu", 2) && strncmp(name, "cuda", 4))
		e.op = WIRE_DOMAIN_DRIVER;
	return view_import_add(r->t, &e, process);
}

static int read_api(struct nsys *r)
{
	static const char *const columns[C_API_COLUMNS] = { "start", "end", "correlationId",
							    "nameId", "globalTid" };

	return nsys_each_row(r, PREFIX "RUNTIME", columns, C_API_COLUMNS, add_api, 0);
}

static int add_sync(struct nsys *r, sqlite3_stmt *s, int unused)
{
	struct view_import_value type = view_import_db_int(s, C_BASE);
	struct wire_event e = { .kind = WIRE_KIND_SYNC, .op = WIRE_SYNC_CONTEXT };
	uint32_t process;
	int err;

	(void)unused;
	if (!take_times(r, s, NULL, &e))
		return 0;
	if (type.type == VIEW_IMPORT_INT && type.num >= WIRE_SYNC_EVENT &&
	    type.num <= WIRE_SYNC_CONTEXT)
		e.op = (uint8_t)type.num;
	err = take_place(r, s, &e, &process);
	return err ? err : view_import_add(r->t, &e, process);
}

static int read_sync(struct nsys *r)
{
	static const char *const columns[] = { BASE_COLUMNS, "syncType" };

	return nsys_each_row(r, PREFIX "SYNCHRONIZATION", columns, C_BASE + 1, add_sync, 0);
}

enum {
	C_NVTX_TYPE = C_END + 1,
	C_NVTX_TEXT,
	C_NVTX_TEXT_ID,
	C_NVTX_THREAD,
	C_NVTX_COLUMNS
};

/* torch's emit_nvtx marks its operators so. */
static bool is_operator(const char *name, size_t len)
{
	return memmem(name, len, ", op_id = ", 10) || memmem(name, len, ", seq = ", 8);
}

static int nvtx_name(struct nsys *r, sqlite3_stmt *s, const char **name, size_t *len)
{
	uint32_t text;
	int err;

	*name = view_import_db_text(s, C_NVTX_TEXT, len);
	if (*name)
		return 0;
	err = nsys_string(r, view_import_db_int(s, C_NVTX_TEXT_ID), &text);
	*name = wire_strtab_get(r->t->texts, text, len);
	return err;
}

static int add_nvtx(struct nsys *r, sqlite3_stmt *s, int unused)
{
	struct view_import_value type = view_import_db_int(s, C_NVTX_TYPE);
	struct wire_event e = { .start_ns = 0 };
	uint32_t process;
	const char *name;
	size_t len;
	int err;

	(void)unused;
	if (view_import_db_int(s, C_END).type == VIEW_IMPORT_NULL ||
	    (!nsys_is(type, NVTX_PUSH_POP) && !nsys_is(type, NVTX_START_END)) ||
	    !take_times(r, s, NULL, &e))
		return 0;
	err = take_thread(r, s, C_NVTX_THREAD, &e, &process);
	if (!err && process == VIEW_IMPORT_NO_PROCESS) {
		r->t->skipped++;
		return 0;
	}
	if (!err)
		err = nvtx_name(r, s, &name, &len);
	if (err)
		return err;
	return view_import_add_range(r->t, &e, process, name, len, is_operator(name, len));
}

static int read_nvtx(struct nsys *r)
{
	static const char *const columns[C_NVTX_COLUMNS] = { "start", "end",	"eventType",
							     "text",  "textId", "globalTid" };

	return nsys_each_row(r, "NVTX_EVENTS", columns, C_NVTX_COLUMNS, add_nvtx, 0);
}

/* --- the file --- */

static int read_tables(struct nsys *r)
{
	int err = nsys_strings_open(r);

	if (!err)
		err = read_ops(r);
	if (!err)
		err = read_api(r);
	if (!err)
		err = read_sync(r);
	if (!err)
		err = read_nvtx(r);
	return err ? err : nsys_machine(r);
}

int view_import_nsys(struct view_import_job *job, struct view_import_input *in,
		     struct view_import_trace *t)
{
	struct nsys r = { .job = job, .t = t };
	int err;

	t->kind = "nsys";
	t->nsys_pids = true;
	err = view_import_db_open(&r.db, job, in);
	if (!err)
		err = read_tables(&r);
	nsys_strings_close(&r);
	view_import_db_close(&r.db);
	return err;
}
