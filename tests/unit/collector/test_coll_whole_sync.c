/* SPDX-License-Identifier: Apache-2.0 */
/* When many files are made durable by waiting for all that anybody has written. */
#include <inttypes.h>
#include "harness.h"
#include "store/whole_sync.h"

static void test_pays(void)
{
	EXPECT(!coll_whole_sync_pays(COLL_WHOLE_SYNC_FILES - 1, 0));
	EXPECT(coll_whole_sync_pays(COLL_WHOLE_SYNC_FILES, 0));
	EXPECT(coll_whole_sync_pays(40, 10 << 20));
	EXPECT(!coll_whole_sync_pays(40, 1 << 30)); /* somebody copies */
	EXPECT(coll_whole_sync_pays(8000, 1 << 30));
	EXPECT(!coll_whole_sync_pays(8000, UINT64_MAX));
}

static uint64_t dirty_of(const char *text)
{
	char dir[300], path[400];

	t_tempdir(dir, sizeof(dir));
	t_put_text(dir, "meminfo", text);
	snprintf(path, sizeof(path), "%s/meminfo", dir);
	uint64_t bytes = coll_whole_sync_dirty(path);
	unlink(path);
	rmdir(dir);
	return bytes;
}

static void test_dirty(void)
{
	EXPECT_UINT(dirty_of("MemTotal:  24 kB\nDirty:    3 kB\nWriteback:      5 kB\n"
			     "WritebackTmp:  100 kB\n"),
		    8 << 10);
	EXPECT_UINT(dirty_of("WritebackTmp: 9 kB\nDirty: 3 kB\n"), UINT64_MAX);
	EXPECT_UINT(dirty_of(""), UINT64_MAX);
	EXPECT(dirty_of("Dirty: 18446744073709551615 kB\nWriteback: 18446744073709551615 kB\n") >=
	       UINT64_C(1) << 42);
	EXPECT_UINT(coll_whole_sync_dirty("/nowhere"), UINT64_MAX);
	EXPECT(coll_whole_sync_dirty("/proc/meminfo") != UINT64_MAX);
}

int main(void)
{
	return RUN(test_pays, test_dirty);
}
