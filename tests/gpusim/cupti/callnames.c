/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callnames.c - names by number.
 */
#include "callnames.h"

#include <stddef.h>

#include "../cbid.h"
#include "../trace.h"

#define SAME(call, id) \
	case id:       \
		return #call;
#define PLAIN(call, id, suffix) \
	case id:                \
		return #call;
#define FULL(call, id, suffix) \
	case id:               \
		return #call #suffix;

static const char *driver_name(uint32_t cbid)
{
	switch (cbid) {
		SIM_DRIVER_CALLS(SAME)
	}
	return NULL;
}

static const char *runtime_name(uint32_t cbid)
{
	switch (cbid) {
		SIM_RUNTIME_CALLS(FULL)
	}
	return NULL;
}

static const char *runtime_plain(uint32_t cbid)
{
	switch (cbid) {
		SIM_RUNTIME_CALLS(PLAIN)
	}
	return NULL;
}

const char *callname(int domain, uint32_t cbid)
{
	if (domain == SIM_DRIVER)
		return driver_name(cbid);
	return domain == SIM_RUNTIME ? runtime_name(cbid) : NULL;
}

const char *callname_plain(int domain, uint32_t cbid)
{
	return domain == SIM_RUNTIME ? runtime_plain(cbid) : driver_name(cbid);
}
