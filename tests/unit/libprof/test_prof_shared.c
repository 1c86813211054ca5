/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory shared with workers: what they wrote arrives, once and in order, also of those that were
 * killed; slots are used again; what is no record does no harm.
 */
#include "sample/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "core/env.h"
#include "harness.h"
#include "loader/shim.h"
#include "sample/shmring.h"

#define SIZE 1024u

static uint64_t seed;

static uint64_t any(void)
{
	return t_random(&seed);
}

/* ---- the ring ---- */

static void test_ring_order(void)
{
	static struct prof_shmring r;
	static uint8_t data[SIZE], out[SIZE];
	uint64_t tail = 0, pushed = 0, pulled = 0;
	uint32_t kind, i;
	uint8_t in[200];
	ssize_t len;

	for (i = 0; i < 100000; i++) {
		uint32_t n = (uint32_t)(any() % sizeof(in));

		memset(in, (int)(pushed & 255), sizeof(in));
		pushed += prof_shmring_push(&r, data, SIZE, (uint32_t)pushed, in, n);
		if (any() % 3)
			continue;
		while ((len = prof_shmring_pull(&r, data, SIZE, &tail, &kind, out, sizeof(out))) >=
		       0) {
			EXPECT_UINT(kind, (uint32_t)pulled);
			for (n = 0; n < (uint32_t)len; n++)
				REQUIRE(out[n] == (uint8_t)pulled);
			pulled++;
		}
		EXPECT_INT(len, -EAGAIN);
	}
	EXPECT(pushed > 1000 && pushed - pulled < SIZE);
	EXPECT_UINT(atomic_load(&r.dropped), 100000 - pushed);
}

static void test_ring_hostile(void)
{
	static struct prof_shmring r;
	static uint8_t data[SIZE], out[100];
	uint64_t tail = 0;
	uint32_t kind, i, j;
	ssize_t len;

	for (i = 0; i < 200000; i++) {
		for (j = 0; j < SIZE; j += 8)
			*(uint64_t *)(data + j) = any() >> any() % 64;
		atomic_store(&r.head, any() % 2 ? any() : tail + any() % (2 * SIZE));
		len = prof_shmring_pull(&r, data, SIZE, &tail, &kind, out, sizeof(out));
		EXPECT(len == -EAGAIN || len == -EBADMSG || (len >= 0 && len <= 100));
		if (len == -EBADMSG)
			EXPECT_UINT(tail, atomic_load(&r.head));
	}
}

/* ---- the segment ---- */

static struct {
	uint64_t rows, looks, next[PROF_SHARED_SLOTS];
	bool refuse, unordered;
	struct wire_batch row;
	struct prof_thread_sample look;
} got;

static bool take_row(void *ctx, const struct wire_batch *row)
{
	(void)ctx;
	if (got.refuse)
		return false;
	got.rows++;
	got.row = *row;
	if (row->worker < PROF_SHARED_SLOTS && !got.unordered) {
		EXPECT_UINT(row->batch, got.next[row->worker]);
		got.next[row->worker] = row->batch + 1;
	}
	return true;
}

static void take_look(void *ctx, struct prof_thread_sample *look)
{
	(void)ctx;
	got.looks++;
	got.look = *look;
}

static void drain(void)
{
	const struct prof_shared_sink sink = { .batch = take_row, .sample = take_look };

	prof_shared_drain(&sink);
}

static void start(void)
{
	static const uint8_t stream[16] = { 1, 2, 3 };

	memset(&got, 0, sizeof(got));
	prof_shared_forked(); /* forgets what the last test had */
	prof_shared_find();
	prof_env_publish();
	REQUIRE(!prof_shared_create(stream));
}

static void write_rows(uint32_t worker, uint64_t n)
{
	struct wire_batch row = { .what = WIRE_BATCH_FETCH, .start_ns = 1, .end_ns = 2 };

	row.worker = worker;
	for (row.batch = 0; row.batch < n; row.batch++)
		prof_shared_row(&row);
}

static void test_killed(void)
{
	pid_t pid;
	int i;

	start();
	for (i = 0; i < 300; i++) { /* more than there are slots */
		pid = fork();
		if (!pid) {
			prof_shared_forked();
			write_rows((uint32_t)i % 100, 5);
			kill(getpid(), SIGKILL);
		}
		waitpid(pid, NULL, 0);
		got.next[i % 100] = 0;
		drain();
		EXPECT_UINT(got.row.pid, (uint32_t)pid);
	}
	EXPECT_UINT(got.rows, 1500);
}

static void test_full(void)
{
	struct prof_shared_stats s;
	uint64_t before;
	pid_t pid;

	start();
	prof_shared_stats(&s);
	before = s.dropped;
	pid = fork();
	if (!pid) {
		prof_shared_forked();
		write_rows(1, 100000);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	got.refuse = true;
	drain();
	EXPECT_UINT(got.rows, 0);
	got.refuse = false;
	drain();
	prof_shared_stats(&s);
	EXPECT(got.rows > 500 && got.rows < 2000);
	EXPECT_UINT(got.rows + s.dropped - before, 100000);
}

/* Texts go over once; what a look says is what was there when it was written. */
static void write_looks(uint32_t n)
{
	static struct prof_thread_sample l;
	uint32_t i;

	l.s.t_ns = 1;
	l.s.role = WIRE_ROLE_WORKER;
	for (i = 0; i < n; i++) {
		snprintf(l.stack, sizeof(l.stack), "f%u\tfile.py\t%u", i % 7, i % 7);
		snprintf(l.target, sizeof(l.target), "/data/%u", i);
		snprintf(l.fs, sizeof(l.fs), "ext4");
		snprintf(l.links, sizeof(l.links), "?p%u", i);
		l.s.tid = i;
		prof_shared_sample(&l);
	}
}

static void test_looks(void)
{
	char want[64];
	pid_t pid;

	start();
	pid = fork();
	if (!pid) {
		prof_shared_forked();
		write_looks(500);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	drain();
	EXPECT_UINT(got.looks, 500);
	EXPECT_UINT(got.look.s.pid, (uint32_t)pid);
	snprintf(want, sizeof(want), "f%u\tfile.py\t%u", 499 % 7, 499 % 7);
	EXPECT_STR(got.look.stack, want);
	EXPECT_STR(got.look.target, "/data/499");
	EXPECT_STR(got.look.fs, "ext4");
	EXPECT_STR(got.look.links, "?p499");
	EXPECT_STR(got.look.native, "");
}

/* As a spawned worker finds it: by the environment alone. */
static void test_found(void)
{
	pid_t pid;
	int status;

	start();
	prof_shared_idle(true, 50);
	pid = fork();
	if (!pid) {
		execl("/proc/self/exe", "test_prof_shared", "--worker", NULL);
		_exit(9);
	}
	waitpid(pid, &status, 0);
	EXPECT_INT(status, 0);
	drain();
	EXPECT_UINT(got.rows, 3);
	EXPECT_UINT(got.row.pid, (uint32_t)pid);
}

static int be_worker(void)
{
	static const uint8_t stream[16] = { 9 };
	bool waits;

	prof_shared_find();
	if (!prof_shared_has_trainer())
		return 1;
	write_rows(0, 3);
	waits = prof_shared_rate() != 0;
	/* It may come to use the GPU itself; its sampler goes on for the trainer above. */
	if (prof_shared_create(stream) || prof_shared_has_trainer())
		return 2;
	if (waits && prof_shared_rate() != 50)
		return 3;
	if (waits)
		prof_shared_sleep(0);
	return 0;
}

static int descriptor(void)
{
	int pid, fd;

	REQUIRE(sscanf(getenv("GPUSTARVE_SHARED"), "%d:%d:", &pid, &fd) == 2);
	return fd;
}

/* The number is something else by now: a worker must not touch it. */
static void test_closed(void)
{
	struct prof_shared_stats s;
	int pipes[2], status;
	pid_t pid;

	start();
	REQUIRE(!pipe(pipes));
	dup2(pipes[0], descriptor());
	drain();
	prof_shared_stats(&s);
	EXPECT(s.closed);
	pid = fork();
	if (!pid) {
		execl("/proc/self/exe", "test_prof_shared", "--worker", NULL);
		_exit(9);
	}
	waitpid(pid, &status, 0);
	EXPECT_INT(status, 0);
	drain();
	EXPECT_UINT(got.rows, 0);
	close(pipes[0]);
	close(pipes[1]);
	close(descriptor());
}

/* The shim's calls keep errno, whatever fails: there is no trainer, and no descriptor to be had. */
static void test_errno(void)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		setenv("GPUSTARVE_SHARED", "2147483647:3:none", 1);
		execl("/proc/self/exe", "test_prof_shared", "--lost", NULL);
		_exit(9);
	}
	waitpid(pid, &status, 0);
	EXPECT_INT(status, 0);
}

static int be_lost(void)
{
	static const struct rlimit none = { 3, 3 };

	prof_shared_find();
	if (!prof_shared_has_trainer() || setrlimit(RLIMIT_NOFILE, &none))
		return 1;
	errno = 1234;
	gpustarve_begin(WIRE_BATCH_FETCH, 1);
	if (errno != 1234)
		return 2;
	gpustarve_end(WIRE_BATCH_FETCH, 1, 0, 0, 1);
	return errno == 1234 ? 0 : 3;
}

/* Whatever lies there, it is read within bounds and in bounded time. */
static void test_hostile(void)
{
	struct stat st;
	uint64_t *p;
	size_t i, words;
	int round;

	start();
	got.unordered = true;
	REQUIRE(!fstat(descriptor(), &st));
	p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor(), 0);
	REQUIRE(p != MAP_FAILED);
	words = (size_t)st.st_size / 8;
	for (round = 0; round < 6; round++) {
		for (i = 0; i < words; i++)
			if (any() % 4 == 0)
				p[i] = any() >> any() % 64;
		drain();
	}
	munmap(p, (size_t)st.st_size);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return strcmp(argv[1], "--lost") ? be_worker() : be_lost();
	seed = t_seed((uint64_t)time(NULL));
	return RUN(test_ring_order, test_ring_hostile, test_killed, test_full, test_looks,
		   test_found, test_closed, test_errno, test_hostile);
}
