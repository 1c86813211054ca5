/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at real threads that are blocked in known ways: of this process, with and without a table
 * of descriptors of its own, and of a child. Exact: blocked threads are steady.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "core/ownfds.h"
#include "sample/evidence.h"
#include "sample/thread_sample.h"

#include "harness.h"

static int pipes[2], sockets[2];
static char fifo[300], closed[300]; /* the second one nobody writes to */
static sem_t *shared;
static pthread_mutex_t locked = PTHREAD_MUTEX_INITIALIZER;
static struct prof_thread_sample look;

static void in_pipe(void)
{
	char c;

	if (read(pipes[0], &c, 1))
		abort();
}

static void in_fifo(void)
{
	char c;
	int fd = open(fifo, O_RDWR);

	if (read(fd, &c, 1))
		abort();
}

static void in_open(void)
{
	if (open(closed, O_RDONLY) >= 0)
		abort();
}

static void in_poll(void)
{
	struct pollfd p[2] = { { .fd = -1 }, { .fd = sockets[0], .events = POLLIN } };

	poll(p, 2, -1);
}

static void in_queue(void)
{
	struct pollfd p = { .fd = pipes[0], .events = POLLIN };

	for (;;)
		poll(&p, 1, 5000);
}

static void in_sleep(void)
{
	struct timespec t = { .tv_sec = 1000 };

	nanosleep(&t, NULL);
}

static void in_empty_poll(void)
{
	poll(NULL, 0, 1000000);
}

static void in_lock(void)
{
	pthread_mutex_lock(&locked);
}

static void in_semaphore(void)
{
	sem_wait(shared);
}

static void in_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	waitpid(pid, NULL, 0);
}

static void in_socket(void)
{
	char c;

	if (recv(sockets[0], &c, 1, 0))
		abort();
}

static const struct way {
	void (*enter)(void);
	enum wire_wait wait;
	const char *target;
} ways[] = {
	{ in_pipe, WIRE_WAIT_PIPE, "pipe" },
	{ in_fifo, WIRE_WAIT_PIPE, fifo },
	{ in_open, WIRE_WAIT_PIPE, closed },
	{ in_poll, WIRE_WAIT_SOCKET, "socket:unix" },
	{ in_queue, WIRE_WAIT_QUEUE, "pipe" },
	{ in_sleep, WIRE_WAIT_SLEEP, "" },
	{ in_empty_poll, WIRE_WAIT_SLEEP, "" },
	{ in_lock, WIRE_WAIT_LOCK, "" },
	{ in_semaphore, WIRE_WAIT_LOCK_SHARED, "" },
	{ in_child, WIRE_WAIT_CHILD, "" },
	{ in_socket, WIRE_WAIT_SOCKET, "socket:unix" },
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

static atomic_int tids[WAYS];

static void *enter(void *arg)
{
	size_t i = (uintptr_t)arg;

	atomic_store(&tids[i], (int)syscall(SYS_gettid));
	ways[i].enter();
	return NULL;
}

/* The threads are there for good; main stays the only one that runs. */
static void start_all(void)
{
	char dir[200];
	pthread_t t;
	size_t i;

	t_tempdir(dir, sizeof(dir));
	snprintf(fifo, sizeof(fifo), "%s/a fifo", dir);
	snprintf(closed, sizeof(closed), "%s/another", dir);
	REQUIRE(!mkfifo(fifo, 0600) && !mkfifo(closed, 0600) && !pipe(pipes));
	REQUIRE(!socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	REQUIRE(shared != MAP_FAILED && !sem_init(shared, 1, 0));
	pthread_mutex_lock(&locked);
	for (i = 0; i < WAYS; i++) {
		REQUIRE(!pthread_create(&t, NULL, enter, (void *)i));
		while (!atomic_load(&tids[i]))
			usleep(500);
	}
	usleep(50000);
}

static void look_at_all(pid_t pid, const int *tid, unsigned int wanted_flags)
{
	struct prof_target *t;
	size_t i;

	REQUIRE(!prof_target_open(&t, pid));
	prof_target_settle(t, false);
	for (i = 0; i < WAYS; i++) {
		if (!tid[i])
			continue;
		EXPECT_INT(prof_thread_sample_take(t, tid[i], PROF_SAMPLE_WAIT | PROF_SAMPLE_PYTHON,
						   &look),
			   0);
		if (look.s.wait != ways[i].wait)
			T_FAIL("way %zu: wait %d, not %d (call %d)", i, look.s.wait, ways[i].wait,
			       look.s.syscall - 1);
		EXPECT_STR(look.target, ways[i].target);
		EXPECT_INT(look.s.state, WIRE_STATE_SLEEPING);
		EXPECT_UINT(look.s.flags & wanted_flags, wanted_flags);
		EXPECT(look.s.flags & WIRE_SAMPLE_FL_NO_PYTHON);
		EXPECT_UINT(look.s.tid, (uint32_t)tid[i]);
	}
	EXPECT_INT(prof_thread_sample_take(t, 0x3fffff, PROF_SAMPLE_WAIT, &look), -ESRCH);
	prof_target_close(t);
}

static int plain[WAYS];

static void test_own(void)
{
	size_t i;

	start_all();
	for (i = 0; i < WAYS; i++)
		plain[i] = atomic_load(&tids[i]);
	look_at_all(0, plain, WIRE_SAMPLE_FL_STEADY);
}

/* The same threads once more in a child: its memory and descriptors are read from here. */
static void test_from_parent(void)
{
	int fds[2], tid[WAYS];
	pid_t pid;
	size_t i;

	REQUIRE(!pipe(fds));
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		memset(tids, 0, sizeof(tids));
		pthread_mutex_init(&locked, NULL);
		start_all();
		for (i = 0; i < WAYS; i++)
			tid[i] = atomic_load(&tids[i]);
		if (write(fds[1], tid, sizeof(tid)) != sizeof(tid) ||
		    write(fds[1], fifo, sizeof(fifo)) != sizeof(fifo) ||
		    write(fds[1], closed, sizeof(closed)) != sizeof(closed))
			_exit(1);
		for (;;)
			pause();
	}
	REQUIRE(read(fds[0], tid, sizeof(tid)) == sizeof(tid));
	REQUIRE(read(fds[0], fifo, sizeof(fifo)) == sizeof(fifo));
	REQUIRE(read(fds[0], closed, sizeof(closed)) == sizeof(closed));
	nanosleep(&(struct timespec){ .tv_sec = 1, .tv_nsec = 50000000 }, NULL); /* sockname.h */
	look_at_all(pid, tid, WIRE_SAMPLE_FL_STEADY | WIRE_SAMPLE_FL_BY_PARENT);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* What the thread with a table of its own sees is the same, and stays so without looking again. */
static void *look_apart(void *arg)
{
	struct prof_target *t;

	if (prof_ownfds_leave())
		return NULL; /* an old kernel */
	*(bool *)arg = true;
	dup2(open("/proc/self/fd/1", O_WRONLY | O_APPEND), 1); /* for what this test has to say */
	look_at_all(0, plain, WIRE_SAMPLE_FL_STEADY);
	REQUIRE(!prof_target_open(&t, 0));
	EXPECT(!prof_thread_sample_holds(t, plain[0]));
	EXPECT_INT(prof_thread_sample_take(t, plain[0], PROF_SAMPLE_WAIT, &look), 0);
	EXPECT(prof_thread_sample_holds(t, plain[0]));
	look.s.period_ns = 1000000000;
	EXPECT(!prof_evidence_again(look.s.pid, look.s.tid, look.s.t_ns, 5));
	EXPECT_INT(prof_evidence_sample(&look), 0);
	EXPECT(prof_evidence_again(look.s.pid, look.s.tid, look.s.t_ns + 5000, 5));
	EXPECT(!prof_evidence_again(look.s.pid, look.s.tid + 1, look.s.t_ns, 5));
	EXPECT_INT(prof_thread_sample_take(t, (pid_t)syscall(SYS_gettid), PROF_SAMPLE_WAIT, &look),
		   0);
	EXPECT_INT(look.s.state, WIRE_STATE_RUNNING);
	EXPECT_INT(look.s.wait, WIRE_WAIT_NONE);
	EXPECT(!prof_thread_sample_holds(t, (pid_t)syscall(SYS_gettid)));
	EXPECT_INT(prof_thread_sample_take(t, plain[0], 0, &look), 0);
	EXPECT(look.s.flags & WIRE_SAMPLE_FL_CENSUS);
	prof_target_close(t);
	return NULL;
}

static void test_apart(void)
{
	bool apart = false;
	pthread_t t;
	int fd, again;

	fd = open("/dev/null", O_RDONLY);
	close(fd);
	REQUIRE(!pthread_create(&t, NULL, look_apart, &apart) && !pthread_join(t, NULL));
	again = open("/dev/null", O_RDONLY);
	EXPECT_INT(again, fd); /* nothing of it shows in the program's table */
	if (!apart)
		printf("skipped: no table of its own can be had here\n");
}

#define POLLED 10u /* pipes */
#define LISTENERS 3u

static int polled;
static atomic_int poller;

static void *in_epoll(void *unused)
{
	struct epoll_event e;

	(void)unused;
	atomic_store(&poller, (int)syscall(SYS_gettid));
	epoll_wait(polled, &e, 1, -1);
	return NULL;
}

static void poll_also(int fd)
{
	struct epoll_event e = { .events = EPOLLIN };

	REQUIRE(!epoll_ctl(polled, EPOLL_CTL_ADD, fd, &e));
}

static unsigned int count_words(const char *links, const char *begin)
{
	unsigned int n = 0;

	for (links = strstr(links, begin); links; links = strstr(links + 1, begin))
		n++;
	return n;
}

static void listen_at(int i)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	char dir[60];

	t_tempdir(dir, sizeof(dir));
	snprintf(at.sun_path, sizeof(at.sun_path), "%s/s%d", dir, i);
	REQUIRE(fd >= 0 && !bind(fd, (struct sockaddr *)&at, sizeof(at)) && !listen(fd, 1));
	poll_also(fd);
}

/* An event loop with more descriptors than a sample has room for tells them in turn. */
static void test_many_polled(void)
{
	bool told[POLLED] = { false };
	unsigned int i, looks, left = POLLED;
	uint64_t inode[POLLED];
	struct prof_target *t;
	struct stat s;
	pthread_t thread;
	char word[32];
	int fds[2];

	REQUIRE((polled = epoll_create1(0)) >= 0);
	for (i = 0; i < LISTENERS; i++)
		listen_at((int)i);
	for (i = 0; i < POLLED; i++) {
		REQUIRE(!pipe(fds) && !fstat(fds[0], &s));
		inode[i] = s.st_ino;
		poll_also(fds[0]);
	}
	REQUIRE(!pthread_create(&thread, NULL, in_epoll, NULL));
	while (!atomic_load(&poller))
		usleep(500);
	usleep(50000);
	REQUIRE(!prof_target_open(&t, 0));
	prof_target_settle(t, false);
	for (looks = 0; left && looks < 2000; looks++) {
		REQUIRE(!prof_thread_sample_take(t, atomic_load(&poller),
						 PROF_SAMPLE_WAIT | PROF_SAMPLE_LINKS, &look));
		EXPECT(count_words(look.links, "?l") <= 1);
		EXPECT(count_words(look.links, "?") <= 4);
		for (i = 0; i < POLLED; i++) {
			snprintf(word, sizeof(word), "?p%llu", (unsigned long long)inode[i]);
			if (!told[i] && strstr(look.links, word)) {
				told[i] = true;
				left--;
			}
		}
		usleep(5000);
	}
	EXPECT_UINT(left, 0);
	prof_target_close(t);
}

static char passing[300]; /* the path that is in the program's memory only while it is opened */
static atomic_int passer;
static atomic_bool over;

static void *pass(void *arg)
{
	int fd;

	(void)arg;
	atomic_store(&passer, (int)syscall(SYS_gettid));
	while (!atomic_load(&over)) {
		strcpy(passing, fifo);
		fd = open(passing, O_RDONLY); /* until somebody writes */
		memset(passing, '!', 8);
		close(fd);
		usleep(20);
	}
	return NULL;
}

static void *let_pass(void *arg)
{
	int fd;

	(void)arg;
	while (!atomic_load(&over)) {
		fd = open(fifo, O_WRONLY | O_NONBLOCK);
		close(fd);
		usleep(20);
	}
	return NULL;
}

/* A thread may leave its call between the looks at the call and at the path that it was given. */
static void test_passing(void)
{
	unsigned int seen = 0, wrong = 0, i;
	struct prof_target *t;
	pthread_t one, other;
	char dir[200];

	t_tempdir(dir, sizeof(dir));
	snprintf(fifo, sizeof(fifo), "%s/passed", dir);
	REQUIRE(!mkfifo(fifo, 0600) && !prof_target_open(&t, 0));
	prof_target_settle(t, false);
	REQUIRE(!pthread_create(&one, NULL, pass, NULL));
	REQUIRE(!pthread_create(&other, NULL, let_pass, NULL));
	while (!atomic_load(&passer))
		usleep(500);
	for (i = 0; i < 30000; i++) {
		if (prof_thread_sample_take(t, atomic_load(&passer), PROF_SAMPLE_WAIT, &look))
			continue;
		seen += !strcmp(look.target, fifo);
		wrong += strchr(look.target, '!') != NULL;
	}
	printf("%u paths seen, %u that were none\n", seen, wrong);
	EXPECT_UINT(wrong, 0);
	EXPECT(seen > 0);
	atomic_store(&over, true);
	pthread_join(other, NULL);
	close(open(fifo, O_WRONLY | O_NONBLOCK));
	prof_target_close(t);
}

int main(void)
{
	return RUN(test_own, test_apart, test_from_parent, test_many_polled, test_passing);
}
