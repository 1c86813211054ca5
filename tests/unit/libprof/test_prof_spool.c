/* SPDX-License-Identifier: Apache-2.0 */
/* How much of a disk a spool leaves to the job. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "harness.h"
#include "stream/spool.h"

#define MIB (1ull << 20)

static uint64_t all, left;
static int fails;

/* In place of the kernel's. */
int fstatfs(int fd, struct statfs *fs)
{
	(void)fd;
	memset(fs, 0, sizeof(*fs));
	fs->f_bsize = 1 << 20;
	fs->f_frsize = 4096;
	fs->f_blocks = all / 4096;
	fs->f_bavail = left / 4096;
	errno = ENOSYS;
	return fails ? -1 : 0;
}

static struct prof_spool spool;

static int put(uint64_t whole, uint64_t spare)
{
	static uint8_t body[4096];

	all = whole;
	left = spare;
	return prof_spool_write(&spool, body, 64, body, sizeof(body) - 64);
}

static int64_t bytes_there(void)
{
	struct stat st;
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s.%u.spool", spool.run, spool.stream, spool.segment);
	return stat(path, &st) ? -errno : st.st_size;
}

static void test_floor(void)
{
	char folder[128];

	t_tempdir(folder, sizeof(folder));
	prof_spool_init(&spool, folder, "run", (const uint8_t *)"0123456789abcdef");
	EXPECT_INT(put(1000000 * MIB, 64 * MIB + 8192), 0);
	EXPECT(!spool.at_floor);
	EXPECT_INT(put(1000000 * MIB, 64 * MIB), -ENOSPC);
	EXPECT(spool.at_floor);
	EXPECT_INT(bytes_there(), 4096);
	EXPECT_INT(put(1000000 * MIB, 64 * MIB + 4096), 0);
	EXPECT_INT(bytes_there(), 8192);
	EXPECT(!spool.at_floor);
	EXPECT_INT(put(80 * MIB, 10 * MIB), -ENOSPC);
	EXPECT_INT(put(80 * MIB, 10 * MIB + 4096), 0);
	EXPECT_INT(put(0, 0), 0);
	fails = 1;
	EXPECT_INT(put(1000000 * MIB, 0), 0);
	EXPECT_INT(bytes_there(), 5 * 4096);
	EXPECT_UINT(spool.written, 5 * 4096);
}

int main(void)
{
	return RUN(test_floor);
}
