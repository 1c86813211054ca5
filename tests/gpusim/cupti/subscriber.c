/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subscriber.c - who is called back, and when.
 */
#include "subscriber.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "callnames.h"
#include "cost.h"
#include "cupti.h"

#define CBIDS 1024 /* of each domain; CUPTI 13.5 has 810 */

static struct {
	pthread_mutex_t lock;
	uintptr_t handle; /* 0: the place is free */
	uintptr_t last; /* handle that was given: none comes twice */
	sub_fn fn;
	void *data;
} sub = { .lock = PTHREAD_MUTEX_INITIALIZER, .last = 0x5000 };

/* By domain and cbid. Read without the lock: who enables says himself when. */
static atomic_bool on[SUB_DOMAINS + 1][CBIDS];

uintptr_t sub_take(sub_fn fn, void *data)
{
	uintptr_t handle = 0;

	pthread_mutex_lock(&sub.lock);
	if (!sub.handle) {
		handle = sub.handle = sub.last += 16;
		sub.fn = fn;
		sub.data = data;
	}
	pthread_mutex_unlock(&sub.lock);
	return handle;
}

static void set(int domain, uint32_t first, uint32_t n, bool value)
{
	uint32_t i;

	for (i = first; i < first + n; i++)
		atomic_store_explicit(&on[domain][i], value, memory_order_relaxed);
}

static void set_domains(int first, int last, bool value)
{
	int domain;

	for (domain = first; domain <= last; domain++)
		set(domain, 1, CBIDS - 1, value);
}

/* With the lock held. */
static void free_place(void)
{
	sub.handle = 0;
	sub.fn = NULL;
	set_domains(1, SUB_DOMAINS, false);
}

bool sub_leave(uintptr_t handle)
{
	bool mine;

	pthread_mutex_lock(&sub.lock);
	mine = handle && handle == sub.handle;
	if (mine)
		free_place();
	pthread_mutex_unlock(&sub.lock);
	return mine;
}

void sub_drop(void)
{
	pthread_mutex_lock(&sub.lock);
	free_place();
	pthread_mutex_unlock(&sub.lock);
}

bool sub_held(void)
{
	bool held;

	pthread_mutex_lock(&sub.lock);
	held = sub.handle != 0;
	pthread_mutex_unlock(&sub.lock);
	return held;
}

/* Whether the place is this handle's; then the lock is held. */
static bool lock_for(uintptr_t handle)
{
	pthread_mutex_lock(&sub.lock);
	if (handle && handle == sub.handle)
		return true;
	pthread_mutex_unlock(&sub.lock);
	return false;
}

int sub_enable(uintptr_t handle, bool value, int domain, uint32_t cbid)
{
	if (domain < 0 || domain > SUB_DOMAINS || cbid >= CBIDS || !lock_for(handle))
		return CUPTI_INVALID_PARAMETER;
	if (cbid)
		set(domain, cbid, 1, value);
	else
		set_domains(domain ? domain : 1, domain ? domain : SUB_DOMAINS, value);
	pthread_mutex_unlock(&sub.lock);
	return CUPTI_OK;
}

int sub_enabled(uintptr_t handle, bool *value, int domain, uint32_t cbid)
{
	if (domain < 1 || domain > SUB_DOMAINS || !cbid || cbid >= CBIDS || !lock_for(handle))
		return CUPTI_INVALID_PARAMETER;
	*value = atomic_load_explicit(&on[domain][cbid], memory_order_relaxed);
	pthread_mutex_unlock(&sub.lock);
	return CUPTI_OK;
}

/* ---- calling ---- */

static bool wanted(const struct sim_site *site)
{
	return site->cbid < CBIDS &&
	       atomic_load_explicit(&on[site->domain][site->cbid], memory_order_relaxed);
}

static void call(const struct sim_site *site, sub_fn fn, void *data)
{
	int result = site->result;
	struct sub_data d = { .site = site->exit,
			      .function = callname_plain(site->domain, site->cbid),
			      .result = site->exit ? &result : NULL,
			      .symbol = site->kernel,
			      .context = site->context,
			      .context_id = site->context_id,
			      .data = site->data,
			      .correlation = site->correlation };

	fn(data, site->domain, site->cbid, &d);
}

/* `told` is the handle of who was: another one who has come since is told of no exit alone. */
static uint64_t tell(const struct sim_site *site, uint64_t told)
{
	uintptr_t handle;
	sub_fn fn;
	void *data;

	if (!wanted(site))
		return 0;
	pthread_mutex_lock(&sub.lock);
	handle = !told || told == sub.handle ? sub.handle : 0;
	fn = sub.fn;
	data = sub.data;
	pthread_mutex_unlock(&sub.lock);
	if (handle && fn)
		call(site, fn, data);
	return handle;
}

uint64_t sub_enter(const struct sim_site *site)
{
	uint64_t told = tell(site, 0);

	if (told)
		cost_callback();
	return told;
}

void sub_exit(const struct sim_site *site, uint64_t told)
{
	tell(site, told);
}
