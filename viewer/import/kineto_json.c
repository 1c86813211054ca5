/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where in the JSON a value stands, and so what it is for.
 */
#include "kineto_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>
#include "number.h"
#include "kineto_rows.h"

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

struct view_import_json {
	struct view_import_trace *t;
	yajl_handle yajl;
	unsigned int depth;
	unsigned int events_depth; /* of the event list; 0: not inside it */
	enum section section;
	bool in_list, in_row, in_args;
	enum view_import_field key;
	/* one object of deviceProperties, or distributedInfo */
	char side_key[24];
	struct view_import_device device;
	int err; /* stops the parser */
	struct view_import_row row[1];
};

/* The field of a row that a value at this place is for. */
static enum view_import_field field_here(const struct view_import_json *r)
{
	unsigned int in = r->depth - r->events_depth;

	if (!r->in_row || in > 2 || (in == 2 && !r->in_args))
		return F_NONE;
	return r->key;
}

static void begin_row(struct view_import_json *r)
{
	view_import_row_begin(r->row);
	r->in_row = true;
	r->key = F_NONE;
}

/* --- what stands beside the event list --- */

static bool side_key_is(const struct view_import_json *r, const char *key)
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

static void side_value_number(struct view_import_json *r, const char *text, size_t len)
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

static void side_value_text(struct view_import_json *r, const unsigned char *text, size_t len)
{
	if (r->section == S_HOST && r->depth == 1)
		copy_text(r->t->host, sizeof(r->t->host), text, len);
	else if (r->section == S_USER && r->depth == 1)
		copy_text(r->t->user, sizeof(r->t->user), text, len);
	else if (r->section == S_DEVICES && r->depth == 3 && side_key_is(r, "name"))
		copy_text(r->device.name, sizeof(r->device.name), text, len);
}

static int finish_device(struct view_import_json *r)
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
	struct view_import_json *r = arg;
	enum view_import_field f = field_here(r);

	if (f < FIELDS)
		view_import_row_null(r->row, f);
	else if (f == F_ARGS)
		view_import_row_forget_args(r->row);
	return 1;
}

static int on_boolean(void *arg, int value)
{
	struct view_import_json *r = arg;
	enum view_import_field f = field_here(r);

	if (f < FIELDS)
		view_import_row_boolean(r->row, f, value);
	else if (f == F_ARGS)
		view_import_row_forget_args(r->row);
	return 1;
}

static int on_number(void *arg, const char *text, size_t len)
{
	struct view_import_json *r = arg;
	enum view_import_field f = field_here(r);

	if (f < FIELDS)
		view_import_row_number(r->row, f, text, len);
	else if (f == F_ARGS)
		view_import_row_forget_args(r->row);
	else if (!r->events_depth)
		side_value_number(r, text, len);
	return 1;
}

static int on_string(void *arg, const unsigned char *text, size_t len)
{
	struct view_import_json *r = arg;
	enum view_import_field f = field_here(r);

	if (f < FIELDS)
		view_import_row_text(r->row, f, (const char *)text, len);
	else if (f == F_ARGS)
		view_import_row_forget_args(r->row);
	else if (!r->events_depth)
		side_value_text(r, text, len);
	return 1;
}

static int deeper(struct view_import_json *r)
{
	if (++r->depth <= VIEW_IMPORT_DEPTH_MAX)
		return 1;
	r->err = -ELOOP;
	return 0;
}

static int on_start_map(void *arg)
{
	struct view_import_json *r = arg;
	enum view_import_field f = field_here(r);

	if (f < FIELDS)
		view_import_row_odd(r->row, f);
	if (r->events_depth && r->depth == r->events_depth) {
		begin_row(r);
	} else if (f == F_ARGS) {
		view_import_row_forget_args(r->row);
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
	static const struct view_import_word row_keys[] = {
		WORD("ph", F_PH),   WORD("cat", F_CAT),	  WORD("name", F_NAME),
		WORD("pid", F_PID), WORD("tid", F_TID),	  WORD("ts", F_TS),
		WORD("dur", F_DUR), WORD("args", F_ARGS), WORDS_END,
	};
	static const struct view_import_word args_keys[] = {
		WORD("device", F_DEVICE),
		WORD("stream", F_STREAM),
		WORD("correlation", F_CORRELATION),
		WORD("context", F_CONTEXT),
		WORD("process", F_PROCESS),
		WORD("bytes", F_BYTES),
		WORD("graph id", F_GRAPH),
		WORD("fromDevice", F_FROM_DEVICE),
		WORD("toDevice", F_TO_DEVICE),
		WORD("gpustarve", F_OURS),
		WORDS_END,
	};
	static const struct view_import_word sections[] = {
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
	struct view_import_json *r = arg;
	unsigned int in = r->depth - r->events_depth;

	if (r->in_row && in == 1)
		r->key = (enum view_import_field)view_import_lookup(row_keys, text, len, F_NONE);
	else if (r->in_args && in == 2)
		r->key = (enum view_import_field)view_import_lookup(args_keys, text, len, F_NONE);
	else if (!r->events_depth && r->depth == 1)
		r->section = (enum section)view_import_lookup(sections, text, len, S_OTHER);
	else if (!r->events_depth)
		copy_text(r->side_key, sizeof(r->side_key), text, len);
	return 1;
}

static int on_end_map(void *arg)
{
	struct view_import_json *r = arg;

	r->depth--;
	if (r->in_row && r->depth == r->events_depth) {
		r->in_row = false;
		r->err = view_import_row_finish(r->row, r->t);
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
	struct view_import_json *r = arg;
	enum view_import_field f = field_here(r);

	if (f < FIELDS)
		view_import_row_odd(r->row, f);
	else if (f == F_ARGS)
		view_import_row_forget_args(r->row);
	if (!r->events_depth && (r->depth == 0 || (r->depth == 1 && r->section == S_EVENTS)))
		r->events_depth = r->depth + 1;
	return deeper(r);
}

static int on_end_array(void *arg)
{
	struct view_import_json *r = arg;

	if (r->depth == r->events_depth)
		r->events_depth = 0;
	r->depth--;
	return 1;
}

/* --- the text --- */

struct view_import_json *view_import_json_new(struct view_import_trace *t, bool in_list)
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
	struct view_import_json *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->t = t;
	j->key = F_NONE;
	j->in_list = in_list;
	j->yajl = yajl_alloc(&callbacks, NULL, j);
	if (!j->yajl) {
		free(j);
		return NULL;
	}
	/* Names in other encodings are the tool's fault, not the trace's. */
	yajl_config(j->yajl, yajl_dont_validate_strings, 1);
	if (in_list)
		view_import_json_feed(j, (const uint8_t *)"[", 1);
	return j;
}

void view_import_json_free(struct view_import_json *j)
{
	if (!j)
		return;
	yajl_free(j->yajl);
	free(j);
}

int view_import_json_feed(struct view_import_json *j, const uint8_t *text, size_t len)
{
	if (yajl_parse(j->yajl, text, len) == yajl_status_ok)
		return 0;
	return j->err ? j->err : -EBADMSG;
}

size_t view_import_json_consumed(const struct view_import_json *j)
{
	return yajl_get_bytes_consumed(j->yajl);
}

int view_import_json_end(struct view_import_json *j)
{
	int err = j->in_list ? view_import_json_feed(j, (const uint8_t *)"]", 1) : 0;

	if (err)
		return err;
	return yajl_complete_parse(j->yajl) == yajl_status_ok ? 0 : -EBADMSG;
}

bool view_import_json_between_rows(const struct view_import_json *j)
{
	return j->events_depth && j->depth == j->events_depth;
}
