/* SPDX-License-Identifier: Apache-2.0 */
/*
 * second.c - who has the process, and what subscribers of the second interface are given. Their
 * records wait in a list until they are flushed, and only then is a buffer asked for: CUPTI asks
 * earlier, on the launching thread, which makes no difference to who looks on from outside.
 */
#include "second.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../clock.h"
#include "../config.h"
#include "external.h"
#include "layout.h"
#include "records.h"
#include "timebase.h"

#define MANY 4 /* subscribers */
#define FIELDS 16 /* of a selection */
#define RECORD 256
#define KEPT_MOST 200000 /* records that wait; beyond that they are dropped and counted */
#define MULTI_DRIVER 13030 /* r610, as cuDriverGetVersion counts */
#define INVALID_OPERATION 7

enum scope {
	NOBODYS,
	FIRST,
	SECOND
};

struct selection {
	int field[FIELDS];
	size_t fields;
};

struct kept {
	uint64_t end;
	uint32_t bytes, kind;
	uint8_t record[RECORD];
};

struct subscriber {
	bool used, user_defined, stale; /* stale: a selection may not change before a flush */
	char name[SECOND_NAME];
	bool kind[REC_KINDS];
	struct selection selection[REC_KINDS];
	second_request_fn request;
	second_complete_fn complete;
	struct kept *kept;
	size_t n_kept, room, dropped;
};

static struct {
	pthread_mutex_t lock;
	enum scope scope;
	int multi; /* enum second_attribute SECOND_STATE's values */
	bool poisoned, was_second;
	struct subscriber sub[MANY];
	/* GPUSIM_V2 */
	bool sticky;
	enum {
		COUNTS_YES,
		COUNTS_ENABLED,
		COUNTS_NO
	} counts;
	int low; /* what several subscribers get below MULTI_DRIVER */
} v = { .lock = PTHREAD_MUTEX_INITIALIZER, .multi = 2 };

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* "sticky=0,counts=no|enabled,low=27" */
static void read_script(void)
{
	const char *script = getenv("GPUSIM_V2"), *at;

	v.sticky = !script || !strstr(script, "sticky=0");
	if (script && strstr(script, "counts=no"))
		v.counts = COUNTS_NO;
	if (script && strstr(script, "counts=enabled"))
		v.counts = COUNTS_ENABLED;
	at = script ? strstr(script, "low=") : NULL;
	v.low = at ? atoi(at + 4) : CUPTI_MULTIPLE_SUBSCRIBERS;
}

static void lock(void)
{
	pthread_once(&once, read_script);
	pthread_mutex_lock(&v.lock);
}

static void unlock(void)
{
	pthread_mutex_unlock(&v.lock);
}

static size_t subscribers(void)
{
	size_t i, n = 0;

	for (i = 0; i < MANY; i++)
		n += v.sub[i].used;
	return n;
}

/* ---- whose the process is ---- */

static bool first_is_on(void)
{
	size_t i;

	for (i = 0; i < REC_KINDS; i++)
		if (rec_config.kind[i])
			return true;
	return rec_config.subscribed;
}

static enum scope scope(void)
{
	if (v.scope == FIRST && v.counts == COUNTS_ENABLED && !first_is_on())
		return NOBODYS;
	return v.scope;
}

int second_refuses(void)
{
	bool refuses;

	lock();
	refuses = scope() == SECOND;
	unlock();
	return refuses ? CUPTI_NOT_COMPATIBLE : CUPTI_OK;
}

void second_first_used(bool subscribed)
{
	lock();
	if (v.scope == NOBODYS && (subscribed || v.counts != COUNTS_NO))
		v.scope = FIRST;
	unlock();
}

bool second_holds(void)
{
	return __atomic_load_n(&v.scope, __ATOMIC_RELAXED) == SECOND && subscribers();
}

bool second_poisoned(void)
{
	return v.poisoned;
}

static void forget(struct subscriber *s)
{
	free(s->kept);
	memset(s, 0, sizeof(*s));
}

static void released(void)
{
	if (subscribers())
		return;
	v.multi = 2;
	if (!v.sticky)
		v.scope = NOBODYS;
}

bool second_finalize(void)
{
	size_t i;

	lock();
	if (subscribers() > 1) {
		unlock();
		return false;
	}
	for (i = 0; i < MANY; i++)
		forget(&v.sub[i]);
	v.poisoned |= v.was_second;
	if (v.scope == FIRST)
		v.scope = NOBODYS;
	released();
	unlock();
	return true;
}

/* ---- records ---- */

struct field {
	int id;
	uint32_t bytes, from,
		held; /* as it is given, where the whole record has it, and how wide */
};

static const struct field kernel_fields[] = {
	{ 0, 4, 0, 4 },	  { 7, 8, 16, 8 },  { 8, 8, 24, 8 },   { 10, 4, 40, 4 },  { 11, 8, 44, 4 },
	{ 12, 8, 48, 4 }, { 22, 8, 92, 4 }, { 24, 8, 104, 8 }, { 31, 8, 144, 8 }, { 33, 4, 156, 4 },
};

static const struct field copy_fields[] = {
	{ 0, 4, 0, 4 },	 { 1, 1, 4, 1 },  { 2, 1, 5, 1 },   { 3, 1, 6, 1 },
	{ 4, 1, 7, 1 },	 { 5, 8, 8, 8 },  { 6, 8, 16, 8 },  { 7, 8, 24, 8 },
	{ 8, 4, 32, 4 }, { 9, 4, 36, 4 }, { 10, 4, 40, 4 }, { 11, 8, 44, 4 },
};

static const struct field set_fields[] = {
	{ 0, 4, 0, 4 },	 { 2, 8, 8, 8 },  { 3, 8, 16, 8 }, { 4, 8, 24, 8 },
	{ 5, 4, 32, 4 }, { 6, 4, 36, 4 }, { 7, 4, 40, 4 }, { 8, 8, 44, 4 },
};

static const struct field *fields_of(int kind, size_t *n)
{
#define FIELDS_OF(list) (*n = sizeof(list) / sizeof(list[0]), list)
	switch (kind) {
	case REC_CONCURRENT_KERNEL:
		return FIELDS_OF(kernel_fields);
	case REC_MEMCPY:
		return FIELDS_OF(copy_fields);
	case REC_MEMSET:
		return FIELDS_OF(set_fields);
	default:
		*n = 0;
		return NULL;
	}
}

static const struct field *find_field(int kind, int id)
{
	size_t n, i;
	const struct field *f = fields_of(kind, &n);

	for (i = 0; i < n; i++)
		if (f[i].id == id)
			return &f[i];
	return NULL;
}

static size_t aligned(size_t at, size_t to)
{
	return (at + to - 1) / to * to;
}

/* One after the other as they were selected, each aligned to its size; the whole to 8. */
static size_t select_fields(const struct subscriber *s, int kind, struct second_entry *entry,
			    const uint8_t *whole, uint8_t *into)
{
	const struct selection *sel = &s->selection[kind];
	size_t at = 0, i;

	for (i = 0; i < sel->fields; i++) {
		const struct field *f = find_field(kind, sel->field[i]);

		at = aligned(at, f->bytes);
		if (entry)
			entry[i] = (struct second_entry){ sizeof(*entry), f->id, at, f->bytes,
							  f->bytes };
		if (into) {
			memset(into + at, 0, f->bytes);
			memcpy(into + at, whole + f->from, f->held);
		}
		at += f->bytes;
	}
	return aligned(at, 8);
}

static void keep(struct subscriber *s, uint32_t kind, const uint8_t *whole, uint64_t end)
{
	struct kept *k;

	if (s->n_kept == s->room) {
		size_t room = s->room ? 2 * s->room : 1024;
		void *more = room > KEPT_MOST ? NULL : realloc(s->kept, room * sizeof(*k));

		if (!more) {
			s->dropped++;
			return;
		}
		s->kept = more;
		s->room = room;
	}
	k = &s->kept[s->n_kept++];
	k->end = end;
	k->kind = kind;
	k->bytes = rec_size(kind);
	if (s->user_defined)
		k->bytes = (uint32_t)select_fields(s, (int)kind, NULL, whole, k->record);
	else
		memcpy(k->record, whole, k->bytes);
}

/* What has no end yet is dropped and counted: the model's choice. */
void second_op(const struct sim_op *op)
{
	uint32_t kind = rec_kind_of(op);
	uint8_t whole[RECORD];
	size_t i;

	if (!kind || rec_size(kind) > RECORD || v.poisoned)
		return;
	rec_whole(whole, kind, op);
	lock();
	for (i = 0; i < MANY; i++) {
		struct subscriber *s = &v.sub[i];

		if (!s->used || !s->kind[kind] || !s->complete)
			continue;
		if (op->end == SIM_NEVER)
			s->dropped++;
		else
			keep(s, kind, whole, op->end);
	}
	unlock();
}

struct delivery { /* to one subscriber, made under the lock and carried out without */
	second_request_fn request;
	second_complete_fn complete;
	struct kept *kept;
	size_t n;
	struct second_layout layout[REC_KINDS], *by_kind[REC_KINDS];
	struct second_entry entry[REC_KINDS][FIELDS];
	bool user_defined;
};

static void make_layouts(struct delivery *d, const struct subscriber *s)
{
	int kind;

	d->user_defined = s->user_defined;
	for (kind = 0; kind < REC_KINDS && d->user_defined; kind++) {
		if (!s->selection[kind].fields)
			continue;
		d->layout[kind].size = sizeof(d->layout[kind]);
		d->layout[kind].entry = d->entry[kind];
		d->layout[kind].fields = s->selection[kind].fields;
		d->layout[kind].bytes = select_fields(s, kind, d->entry[kind], NULL, NULL);
		d->by_kind[kind] = &d->layout[kind];
	}
}

/* What has ended, or all, is taken out of the list. */
static struct delivery *take(struct subscriber *s, bool force)
{
	struct delivery *d = calloc(1, sizeof(*d));
	uint64_t now = sim_now();
	size_t i, left = 0;

	if (!d)
		return NULL;
	d->request = s->request;
	d->complete = s->complete;
	d->kept = malloc(s->n_kept * sizeof(*d->kept) + 1);
	make_layouts(d, s);
	for (i = 0; i < s->n_kept && d->kept; i++)
		if (force || s->kept[i].end <= now)
			d->kept[d->n++] = s->kept[i];
		else
			s->kept[left++] = s->kept[i];
	if (d->kept)
		s->n_kept = left;
	s->stale &= !force;
	return d;
}

static void deliver(struct delivery *d)
{
	struct second_request ask = { sizeof(ask) };
	struct second_complete info = { sizeof(info), (uint64_t)getpid(),
					d->user_defined ? d->by_kind : NULL,
					d->user_defined ? REC_KINDS : 0 };
	size_t i = 0, size, most, valid;
	uint8_t *buffer;

	while (i < d->n && d->request && d->complete) {
		buffer = NULL;
		size = most = valid = 0;
		d->request(&buffer, &size, &most, &ask);
		if (!buffer)
			break;
		for (; i < d->n && valid + d->kept[i].bytes <= size; i++) {
			memcpy(buffer + valid, d->kept[i].record, d->kept[i].bytes);
			valid += d->kept[i].bytes;
		}
		d->complete(buffer, size, valid, &info);
		if (!valid)
			break;
	}
	memset(d->entry, 0xa5, sizeof(d->entry)); /* nothing says that they live on */
	free(d->kept);
	free(d);
}

void second_flush(bool force)
{
	struct delivery *d[MANY] = { NULL };
	size_t i;

	lock();
	for (i = 0; i < MANY; i++)
		if (v.sub[i].used)
			d[i] = take(&v.sub[i], force);
	unlock();
	for (i = 0; i < MANY; i++)
		if (d[i])
			deliver(d[i]);
}

#if SIM_CUPTI_API >= 130300

/* ---- subscribing ---- */

static void tell(const char *what, const char *name, int rc)
{
	char line[256];

	snprintf(line, sizeof(line),
		 "{\"v2\":\"%s\",\"name\":\"%s\",\"rc\":%d,\"t\":%llu,\"pid\":%d}", what,
		 name ? name : "", rc, (unsigned long long)sim_now(), getpid());
	rec_driver->truth(line, strlen(line));
}

static void name_holder(struct second_params *p)
{
	const char *name = scope() == FIRST ? "CUPTI" : "";
	size_t i;

	for (i = 0; i < MANY; i++)
		if (v.sub[i].used)
			name = v.sub[i].name;
	if (p && p->old_name && p->old_size)
		snprintf(p->old_name, p->old_size, "%s", name);
}

static int may_subscribe(const struct second_params *p)
{
	int allow = p && p->size > offsetof(struct second_params, allow) && p->allow;

	if (scope() == FIRST)
		return CUPTI_MULTIPLE_SUBSCRIBERS;
	if (allow && sim_config()->driver_version < MULTI_DRIVER)
		return v.low;
	if (v.multi != 2 && (v.multi != allow || !allow))
		return CUPTI_MULTIPLE_SUBSCRIBERS;
	return subscribers() < MANY ? CUPTI_OK : CUPTI_MAX_LIMIT_REACHED;
}

static struct subscriber *place(void)
{
	size_t i;

	for (i = 0; v.sub[i].used; i++)
		;
	return &v.sub[i];
}

int cuptiSubscribe_v2(void **handle, sub_fn fn, void *data, struct second_params *p)
{
	struct subscriber *s;
	int rc = api_need_driver();

	(void)fn;
	(void)data;
	if (rc)
		return rc;
	if (!handle ||
	    (p && p->size != sizeof(*p) && p->size != offsetof(struct second_params, allow)))
		return CUPTI_INVALID_PARAMETER;
	lock();
	rc = may_subscribe(p);
	name_holder(p);
	if (!rc) {
		s = place();
		s->used = true;
		snprintf(s->name, sizeof(s->name), "CUPTI for %s", p && p->name ? p->name : "");
		v.multi = p && p->size == sizeof(*p) && p->allow;
		v.was_second = true;
		__atomic_store_n(&v.scope, SECOND, __ATOMIC_RELAXED);
		*handle = s;
	}
	unlock();
	tell("subscribe", p ? p->name : NULL, rc);
	return rc;
}

/* The lock is taken if it is one. */
static struct subscriber *of(void *handle)
{
	size_t i;

	lock();
	for (i = 0; i < MANY; i++)
		if (&v.sub[i] == handle && v.sub[i].used)
			return &v.sub[i];
	unlock();
	return NULL;
}

bool second_leave(void *handle)
{
	struct subscriber *s = of(handle);
	char name[SECOND_NAME];

	if (!s)
		return false;
	memcpy(name, s->name, sizeof(name));
	forget(s);
	released();
	unlock();
	tell("unsubscribe", name, 0);
	return true;
}

/* What calls of the second interface answer without a subscriber: 14 beside the first, else 1. */
static int nobody(void)
{
	int rc;

	lock();
	rc = scope() == FIRST ? CUPTI_NOT_COMPATIBLE : CUPTI_INVALID_PARAMETER;
	unlock();
	return rc;
}

static bool any_kind(const struct subscriber *only)
{
	size_t i, k;

	for (i = 0; i < MANY; i++)
		for (k = 0; k < REC_KINDS && (!only || only == &v.sub[i]); k++)
			if (v.sub[i].used && v.sub[i].kind[k])
				return true;
	return false;
}

static int set_attribute(struct subscriber *s, int attribute, uint8_t on)
{
	switch (attribute) {
	case SECOND_USER_DEFINED:
		if (any_kind(s))
			return INVALID_OPERATION;
		s->user_defined = on;
		return CUPTI_OK;
	case SECOND_HES:
	case SECOND_GRAPHS:
		return any_kind(NULL) ? INVALID_OPERATION : CUPTI_OK;
	case SECOND_STATE:
		return CUPTI_INVALID_PARAMETER;
	default:
		return CUPTI_OK;
	}
}

int cuptiActivitySetAttribute_v2(void *handle, int attribute, size_t *size, void *value)
{
	struct subscriber *s;
	int rc;

	if (!size || !value || !*size || attribute < 0 || attribute >= SECOND_ATTRIBUTES)
		return CUPTI_INVALID_PARAMETER;
	s = of(handle);
	if (!s)
		return nobody();
	rc = set_attribute(s, attribute, *(uint8_t *)value);
	unlock();
	return rc;
}

int cuptiActivityGetAttribute_v2(void *handle, int attribute, size_t *size, void *value)
{
	struct subscriber *s;

	if (!size || !value || !*size || attribute < 0 || attribute >= SECOND_ATTRIBUTES)
		return CUPTI_INVALID_PARAMETER;
	if (attribute == SECOND_STATE) {
		lock();
		*(uint8_t *)value = (uint8_t)v.multi;
		unlock();
		return CUPTI_OK;
	}
	s = of(handle);
	if (!s)
		return nobody();
	*(uint8_t *)value = attribute == SECOND_USER_DEFINED && s->user_defined;
	unlock();
	return CUPTI_OK;
}

int cuptiActivityRegisterCallbacks_v2(void *handle, second_request_fn request,
				      second_complete_fn complete)
{
	struct subscriber *s = of(handle);

	if (!s)
		return nobody();
	s->request = request;
	s->complete = complete;
	unlock();
	return CUPTI_OK;
}

static bool selects_well(int kind, const struct second_selection *sel)
{
	size_t i;

	if (!sel->fields || sel->fields > FIELDS || sel->field[0])
		return false;
	for (i = 0; i < sel->fields; i++)
		if (!find_field(kind, sel->field[i]))
			return false;
	return true;
}

static int enable_user_defined(struct subscriber *s, int kind, const struct second_config *c)
{
	struct selection sel = { { 0 }, 0 };

	if (!c || !selects_well(kind, &c->selection))
		return CUPTI_INVALID_PARAMETER;
	memcpy(sel.field, c->selection.field, c->selection.fields * sizeof(int));
	sel.fields = c->selection.fields;
	if (s->stale && memcmp(&sel, &s->selection[kind], sizeof(sel)))
		return CUPTI_NOT_COMPATIBLE;
	s->selection[kind] = sel;
	return CUPTI_OK;
}

static int switch_kind(void *handle, int kind, const struct second_config *c, bool on)
{
	struct subscriber *s;
	int rc = CUPTI_OK;

	if (kind <= 0 || kind > rec_last_kind())
		return CUPTI_NOT_COMPATIBLE;
	s = of(handle);
	if (!s)
		return nobody();
	if (on && s->user_defined)
		rc = enable_user_defined(s, kind, c);
	s->stale |= !on && s->kind[kind];
	if (!rc)
		s->kind[kind] = on;
	unlock();
	return rc;
}

int cuptiActivityEnable_v2(void *handle, int kind, struct second_config *config)
{
	return switch_kind(handle, kind, config, true);
}

int cuptiActivityDisable_v2(void *handle, int kind, struct second_config *config)
{
	return switch_kind(handle, kind, config, false);
}

/* Calls are accepted one by one, and none is recorded for a subscriber: the model's choice. */
static int one_call(void *handle)
{
	if (!of(handle))
		return nobody();
	unlock();
	return CUPTI_OK;
}

int cuptiActivityEnableRuntimeApi_v2(void *handle, uint32_t cbid, uint8_t enable)
{
	(void)cbid;
	(void)enable;
	return one_call(handle);
}

int cuptiActivityEnableDriverApi_v2(void *handle, uint32_t cbid, uint8_t enable)
{
	(void)cbid;
	(void)enable;
	return one_call(handle);
}

int cuptiActivityGetNextRecord_v2(void *handle, uint8_t *buffer, size_t valid, void **record)
{
	int rc = one_call(handle);

	return rc ? rc : rec_next(buffer, valid, record);
}

int cuptiActivityGetNumDroppedRecords_v2(void *handle, void *context, uint32_t stream,
					 size_t *dropped)
{
	struct subscriber *s = dropped ? of(handle) : NULL;

	(void)context;
	(void)stream;
	if (!s)
		return dropped ? nobody() : CUPTI_INVALID_PARAMETER;
	*dropped = s->dropped;
	s->dropped = 0;
	unlock();
	return CUPTI_OK;
}

int cuptiGetTimestamp_v2(void *handle, uint64_t *t)
{
	int rc = t ? one_call(handle) : CUPTI_INVALID_PARAMETER;

	if (!rc)
		*t = timebase_stamp(sim_now());
	return rc;
}

int cuptiActivityPushExternalCorrelationId_v2(void *handle, int kind, uint64_t id)
{
	int rc = kind > 0 && kind < EXT_KINDS ? one_call(handle) : CUPTI_INVALID_PARAMETER;

	return rc || ext_push(kind, id) ? rc : CUPTI_OUT_OF_MEMORY;
}

int cuptiActivityPopExternalCorrelationId_v2(void *handle, int kind, uint64_t *last)
{
	int rc = kind > 0 && kind < EXT_KINDS ? one_call(handle) : CUPTI_INVALID_PARAMETER;
	uint64_t id;

	if (rc)
		return rc;
	return ext_pop(kind, last ? last : &id) ? CUPTI_OK : CUPTI_QUEUE_EMPTY;
}

int cuptiIsTracingSessionRunning(uint8_t *running)
{
	if (!running)
		return CUPTI_INVALID_PARAMETER;
	lock();
	*running = subscribers() || first_is_on();
	unlock();
	return CUPTI_OK;
}

int cuptiActivityGetStructSize(int kind, uint32_t version, size_t *bytes)
{
	if (!bytes || (version && version != SIM_CUPTI_API))
		return CUPTI_INVALID_PARAMETER;
	*bytes = kind > 0 ? rec_size((uint32_t)kind) : 0;
	return *bytes ? CUPTI_OK : CUPTI_INVALID_KIND;
}

#endif
