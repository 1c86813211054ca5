/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for libtorch_cpu.so: the three symbols that libprof uses, with torch's calling
 * convention, and handles for a test to make ranges begin and end, right or wrong ones.
 */
#include "faketorch.h"

#include <stdbool.h>
#include <stddef.h>

#define EXPORT(name) __asm__(name) __attribute__((visibility("default")))

struct record_callback {
	void *(*start)(void **context, const void *fn);
	void (*end)(const void *fn, void *context);
	double sampling;
	bool scopes[10];
	bool needs[3];
};

struct record {
	uint64_t other[4];
	const char *name;
};

#ifdef __aarch64__
/* As a C++ compiler calls what returns a std::unique_ptr: where that shall be stands in x8. */
static void *start(void **context, const void *fn, void *(*function)(void **, const void *))
{
	register const void *x0 __asm__("x0") = fn;
	register void *x8 __asm__("x8") = context;

	__asm__ volatile("blr %2"
			 : "+r"(x0), "+r"(x8)
			 : "r"(function)
			 : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x9", "x10", "x11", "x12",
			   "x13", "x14", "x15", "x16", "x17", "x18", "x30", "v0", "v1", "v2", "v3",
			   "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20", "v21", "v22",
			   "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "cc",
			   "memory");
	return context;
}
#else
static void *start(void **context, const void *fn, void *(*function)(void **, const void *))
{
	return function(context, fn);
}
#endif

static struct record_callback registered;
static int callbacks;
static struct record records[16];

uint64_t add_callback(struct record_callback c)
	EXPORT("_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE");
void remove_callback(uint64_t handle) EXPORT("_ZN2at14removeCallbackEm");
#ifndef FAKE_WITHOUT_NAME
const char *name_of(const struct record *r) EXPORT("_ZNK2at14RecordFunction4nameEv");

const char *name_of(const struct record *r)
{
	return r->name;
}
#endif

uint64_t add_callback(struct record_callback c)
{
	registered = c;
	callbacks++;
	return 42;
}

void remove_callback(uint64_t handle)
{
	if (handle == 42)
		callbacks--;
}

int fake_callbacks(void)
{
	int i, scopes = 0;

	for (i = 0; i < 10; i++)
		scopes |= registered.scopes[i] << i;
	return callbacks ? scopes : 0;
}

int fake_begin(int place, const char *name)
{
	void *context = &context;

	records[place].name = name;
	if (!callbacks)
		return 0;
	return start(&context, &records[place], registered.start) == &context && !context;
}

void fake_begin_at(const void *fn)
{
	void *context;

	if (callbacks)
		start(&context, fn, registered.start);
}

void fake_end(int place)
{
	if (callbacks)
		registered.end(&records[place], NULL);
}
