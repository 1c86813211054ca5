/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partners.c - sessions by the second interface.
 */
#include "partners.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../clock.h"
#include "layout.h"
#include "second.h"

#if SIM_CUPTI_API >= 130300

#define BUFFER (32u << 10)

static const struct partner {
	const char *kind, *name;
	bool allow, user_defined, falls_back;
} known[] = {
	{ "xla", "XLA Profiler", true, false, true },
	{ "cuspy", "torch-cuspy", true, true, false },
	{ "solo", "A tool", false, false, false },
};

static int kernel_fields[] = { 0, 10, 11, 12, 7, 8, 22, 24 };
static int copy_fields[] = { 0, 1, 2, 3, 4, 5, 6, 7, 11 };

static const struct {
	int kind, *field;
	size_t fields, bytes;
} kinds[] = {
	{ REC_CONCURRENT_KERNEL, kernel_fields, 8, 56 },
	{ REC_MEMCPY, copy_fields, 9, 48 },
};

/* Callbacks carry no word of ours; sessions beside each other count together. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t records, wrong;

static const struct partner *find(const char *kind)
{
	size_t i;

	for (i = 0; i < sizeof known / sizeof known[0]; i++)
		if (!strcmp(known[i].kind, kind))
			return &known[i];
	return NULL;
}

static void request(uint8_t **buffer, size_t *size, size_t *most, struct second_request *info)
{
	(void)info;
	*buffer = malloc(BUFFER);
	*size = *buffer ? BUFFER : 0;
	*most = 0;
}

static size_t bytes_of(const uint8_t *record, const struct second_complete *info)
{
	uint32_t kind;

	memcpy(&kind, record, sizeof kind);
	if (!info->layout)
		return rec_size(kind);
	return kind < info->layouts && info->layout[kind] ? info->layout[kind]->bytes : 0;
}

static void complete(uint8_t *buffer, size_t size, size_t valid, struct second_complete *info)
{
	size_t at = 0, bytes;

	(void)size;
	pthread_mutex_lock(&lock);
	while (at < valid) {
		bytes = bytes_of(buffer + at, info);
		if (!bytes || at + bytes > valid) {
			wrong++;
			break;
		}
		records++;
		at += bytes;
	}
	pthread_mutex_unlock(&lock);
	free(buffer);
}

static void switch_kinds(void *handle, const struct partner *p, bool on)
{
	size_t i;

	for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		struct second_config c = { sizeof c,
					   { sizeof c.selection, kinds[i].fields, kinds[i].field },
					   NULL };
		struct second_config *config = p->user_defined ? &c : NULL;

		if (on)
			cuptiActivityEnable_v2(handle, kinds[i].kind, config);
		else
			cuptiActivityDisable_v2(handle, kinds[i].kind, config);
	}
}

bool partner_is(const char *kind)
{
	return find(kind);
}

bool partner_falls_back(const char *kind)
{
	const struct partner *p = find(kind);

	return p && p->falls_back;
}

void partner_session(const char *kind, uint64_t end, struct partner_told *told)
{
	const struct partner *p = find(kind);
	struct second_params params = { .size = sizeof params, .name = p->name, .allow = p->allow };
	uint8_t on = 1, off = 0;
	size_t one = 1;
	void *handle = NULL;

	memset(told, 0, sizeof *told);
	told->rc = cuptiSubscribe_v2(&handle, NULL, NULL, &params);
	if (told->rc)
		return;
	records = wrong = 0;
	if (p->user_defined)
		cuptiActivitySetAttribute_v2(handle, SECOND_USER_DEFINED, &one, &on);
	cuptiActivityRegisterCallbacks_v2(handle, request, complete);
	switch_kinds(handle, p, true);
	sim_sleep_until(end);
	switch_kinds(handle, p, false);
	cuptiActivityFlushAll(1);
	if (p->user_defined)
		cuptiActivitySetAttribute_v2(handle, SECOND_USER_DEFINED, &one, &off);
	cuptiUnsubscribe(handle);
	pthread_mutex_lock(&lock);
	told->records = records;
	told->wrong = wrong;
	pthread_mutex_unlock(&lock);
}

#else

bool partner_is(const char *kind)
{
	(void)kind;
	return false;
}

bool partner_falls_back(const char *kind)
{
	(void)kind;
	return false;
}

void partner_session(const char *kind, uint64_t end, struct partner_told *told)
{
	(void)kind;
	(void)end;
	memset(told, 0, sizeof *told);
}

#endif
