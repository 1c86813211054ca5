/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shown.c - blocks behind the shared segment.
 */
#include "shown.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK ((size_t)1 << 20)
#define AREA (SIM_MAX_BLOCKS * BLOCK)

static char *area;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Where the blocks begin in the file. */
static off_t beginning(void)
{
	return (off_t)((sizeof(struct sim_shm) + BLOCK - 1) / BLOCK * BLOCK);
}

static int segment_open(void)
{
	return open(sim_config()->shm, O_RDWR | O_CLOEXEC);
}

/* The file's lock, because shm.c measures the file when it makes it. */
static bool make_room(int fd)
{
	struct stat st;
	bool ok;

	if (flock(fd, LOCK_EX))
		return false;
	ok = !fstat(fd, &st) &&
	     (st.st_size >= beginning() + (off_t)AREA || !ftruncate(fd, beginning() + (off_t)AREA));
	flock(fd, LOCK_UN);
	return ok;
}

static void *map_file(void)
{
	int fd = segment_open();
	void *p = MAP_FAILED;

	if (fd < 0)
		return MAP_FAILED;
	if (make_room(fd))
		p = mmap(NULL, AREA, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd,
			 beginning());
	close(fd);
	return p;
}

static void map_area(void)
{
	void *p = sim_config()->shm ? map_file()
				    : mmap(NULL, AREA, PROT_READ | PROT_WRITE,
					   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	area = p == MAP_FAILED ? NULL : p;
}

/* Where the file system knows no reservations there is nothing to ask. */
static bool reserve(int block, size_t bytes)
{
	int fd = segment_open();
	bool ok = fd >= 0 &&
		  (!fallocate(fd, 0, beginning() + (off_t)((size_t)block * BLOCK), (off_t)bytes) ||
		   errno == EOPNOTSUPP);

	if (fd >= 0)
		close(fd);
	return ok;
}

void *sim_shown_at(int block, size_t bytes)
{
	struct sim_shm *shm = sim_shm();

	pthread_once(&once, map_area);
	if (!area || bytes > BLOCK)
		return NULL;
	if (sim_config()->shm && bytes > shm->block_bytes[block]) {
		if (!reserve(block, bytes))
			return NULL;
		shm->block_bytes[block] = (uint32_t)bytes;
	}
	return area + (size_t)block * BLOCK;
}

int sim_shown_take(struct sim_shm *shm)
{
	int i;

	for (i = 0; i < SIM_MAX_BLOCKS; i++)
		if (!shm->block_used[i]) {
			shm->block_used[i] = 1;
			return i;
		}
	return -1;
}

void sim_shown_free(struct sim_shm *shm, int block)
{
	shm->block_used[block] = 0;
}
