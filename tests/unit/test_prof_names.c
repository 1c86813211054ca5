/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel names: one id per text, an address that gets another text, many names, no room. */
#include "names.h"

#include <pthread.h>

#include "harness.h"

static struct wire_strtab *table;

/* As at the beginning of a buffer. */
static uint32_t see(const char *pointer)
{
	struct prof_names_recent recent;

	memset(&recent, 0, sizeof(recent));
	return prof_names_see(&recent, pointer);
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
	EXPECT_UINT(prof_names_string(z), prof_names_string(x)); /* one text, one string */
	EXPECT_UINT(prof_names_string(0), 0);
	EXPECT_UINT(prof_names_string(1u << 30), 0);
}

/* A JIT unloads a kernel and loads another one, whose name lands at the same address. */
static void test_reuse(void)
{
	static char name[64] = "triton_poi_fused_add_0";
	struct prof_names_recent recent;
	uint32_t first = see(name), second;

	name[strlen(name) - 1] = '1'; /* they differ in the last character */
	second = see(name);
	EXPECT(first != second);
	memset(&recent, 0, sizeof(recent));
	EXPECT_UINT(prof_names_see(&recent, name), second);
	EXPECT_UINT(prof_names_see(&recent, name), second);
	prof_names_collect(table);
	EXPECT_STR(text_of(first), "triton_poi_fused_add_0");
	EXPECT_STR(text_of(second), "triton_poi_fused_add_1");
}

#define MANY 40000

static char many[MANY][24];

static void test_many(void)
{
	uint32_t i, number, wrong = 0;
	int round;

	for (i = 0; i < MANY; i++)
		snprintf(many[i], sizeof(many[i]), "kernel_number_%u", i);
	for (round = 0; round < 2; round++) {
		for (i = 0; i < MANY; i++) {
			number = see(many[i]);
			if (i % 1000 == 0)
				prof_names_collect(table);
			if (i % 1000)
				continue;
			wrong += strcmp(text_of(number), many[i]) != 0;
		}
		prof_names_collect(table);
	}
	EXPECT_UINT(wrong, 0);
	EXPECT_UINT(prof_names_lost(), 0);
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
	return RUN(test_ids, test_reuse, test_many, test_no_room, test_threads);
}
