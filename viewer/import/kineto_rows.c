/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of Kineto and Chrome traces become records.
 */
#include "kineto_rows.h"

#include <string.h>
#include "facts/names.h"
#include "number.h"

enum field_type {
	T_ABSENT,
	T_NULL,
	T_INT,
	T_TEXT,
	T_BAD, /* a time that is none */
};

struct maker { /* of a record from a row */
	struct view_import_trace *t;
	struct view_import_row *row;
};

/* --- values --- */

void view_import_row_begin(struct view_import_row *r)
{
	memset(r->type, T_ABSENT, sizeof(r->type));
	r->num[F_TS] = 0;
}

void view_import_row_forget_args(struct view_import_row *r)
{
	memset(r->type + F_ARGS_FIRST, T_ABSENT, FIELDS - F_ARGS_FIRST);
}

static bool is_time(enum view_import_field f)
{
	return f == F_TS || f == F_DUR;
}

void view_import_row_text(struct view_import_row *r, enum view_import_field f, const char *text,
			  size_t len)
{
	if (is_time(f)) {
		r->type[f] = view_import_ns(text, len, &r->num[f]) ? T_BAD : T_INT;
		return;
	}
	r->type[f] = T_TEXT;
	r->len[f] = (uint32_t)(len < sizeof(r->text[f]) ? len : sizeof(r->text[f]));
	memcpy(r->text[f], text, r->len[f]);
}

void view_import_row_number(struct view_import_row *r, enum view_import_field f, const char *text,
			    size_t len)
{
	if (is_time(f) || view_import_int(text, len, &r->num[f]))
		view_import_row_text(r, f, text, len);
	else
		r->type[f] = T_INT;
}

void view_import_row_boolean(struct view_import_row *r, enum view_import_field f, bool value)
{
	r->type[f] = T_INT;
	r->num[f] = value * (is_time(f) ? 1000 : 1);
}

void view_import_row_null(struct view_import_row *r, enum view_import_field f)
{
	r->type[f] = T_NULL;
}

void view_import_row_odd(struct view_import_row *r, enum view_import_field f)
{
	r->type[f] = T_ABSENT;
}

int view_import_lookup(const struct view_import_word *w, const void *text, size_t len,
		       int otherwise)
{
	for (; w->text; w++)
		if (w->len == len && w->text[0] == *(const char *)text &&
		    !memcmp(w->text, text, len))
			return w->value;
	return otherwise;
}

/* --- records --- */

static struct view_import_value value_of(const struct view_import_row *r, enum view_import_field f)
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

static int id_of(struct maker *r, enum view_import_ids which, enum view_import_field f,
		 uint32_t *out)
{
	struct view_import_value v = value_of(r->row, f);

	return view_import_id(r->t, which, &v, out);
}

/* A field of args, or else of the row itself. */
static enum view_import_field or_else(const struct view_import_row *r, enum view_import_field f,
				      enum view_import_field otherwise)
{
	return r->type[f] == T_ABSENT ? otherwise : f;
}

static bool text_begins(const struct view_import_row *r, enum view_import_field f, const char *with)
{
	size_t n = strlen(with);

	return r->type[f] == T_TEXT && r->len[f] >= n && !memcmp(r->text[f], with, n);
}

static bool text_has(const struct view_import_row *r, enum view_import_field f, const char *what)
{
	return r->type[f] == T_TEXT && memmem(r->text[f], r->len[f], what, strlen(what));
}

static int take_name(struct maker *r, uint32_t *out)
{
	return view_import_name(r->t, r->row->text[F_NAME],
				r->row->type[F_NAME] == T_TEXT ? r->row->len[F_NAME] : 0, out);
}

static uint8_t copy_direction(const char *from_to)
{
	static const struct view_import_word directions[] = {
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
	return (uint8_t)view_import_lookup(directions, from_to, 4, WIRE_COPY_UNKNOWN);
}

static uint8_t memory_kind(const char *text, size_t len)
{
	static const struct view_import_word kinds[] = {
		WORD("Pageable", WIRE_MEM_PAGEABLE), WORD("Pinned", WIRE_MEM_PINNED),
		WORD("Device", WIRE_MEM_DEVICE),     WORD("Array", WIRE_MEM_ARRAY),
		WORD("Managed", WIRE_MEM_MANAGED),   WORDS_END,
	};
	const struct view_import_word *w;

	for (w = kinds; w->text; w++)
		if (len >= w->len && !memcmp(text, w->text, w->len))
			return (uint8_t)w->value;
	return WIRE_MEM_UNKNOWN;
}

/* "Memcpy HtoD (Pageable -> Device)" */
static void describe_copy(const struct view_import_row *r, struct wire_event *e)
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

static void describe_peer(const struct view_import_row *r, struct wire_event *e)
{
	enum view_import_field other = r->type[F_TO_DEVICE] == T_INT &&
						       r->type[F_DEVICE] == T_INT &&
						       r->num[F_TO_DEVICE] == r->num[F_DEVICE]
					       ? F_FROM_DEVICE
					       : F_TO_DEVICE;

	if (e->copy == WIRE_COPY_P2P && r->type[other] == T_INT && r->num[other] >= 0 &&
	    r->num[other] < UINT16_MAX)
		e->peer = (uint16_t)(r->num[other] + 1);
}

/* What operations and synchronisation records have in common. */
static int take_place(struct maker *r, struct wire_event *e, uint32_t *process)
{
	const struct view_import_row *row = r->row;
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

static int add_op(struct maker *r, struct wire_event *e, int op)
{
	const struct view_import_row *row = r->row;
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

static int add_sync(struct maker *r, struct wire_event *e)
{
	uint32_t process;
	int err;

	e->kind = WIRE_KIND_SYNC;
	e->op = WIRE_SYNC_CONTEXT;
	if (text_has(r->row, F_NAME, "Host Function")) /* our own export's */
		e->op = WIRE_SYNC_HOST_FUNCTION;
	else if (text_has(r->row, F_NAME, "Stream Wait"))
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

static int take_thread(struct maker *r, struct wire_event *e, uint32_t *process)
{
	int err = id_of(r, VIEW_IMPORT_PID, F_PID, process);

	return err ? err : id_of(r, VIEW_IMPORT_TID, F_TID, &e->tid);
}

static int add_api(struct maker *r, struct wire_event *e, int domain)
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

/* Our own export says what Kineto has no word for. */
static bool take_ours(const struct view_import_row *row, struct wire_event *e)
{
	int64_t op = row->num[F_OURS] & 0xff, flags = row->num[F_OURS] >> 8;

	if (row->type[F_OURS] != T_INT || op < WIRE_RANGE_LOADER || op > WIRE_RANGE_CODE_LOAD ||
	    flags & ~(WIRE_EV_FL_FIRST | WIRE_EV_FL_CONT | WIRE_EV_FL_OPERATOR))
		return false;
	e->kind = WIRE_KIND_RANGE;
	e->op = (uint8_t)op;
	e->flags = (uint8_t)flags;
	return true;
}

static int add_range(struct maker *r, struct wire_event *e, bool as_operator)
{
	const struct view_import_row *row = r->row;
	uint32_t process;
	int err;

	if (row->type[F_OURS] == T_INT &&
	    !row->num[F_OURS]) /* a step that was made of other records */
		return 0;
	err = take_thread(r, e, &process);
	if (!err && take_ours(row, e)) {
		err = take_name(r, &e->name);
		return err ? err : view_import_add(r->t, e, process);
	}
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
static enum category category_of(struct view_import_row *r)
{
	static const struct view_import_word categories[] = {
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
	return (enum category)view_import_lookup(categories, low, r->len[F_CAT], CAT_OTHER);
}

static int add_row(struct maker *r, struct wire_event *e)
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
	    facts_name_is_loader(r->row->text[F_NAME], r->row->len[F_NAME]))
		return add_range(r, e, true);
	return 0;
}

/* A row is complete if it has a duration (ph X) and a time. */
int view_import_row_finish(struct view_import_row *row, struct view_import_trace *t)
{
	struct maker r = { t, row };
	struct wire_event e = { .start_ns = row->num[F_TS] };
	int64_t dur = row->type[F_DUR] == T_INT ? row->num[F_DUR] : 0;

	t->rows++;
	if (row->type[F_PH] != T_TEXT || row->len[F_PH] != 1 || row->text[F_PH][0] != 'X' ||
	    row->type[F_TS] == T_ABSENT)
		return 0;
	if (row->type[F_TS] == T_BAD || row->type[F_DUR] == T_BAD ||
	    __builtin_add_overflow(e.start_ns, dur, &e.end_ns)) {
		t->skipped++;
		return 0;
	}
	if (e.end_ns >= e.start_ns)
		view_import_window(t, e.start_ns, e.end_ns);
	return add_row(&r, &e);
}
