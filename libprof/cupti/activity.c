/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two CUPTI callbacks, and the walk over a buffer.
 */
#include "activity.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "bufpool.h"
#include "cbids.h"
#include "core/clockpoll.h"
#include "core/fork.h"
#include "names.h"
#include "record.h"
#include "wire/event.h"

#define CALLS 2048u /* CUPTI's ids of calls are lower */

static const struct prof_cupti *cupti;
static struct prof_activity_hooks hooks;
static atomic_flag started = ATOMIC_FLAG_INIT;
static uint64_t loads[2][CALLS / 64]; /* calls of the driver, of the runtime, that load or unload code */

static void find_loads(uint64_t *set, uint8_t domain)
{
	static const char *const words[] = { "ModuleLoad", "ModuleUnload", "LibraryLoad",
					     "LibraryUnload" };
	const struct prof_cbid *list;
	size_t n, i, k;

	list = prof_cbids(domain, &n);
	for (i = 0; i < n; i++)
		for (k = 0; k < sizeof(words) / sizeof(words[0]); k++)
			if (list[i].cbid < CALLS && strstr(list[i].name, words[k]))
				set[list[i].cbid / 64] |= 1ull << list[i].cbid % 64;
}

void prof_activity_init(const struct prof_cupti *c, const struct prof_activity_hooks *h)
{
	cupti = c;
	hooks = *h;
	find_loads(loads[0], WIRE_DOMAIN_DRIVER);
	find_loads(loads[1], WIRE_DOMAIN_RUNTIME);
}

void prof_activity_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	int kept = errno;

	*buffer = prof_pool_take(prof_now_ns() - PROF_POOL_BEFORE_NS, size);
	*max_records = 0; /* as many as fit */
	if (prof_fork_mine() && !atomic_flag_test_and_set(&started))
		hooks.first_request();
	else if (prof_fork_mine() && prof_pool_low())
		hooks.pending();
	errno = kept;
}

/* Size of the record there by the probe; 0 if it is unknown or would not fit. */
static size_t known_size(const uint8_t *record, size_t left)
{
	uint32_t kind, size;

	if (left < 8)
		return 0;
	kind = rec_u32(record, REC_KIND);
	size = kind < CUPTI_KIND_PROBED ? cupti->record_bytes[kind] : 0;
	return size <= left ? size : 0;
}

static bool ask_cupti(struct prof_walk *w)
{
	const uint8_t *end = w->data + w->valid;
	void *at = w->record;
	int rc = cupti->GetNextRecord(w->data, w->valid, &at);

	if (!rc && (uint8_t *)at > w->record && (uint8_t *)at >= w->data &&
	    (uint8_t *)at + 8 <= end) {
		w->record = at;
		w->size = known_size(at, (size_t)(end - w->record));
		return true;
	}
	w->cut = rc != CUPTI_MAX_LIMIT_REACHED;
	return false;
}

/* CUPTI wrote the buffer on another core: some records ahead are on their way meanwhile. */
static inline void fetch_ahead(const uint8_t *record)
{
	__builtin_prefetch(record + 1024);
	__builtin_prefetch(record + 1088);
	__builtin_prefetch(record + 1152);
}

bool prof_walk_next(struct prof_walk *w)
{
	size_t left, size;

	if (!w->size)
		return w->valid && ask_cupti(w);
	fetch_ahead(w->record);
	left = w->valid - (size_t)(w->record - w->data) - w->size;
	if (!left)
		return false;
	size = known_size(w->record + w->size, left);
	if (!size)
		return ask_cupti(w);
	w->record += w->size;
	w->size = size;
	return true;
}

static bool is_load(const uint8_t *record, uint32_t kind)
{
	uint32_t call = rec_u32(record, REC_API_CBID);

	return call < CALLS && loads[kind == CUPTI_KIND_RUNTIME][call / 64] >> call % 64 & 1;
}

void prof_activity_number_names(uint8_t *buffer, size_t valid)
{
	struct prof_walk walk = { .data = buffer, .valid = valid };
	const char *name;
	uint64_t number;
	uint32_t kind;

	while (prof_walk_next(&walk)) {
		kind = rec_u32(walk.record, REC_KIND);
		if (kind == CUPTI_KIND_CONCURRENT_KERNEL) {
			memcpy(&name, walk.record + REC_KERNEL_NAME, sizeof(name));
			number = prof_names_see(name);
			memcpy(walk.record + REC_KERNEL_NAME, &number, sizeof(number));
		} else if ((kind == CUPTI_KIND_RUNTIME || kind == CUPTI_KIND_DRIVER) &&
			   is_load(walk.record, kind)) {
			prof_names_renew();
		}
	}
}

void prof_activity_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			    size_t valid)
{
	int kept = errno;
	uint32_t id;

	(void)context;
	(void)stream;
	if (!prof_fork_mine())
		return;
	id = prof_pool_find(buffer, valid);
	if (id != PROF_POOL_NONE) {
		prof_activity_number_names(buffer, valid < size ? valid : size);
		if (prof_pool_queue(id, valid))
			hooks.pending();
	}
	errno = kept;
}
