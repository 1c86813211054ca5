/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Large blocks from malloc that stay untouched.
 */
#include "bufblock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define ALIGNMENT 64u /* of which CUPTI needs 8 */
#define TRIES 3
#define SHARE 8u
#define VEC 4096u /* pages per question; on a stack of the program's */
#define HUGE_PAGE ((size_t)2 << 20)

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static uint8_t *page_of(const uint8_t *p)
{
	return (uint8_t *)((uintptr_t)p & ~(uintptr_t)(page_bytes() - 1));
}

static uint8_t *page_after(const uint8_t *p)
{
	return page_of(p + page_bytes() - 1);
}

/* Pages of memory from @begin to @end, both at pages' starts. */
static size_t resident(uint8_t *begin, const uint8_t *end)
{
	unsigned char vec[VEC];
	size_t n = 0, pages, i;

	for (; begin < end; begin += pages * page_bytes()) {
		pages = (size_t)(end - begin) / page_bytes();
		if (pages > VEC)
			pages = VEC;
		if (mincore(begin, pages * page_bytes(), vec))
			return SIZE_MAX;
		for (i = 0; i < pages; i++)
			n += vec[i] & 1;
	}
	return n;
}

enum verdict {
	LEAN, /* nothing but its beginning has memory */
	USED, /* malloc gave what had been used before: perhaps the next one is not */
	FULL, /* all of it has memory, and so has the next one */
};

/*
 * Where transparent huge pages are on, malloc's own header brings 2 MiB of memory. What lies behind
 * @used is given back, but only where all that follows was never touched: memory that a malloc
 * reuses may be registered with a device that goes on writing into the old pages.
 */
static enum verdict trim(uint8_t *block, size_t used)
{
	uint8_t *begin = page_after(block + used), *end = page_of(block + PROF_BLOCK_BYTES);
	uint8_t *huge = page_of(block + 2 * HUGE_PAGE);
	size_t far = resident(huge, end), near;

	if (far)
		return far >= (size_t)(end - huge) / page_bytes() ? FULL : USED;
	/* A page of 2 MiB where 16 KiB are used would break the pool's bound and stall a launch. */
	madvise(page_after(block), (size_t)(end - page_after(block)), MADV_NOHUGEPAGE);
	near = resident(begin, huge);
	if (near && near * page_bytes() <= HUGE_PAGE)
		madvise(begin, (size_t)(huge - begin), MADV_DONTNEED);
	return LEAN;
}

int prof_block_new(size_t used, uint8_t **block)
{
	void *held[TRIES], *got;
	enum verdict verdict = USED;
	int n;

	*block = NULL;
	for (n = 0; n < TRIES && verdict == USED; n++) {
		held[n] = NULL;
		if (posix_memalign(&got, ALIGNMENT, PROF_BLOCK_BYTES))
			break;
		verdict = trim(got, used);
		if (verdict == LEAN)
			*block = got;
		else
			held[n] = got; /* so that the next one is another */
	}
	while (n-- > 0)
		free(held[n]);
	if (*block)
		memset(*block, 0, used);
	return *block ? 0 : verdict == FULL ? -ENOTSUP : -ENOMEM;
}

bool prof_block_freed(const uint8_t *block)
{
	static const size_t looked_at[] = { 0, PROF_BLOCK_BYTES / 2, PROF_BLOCK_BYTES - 1 };
	unsigned char vec;
	size_t i;

	for (i = 0; i < sizeof(looked_at) / sizeof(looked_at[0]); i++)
		if (mincore(page_of(block + looked_at[i]), page_bytes(), &vec) && errno == ENOMEM)
			return true;
	return false;
}

/*
 * ---- limits -----------------------------------------------------------------------------------
 */

static bool read_file(const char *path, char *text, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, room - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	return n > 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t left(uint64_t limit, uint64_t used)
{
	return limit > used ? limit - used : 0;
}

/* What is left of a limit on the process's pages; all of it where that cannot be known. */
static uint64_t left_of(int resource, uint64_t pages)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return left(limit.rlim_cur, pages * page_bytes());
}

static uint64_t left_of_limits(void)
{
	unsigned long long size = 0, data = 0;
	char text[256];

	if (read_file("/proc/self/statm", text, sizeof(text)))
		sscanf(text, "%llu %*u %*u %*u %*u %llu", &size, &data);
	return least(left_of(RLIMIT_AS, size), left_of(RLIMIT_DATA, data));
}

static uint64_t kib_of(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, 10) << 10 : 0;
}

/* Where the kernel promises no more than it has, untouched memory counts, too. */
static uint64_t left_of_promises(void)
{
	char text[4096];

	if (!read_file("/proc/sys/vm/overcommit_memory", text, sizeof(text)) || *text != '2' ||
	    !read_file("/proc/meminfo", text, sizeof(text)))
		return UINT64_MAX;
	return left(kib_of(text, "\nCommitLimit:"), kib_of(text, "\nCommitted_AS:"));
}

uint32_t prof_block_room(void)
{
	uint64_t bytes = least(left_of_limits(), left_of_promises());

	return bytes == UINT64_MAX ? UINT32_MAX : (uint32_t)(bytes / SHARE / PROF_BLOCK_BYTES);
}
