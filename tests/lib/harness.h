/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a test program needs: EXPECT macros that print what differs and go on, a list of test
 * functions run in order, exit status 0 (good), 1 (something differed), 77 (skipped); and a small
 * random generator whose seed is printed, so that a failure can be repeated with
 * GPUSTARVE_TEST_SEED. One thread.
 *
 *	static void test_sum(void) { EXPECT_INT(1 + 1, 2); }
 *	int main(void) { return RUN(test_sum); }
 */
#ifndef TESTS_HARNESS_H
#define TESTS_HARNESS_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define T_SKIPPED 77

static int t_failures;

#define T_FAIL(...)                                    \
	do {                                           \
		t_failures++;                          \
		printf("%s:%d: ", __FILE__, __LINE__); \
		printf(__VA_ARGS__);                   \
		printf("\n");                          \
	} while (0)

#define EXPECT(cond)                                   \
	do {                                           \
		if (!(cond))                           \
			T_FAIL("not true: %s", #cond); \
	} while (0)

#define EXPECT_INT(got, want)                                                              \
	do {                                                                               \
		int64_t t_got = (int64_t)(got), t_want = (int64_t)(want);                  \
		if (t_got != t_want)                                                       \
			T_FAIL("%s is %" PRId64 ", not %s = %" PRId64, #got, t_got, #want, \
			       t_want);                                                    \
	} while (0)

#define EXPECT_UINT(got, want)                                                             \
	do {                                                                               \
		uint64_t t_got = (uint64_t)(got), t_want = (uint64_t)(want);               \
		if (t_got != t_want)                                                       \
			T_FAIL("%s is %" PRIu64 ", not %s = %" PRIu64, #got, t_got, #want, \
			       t_want);                                                    \
	} while (0)

#define EXPECT_STR(got, want)                                                              \
	do {                                                                               \
		const char *t_got = (got), *t_want = (want);                               \
		if (!t_got || !t_want || strcmp(t_got, t_want))                            \
			T_FAIL("%s is \"%s\", not \"%s\"", #got, t_got ? t_got : "(null)", \
			       t_want ? t_want : "(null)");                                \
	} while (0)

#define EXPECT_MEM(got, want, len)                                                                 \
	do {                                                                                       \
		if (memcmp(got, want, len))                                                        \
			T_FAIL("%s differs from %s within %zu bytes", #got, #want, (size_t)(len)); \
	} while (0)

/* Ends the program where going on makes no sense, such as after a failed set-up. */
#define REQUIRE(cond)                                \
	do {                                         \
		if (!(cond)) {                       \
			T_FAIL("needed: %s", #cond); \
			exit(1);                     \
		}                                    \
	} while (0)

#define SKIP(...)                    \
	do {                         \
		printf("skipped: "); \
		printf(__VA_ARGS__); \
		printf("\n");        \
		exit(T_SKIPPED);     \
	} while (0)

struct t_case {
	const char *name;
	void (*run)(void);
};

#define T_CASE(fn)      \
	{               \
#fn, fn \
	}

static inline int t_run(const struct t_case *cases, size_t n)
{
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < n; i++) {
		int before = t_failures;

		cases[i].run();
		printf("%s %s\n", t_failures == before ? "ok  " : "FAIL", cases[i].name);
	}
	return t_failures ? 1 : 0;
}

/* Runs the functions named; the value is main's. */
#define T_PICK(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, N, ...) N
#define T_1(a) T_CASE(a)
#define T_2(a, ...) T_CASE(a), T_1(__VA_ARGS__)
#define T_3(a, ...) T_CASE(a), T_2(__VA_ARGS__)
#define T_4(a, ...) T_CASE(a), T_3(__VA_ARGS__)
#define T_5(a, ...) T_CASE(a), T_4(__VA_ARGS__)
#define T_6(a, ...) T_CASE(a), T_5(__VA_ARGS__)
#define T_7(a, ...) T_CASE(a), T_6(__VA_ARGS__)
#define T_8(a, ...) T_CASE(a), T_7(__VA_ARGS__)
#define T_9(a, ...) T_CASE(a), T_8(__VA_ARGS__)
#define T_10(a, ...) T_CASE(a), T_9(__VA_ARGS__)
#define T_11(a, ...) T_CASE(a), T_10(__VA_ARGS__)
#define T_12(a, ...) T_CASE(a), T_11(__VA_ARGS__)
#define T_13(a, ...) T_CASE(a), T_12(__VA_ARGS__)
#define T_14(a, ...) T_CASE(a), T_13(__VA_ARGS__)
#define T_15(a, ...) T_CASE(a), T_14(__VA_ARGS__)
#define T_16(a, ...) T_CASE(a), T_15(__VA_ARGS__)
#define T_CASES(...)                                                                           \
	T_PICK(__VA_ARGS__, T_16, T_15, T_14, T_13, T_12, T_11, T_10, T_9, T_8, T_7, T_6, T_5, \
	       T_4, T_3, T_2, T_1, )                                                           \
	(__VA_ARGS__)
#define RUN(...)                                               \
	t_run((const struct t_case[]){ T_CASES(__VA_ARGS__) }, \
	      sizeof((const struct t_case[]){ T_CASES(__VA_ARGS__) }) / sizeof(struct t_case))

/* Random numbers (splitmix64), the same everywhere for the same seed. */
static inline uint64_t t_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* The seed to begin with: GPUSTARVE_TEST_SEED, else @otherwise. Prints it. */
static inline uint64_t t_seed(uint64_t otherwise)
{
	const char *given = getenv("GPUSTARVE_TEST_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 0) : otherwise;

	printf("seed %" PRIu64 "\n", seed);
	return seed;
}

/* A fresh directory under $TMPDIR or /tmp; the caller removes what it made. */
static inline void t_tempdir(char *path, size_t size)
{
	const char *base = getenv("TMPDIR");

	snprintf(path, size, "%s/gpustarve-test-XXXXXX", base && *base ? base : "/tmp");
	REQUIRE(mkdtemp(path));
}

/* The file @name of @folder, anew. */
static inline void t_put_text(const char *folder, const char *name, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	REQUIRE(f = fopen(path, "w"));
	REQUIRE(fputs(text, f) >= 0 && !fclose(f));
}

#endif
