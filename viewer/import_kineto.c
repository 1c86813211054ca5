/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kineto and Chrome JSON: rows of the event list become records, in one pass over the text.
 * The parser is yajl, which hands over numbers as they are written.
 */
#include "import.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>
#include "import_number.h"

#define DEPTH_MAX 512u /* deeper is no trace */
#define TEXT_MAX WIRE_STRING_BYTES_MAX

enum field { /* what is kept of a row */
	F_PH,
	F_CAT,
	F_NAME,
	F_PID,
	F_TID,
	F_TS,
	F_DUR,
	F_ARGS_FIRST,
	F_DEVICE = F_ARGS_FIRST,
	F_STREAM,
	F_CONTEXT,
	F_CORRELATION,
	F_PROCESS,
	F_BYTES,
	F_GRAPH,
	F_FROM_DEVICE,
	F_TO_DEVICE,
	FIELDS,
	F_ARGS, /* the object itself */
	F_NONE,
};

enum field_type {
	T_ABSENT,
	T_NULL,
	T_INT,
	T_TEXT,
	T_BAD, /* a time that is none */
};

enum section { /* top-level keys that matter */
	S_OTHER,
	S_EVENTS,
	S_DEVICES,
	S_DISTRIBUTED,
	S_HOST,
	S_USER,
	S_CUPTI,
	S_DRIVER,
};

struct row {
	uint8_t type[FIELDS];
	int64_t num[FIELDS];
	uint32_t len[FIELDS];
	char text[FIELDS][TEXT_MAX];
};

struct reader {
	struct view_import_trace *t;
	unsigned int depth;
	unsigned int events_depth; /* of the event list; 0: not inside it */
	enum section section;
	bool in_row, in_args;
	enum field key;
	struct row *row;
	/* one object of deviceProperties, or distributedInfo */
	char side_key[24];
	struct view_import_device device;
	int err; /* stops the parser */
};

struct word {
	const char *text;
	size_t len;
	int value;
};
#define WORD(text, value)                     \
	{                                     \
		text, sizeof(text) - 1, value \
	}
#define WORDS_END          \
	{                  \
		NULL, 0, 0 \
	}

static int lookup(const struct word *w, const unsigned char *text, size_t len, int otherwise)
{
	for (; w->text; w++)
		if (w->len == len && !memcmp(w->text, text, len))
			return w->value;
	return otherwise;
}

/* --- rows --- */

static struct view_import_value value_of(const struct row *r, enum field f)
{
	struct view_import_value v = { .type = VIEW_IMPORT_NULL };

	if (r->type[f] == T_INT) {
		v.type = VIEW_IMPORT_INT;
		v.num = r->num[f];
	} else if (r->type[f] == T_TEXT) {
		v.type = VIEW_IMPORT_TEXT;
		v.text = r->text[f];
		v.len = r->len[f];
	}
	return v;
}

static int id_of(struct reader *r, enum view_import_ids which, enum field f, uint32_t *out)
{
	struct view_import_value v = value_of(r->row, f);

	return view_import_id(r->t, which, &v, out);
}

/* A field of args, or else of the row itself. */
static enum field or_else(const struct row *r, enum field f, enum field otherwise)
{
	return r->type[f] == T_ABSENT ? otherwise : f;
}

static bool text_begins(const struct row *r, enum field f, const char *with)
{
	size_t n = strlen(with);

	return r->type[f] == T_TEXT && r->len[f] >= n && !memcmp(r->text[f], with, n);
}

static bool text_has(const struct row *r, enum field f, const char *what)
{
	return r->type[f] == T_TEXT && memmem(r->text[f], r->len[f], what, strlen(what));
}

static int take_name(struct reader *r, uint32_t *out)
{
	return view_import_name(r->t, r->row->text[F_NAME],
				r->row->type[F_NAME] == T_TEXT ? r->row->len[F_NAME] : 0, out);
}

static uint8_t copy_direction(const char *from_to)
{
	static const struct word directions[] = {
		WORD("HtoD", WIRE_COPY_H2D),
		WORD("DtoH", WIRE_COPY_D2H),
		WORD("HtoA", 3),
		WORD("AtoH", 4),
		WORD("AtoA", 5),
		WORD("AtoD", 6),
		WORD("DtoA", 7),
		WORD("DtoD", WIRE_COPY_D2D),
		WORD("HtoH", WIRE_COPY_H2H),
		WORD("PtoP", WIRE_COPY_P2P),
		WORDS_END,
	};
	return (uint8_t)lookup(directions, (const unsigned char *)from_to, 4, WIRE_COPY_UNKNOWN);
}

static uint8_t memory_kind(const char *text, size_t len)
{
	static const struct word kinds[] = {
		WORD("Pageable", WIRE_MEM_PAGEABLE), WORD("Pinned", WIRE_MEM_PINNED),
		WORD("Device", WIRE_MEM_DEVICE),     WORD("Array", WIRE_MEM_ARRAY),
		WORD("Managed", WIRE_MEM_MANAGED),   WORDS_END,
	};
	const struct word *w;

	for (w = kinds; w->text; w++)
		if (len >= w->len && !memcmp(text, w->text, w->len))
			return (uint8_t)w->value;
	return WIRE_MEM_UNKNOWN;
}

/* "Memcpy HtoD (Pageable -> Device)" */
static void describe_copy(const struct row *r, struct wire_event *e)
{
	const char *name = r->text[F_NAME], *end, *to;
	static const char prefix[] = "Memcpy ";
	size_t at = sizeof(prefix) - 1;

	if (!text_begins(r, F_NAME, prefix) || r->len[F_NAME] < at + 4)
		return;
	end = name + r->len[F_NAME];
	e->copy = copy_direction(name + at);
	at += 4;
	if (r->len[F_NAME] < at + 2 || memcmp(name + at, " (", 2))
		return;
	name += at + 2;
	e->src = memory_kind(name, (size_t)(end - name));
	to = memmem(name, (size_t)(end - name), "-> ", 3);
	if (to)
		e->dst = memory_kind(to + 3, (size_t)(end - to - 3));
}

static void describe_peer(const struct row *r, struct wire_event *e)
{
	enum field other = r->type[F_TO_DEVICE] == T_INT && r->type[F_DEVICE] == T_INT &&
					   r->num[F_TO_DEVICE] == r->num[F_DEVICE]
				   ? F_FROM_DEVICE
				   : F_TO_DEVICE;

	if (e->copy == WIRE_COPY_P2P && r->type[other] == T_INT && r->num[other] >= 0 &&
	    r->num[other] < UINT16_MAX)
		e->peer = (uint16_t)(r->num[other] + 1);
}

/* What operations and synchronisation records have in common. */
static int take_place(struct reader *r, struct wire_event *e, uint32_t *process)
{
	const struct row *row = r->row;
	struct view_import_value corr = value_of(row, F_CORRELATION);
	int err;

	*process = VIEW_IMPORT_NO_PROCESS;
	err = id_of(r, VIEW_IMPORT_DEVICE, or_else(row, F_DEVICE, F_PID), &e->device);
	if (!err)
		err = id_of(r, VIEW_IMPORT_CONTEXT, F_CONTEXT, &e->context);
	if (!err && row->type[F_PROCESS] != T_ABSENT)
		err = id_of(r, VIEW_IMPORT_PID, F_PROCESS, process);
	if (!err)
		err = view_import_correlation(r->t, &corr, &e->corr);
	return err;
}

static int add_op(struct reader *r, struct wire_event *e, int op)
{
	const struct row *row = r->row;
	uint32_t process;
	int err;

	e->kind = WIRE_KIND_OP;
	e->op = (uint8_t)op;
	if (row->type[F_BYTES] == T_INT && row->num[F_BYTES] > 0)
		e->bytes = (uint64_t)row->num[F_BYTES];
	if (row->type[F_GRAPH] == T_INT && row->num[F_GRAPH] > 0)
		e->graph = (uint32_t)row->num[F_GRAPH];
	if (op == WIRE_OP_COPY) {
		describe_copy(row, e);
		describe_peer(row, e);
	}
	err = take_place(r, e, &process);
	if (!err)
		err = id_of(r, VIEW_IMPORT_STREAM, or_else(row, F_STREAM, F_TID), &e->stream);
	if (!err)
		err = take_name(r, &e->name);
	return err ? err : view_import_add(r->t, e, process);
}

static int add_sync(struct reader *r, struct wire_event *e)
{
	uint32_t process;
	int err;

	e->kind = WIRE_KIND_SYNC;
	e->op = WIRE_SYNC_CONTEXT;
	if (text_has(r->row, F_NAME, "Stream Wait"))
		e->op = WIRE_SYNC_STREAM_WAIT;
	else if (text_has(r->row, F_NAME, "Event"))
		e->op = WIRE_SYNC_EVENT;
	else if (text_has(r->row, F_NAME, "Stream"))
		e->op = WIRE_SYNC_STREAM;
	err = take_place(r, e, &process);
	if (!err)
		err = id_of(r, VIEW_IMPORT_STREAM, F_STREAM, &e->stream);
	return err ? err : view_import_add(r->t, e, process);
}

static int take_thread(struct reader *r, struct wire_event *e, uint32_t *process)
{
	int err = id_of(r, VIEW_IMPORT_PID, F_PID, process);

	return err ? err : id_of(r, VIEW_IMPORT_TID, F_TID, &e->tid);
}

static int add_api(struct reader *r, struct wire_event *e, int domain)
{
	struct view_import_value corr = value_of(r->row, F_CORRELATION);
	uint32_t process;
	int err;

	e->kind = WIRE_KIND_API;
	e->op = (uint8_t)domain;
	err = take_thread(r, e, &process);
	if (!err)
		err = view_import_correlation(r->t, &corr, &e->corr);
	if (!err)
		err = take_name(r, &e->name);
	return err ? err : view_import_add(r->t, e, process);
}

static int add_range(struct reader *r, struct wire_event *e, bool as_operator)
{
	const struct row *row = r->row;
	uint32_t process;
	int err = take_thread(r, e, &process);

	if (err)
		return err;
	return view_import_add_range(r->t, e, process, row->text[F_NAME],
				     row->type[F_NAME] == T_TEXT ? row->len[F_NAME] : 0,
				     as_operator);
}

enum category {
	CAT_OTHER,
	CAT_KERNEL,
	CAT_COPY,
	CAT_MEMSET,
	CAT_RUNTIME,
	CAT_DRIVER,
	CAT_SYNC,
	CAT_USER,
	CAT_OPERATOR,
	CAT_GPU_USER,
};

/* Old files capitalise them. */
static enum category category_of(struct row *r)
{
	static const struct word categories[] = {
		WORD("cpu_op", CAT_OPERATOR),
		WORD("kernel", CAT_KERNEL),
		WORD("cuda_runtime", CAT_RUNTIME),
		WORD("gpu_memcpy", CAT_COPY),
		WORD("gpu_memset", CAT_MEMSET),
		WORD("cuda_driver", CAT_DRIVER),
		WORD("cuda_sync", CAT_SYNC),
		WORD("user_annotation", CAT_USER),
		WORD("gpu_user_annotation", CAT_GPU_USER),
		WORD("operator", CAT_OPERATOR),
		WORD("runtime", CAT_RUNTIME),
		WORD("driver", CAT_DRIVER),
		WORD("memcpy", CAT_COPY),
		WORD("memset", CAT_MEMSET),
		WORDS_END,
	};
	unsigned char low[24];
	uint32_t i;

	if (r->type[F_CAT] != T_TEXT || r->len[F_CAT] > sizeof(low))
		return CAT_OTHER;
	for (i = 0; i < r->len[F_CAT]; i++) {
		unsigned char c = (unsigned char)r->text[F_CAT][i];

		low[i] = c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
	}
	return (enum category)lookup(categories, low, r->len[F_CAT], CAT_OTHER);
}

static int add_row(struct reader *r, struct wire_event *e)
{
	switch (category_of(r->row)) {
	case CAT_KERNEL:
		return add_op(r, e, WIRE_OP_KERNEL);
	case CAT_COPY:
		return add_op(r, e, WIRE_OP_COPY);
	case CAT_MEMSET: /* what a row is called counts more */
		return add_op(r, e,
			      text_begins(r->row, F_NAME, "Memcpy ") ? WIRE_OP_COPY
								     : WIRE_OP_MEMSET);
	case CAT_RUNTIME:
		return add_api(r, e, WIRE_DOMAIN_RUNTIME);
	case CAT_DRIVER:
		return add_api(r, e, WIRE_DOMAIN_DRIVER);
	case CAT_SYNC:
		return add_sync(r, e);
	case CAT_USER:
		return add_range(r, e, false);
	case CAT_OPERATOR:
		return add_range(r, e, true);
	case CAT_GPU_USER:
		return 0;
	case CAT_OTHER:
		break;
	}
	if (r->row->type[F_NAME] == T_TEXT &&
	    view_import_is_loader(r->row->text[F_NAME], r->row->len[F_NAME]))
		return add_range(r, e, true);
	return 0;
}

/* A row is complete if it has a duration (ph X) and a time. */
static int finish_row(struct reader *r)
{
	const struct row *row = r->row;
	struct wire_event e = { .start_ns = row->num[F_TS] };
	int64_t dur = row->type[F_DUR] == T_INT ? row->num[F_DUR] : 0;

	r->t->rows++;
	if (row->type[F_PH] != T_TEXT || row->len[F_PH] != 1 || row->text[F_PH][0] != 'X' ||
	    row->type[F_TS] == T_ABSENT)
		return 0;
	if (row->type[F_TS] == T_BAD || row->type[F_DUR] == T_BAD ||
	    __builtin_add_overflow(e.start_ns, dur, &e.end_ns)) {
		r->t->skipped++;
		return 0;
	}
	if (e.end_ns >= e.start_ns)
		view_import_window(r->t, e.start_ns, e.end_ns);
	return add_row(r, &e);
}

static void begin_row(struct reader *r)
{
	memset(r->row->type, T_ABSENT, sizeof(r->row->type));
	r->row->num[F_TS] = 0;
	r->in_row = true;
	r->key = F_NONE;
}

static void forget_args(struct reader *r)
{
	memset(r->row->type + F_ARGS_FIRST, T_ABSENT, FIELDS - F_ARGS_FIRST);
}

/* --- values of rows --- */

/* The field that a value at this place is for. */
static enum field field_here(const struct reader *r)
{
	unsigned int in = r->depth - r->events_depth;

	if (!r->in_row || in > 2 || (in == 2 && !r->in_args))
		return F_NONE;
	return r->key;
}

static void set_time(struct row *r, enum field f, const char *text, size_t len)
{
	r->type[f] = view_import_ns(text, len, &r->num[f]) ? T_BAD : T_INT;
}

static void set_text(struct row *r, enum field f, const char *text, size_t len)
{
	if (f == F_TS || f == F_DUR) {
		set_time(r, f, text, len);
		return;
	}
	r->type[f] = T_TEXT;
	r->len[f] = (uint32_t)(len < TEXT_MAX ? len : TEXT_MAX);
	memcpy(r->text[f], text, r->len[f]);
}

static void set_int(struct row *r, enum field f, int64_t v)
{
	r->type[f] = T_INT;
	r->num[f] = f == F_TS || f == F_DUR ? v * 1000 : v;
}

static void set_number(struct row *r, enum field f, const char *text, size_t len)
{
	int64_t v;

	if (f != F_TS && f != F_DUR && !view_import_int(text, len, &v))
		set_int(r, f, v);
	else
		set_text(r, f, text, len);
}

/* --- what stands beside the event list --- */

static bool side_key_is(const struct reader *r, const char *key)
{
	return !strcmp(r->side_key, key);
}

static uint64_t side_number(const char *text, size_t len)
{
	int64_t v;

	return view_import_int(text, len, &v) || v < 0 ? 0 : (uint64_t)v;
}

static void copy_text(char *out, size_t room, const unsigned char *text, size_t len)
{
	len = len < room - 1 ? len : room - 1;
	memcpy(out, text, len);
	out[len] = '\0';
}

static void side_value_number(struct reader *r, const char *text, size_t len)
{
	uint64_t v = side_number(text, len);

	if (r->section == S_CUPTI && r->depth == 1) {
		r->t->cupti_version = (uint32_t)v;
	} else if (r->section == S_DRIVER && r->depth == 1) {
		r->t->driver_version = (uint32_t)v;
	} else if (r->section == S_DEVICES && r->depth == 3) {
		if (side_key_is(r, "id"))
			r->device.ordinal = (int64_t)v;
		else if (side_key_is(r, "totalGlobalMem"))
			r->device.memory_bytes = v;
	} else if (r->section == S_DISTRIBUTED && r->depth == 2) {
		if (side_key_is(r, "rank")) {
			r->t->has_rank = v <= INT32_MAX;
			r->t->rank = (int32_t)v;
		} else if (side_key_is(r, "world_size")) {
			r->t->world_size = (uint32_t)v;
		}
	}
}

static void side_value_text(struct reader *r, const unsigned char *text, size_t len)
{
	if (r->section == S_HOST && r->depth == 1)
		copy_text(r->t->host, sizeof(r->t->host), text, len);
	else if (r->section == S_USER && r->depth == 1)
		copy_text(r->t->user, sizeof(r->t->user), text, len);
	else if (r->section == S_DEVICES && r->depth == 3 && side_key_is(r, "name"))
		copy_text(r->device.name, sizeof(r->device.name), text, len);
}

static int finish_device(struct reader *r)
{
	struct view_import_device *d;

	if (!r->device.name[0])
		return 0;
	d = view_import_device_new(r->t);
	if (!d)
		return -ENOMEM;
	*d = r->device;
	d->any_process = true;
	return 0;
}

/* --- yajl's callbacks: 1 goes on, 0 stops --- */

static int on_null(void *arg)
{
	struct reader *r = arg;
	enum field f = field_here(r);

	if (f < FIELDS)
		r->row->type[f] = T_NULL;
	else if (f == F_ARGS)
		forget_args(r);
	return 1;
}

static int on_boolean(void *arg, int value)
{
	struct reader *r = arg;
	enum field f = field_here(r);

	if (f < FIELDS)
		set_int(r->row, f, value != 0);
	else if (f == F_ARGS)
		forget_args(r);
	return 1;
}

static int on_number(void *arg, const char *text, size_t len)
{
	struct reader *r = arg;
	enum field f = field_here(r);

	if (f < FIELDS)
		set_number(r->row, f, text, len);
	else if (f == F_ARGS)
		forget_args(r);
	else if (!r->events_depth)
		side_value_number(r, text, len);
	return 1;
}

static int on_string(void *arg, const unsigned char *text, size_t len)
{
	struct reader *r = arg;
	enum field f = field_here(r);

	if (f < FIELDS)
		set_text(r->row, f, (const char *)text, len);
	else if (f == F_ARGS)
		forget_args(r);
	else if (!r->events_depth)
		side_value_text(r, text, len);
	return 1;
}

static int deeper(struct reader *r)
{
	if (++r->depth <= DEPTH_MAX)
		return 1;
	r->err = -ELOOP;
	return 0;
}

static int on_start_map(void *arg)
{
	struct reader *r = arg;
	enum field f = field_here(r);

	if (f < FIELDS)
		r->row->type[f] = T_ABSENT;
	if (r->events_depth && r->depth == r->events_depth) {
		begin_row(r);
	} else if (f == F_ARGS) {
		forget_args(r);
		r->in_args = true;
		r->key = F_NONE;
	} else if (r->section == S_DEVICES && r->depth == 2) {
		memset(&r->device, 0, sizeof(r->device));
		r->side_key[0] = '\0';
	}
	return deeper(r);
}

static int on_key(void *arg, const unsigned char *text, size_t len)
{
	static const struct word row_keys[] = {
		WORD("ph", F_PH),   WORD("cat", F_CAT),	  WORD("name", F_NAME),
		WORD("pid", F_PID), WORD("tid", F_TID),	  WORD("ts", F_TS),
		WORD("dur", F_DUR), WORD("args", F_ARGS), WORDS_END,
	};
	static const struct word args_keys[] = {
		WORD("device", F_DEVICE),	    WORD("stream", F_STREAM),
		WORD("correlation", F_CORRELATION), WORD("context", F_CONTEXT),
		WORD("process", F_PROCESS),	    WORD("bytes", F_BYTES),
		WORD("graph id", F_GRAPH),	    WORD("fromDevice", F_FROM_DEVICE),
		WORD("toDevice", F_TO_DEVICE),	    WORDS_END,
	};
	static const struct word sections[] = {
		WORD("traceEvents", S_EVENTS),
		WORD("deviceProperties", S_DEVICES),
		WORD("distributedInfo", S_DISTRIBUTED),
		WORD("host_name", S_HOST),
		WORD("hostname", S_HOST),
		WORD("username", S_USER),
		WORD("cupti_version", S_CUPTI),
		WORD("cuda_driver_version", S_DRIVER),
		WORDS_END,
	};
	struct reader *r = arg;
	unsigned int in = r->depth - r->events_depth;

	if (r->in_row && in == 1)
		r->key = (enum field)lookup(row_keys, text, len, F_NONE);
	else if (r->in_args && in == 2)
		r->key = (enum field)lookup(args_keys, text, len, F_NONE);
	else if (!r->events_depth && r->depth == 1)
		r->section = (enum section)lookup(sections, text, len, S_OTHER);
	else if (!r->events_depth)
		copy_text(r->side_key, sizeof(r->side_key), text, len);
	return 1;
}

static int on_end_map(void *arg)
{
	struct reader *r = arg;

	r->depth--;
	if (r->in_row && r->depth == r->events_depth) {
		r->in_row = false;
		r->err = finish_row(r);
	} else if (r->in_args && r->depth == r->events_depth + 1) {
		r->in_args = false;
		r->key = F_NONE;
	} else if (!r->events_depth && r->section == S_DEVICES && r->depth == 2) {
		r->err = finish_device(r);
	}
	return !r->err;
}

static int on_start_array(void *arg)
{
	struct reader *r = arg;
	enum field f = field_here(r);

	if (f < FIELDS)
		r->row->type[f] = T_ABSENT;
	else if (f == F_ARGS)
		forget_args(r);
	if (!r->events_depth && (r->depth == 0 || (r->depth == 1 && r->section == S_EVENTS)))
		r->events_depth = r->depth + 1;
	return deeper(r);
}

static int on_end_array(void *arg)
{
	struct reader *r = arg;

	if (r->depth == r->events_depth)
		r->events_depth = 0;
	r->depth--;
	return 1;
}

/* --- the file --- */

static int fail_parse(struct view_import_job *job, const struct reader *r, yajl_handle y,
		      uint64_t before, bool at_end)
{
	unsigned long long at = before + yajl_get_bytes_consumed(y);

	if (r->err == -ELOOP)
		return view_import_fail(job, -EBADMSG,
					"nested deeper than %u levels at byte %llu; it is no trace",
					DEPTH_MAX, at);
	if (r->err)
		return view_import_fail(job, r->err, "%s", view_import_strerror(r->err));
	if (at_end)
		return view_import_fail(
			job, -EBADMSG, "the JSON ends early, at byte %llu; export or copy it again",
			(unsigned long long)before);
	return view_import_fail(job, -EBADMSG,
				"not JSON at byte %llu; export or copy the trace again", at);
}

static int parse(struct view_import_job *job, struct view_import_input *in, struct reader *r,
		 yajl_handle y)
{
	static const uint8_t mark[3] = { 0xef, 0xbb, 0xbf }; /* UTF-8's byte order mark */
	const uint8_t *data = NULL;
	const char *why = "";
	uint64_t before = 0;
	size_t len = 0;
	int got;

	while ((got = view_import_input_read(in, &data, &len, false, &why)) > 0) {
		size_t skip = !before && len >= 3 && !memcmp(data, mark, 3) ? 3 : 0;

		if (yajl_parse(y, data + skip, len - skip) != yajl_status_ok)
			return fail_parse(job, r, y, before + skip, false);
		before += len;
		view_import_progress(job, view_import_input_done(in), r->t->rows);
	}
	if (got < 0)
		return view_import_fail(job, got, "%s", why);
	if (yajl_complete_parse(y) != yajl_status_ok)
		return fail_parse(job, r, y, before, true);
	return 0;
}

int view_import_kineto(struct view_import_job *job, struct view_import_input *in,
		       struct view_import_trace *t)
{
	static const yajl_callbacks callbacks = {
		.yajl_null = on_null,
		.yajl_boolean = on_boolean,
		.yajl_number = on_number,
		.yajl_string = on_string,
		.yajl_start_map = on_start_map,
		.yajl_map_key = on_key,
		.yajl_end_map = on_end_map,
		.yajl_start_array = on_start_array,
		.yajl_end_array = on_end_array,
	};
	struct reader r = { .t = t, .key = F_NONE, .row = malloc(sizeof(*r.row)) };
	yajl_handle y = yajl_alloc(&callbacks, NULL, &r);
	int err;

	t->kind = "kineto";
	if (!r.row || !y) {
		err = view_import_fail(job, -ENOMEM, "out of memory");
		goto out;
	}
	/* Names in other encodings are the tool's fault, not the trace's. */
	yajl_config(y, yajl_dont_validate_strings, 1);
	err = parse(job, in, &r, y);
out:
	if (y)
		yajl_free(y);
	free(r.row);
	return err;
}
