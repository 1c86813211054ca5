/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job's folder is its user's: what lies there must not cost who makes a report of it the machine.
 */
#include "job/folder.h"

#include "harness.h"

#include <fcntl.h>
#include <sys/resource.h>

#define MANY 2000
#define NODE_BYTES 110

static char dir[200];

/* The library's, put in its place: thousands of them take long. */
int fsync(int fd)
{
	(void)fd;
	return 0;
}

static void node_name(char out[NODE_BYTES], int i)
{
	snprintf(out, NODE_BYTES, "%0100d", i);
}

static void put_alloc(int fd, struct base_arena *mem, int i)
{
	struct view_alloc a = { .id = VIEW_JOB_NONE, .start_ns = 5, .ended = true, .end_ns = 6 };
	char node[NODE_BYTES];

	node_name(node, i);
	a.id.number[VIEW_JOB_ID] = 7;
	a.id.number[VIEW_JOB_RESTART] = 0;
	a.node = a.host = node;
	REQUIRE(!view_job_folder_put(fd, mem, &a));
}

static void put_mark(int fd, int i)
{
	char node[NODE_BYTES], name[NODE_BYTES + 20];
	int file;

	node_name(node, i);
	snprintf(name, sizeof(name), "unrecorded-%s", node);
	file = openat(fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	REQUIRE(file >= 0 && !close(file));
}

static void remove_all(int fd, const struct view_alloc *a)
{
	char name[NODE_BYTES + 30];

	snprintf(name, sizeof(name), "alloc-%s-0.json", a->node);
	unlinkat(fd, name, 0);
	snprintf(name, sizeof(name), "unrecorded-%s", a->node);
	unlinkat(fd, name, 0);
}

static long peak_kib(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

static void test_many_marks(void)
{
	struct base_arena mem = { 0 };
	struct view_alloc *alloc;
	size_t n, seen = 0;
	long before;
	int fd;

	t_tempdir(dir, sizeof(dir));
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	REQUIRE(fd >= 0);
	for (int i = 0; i < MANY; i++) {
		put_alloc(fd, &mem, i);
		if (i)
			put_mark(fd, i);
	}
	before = peak_kib();
	REQUIRE(!view_job_folder_list(fd, &mem, &alloc, &n, NULL, NULL));
	EXPECT(peak_kib() - before < 150 << 10);
	EXPECT_UINT(n, MANY);
	for (size_t i = 0; i < n; i++) {
		seen += alloc[i].unseen;
		remove_all(fd, &alloc[i]);
	}
	EXPECT_UINT(seen, MANY - 1);
	close(fd);
	EXPECT_INT(rmdir(dir), 0);
	base_arena_fini(&mem);
}

int main(void)
{
	return RUN(test_many_marks);
}
