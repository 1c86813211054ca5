/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel names: one number per text, an address that gets another text or none, more pointers than
 * are remembered, more texts than there is room for.
 */
#include "cupti/names.h"

#include <pthread.h>
#include <sys/mman.h>

#include "cupti/nametext.h"
#include "harness.h"

static struct wire_strtab *table;

/* As after a module was loaded: the text is looked at. */
static uint32_t see(const char *pointer)
{
	prof_names_renew();
	return prof_names_number(pointer);
}

static const char *text_of(uint32_t number)
{
	return wire_strtab_get(table, prof_names_string(number), NULL);
}

static void test_ids(void)
{
	static const char a[] = "gemm_128x128", b[] = "relu", again[] = "gemm_128x128";
	uint32_t x = see(a), y = see(b), z = see(again);

	EXPECT(x && y && x != y);
	EXPECT_UINT(see(a), x);
	EXPECT_UINT(see(NULL), 0);
	EXPECT_UINT(prof_names_string(x), 0); /* not yet collected */
	prof_names_collect(table);
	EXPECT_STR(text_of(x), "gemm_128x128");
	EXPECT_STR(text_of(y), "relu");
	EXPECT_UINT(z, x); /* one text, one number */
	EXPECT_UINT(prof_names_string(0), 0);
	EXPECT_UINT(prof_names_string(1u << 30), 0);
}

/* A JIT unloads a kernel and loads another one, whose name lands at the same address. */
static void test_reuse(void)
{
	static char name[64] = "triton_poi_fused_add_0";
	uint32_t first = see(name), second;

	name[strlen(name) - 1] = '1'; /* they differ in the last character */
	EXPECT_UINT(prof_names_number(name), first); /* nobody has loaded anything */
	second = see(name);
	EXPECT(second && first != second);
	EXPECT_UINT(prof_names_number(name), second);
	prof_names_collect(table);
	EXPECT_STR(text_of(first), "triton_poi_fused_add_0");
	EXPECT_STR(text_of(second), "triton_poi_fused_add_1");
	name[strlen(name) - 1] = '0';
	EXPECT_UINT(see(name), first); /* it comes back */
}

/* Time ends what is remembered, too: not every load of code leaves a record. */
static void test_age(void)
{
	static char name[64] = "gemv_0";
	struct timespec nap = { .tv_nsec = 120000000 };
	uint32_t first = see(name);

	name[5] = '1';
	nanosleep(&nap, NULL);
	prof_names_collect(table);
	EXPECT(prof_names_number(name) != first);
}

static char *pages(size_t n)
{
	char *p = mmap(NULL, n * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	REQUIRE(p != MAP_FAILED);
	return p;
}

/* The module is gone, and its names with it: what is known stays known, what is not has no name. */
static void test_gone(void)
{
	char *p = pages(3), *cut = p + 2 * 4096 - 8, *long_one = p + 100;
	uint64_t before = prof_names_lost();
	uint32_t known;

	strcpy(p, "softmax");
	strcpy(p + 16, "layernorm");
	known = see(p);
	memset(long_one, 'x', 5000); /* over the end of a page */
	EXPECT(see(long_one));
	memset(cut, 'y', 8);
	REQUIRE(!mprotect(p + 2 * 4096, 4096, PROT_NONE));
	EXPECT_UINT(see(cut), 0); /* it does not end before its memory does */
	REQUIRE(!munmap(p, 4096));
	EXPECT_UINT(see(p + 16), 0);
	EXPECT_UINT(see(p), 0);
	EXPECT_UINT(prof_names_number(p), 0);
	EXPECT_UINT(see((const char *)(uintptr_t)0xdead000), 0);
	EXPECT_UINT(prof_names_lost() - before, 5);
	prof_names_collect(table);
	EXPECT_STR(text_of(known), "softmax");
}

#define MANY 40000

static char many[MANY][24];

/* More pointers than are remembered: each text keeps its number all the same. */
static void test_many(void)
{
	static uint32_t first[MANY];
	uint32_t i, wrong = 0, other = 0;
	uint64_t before = prof_names_lost();
	int round;

	for (i = 0; i < MANY; i++)
		snprintf(many[i], sizeof(many[i]), "kernel_number_%u", i);
	for (round = 0; round < 3; round++)
		for (i = 0; i < MANY; i++) {
			uint32_t number = prof_names_number(many[i]);

			other += round && first[i] != number;
			first[i] = number;
			if (i % 1000)
				continue;
			prof_names_collect(table);
			wrong += strcmp(text_of(number), many[i]) != 0;
		}
	EXPECT_UINT(wrong, 0);
	EXPECT_UINT(other, 0);
	EXPECT_UINT(prof_names_lost() - before, 0);
	EXPECT(prof_names_bytes() < 4 << 20);
}

static void test_no_room(void)
{
	static char huge[300][3000];
	uint64_t before = prof_names_lost();
	uint32_t i, zero = 0;

	for (i = 0; i < 300; i++) {
		memset(huge[i], 'a' + (int)(i % 26), sizeof(huge[i]) - 1);
		snprintf(huge[i], 8, "%u", i);
		huge[i][strlen(huge[i])] = '_';
		zero += !see(huge[i]);
	}
	EXPECT(zero > 0); /* nobody collected */
	EXPECT_UINT(prof_names_lost() - before, zero);
	prof_names_collect(table);
	EXPECT(see(huge[299])); /* found its room the next time */
	prof_names_collect(table);
}

/* More texts than there may be: counted, and memory does not grow. */
static void test_full(void)
{
	static char name[24];
	uint64_t before = prof_names_lost();
	uint32_t i, zero = 0, highest = 0;
	size_t bytes;

	for (i = 0; i < PROF_NAMES_MAX; i++) {
		uint32_t number;

		snprintf(name, sizeof(name), "jit_%u", i);
		number = see(name);
		zero += !number;
		highest = number > highest ? number : highest;
		if (i % 1000 == 0)
			prof_names_collect(table);
	}
	prof_names_collect(table);
	bytes = prof_names_bytes();
	EXPECT_UINT(highest, PROF_NAMES_MAX);
	EXPECT(zero > MANY / 2);
	EXPECT_UINT(prof_names_lost() - before, zero);
	EXPECT(see(many[7])); /* what has its number keeps it */
	snprintf(name, sizeof(name), "one more");
	EXPECT_UINT(see(name), 0);
	EXPECT_UINT(prof_names_bytes(), bytes);
	EXPECT(bytes < 4 << 20);
}

/* Where the kernel forbids to read by name: as before, with pages that are there or not. */
static void test_forbidden(void)
{
	char *p = pages(2);

	prof_nametext_forbid();
	strcpy(p + 4090, many[8]);
	EXPECT_UINT(see(p + 4090), see(many[8]));
	REQUIRE(!munmap(p + 4096, 4096));
	EXPECT_UINT(see(p + 4090), 0);
	REQUIRE(!munmap(p, 4096));
	EXPECT_UINT(see(p), 0);
}

static void *host(void *wrong)
{
	uint32_t i, *w = wrong, last[16] = { 0 };

	for (i = 0; i < 200000; i++) {
		uint32_t n = see(many[i % 16]);

		*w += last[i % 16] && last[i % 16] != n;
		last[i % 16] = n;
	}
	return NULL;
}

static void test_threads(void)
{
	uint32_t wrong[4] = { 0 }, i;
	pthread_t t[4];

	for (i = 0; i < 4; i++)
		REQUIRE(!pthread_create(&t[i], NULL, host, &wrong[i]));
	for (i = 0; i < 2000; i++)
		prof_names_collect(table);
	for (i = 0; i < 4; i++) {
		pthread_join(t[i], NULL);
		EXPECT_UINT(wrong[i], 0);
	}
}

int main(void)
{
	table = wire_strtab_new();
	REQUIRE(table);
	return RUN(test_ids, test_reuse, test_age, test_gone, test_many, test_no_room, test_threads,
		   test_full, test_forbidden);
}
