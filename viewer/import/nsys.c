/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nsys SQLite exports: rows of the activity tables become records.
 */
#include "db.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "CUPTI_ACTIVITY_KIND_"
#define NVTX_PUSH_POP 59
#define NVTX_START_END 60
#define TID_BITS 0xffffff
#define PID_SHIFT 24

struct reader {
	struct view_import_job *job;
	struct view_import_trace *t;
	struct view_import_db db;
	sqlite3_stmt *string; /* one text by id; NULL: all are loaded, or there are none */
	uint32_t *text; /* by STRING id: number in texts */
	uint8_t *text_known; /* by STRING id */
	uint32_t texts;
};

static bool is(struct view_import_value v, int64_t n)
{
	return v.type == VIEW_IMPORT_INT && v.num == n;
}

/* --- StringIds --- */

static int remember_text(struct reader *r, uint32_t id, uint32_t text)
{
	if (id >= r->texts) {
		uint32_t room = r->t->ids[VIEW_IMPORT_STRING].room, *texts;
		uint8_t *known;

		texts = realloc(r->text, room * sizeof(*texts));
		if (!texts)
			return -ENOMEM;
		r->text = texts;
		known = realloc(r->text_known, room);
		if (!known)
			return -ENOMEM;
		r->text_known = known;
		memset(known + r->texts, 0, room - r->texts);
		r->texts = room;
	}
	r->text[id] = text;
	r->text_known[id] = 1;
	return 0;
}

static int intern_column(struct reader *r, sqlite3_stmt *s, int column, uint32_t *out)
{
	size_t len;
	const char *text = view_import_db_text(s, column, &len);

	return view_import_name(r->t, text ? text : "", len, out);
}

/* All texts, where the table has no index to look one up by. */
static int load_strings(struct reader *r)
{
	static const char *const columns[] = { "id", "value" };
	struct view_import_value id;
	uint32_t index, text;
	sqlite3_stmt *s;
	int got;

	got = view_import_db_select(&r->db, "StringIds", columns, 2, &s);
	while (!got && s && (got = view_import_db_next(&r->db, s)) > 0) {
		id = view_import_db_int(s, 0);
		got = view_import_id(r->t, VIEW_IMPORT_STRING, &id, &index);
		if (!got)
			got = intern_column(r, s, 1, &text);
		if (!got)
			got = remember_text(r, index, text);
	}
	sqlite3_finalize(s);
	return got;
}

static int open_strings(struct reader *r)
{
	int primary = 0;
	const char *type = "";

	if (!view_import_db_has_table(&r->db, "StringIds") ||
	    !view_import_db_has_column(&r->db, "StringIds", "value"))
		return 0;
	if (sqlite3_table_column_metadata(r->db.db, "main", "StringIds", "id", &type, NULL, NULL,
					  &primary, NULL))
		return 0;
	if (!primary || !type || sqlite3_stricmp(type, "INTEGER"))
		return load_strings(r);
	if (sqlite3_prepare_v2(r->db.db, "SELECT value FROM main.StringIds WHERE id = ?1", -1,
			       &r->string, NULL))
		return view_import_db_fail(&r->db);
	return 0;
}

static int look_up(struct reader *r, int64_t id, uint32_t *text)
{
	int rc, err = 0;

	*text = 0;
	sqlite3_reset(r->string);
	sqlite3_bind_int64(r->string, 1, id);
	rc = sqlite3_step(r->string);
	if (rc == SQLITE_ROW)
		err = intern_column(r, r->string, 0, text);
	else if (rc != SQLITE_DONE)
		err = view_import_db_fail(&r->db);
	return err;
}

/* The text of a string id, as a number in texts; 0 if there is none. */
static int string_of(struct reader *r, struct view_import_value v, uint32_t *text)
{
	uint32_t id;
	int err;

	*text = 0;
	if (v.type != VIEW_IMPORT_INT)
		return 0;
	err = view_import_id(r->t, VIEW_IMPORT_STRING, &v, &id);
	if (err)
		return err;
	if (id < r->texts && r->text_known[id]) {
		*text = r->text[id];
		return 0;
	}
	if (r->string)
		err = look_up(r, v.num, text);
	return err ? err : remember_text(r, id, *text);
}

/* --- records --- */

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

/* Runs @add for each row. */
static int each_row(struct reader *r, const char *table, const char *const columns[], size_t n,
		    int (*add)(struct reader *r, sqlite3_stmt *s, int arg), int arg)
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
static bool take_times(struct reader *r, sqlite3_stmt *s, const int *no_end, struct wire_event *e)
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

static int process_of(struct reader *r, struct view_import_value global, uint32_t *process)
{
	*process = VIEW_IMPORT_NO_PROCESS;
	if (global.type != VIEW_IMPORT_INT)
		return 0;
	global.num >>= PID_SHIFT;
	return view_import_id(r->t, VIEW_IMPORT_PID, &global, process);
}

static int id_of(struct reader *r, enum view_import_ids which, sqlite3_stmt *s, int column,
		 uint32_t *out)
{
	struct view_import_value v = view_import_db_int(s, column);

	return view_import_id(r->t, which, &v, out);
}

static int take_place(struct reader *r, sqlite3_stmt *s, struct wire_event *e, uint32_t *process)
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
static int take_thread(struct reader *r, sqlite3_stmt *s, int column, struct wire_event *e,
		       uint32_t *process)
{
	struct view_import_value global = view_import_db_int(s, column);
	int err = process_of(r, global, process);

	global.num &= TID_BITS;
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

static bool names_collective(const char *name)
{
	return strcasestr(name, "nccl") || strcasestr(name, "rccl");
}

/* The full name, unless only the short one says that this is a collective. */
static int kernel_name(struct reader *r, sqlite3_stmt *s, uint32_t *out)
{
	uint32_t full, brief;
	int err = string_of(r, view_import_db_int(s, C_DEMANGLED), &full);

	if (!err)
		err = string_of(r, view_import_db_int(s, C_SHORT), &brief);
	if (err)
		return err;
	*out = full;
	if (!full || (brief && names_collective(wire_strtab_get(r->t->texts, brief, NULL)) &&
		      !names_collective(wire_strtab_get(r->t->texts, full, NULL))))
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
	if (other.type == VIEW_IMPORT_INT && is(device, other.num))
		other = view_import_db_int(s, C_SRC_DEVICE);
	if (e->copy == WIRE_COPY_P2P && other.type == VIEW_IMPORT_INT && other.num >= 0 &&
	    other.num < UINT16_MAX)
		e->peer = (uint16_t)(other.num + 1);
}

static int add_op(struct reader *r, sqlite3_stmt *s, int op)
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

static int read_ops(struct reader *r)
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
		err = each_row(r, tables[i].name, columns, C_OP_COLUMNS, add_op, tables[i].op);
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

static int add_api(struct reader *r, sqlite3_stmt *s, int unused)
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
		err = string_of(r, view_import_db_int(s, C_API_NAME), &e.name);
	if (err)
		return err;
	name = wire_strtab_get(r->t->texts, e.name, NULL);
	if (!strncmp(name, "cu", 2) && strncmp(name, "cuda", 4))
		e.op = WIRE_DOMAIN_DRIVER;
	return view_import_add(r->t, &e, process);
}

static int read_api(struct reader *r)
{
	static const char *const columns[C_API_COLUMNS] = { "start", "end", "correlationId",
							    "nameId", "globalTid" };

	return each_row(r, PREFIX "RUNTIME", columns, C_API_COLUMNS, add_api, 0);
}

static int add_sync(struct reader *r, sqlite3_stmt *s, int unused)
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

static int read_sync(struct reader *r)
{
	static const char *const columns[] = { BASE_COLUMNS, "syncType" };

	return each_row(r, PREFIX "SYNCHRONIZATION", columns, C_BASE + 1, add_sync, 0);
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

static int nvtx_name(struct reader *r, sqlite3_stmt *s, const char **name, size_t *len)
{
	uint32_t text;
	int err;

	*name = view_import_db_text(s, C_NVTX_TEXT, len);
	if (*name)
		return 0;
	err = string_of(r, view_import_db_int(s, C_NVTX_TEXT_ID), &text);
	*name = wire_strtab_get(r->t->texts, text, len);
	return err;
}

static int add_nvtx(struct reader *r, sqlite3_stmt *s, int unused)
{
	struct view_import_value type = view_import_db_int(s, C_NVTX_TYPE);
	struct wire_event e = { .start_ns = 0 };
	uint32_t process;
	const char *name;
	size_t len;
	int err;

	(void)unused;
	if (view_import_db_int(s, C_END).type == VIEW_IMPORT_NULL ||
	    (!is(type, NVTX_PUSH_POP) && !is(type, NVTX_START_END)) || !take_times(r, s, NULL, &e))
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

static int read_nvtx(struct reader *r)
{
	static const char *const columns[C_NVTX_COLUMNS] = { "start", "end",	"eventType",
							     "text",  "textId", "globalTid" };

	return each_row(r, "NVTX_EVENTS", columns, C_NVTX_COLUMNS, add_nvtx, 0);
}

/* --- what the file says of the machine --- */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "GPU-f6b62fcc-9318-c13e-22f6-766d35cb6503" or without the prefix; or 16 plain bytes. */
static bool parse_uuid(sqlite3_stmt *s, int column, uint8_t out[16])
{
	const char *text;
	size_t len, digits = 0, i;

	if (sqlite3_column_type(s, column) == SQLITE_BLOB) {
		if (sqlite3_column_bytes(s, column) != 16)
			return false;
		memcpy(out, sqlite3_column_blob(s, column), 16);
		return true;
	}
	text = view_import_db_text(s, column, &len);
	if (!text)
		return false;
	for (i = len >= 4 && (!memcmp(text, "GPU-", 4) || !memcmp(text, "MIG-", 4)) ? 4 : 0;
	     i < len; i++) {
		int d = hex_digit(text[i]);

		if (text[i] == '-')
			continue;
		if (d < 0 || digits == 32)
			return false;
		out[digits / 2] = (uint8_t)(digits & 1 ? out[digits / 2] | d : d << 4);
		digits++;
	}
	return digits == 32;
}

enum {
	G_ID,
	G_NAME,
	G_UUID,
	G_MEMORY,
	G_BUS,
	G_COLUMNS
};

static int add_gpu(struct reader *r, sqlite3_stmt *s, int unused)
{
	struct view_import_value id = view_import_db_int(s, G_ID),
				 memory = view_import_db_int(s, G_MEMORY);
	struct view_import_device *d;

	(void)unused;
	r->t->rows--; /* not of the recording */
	if (id.type != VIEW_IMPORT_INT)
		return 0;
	d = view_import_device_new(r->t);
	if (!d)
		return -ENOMEM;
	d->any_process = true;
	d->ordinal = id.num;
	view_import_db_copy(s, G_NAME, d->name, sizeof(d->name));
	view_import_db_copy(s, G_BUS, d->bus, sizeof(d->bus));
	d->has_uuid = parse_uuid(s, G_UUID, d->uuid);
	d->memory_bytes =
		memory.type == VIEW_IMPORT_INT && memory.num > 0 ? (uint64_t)memory.num : 0;
	return 0;
}

enum {
	D_GPU,
	D_CUDA,
	D_PID,
	D_UUID,
	D_COLUMNS
};

/* A process may number its devices as it likes: what it calls 0 can be the machine's GPU 3. */
static int add_cuda_device(struct reader *r, sqlite3_stmt *s, int gpus)
{
	struct view_import_value gpu = view_import_db_int(s, D_GPU),
				 cuda = view_import_db_int(s, D_CUDA);
	struct view_import_value pid = view_import_db_int(s, D_PID);
	struct view_import_device *d, *of = NULL;
	int i;

	r->t->rows--;
	if (cuda.type != VIEW_IMPORT_INT || pid.type != VIEW_IMPORT_INT)
		return 0;
	d = view_import_device_new(r->t);
	if (!d)
		return -ENOMEM;
	for (i = 0; i < gpus; i++)
		if (is(gpu, r->t->device[i].ordinal))
			of = &r->t->device[i];
	if (of)
		*d = *of;
	d->any_process = false;
	d->pid = pid.num & TID_BITS;
	d->ordinal = cuda.num;
	if (parse_uuid(s, D_UUID, d->uuid))
		d->has_uuid = true;
	return 0;
}

enum {
	E_NAME,
	E_VALUE,
	E_COLUMNS
};

static int add_env(struct reader *r, sqlite3_stmt *s, int unused)
{
	size_t len;
	const char *name = view_import_db_text(s, E_NAME, &len);

	(void)unused;
	r->t->rows--;
	if (name && !strcmp(name, "Hostname"))
		view_import_db_copy(s, E_VALUE, r->t->host, sizeof(r->t->host));
	else if (name && !strcmp(name, "CudaDriverVersion")) {
		const char *value = view_import_db_text(s, E_VALUE, &len);

		r->t->driver_version = value ? (uint32_t)strtoul(value, NULL, 10) : 0;
	}
	return 0;
}

static int read_machine(struct reader *r)
{
	static const char *const gpu[G_COLUMNS] = { "id", "name", "uuid", "totalMemory",
						    "busLocation" };
	static const char *const cuda[D_COLUMNS] = { "gpuId", "cudaId", "pid", "uuid" };
	static const char *const env[E_COLUMNS] = { "name", "value" };
	int err = each_row(r, "TARGET_INFO_GPU", gpu, G_COLUMNS, add_gpu, 0);

	if (!err)
		err = each_row(r, "TARGET_INFO_CUDA_DEVICE", cuda, D_COLUMNS, add_cuda_device,
			       (int)r->t->devices);
	if (!err)
		err = each_row(r, "TARGET_INFO_SYSTEM_ENV", env, E_COLUMNS, add_env, 0);
	return err;
}

/* --- the file --- */

static int read_tables(struct reader *r)
{
	int err = open_strings(r);

	if (!err)
		err = read_ops(r);
	if (!err)
		err = read_api(r);
	if (!err)
		err = read_sync(r);
	if (!err)
		err = read_nvtx(r);
	return err ? err : read_machine(r);
}

int view_import_nsys(struct view_import_job *job, struct view_import_input *in,
		     struct view_import_trace *t)
{
	struct reader r = { .job = job, .t = t };
	int err;

	t->kind = "nsys";
	t->nsys_pids = true;
	err = view_import_db_open(&r.db, job, in);
	if (!err)
		err = read_tables(&r);
	sqlite3_finalize(r.string);
	view_import_db_close(&r.db);
	free(r.text);
	free(r.text_known);
	return err;
}
