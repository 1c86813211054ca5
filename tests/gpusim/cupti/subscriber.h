/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subscriber.h - the one place for a client with callbacks: who has it, which callbacks are on, and
 * making them at the entry and exit of calls. A callback is made on the calling thread without any
 * lock, so that it may call everything, unsubscribe and cuptiFinalize too; none follows once those
 * have returned, but one that another thread has begun goes on beside them.
 *
 * Callbacks of the domains of resources, synchronisations, ranges and states are accepted and never
 * made. functionParams is NULL.
 */
#ifndef SIM_CUPTI_SUBSCRIBER_H
#define SIM_CUPTI_SUBSCRIBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../trace.h"

#define SUB_DOMAINS 6 /* 1 to 6, CUPTI's numbers; enum sim_domain has the first two */

/* CUpti_CallbackData */
struct sub_data {
	int site; /* 0 entry, 1 exit */
	const char *function;
	const void *params;
	void *result; /* at the exit */
	const char *symbol;
	void *context;
	uint32_t context_id;
	uint64_t *data;
	uint32_t correlation;
};

typedef void (*sub_fn)(void *data, int domain, uint32_t cbid, const void *call);

/* A handle, never 0; 0: the place is taken. @fn may be NULL: nobody is called. */
uintptr_t sub_take(sub_fn fn, void *data);

/* False: not (or no longer) the handle of the one who has it. */
bool sub_leave(uintptr_t handle);

/* Whoever has it. */
void sub_drop(void);
bool sub_held(void);

/* CUPTI's results. cbid 0: all of the domain; domain 0: all domains. */
int sub_enable(uintptr_t handle, bool on, int domain, uint32_t cbid);
int sub_enabled(uintptr_t handle, bool *on, int domain, uint32_t cbid);

/* struct sim_tracer's. */
uint64_t sub_enter(const struct sim_site *site);
void sub_exit(const struct sim_site *site, uint64_t told);

#endif
