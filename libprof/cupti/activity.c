/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two CUPTI callbacks.
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
#include "walk.h"
#include "wire/event.h"

#define CALLS 2048u /* CUPTI's ids of calls are lower */

static const struct prof_cupti *cupti;
static struct prof_activity_hooks hooks;
static atomic_flag started = ATOMIC_FLAG_INIT;
/* calls of the driver, of the runtime, that load or unload code */
static uint64_t loads[2][CALLS / 64];

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

static bool is_load(const uint8_t *record, uint32_t kind)
{
	uint32_t call = rec_u32(record, REC_API_CBID);

	return call < CALLS && loads[kind == CUPTI_KIND_RUNTIME][call / 64] >> call % 64 & 1;
}

void prof_activity_number_names(uint8_t *buffer, size_t valid)
{
	struct prof_record_walk walk = { .cupti = cupti, .data = buffer, .valid = valid };
	const char *name;
	uint64_t number;
	uint32_t kind;

	while (prof_record_next(&walk)) {
		kind = rec_u32(walk.record, REC_KIND);
		if (kind == CUPTI_KIND_CONCURRENT_KERNEL) {
			memcpy(&name, walk.record + REC_KERNEL_NAME, sizeof(name));
			number = prof_names_number(name);
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
