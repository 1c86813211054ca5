/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was read of one foreign file, in the file's order, before it becomes streams: events as
 * wire knows them (64 bytes each), the process of each, and the ids as the file writes them.
 * While it fills, the fields device, stream, context and tid of an event hold what
 * view_import_id() gave; view_import_resolve() turns them into numbers that compare as the file's
 * do. Not thread-safe.
 */
#ifndef VIEW_IMPORT_RECORDS_H
#define VIEW_IMPORT_RECORDS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "wire/event.h"
#include "wire/strtab.h"

#define VIEW_IMPORT_NO_PROCESS UINT32_MAX /* the record does not tell */
#define VIEW_IMPORT_PROCESSES_MAX 4096u /* streams that one file may become */

/* An id or a number as a file has it. Ids compare as numbers; text that is no number comes last. */
struct view_import_value {
	enum {
		VIEW_IMPORT_NULL,
		VIEW_IMPORT_INT,
		VIEW_IMPORT_TEXT
	} type;
	int64_t num;
	const char *text; /* not terminated, borrowed */
	size_t len;
};

enum view_import_ids {
	VIEW_IMPORT_PID,
	VIEW_IMPORT_TID,
	VIEW_IMPORT_DEVICE,
	VIEW_IMPORT_STREAM,
	VIEW_IMPORT_CONTEXT,
	VIEW_IMPORT_STRING, /* string ids of the file (nsys) */
	VIEW_IMPORT_IDS
};

struct view_import_id_key {
	int64_t num;
	uint32_t text; /* string id in texts, 0: a number; with num set: no id at all (NULL) */
};

struct view_import_map { /* the distinct ids of one sort, in order of first sight */
	struct view_import_id_key *key;
	uint32_t *slot; /* hash: index plus 1 */
	uint32_t n, room, slots;
	uint32_t last; /* index asked for last */
	int64_t *value; /* what each became; filled by view_import_resolve */
};

struct view_import_table { /* the events of one kind */
	struct wire_event *ev;
	uint32_t *process; /* index into the PID map; after resolving, into process[] */
	size_t n, room;
};

struct view_import_device { /* what the file says of a GPU */
	bool any_process;
	int64_t pid; /* as Hello.pid, unless any_process */
	int64_t ordinal;
	char name[128];
	uint8_t uuid[16];
	bool has_uuid;
	uint64_t memory_bytes;
	char bus[32];
};

struct view_import_process {
	int64_t pid;
	uint32_t id; /* in the PID map; VIEW_IMPORT_NO_PROCESS: the records that name none */
	uint64_t bad_ops;
};

struct view_import_trace {
	const char *kind; /* kineto, nsys */
	struct wire_strtab *texts; /* names and ids that are text */
	struct view_import_map ids[VIEW_IMPORT_IDS];
	struct view_import_table table[WIRE_KIND_MAX]; /* by kind; [0]: bad ops */
	struct view_import_device *device;
	size_t devices;
	bool has_window;
	int64_t window_start, window_end;
	uint64_t rows; /* looked at */
	uint64_t skipped; /* of these, unusable: no time that fits */
	bool nsys_pids; /* PID ids are global ids >> 24: host bits above the 24 of the pid */
	char host[256], user[64];
	bool has_rank;
	int32_t rank;
	uint32_t world_size;
	uint32_t cupti_version, driver_version;
	struct view_import_process *process; /* filled by view_import_resolve, by pid */
	size_t processes;
};

int view_import_trace_init(struct view_import_trace *t); /* 0 or -ENOMEM */
void view_import_trace_fini(struct view_import_trace *t);

/* The number of an id, the same for the same id. 0 and *out, -ENOMEM, or -E2BIG. */
int view_import_id(struct view_import_trace *t, enum view_import_ids which,
		   const struct view_import_value *v, uint32_t *out);

/* The same for a key whose text is in texts of this trace. */
int view_import_id_by_key(struct view_import_trace *t, enum view_import_ids which,
			  struct view_import_id_key key, uint32_t *out);

/*
 * Correlation ids are equal or not, nothing else: positive numbers stay as they are, everything
 * else (0, negative, text) becomes VIEW_IMPORT_ODD_CORRELATION plus a number in texts. No id: 0.
 */
#define VIEW_IMPORT_ODD_CORRELATION (UINT64_C(1) << 63)
int view_import_correlation(struct view_import_trace *t, const struct view_import_value *v,
			    uint64_t *out);

/* A name's number in texts; 0 for "". 0 and *out or -ENOMEM. */
int view_import_name(struct view_import_trace *t, const char *text, size_t len, uint32_t *out);

/* Adds a record. An op that ends before it starts goes to the bad ones. 0, -ENOMEM or -E2BIG. */
int view_import_add(struct view_import_trace *t, const struct wire_event *e, uint32_t process);

/* A range of a thread as the ledger sorts them: loader wait, step, operator or user range. */
int view_import_add_range(struct view_import_trace *t, struct wire_event *e, uint32_t process,
			  const char *name, size_t len, bool as_operator);

/* Widens the window to [start, end]. */
void view_import_window(struct view_import_trace *t, int64_t start, int64_t end);

/* A new entry of device[], zeroed; NULL: no memory. */
struct view_import_device *view_import_device_new(struct view_import_trace *t);

/*
 * Gives ids their numbers and records without a process theirs (the only process that has API
 * records with a correlation id, if there is exactly one), and lists the processes.
 * 0, -ENOMEM, -E2BIG (more than VIEW_IMPORT_PROCESSES_MAX), -ENODATA (no op).
 */
int view_import_resolve(struct view_import_trace *t);

/* What became of an error number, for the user. */
const char *view_import_strerror(int err);

#endif
