/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The NVTX tool interface, as far as ranges need it: which slots there are, what their functions
 * look like, and what those return. Numbers and layouts are NVTX 3's ABI, which never changed.
 *
 * Of NCCL's ranges also the communicator is kept. NCCL describes its payloads through NVTX's
 * payload extension, a second door of the tool's (InitializeInjectionNvtxExtension) that is not
 * taken here: the payload hangs on the range's own attributes all the same, and what NCCL puts
 * there is known. Since 2.25.1 each call's begins with the communicator's hash, which is the same
 * on all its ranks, and the size of a message; before, with that size. The two are told apart by
 * how long the payload is, for NCCL gave some of its schema ids to other calls since.
 */
#include "nvtx.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "core/env.h"
#include "core/export.h"
#include "marks.h"
#include "wire/utf8.h"

#define NOT_TRACKED (-2) /* what NVTX returns for a push or pop that no tool looks at */
#define DOMAINS_MAX 256u
#define STRING_BYTES_MAX 4096u

#define NVTX_VERSION 3u
#define PAYLOAD_EXTENDED ((int32_t)0xDFBD0009u)
#define SCHEMA_STATIC (UINT64_C(1) << 24) /* ids that the program chose begin here */
#define SCHEMA_DYNAMIC (UINT64_C(1) << 32) /* and these are the tool's */

enum table_id {
	TABLE_CALLBACKS = 1,
	TABLE_VERSION = 3
};
enum module_id {
	MODULE_CORE = 1,
	MODULE_CORE2 = 5
};
enum message_type {
	MESSAGE_ASCII = 1,
	MESSAGE_WIDE = 2,
	MESSAGE_REGISTERED = 3
};

typedef void (*slot_fn)(void);

struct callback_table {
	size_t size;
	int (*get_module)(int module, slot_fn ***slots, unsigned int *count);
};

struct version_table {
	size_t size;
	uint32_t version, reserved; /* the program's NVTX */
	void (*set_tool_version)(uint32_t version);
};

struct string { /* what a registered string's handle points to */
	struct string *next;
	uint32_t len;
	char text[];
};

struct attributes { /* nvtxEventAttributes_t, 48 bytes */
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, payloads; /* payloads: of PAYLOAD_EXTENDED, reserved else */
	uint64_t payload; /* of PAYLOAD_EXTENDED a struct payload's address */
	int32_t message_type;
	union {
		const char *ascii;
		const wchar_t *wide;
		const struct string *registered;
	} message;
};
_Static_assert(sizeof(struct attributes) == 48, "layout of nvtxEventAttributes_t");

struct payload { /* nvtxPayloadData_t */
	uint64_t schema;
	size_t bytes;
	const void *at;
};

static atomic_bool armed;
static _Atomic uint64_t next_id = 1; /* of ranges that are started and ended */
static atomic_uint domains;
static char domain_handle[DOMAINS_MAX]; /* handles are their addresses; 1: NCCL's own domain */
static _Atomic(struct string *) strings; /* all of them: NVTX has no call to free one */
static const struct string no_string;

void prof_nvtx_arm(void)
{
	atomic_store_explicit(&armed, true, memory_order_release);
}

/* marks_on goes off in a forked child; armed says that NVTX is wanted at all. */
static bool recording(void)
{
	return prof_marks_on() && atomic_load_explicit(&armed, memory_order_relaxed);
}

/* ---- texts ---- */

static size_t narrow(const wchar_t *wide, char *to, size_t room)
{
	size_t n = 0;

	while (*wide && n + WIRE_UTF8_MOST <= room)
		n += wire_utf8_put(to + n, (uint32_t)*wide++);
	return n;
}

struct text { /* a message, wherever it lies */
	const char *at;
	size_t len;
	char narrowed[PROF_MARK_NAME_MAX];
};

static void text_ascii(struct text *t, const char *message)
{
	t->at = message ? message : "";
	t->len = strnlen(t->at, PROF_MARK_NAME_MAX);
}

static void text_wide(struct text *t, const wchar_t *message)
{
	t->at = t->narrowed;
	t->len = message ? narrow(message, t->narrowed, sizeof(t->narrowed)) : 0;
}

static void text_of(struct text *t, const struct attributes *a)
{
	int type = a && a->size >= sizeof(*a) ? a->message_type : 0;

	if (type == MESSAGE_ASCII) {
		text_ascii(t, a->message.ascii);
	} else if (type == MESSAGE_WIDE) {
		text_wide(t, a->message.wide);
	} else if (type == MESSAGE_REGISTERED && a->message.registered) {
		t->at = a->message.registered->text;
		t->len = a->message.registered->len;
	} else {
		text_ascii(t, NULL);
	}
}

/* ---- communicators ---- */

/* What the program calls a domain need be none of ours. */
static bool is_nccl(const void *domain)
{
	uintptr_t i = (uintptr_t)domain - (uintptr_t)domain_handle;

	return i < DOMAINS_MAX && domain_handle[i];
}

/* How long the payload of a call is if it begins with the communicator; 0: no such call. */
static size_t comm_payload_bytes(const struct text *t)
{
	static const struct {
		const char *name;
		size_t bytes;
	} call[] = {
		{ "ncclAllReduce", 24 }, { "ncclAllGather", 16 }, { "ncclReduceScatter", 24 },
		{ "ncclBroadcast", 24 }, { "ncclReduce", 24 },	  { "ncclSend", 24 },
		{ "ncclRecv", 24 },	 { "ncclAlltoAll", 16 },  { "ncclGather", 24 },
		{ "ncclScatter", 24 },
	};
	size_t i;

	for (i = 0; i < sizeof(call) / sizeof(call[0]); i++)
		if (strlen(call[i].name) == t->len && !memcmp(call[i].name, t->at, t->len))
			return call[i].bytes;
	return 0;
}

/* 0: the payload has none. */
static uint64_t comm_of(const struct attributes *a, const struct text *t)
{
	const struct payload *p = (const struct payload *)(uintptr_t)a->payload;
	size_t least = comm_payload_bytes(t);
	uint64_t comm;

	if (a->payload_type != PAYLOAD_EXTENDED || a->payloads < 1 || !p || !least)
		return 0;
	if (p->schema < SCHEMA_STATIC || p->schema >= SCHEMA_DYNAMIC || p->bytes < least || !p->at)
		return 0;
	memcpy(&comm, p->at, sizeof(comm));
	return comm;
}

/* ---- push and pop ---- */

static int push(const void *domain, const struct text *t)
{
	return prof_mark_push((uintptr_t)domain, t->at, t->len);
}

static int domain_push(void *domain, const struct attributes *a)
{
	struct text t;

	if (!recording())
		return NOT_TRACKED;
	text_of(&t, a);
	if (!is_nccl(domain) || !a || a->size < sizeof(*a))
		return push(domain, &t);
	return prof_mark_push_comm((uintptr_t)domain, t.at, t.len, comm_of(a, &t));
}

static int domain_pop(void *domain)
{
	return recording() ? prof_mark_pop((uintptr_t)domain) : NOT_TRACKED;
}

static int push_attributes(const struct attributes *a)
{
	return domain_push(NULL, a);
}

static int push_ascii(const char *message)
{
	struct text t;

	if (!recording())
		return NOT_TRACKED;
	text_ascii(&t, message);
	return push(NULL, &t);
}

static int push_wide(const wchar_t *message)
{
	struct text t;

	if (!recording())
		return NOT_TRACKED;
	text_wide(&t, message);
	return push(NULL, &t);
}

static int pop(void)
{
	return domain_pop(NULL);
}

/* ---- start and end ---- */

static uint64_t start(const struct text *t)
{
	uint64_t id = atomic_fetch_add_explicit(&next_id, 1, memory_order_relaxed);

	prof_mark_begin(PROF_SOURCE_ID, id, t->at, t->len);
	return id;
}

static uint64_t start_attributes(const struct attributes *a)
{
	struct text t;

	if (!recording())
		return 0;
	text_of(&t, a);
	return start(&t);
}

static uint64_t domain_start(void *domain, const struct attributes *a)
{
	(void)domain;
	return start_attributes(a);
}

static uint64_t start_ascii(const char *message)
{
	struct text t;

	if (!recording())
		return 0;
	text_ascii(&t, message);
	return start(&t);
}

static uint64_t start_wide(const wchar_t *message)
{
	struct text t;

	if (!recording())
		return 0;
	text_wide(&t, message);
	return start(&t);
}

static void end(uint64_t id)
{
	if (id && recording())
		prof_mark_end(PROF_SOURCE_ID, id);
}

static void domain_end(void *domain, uint64_t id)
{
	(void)domain;
	end(id);
}

/* ---- handles: made whether armed or not, for they are kept and used later ---- */

/* Beyond the last handle domains share one: their ranges nest wrongly, but nothing breaks. */
static char *new_domain(void)
{
	unsigned int i = atomic_fetch_add_explicit(&domains, 1, memory_order_relaxed);

	return &domain_handle[i < DOMAINS_MAX ? i : DOMAINS_MAX - 1];
}

/* The last one is shared, and written by nobody. */
static void *domain_create(const char *name)
{
	char *handle = new_domain();

	if (name && !strcmp(name, "NCCL") && handle != &domain_handle[DOMAINS_MAX - 1])
		*handle = 1;
	return handle;
}

static void *domain_create_wide(const wchar_t *name)
{
	(void)name;
	return new_domain();
}

/* Not in a hot path, so malloc is fine. */
static void *new_string(const char *text, size_t len)
{
	struct string *s = malloc(sizeof(*s) + len);

	if (!s)
		return (void *)(uintptr_t)&no_string;
	s->len = (uint32_t)len;
	memcpy(s->text, text, len);
	s->next = atomic_load(&strings);
	while (!atomic_compare_exchange_weak(&strings, &s->next, s))
		;
	return s;
}

static void *register_ascii(void *domain, const char *text)
{
	(void)domain;
	return new_string(text ? text : "", text ? strnlen(text, STRING_BYTES_MAX) : 0);
}

static void *register_wide(void *domain, const wchar_t *text)
{
	char narrowed[STRING_BYTES_MAX];

	(void)domain;
	return new_string(narrowed, text ? narrow(text, narrowed, sizeof(narrowed)) : 0);
}

/* ---- attaching ---- */

struct slot {
	unsigned int id;
	slot_fn fn;
};

#define SLOT(id, fn)            \
	{                       \
		id, (slot_fn)fn \
	}

static const struct slot core[] = {
	SLOT(4, start_attributes), SLOT(5, start_ascii), SLOT(6, start_wide), SLOT(7, end),
	SLOT(8, push_attributes),  SLOT(9, push_ascii),	 SLOT(10, push_wide), SLOT(11, pop),
};

static const struct slot core2[] = {
	SLOT(2, domain_start),	 SLOT(3, domain_end),	       SLOT(4, domain_push),
	SLOT(5, domain_pop),	 SLOT(10, register_ascii),     SLOT(11, register_wide),
	SLOT(12, domain_create), SLOT(13, domain_create_wide),
};

static void fill(const struct callback_table *table, int module, const struct slot *s, size_t n)
{
	unsigned int count = 0;
	slot_fn **slots = NULL;

	if (!table->get_module(module, &slots, &count) || !slots)
		return;
	for (; n; n--, s++)
		if (s->id < count && slots[s->id])
			*slots[s->id] = s->fn;
}

static bool off;

void prof_nvtx_off(void)
{
	off = true;
}

static void report_version(const struct version_table *table)
{
	if (table && table->size >= sizeof(*table) && table->set_tool_version)
		table->set_tool_version(NVTX_VERSION);
}

PROF_EXPORT int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t id))
{
	const struct callback_table *table;

	if (off || prof_env_off(prof_env("GPUSTARVE")) || prof_env_off(prof_env("GPUSTARVE_NVTX")))
		return 1;
	table = get_table ? get_table(TABLE_CALLBACKS) : NULL;
	if (!table || table->size < sizeof(*table) || !table->get_module)
		return 1;
	report_version(get_table(TABLE_VERSION));
	fill(table, MODULE_CORE, core, sizeof(core) / sizeof(core[0]));
	fill(table, MODULE_CORE2, core2, sizeof(core2) / sizeof(core2[0]));
	return 1;
}
