/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuptiActivityGetNextRecord and cuptiGetCallbackName of the stand-in for version 13 beside the
 * real libcupti.so.13, which needs no GPU for them. Both are loaded by their paths.
 * usage: test_gpusim_next STAND-IN REAL
 */
#include <dlfcn.h>

#include "../cbid.h"
#include "../cupti/layout.h"
#include "harness.h"

typedef int (*next_fn)(uint8_t *, size_t, void **);
typedef int (*name_fn)(int, uint32_t, const char **);

static void *libs[2];
static uint64_t seed = 20261120, words[512];

static void *find(int i, const char *name)
{
	void *fn = dlsym(libs[i], name);

	if (!fn)
		T_FAIL("no %s in library %d", name, i);
	return fn;
}

/* The whole walk over the buffer: results and offsets, one after the other. */
static int walk(next_fn next, size_t valid, long *out)
{
	void *record = NULL;
	int i, rc = 0;

	for (i = 0; i < 500 && !rc; i++) {
		rc = next((uint8_t *)words, valid, &record);
		out[2 * i] = rc;
		out[2 * i + 1] = record ? (long)((uint8_t *)record - (uint8_t *)words) : -1;
	}
	return i;
}

static void same_walk(next_fn a, next_fn b, size_t valid, uint32_t kind)
{
	static long one[1000], two[1000];
	int n = walk(a, valid, one), m = walk(b, valid, two);

	if (n != m || memcmp(one, two, (size_t)n * 2 * sizeof(long)))
		T_FAIL("kind %u, %zu bytes: %d steps, real %d", kind, valid, n, m);
}

static bool simulated_kind(uint32_t kind)
{
	return rec_size(kind) != 0;
}

/* Every eighth byte a kind: the way by which the record size is learnt. */
static void test_probe(void)
{
	next_fn a = (next_fn)find(0, "cuptiActivityGetNextRecord");
	next_fn b = (next_fn)find(1, "cuptiActivityGetNextRecord");
	uint32_t kind;
	size_t i, valid;

	for (kind = 0; kind < 64 && a && b; kind++) {
		if (kind && kind < 57 && !simulated_kind(kind))
			continue; /* the real one knows more kinds than the model */
		for (i = 0; i < 512; i++)
			words[i] = kind;
		for (valid = 0; valid <= sizeof words; valid += 8)
			same_walk(a, b, valid, kind);
	}
}

/* Records of random kinds, cut at a random place. */
static void test_mixed(void)
{
	static const uint32_t kinds[] = { 1, 2, 4, 5, 10, 17, 22, 36, 38, 39, 51, 9, 8 };
	next_fn a = (next_fn)find(0, "cuptiActivityGetNextRecord");
	next_fn b = (next_fn)find(1, "cuptiActivityGetNextRecord");
	int round;

	for (round = 0; round < 500 && a && b; round++) {
		size_t at = 0;

		memset(words, 0, sizeof words);
		for (;;) {
			uint32_t kind = kinds[t_random(&seed) % 13];

			if (at + rec_size(kind) > sizeof words)
				break;
			words[at / 8] = kind;
			at += rec_size(kind);
		}
		same_walk(a, b, at, 0);
		same_walk(a, b, t_random(&seed) % (sizeof words + 1), 0);
	}
}

static void same_name(name_fn a, name_fn b, int domain, uint32_t cbid)
{
	const char *one = NULL, *two = NULL;

	EXPECT_INT(a(domain, cbid, &one), b(domain, cbid, &two));
	EXPECT_STR(one, two);
}

static void test_names(void)
{
	name_fn a = (name_fn)find(0, "cuptiGetCallbackName");
	name_fn b = (name_fn)find(1, "cuptiGetCallbackName");

	if (!a || !b)
		return;
#define DRIVER(name, id) same_name(a, b, 1, id);
#define RUNTIME(name, id, suffix) same_name(a, b, 2, id);
	SIM_DRIVER_CALLS(DRIVER)
	SIM_RUNTIME_CALLS(RUNTIME)
}

int main(int argc, char **argv)
{
	int i;

	if (argc != 3) {
		printf("skipped: no real libcupti.so.13\n");
		return T_SKIPPED;
	}
	for (i = 0; i < 2; i++) {
		libs[i] = dlopen(argv[i + 1], RTLD_NOW | RTLD_LOCAL);
		if (!libs[i]) {
			printf("skipped: %s\n", dlerror());
			return T_SKIPPED;
		}
	}
	return RUN(test_probe, test_mixed, test_names);
}
