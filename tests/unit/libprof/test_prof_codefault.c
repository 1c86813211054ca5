/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code whose page is not there, against code and data that are: of this program itself.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"
#include "sample/codefault.h"
#include "sample/native.h"

/* A page of its own, and none behind it that is needed. */
__attribute__((noinline, aligned(65536))) static int seldom_called(int n)
{
	return n + 1;
}

__attribute__((noinline, aligned(65536))) static int behind(int n)
{
	return n - 1;
}

/* So that the compiler makes no copy of its own of what is called. */
static int (*volatile called)(int) = seldom_called;

static void forget(int (*code)(int))
{
	uintptr_t at = (uintptr_t)code, page = (uintptr_t)sysconf(_SC_PAGESIZE);

	REQUIRE(!madvise((void *)(at - at % page), page, MADV_DONTNEED));
}

static void test_own_code(void)
{
	uint64_t pc = (uintptr_t)seldom_called;
	char file[300], own[300];
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);

	REQUIRE(n > 0);
	own[n] = 0;
	EXPECT_INT(behind(called(3)), 3);
	EXPECT_UINT(prof_codefault_file(pc, file, sizeof(file)), 0);
	forget(seldom_called);
	EXPECT_UINT(prof_codefault_file(pc, file, sizeof(file)), strlen(own));
	EXPECT_STR(file, own);
	EXPECT_UINT(prof_codefault_file(pc, file, 4), 0);
	EXPECT_INT(called(3), 4);
	EXPECT_UINT(prof_codefault_file(pc, file, sizeof(file)), 0);
}

/* No code at all, and none of a module. */
static void test_elsewhere(void)
{
	static char data[65536];
	char file[300];

	EXPECT_UINT(prof_codefault_file(0, file, sizeof(file)), 0);
	EXPECT_UINT(prof_codefault_file(UINT64_MAX, file, sizeof(file)), 0);
	EXPECT_UINT(prof_codefault_file((uintptr_t)data, file, sizeof(file)), 0);
}

int main(void)
{
	if (!prof_native_ready())
		SKIP("no native stacks here: nothing is told");
	return RUN(test_own_code, test_elsewhere);
}
