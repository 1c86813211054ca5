/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each way of reading memory: ours and a child's, whole, across a hole, and not at all; by a thread
 * in the program's table of descriptors, and by one that has its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "core/ownfds.h"
#include "harness.h"
#include "python/pymem.h"

static uint8_t *pages; /* two, and none behind them */
static size_t page;

static bool open_way(struct prof_pymem *m, pid_t pid, enum prof_pymem_way way)
{
	int rc = prof_pymem_open(m, pid, way);

	if (rc || m->way != way) {
		printf("skipped: no reading %s here\n", prof_pymem_way_name(way));
		prof_pymem_close(m);
		return false;
	}
	return true;
}

static void check_reads(struct prof_pymem *m)
{
	uint64_t at = (uintptr_t)pages, end = at + 2 * page;
	uint8_t raw[3 * 4096];
	char text[64];
	struct prof_pymem_part parts[3] = { { at, raw, 7 },
					    { at + page, raw + 7, 9 },
					    { end - 5, raw + 16, 5 } };

	EXPECT_INT(prof_pymem_read(m, at, raw, 2 * page), 0);
	EXPECT_MEM(raw, pages, 2 * page);
	EXPECT_INT(prof_pymem_read(m, end - 8, raw, 8), 0);
	EXPECT_INT(prof_pymem_read(m, end - 8, raw, 9), -EFAULT);
	EXPECT_INT(prof_pymem_read(m, end, raw, 1), -EFAULT);
	EXPECT_INT(prof_pymem_read(m, 0, raw, 1), -EFAULT);
	EXPECT_INT(prof_pymem_read(m, 8, raw, page), -EFAULT);
	EXPECT_INT(prof_pymem_read(m, UINT64_MAX - 3, raw, 8), -EFAULT);
	EXPECT_INT(prof_pymem_read(m, UINT64_C(1) << 63, raw, 8), -EFAULT);
	EXPECT_INT(prof_pymem_read(m, at, raw, 2), 0); /* and after errors all is as before */
	EXPECT_MEM(raw, pages, 2);
	EXPECT_INT(prof_pymem_read_parts(m, parts, 3), 0);
	EXPECT_MEM(raw, pages, 7);
	EXPECT_MEM(raw + 7, pages + page, 9);
	EXPECT_MEM(raw + 16, pages + 2 * page - 5, 5);
	EXPECT_INT(prof_pymem_read_some(m, parts, 3), 3);
	EXPECT_INT(prof_pymem_read_some(m, parts, 0), 0);
	parts[1].from = end;
	EXPECT_INT(prof_pymem_read_parts(m, parts, 3), -EFAULT);
	memset(raw, 0, 7);
	EXPECT_INT(prof_pymem_read_some(m, parts, 3), 1);
	EXPECT_MEM(raw, pages, 7);
	EXPECT_INT(prof_pymem_read_some(m, parts + 1, 2), 0);
	EXPECT_INT(prof_pymem_read_some(m, parts + 2, 1), 1);
	parts[1].from = UINT64_MAX - 3;
	EXPECT_INT(prof_pymem_read_some(m, parts, 3), 1);
	EXPECT_INT(prof_pymem_read_some(m, parts + 1, 2), 0);
	EXPECT_INT(prof_pymem_read_some(m, parts, PROF_PYMEM_PARTS + 1), -EINVAL);
	EXPECT_INT(prof_pymem_text(m, end - 4, text, sizeof(text)), 3); /* ends where memory ends */
	EXPECT_STR(text, "end");
	EXPECT_INT(prof_pymem_text(m, at, text, sizeof(text)), 63); /* cut */
	EXPECT_INT(prof_pymem_text(m, end, text, sizeof(text)), -EFAULT);
}

/* A number of ours that stayed open would be the program's next one, or it ours. */
static void test_self(void)
{
	enum prof_pymem_way way;
	struct prof_pymem m;
	int next = dup(0);

	close(next);
	for (way = PROF_PYMEM_VM; way < PROF_PYMEM_PIPE; way++)
		if (open_way(&m, 0, way)) {
			EXPECT_INT(dup(0), next);
			check_reads(&m);
			EXPECT_INT(close(next), 0);
			check_reads(&m);
			prof_pymem_close(&m);
		}
	EXPECT_INT(prof_pymem_open(&m, 0, PROF_PYMEM_PIPE), -EPERM);
	EXPECT_INT(dup(0), next);
	close(next);
	EXPECT_INT(prof_pymem_open(&m, 0, PROF_PYMEM_WAYS), -ENOSYS);
}

#define LARGE (100u * 1024)

/* More than a file in memory has room for, and parts of all lengths, one of which is not there. */
static void check_many(struct prof_pymem *m)
{
	static uint8_t large[LARGE], to[LARGE];
	struct prof_pymem_part part[PROF_PYMEM_PARTS];
	size_t i, sum = 0;

	for (i = 0; i < LARGE; i++)
		large[i] = (uint8_t)(i % 241);
	EXPECT_INT(prof_pymem_read(m, (uintptr_t)large, to, LARGE), 0);
	EXPECT_MEM(to, large, LARGE);
	memset(to, 0, LARGE);
	for (i = 0; i < PROF_PYMEM_PARTS; sum += i++)
		part[i] = (struct prof_pymem_part){ (uintptr_t)large + sum, to + sum, i };
	EXPECT_INT(prof_pymem_read_parts(m, part, PROF_PYMEM_PARTS), 0);
	EXPECT_MEM(to, large, sum);
	part[60].from = (uintptr_t)pages + 2 * page - 59;
	EXPECT_INT(prof_pymem_read_some(m, part, PROF_PYMEM_PARTS), 60);
	EXPECT_INT(prof_pymem_read_some(m, part + 61, PROF_PYMEM_PARTS - 61),
		   PROF_PYMEM_PARTS - 61);
}

/* What the program lets no file grow to ends nothing: neither what is open nor what is opened. */
static bool survives_limit(struct prof_pymem *m)
{
	struct rlimit none = { 0, 0 };
	struct prof_pymem later;
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	if (setrlimit(RLIMIT_FSIZE, &none) || prof_pymem_open(&later, 0, PROF_PYMEM_VM))
		return false;
	check_many(m);
	check_reads(&later);
	return !later.copy;
}

static void *read_limited(void *arg)
{
	struct prof_pymem m;

	*(bool *)arg =
		prof_ownfds_leave() || prof_pymem_open(&m, 0, PROF_PYMEM_VM) || survives_limit(&m);
	return NULL;
}

static void test_limit(void)
{
	bool well = false;
	pthread_t t;
	int status = -1;
	pid_t child = fork();

	if (!child) {
		if (pthread_create(&t, NULL, read_limited, &well) || pthread_join(t, NULL))
			_exit(2);
		_exit(!well || t_failures);
	}
	REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
	EXPECT_INT(status, 0);
}

static bool has_memfd(void)
{
	int fd = (int)syscall(SYS_memfd_create, "test", 1u);

	return fd >= 0 && !close(fd);
}

static void *read_apart(void *arg)
{
	enum prof_pymem_way way;
	struct prof_pymem m;

	if (prof_ownfds_leave())
		return NULL; /* an old kernel */
	*(bool *)arg = true;
	for (way = PROF_PYMEM_VM; way < PROF_PYMEM_WAYS; way++) {
		EXPECT_INT(prof_pymem_open(&m, 0, way), 0);
		EXPECT_INT(m.way, way);
		EXPECT_INT(m.copy != NULL, way == PROF_PYMEM_VM && has_memfd());
		check_reads(&m);
		check_many(&m);
		prof_pymem_close(&m);
	}
	return NULL;
}

static void test_apart(void)
{
	bool apart = false;
	pthread_t t;

	REQUIRE(!pthread_create(&t, NULL, read_apart, &apart) && !pthread_join(t, NULL));
	EXPECT(!prof_ownfds());
	if (!apart)
		printf("skipped: no table of its own can be had here\n");
}

static void test_child(void)
{
	enum prof_pymem_way way;
	struct prof_pymem m;
	pid_t child = fork();

	if (!child) {
		pause();
		_exit(0);
	}
	for (way = PROF_PYMEM_VM; way < PROF_PYMEM_PIPE; way++)
		if (open_way(&m, child, way)) {
			check_reads(&m);
			prof_pymem_close(&m);
		}
	EXPECT_INT(prof_pymem_open(&m, child, PROF_PYMEM_PIPE), -EPERM); /* of ourselves only */
	REQUIRE(!prof_pymem_open(&m, child, PROF_PYMEM_VM));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	EXPECT(prof_pymem_read(&m, (uintptr_t)pages, &way, sizeof(way)) < 0);
	EXPECT(prof_pymem_read_some(&m, &(struct prof_pymem_part){ (uintptr_t)pages, &way, 1 }, 1) <
	       0);
	prof_pymem_close(&m);
	EXPECT(prof_pymem_open(&m, child, PROF_PYMEM_VM) < 0);
}

int main(void)
{
	size_t i;

	page = (size_t)sysconf(_SC_PAGESIZE);
	REQUIRE(page <= 4096);
	pages = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	REQUIRE(pages != MAP_FAILED);
	munmap(pages + 2 * page, page);
	for (i = 0; i < 2 * page; i++)
		pages[i] = (uint8_t)(i % 251 + 1);
	memcpy(pages + 2 * page - 4, "end", 4);
	return RUN(test_self, test_apart, test_limit, test_child);
}
