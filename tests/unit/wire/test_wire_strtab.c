/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The string table: ids in order of first sight, cut names, given ids, limits.
 */
#include "harness.h"

#include <errno.h>
#include "wire/keyed_hash.h"
#include "wire/strtab.h"

static void test_intern(void)
{
	struct wire_strtab *t = wire_strtab_new();
	char name[32];
	uint32_t i;
	size_t len;

	EXPECT_UINT(wire_strtab_count(t), 0);
	EXPECT_STR(wire_strtab_get(t, 0, NULL), "");
	EXPECT_STR(wire_strtab_get(t, 1, &len), "");
	EXPECT_UINT(len, 0);
	for (i = 1; i <= 20000; i++) {
		snprintf(name, sizeof(name), "kernel %u", i * 7);
		EXPECT_UINT(wire_strtab_intern(t, name, strlen(name)), i);
	}
	for (i = 20000; i >= 1; i--) {
		snprintf(name, sizeof(name), "kernel %u", i * 7);
		EXPECT_UINT(wire_strtab_intern(t, name, strlen(name)), i);
		EXPECT_STR(wire_strtab_get(t, i, &len), name);
		EXPECT_UINT(len, strlen(name));
	}
	EXPECT_UINT(wire_strtab_count(t), 20000);
	EXPECT(wire_strtab_bytes(t) > 20000 * 8 && wire_strtab_bytes(t) < 4000000);
	wire_strtab_free(t);
	wire_strtab_free(NULL);
}

/* A hundred names of a hundred bytes take twice that and what finds them, no chunk for more. */
static void test_few_names_take_little(void)
{
	struct wire_strtab *t = wire_strtab_new();
	char name[128];
	uint32_t i;

	for (i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "%0100u", i);
		EXPECT_UINT(wire_strtab_intern(t, name, 100), i + 1);
	}
	EXPECT(wire_strtab_bytes(t) < 32 << 10);
	wire_strtab_free(t);
}

/* Texts are bytes: NULs inside, none at the end, empty, too long. */
static void test_texts(void)
{
	struct wire_strtab *t = wire_strtab_new();
	char *longer = malloc(WIRE_STRING_BYTES_MAX + 10);
	size_t len;

	memset(longer, 'x', WIRE_STRING_BYTES_MAX + 10);
	EXPECT_UINT(wire_strtab_intern(t, "a\0b", 3), 1);
	EXPECT_UINT(wire_strtab_intern(t, "a", 1), 2);
	EXPECT_UINT(wire_strtab_intern(t, "", 0), 3);
	EXPECT_UINT(wire_strtab_intern(t, longer, WIRE_STRING_BYTES_MAX + 10), 4);
	EXPECT_UINT(wire_strtab_intern(t, longer, WIRE_STRING_BYTES_MAX), 4);
	EXPECT_UINT(wire_strtab_intern(t, "a\0b", 3), 1);
	EXPECT_UINT(wire_strtab_find(t, "a\0b", 3), 1);
	EXPECT_UINT(wire_strtab_find(t, longer, WIRE_STRING_BYTES_MAX + 9), 4);
	EXPECT_UINT(wire_strtab_find(t, "a\0c", 3), 0);
	EXPECT_UINT(wire_strtab_count(t), 4);
	EXPECT_MEM(wire_strtab_get(t, 1, &len), "a\0b", 4);
	EXPECT_UINT(len, 3);
	wire_strtab_get(t, 4, &len);
	EXPECT_UINT(len, WIRE_STRING_BYTES_MAX);
	free(longer);
	wire_strtab_free(t);
}

static void test_set(void)
{
	struct wire_strtab *t = wire_strtab_new();

	EXPECT_INT(wire_strtab_set(t, 5, "five", 4), 0);
	EXPECT_INT(wire_strtab_set(t, 2, "two", 3), 0);
	EXPECT_INT(wire_strtab_set(t, 5, "five", 4), 0);
	EXPECT_INT(wire_strtab_set(t, 5, "six", 3), -EEXIST);
	EXPECT_INT(wire_strtab_set(t, 0, "none", 4), -EINVAL);
	EXPECT_INT(wire_strtab_set(t, (1u << 24) + 1, "far", 3), -EINVAL);
	EXPECT_INT(wire_strtab_set(t, 1u << 24, "last", 4), 0);
	EXPECT_INT(wire_strtab_set(t, 7, "two", 3), 0);
	EXPECT_UINT(wire_strtab_count(t), 1u << 24);
	EXPECT_STR(wire_strtab_get(t, 5, NULL), "five");
	EXPECT_STR(wire_strtab_get(t, 7, NULL), "two");
	EXPECT_STR(wire_strtab_get(t, 3, NULL), "");
	EXPECT_UINT(wire_strtab_intern(t, "two", 3), 2);
	EXPECT_UINT(wire_strtab_intern(t, "full", 4), 0);
	wire_strtab_free(t);
}

/* Texts from files: ids as without a secret. */
static void test_guarded(void)
{
	struct wire_strtab *t = wire_strtab_new_guarded();
	char name[32];
	uint32_t i;

	for (i = 1; i <= 2000; i++) {
		snprintf(name, sizeof(name), "kernel %u", i);
		EXPECT_UINT(wire_strtab_intern(t, name, strlen(name)), i);
	}
	EXPECT_UINT(wire_strtab_find(t, "kernel 77", 9), 77);
	wire_strtab_free(t);
}

/* One bit more in the last place of a word, and what undoes it in the next if factors are known. */
static void test_a_difference_cannot_be_undone(void)
{
	const struct wire_secret a = wire_secret(), b = { a.start + 2, a.factor + 2 };
	uint64_t one[2] = { 1, 2 }, other[2] = { one[0] ^ 1ull << 63, 0 };
	int bit, i, alike = 0;

	EXPECT(a.factor & 1);
	EXPECT_UINT(wire_secret().factor, a.factor);
	EXPECT(wire_keyed_hash(one, 16, &a) != wire_keyed_hash(one, 16, &b));
	EXPECT(wire_keyed_hash(one, 15, &a) != wire_keyed_hash(one, 16, &a));
	for (bit = 0; bit < 64; bit++) {
		for (i = 0; i < 64; i++) {
			other[1] = one[1] ^ 1ull << bit ^ 1ull << i;
			alike += wire_keyed_hash(one, 16, &a) == wire_keyed_hash(other, 16, &a);
		}
	}
	EXPECT_INT(alike, 0);
}

/* The places of a table of 4,096 that 256 numbers take; by chance 248. */
static int places(int shift, const struct wire_secret *s)
{
	unsigned char hit[4096] = { 0 };
	int used = 0;
	uint64_t i;

	for (i = 0; i < 256; i++)
		hit[wire_keyed_number(i << shift, s) & 4095] = 1;
	for (i = 0; i < 4096; i++)
		used += hit[i];
	return used;
}

/*
 * Numbers that follow each other, and those that differ above, spread over a table, whatever the
 * secret is: each process has another one.
 */
static void test_numbers_spread(void)
{
	struct wire_secret s = wire_secret();
	uint64_t seed = 1;
	int shift, i;

	for (i = 0; i < 500; i++) {
		for (shift = 0; shift < 64; shift += 8)
			EXPECT(places(shift, &s) > 200);
		s.start = t_random(&seed);
		s.factor = t_random(&seed) | 1;
	}
}

int main(void)
{
	return RUN(test_intern, test_few_names_take_little, test_texts, test_set, test_guarded,
		   test_a_difference_cannot_be_undone, test_numbers_spread);
}
