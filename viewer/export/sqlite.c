/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A SQLite file: the tables that nsys writes, with its names and numbers, so that its recipes and
 * people's queries run; and ours: run, gpus, classes, gaps, pieces, steps, findings, advice. Rows
 * go in by prepared statements in one transaction into a fresh file that is renamed at the end;
 * indexes are made last. Strings are bound, never pasted into SQL.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "sqlite_db.h"

#define CACHE_KB 16384
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
	"CREATE TABLE compute (kind TEXT, precision TEXT, ns INTEGER, nano_usd INTEGER,"
	" count INTEGER);"
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

static int open_db(struct view_db *p, const char *path)
{
	char pragma[160];
	int i;

	unlink(path);
	if (view_db_fail(p, sqlite3_open_v2(path, &p->db,
					    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
						    SQLITE_OPEN_NOMUTEX,
					    NULL)))
		return p->err;
	/* The file is nobody's until it is renamed: no journal, no waiting for the disk. */
	snprintf(pragma, sizeof(pragma),
		 "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
		 "PRAGMA page_size=16384; PRAGMA cache_size=-%d; PRAGMA temp_store=FILE;",
		 CACHE_KB);
	view_db_script(p, pragma);
	view_db_script(p, schema);
	view_db_script(p, "BEGIN");
	for (i = 0; i < INSERTS && !p->err; i++)
		view_db_fail(p, sqlite3_prepare_v2(p->db, inserts[i], -1, &p->put[i], NULL));
	return p->err;
}

static void close_db(struct view_db *p)
{
	int i;

	for (i = 0; i < INSERTS; i++)
		sqlite3_finalize(p->put[i]);
	sqlite3_close(p->db);
}

static int fill(struct view_db *p)
{
	size_t i;
	int err = 0;

	view_db_summary(p);
	for (i = 0; i < p->x->plan.sources && !err && !p->err; i++)
		err = view_db_source(p, i);
	if (!err && !p->err)
		err = view_db_gaps(p);
	if (err)
		return err;
	view_db_script(p, indexes);
	view_db_script(p, "COMMIT");
	return p->err;
}

int view_export_sqlite(struct view_export *x)
{
	struct view_db p = { .x = x,
			     .strings = wire_strtab_new_guarded(),
			     .next_tid = VIEW_DB_TID_BITS };
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
