/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that tell what a blocked thread waits for, and the descriptors that it polls. */
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>

#include "sample/callkind.h"
#include "sample/fdname.h"
#include "sample/poll_set.h"
#include "sample/waitkind.h"

#include "harness.h"

#define MP "/usr/lib/python3.11/multiprocessing/"

static const char worker_idle[] =
	"_PollLikeSelector.select\t/usr/lib/python3.11/selectors.py\t415\n"
	"wait\t" MP "connection.py\t930\n"
	"Queue.get\t" MP "queues.py\t113\n"
	"_worker_loop\t/x/torch/utils/data/_utils/worker.py\t275";
static const char dataset_queue[] = "wait\t" MP "connection.py\t930\n"
				    "Queue.get\t" MP "queues.py\t113\n"
				    "Data.__getitem__\t/home/me/train.py\t12\n"
				    "fetch\t/x/torch/utils/data/_utils/fetch.py\t49\n"
				    "_worker_loop\t/x/torch/utils/data/_utils/worker.py\t308";
static const char own_pipe[] = "select\t/usr/lib/python3.11/selectors.py\t415\n"
			       "communicate\t/usr/lib/python3.11/subprocess.py\t2021";
static const char queue_lock[] = "SemLock.__enter__\t" MP "synchronize.py\t95\n"
				 "SimpleQueue.get\t" MP "queues.py\t365\n"
				 "worker\t" MP "pool.py\t114";
static const char user_lock[] = "SemLock.__enter__\t" MP "synchronize.py\t95\n"
				"Data.__getitem__\t/home/me/train.py\t12";

static void test_files(void)
{
	EXPECT_INT(prof_wait_of_fd(PROF_FD_FILE, "ext4", false, true), WIRE_WAIT_READ);
	EXPECT_INT(prof_wait_of_fd(PROF_FD_FILE, "ext4", true, true), WIRE_WAIT_WRITE);
	EXPECT_INT(prof_wait_of_fd(PROF_FD_FILE, "ext4", false, false), WIRE_WAIT_PIPE); /* FIFO */
	EXPECT_INT(prof_wait_of_fd(PROF_FD_FILE, "fuse.slowfs", false, false), WIRE_WAIT_READ);
	EXPECT_INT(prof_wait_of_fd(PROF_FD_FILE, "nfs4", true, false), WIRE_WAIT_WRITE);
	EXPECT_INT(prof_wait_of_fd(PROF_FD_FILE, "", false, false), WIRE_WAIT_READ);
	EXPECT_INT(prof_wait_of_fd(PROF_FD_PIPE, "", false, false), WIRE_WAIT_PIPE);
	EXPECT_INT(prof_wait_of_fd(PROF_FD_SOCKET, "", true, false), WIRE_WAIT_SOCKET);
	EXPECT_INT(prof_wait_of_fd(PROF_FD_NVIDIA, "", false, false), WIRE_WAIT_GPU);
	EXPECT_INT(prof_wait_of_fd(PROF_FD_OTHER, "", false, false), WIRE_WAIT_OTHER);
	EXPECT_INT(prof_wait_of_ioctl(PROF_FD_NVIDIA, "", false), WIRE_WAIT_GPU);
	EXPECT_INT(prof_wait_of_ioctl(PROF_FD_FILE, "fuse.slowfs", false),
		   WIRE_WAIT_READ); /* is it a terminal? */
	EXPECT_INT(prof_wait_of_ioctl(PROF_FD_FILE, "ext4", true), WIRE_WAIT_READ);
	EXPECT_INT(prof_wait_of_ioctl(PROF_FD_FILE, "ext4", false), WIRE_WAIT_OTHER);
	EXPECT_INT(prof_wait_of_ioctl(PROF_FD_UNKNOWN, "", false), WIRE_WAIT_OTHER);
	EXPECT_INT(prof_wait_of_ioctl(PROF_FD_SOCKET, "", false), WIRE_WAIT_OTHER);
	EXPECT_INT(prof_wait_of_path("tmpfs", false, false), WIRE_WAIT_PIPE);
	EXPECT_INT(prof_wait_of_path("nfs4", false, false), WIRE_WAIT_READ);
}

static void test_futexes(void)
{
	EXPECT_INT(prof_wait_of_futex(0x189), WIRE_WAIT_LOCK);
	EXPECT_INT(prof_wait_of_futex(0x109), WIRE_WAIT_LOCK_SHARED);
	EXPECT_INT(prof_wait_of_futex(0x80), WIRE_WAIT_LOCK);
	EXPECT_INT(prof_wait_of_futex(0), WIRE_WAIT_LOCK_SHARED);
}

static void test_queues(void)
{
	EXPECT(prof_wait_is_queue(5000000000, worker_idle));
	EXPECT(prof_wait_is_queue(-1, worker_idle));
	EXPECT(prof_wait_is_queue(5000000000, "")); /* no stack: torch's own timeout */
	EXPECT(!prof_wait_is_queue(-1, ""));
	EXPECT(!prof_wait_is_queue(4999000000, ""));
	EXPECT(!prof_wait_is_queue(5000000000, dataset_queue));
	EXPECT(!prof_wait_is_queue(5000000000, own_pipe));
	EXPECT(prof_wait_is_queue_lock(queue_lock));
	EXPECT(!prof_wait_is_queue_lock(user_lock));
	EXPECT(!prof_wait_is_queue_lock(""));
	EXPECT(!prof_wait_is_queue(-1, "no tabs at all\nqueues.py"));
	EXPECT(prof_wait_in_threading("Condition.wait\t/usr/lib/python3.11/threading.py\t320"));
	EXPECT(!prof_wait_in_threading("work\t/home/me/threading.py.txt\t3"));
	EXPECT(!prof_wait_in_threading(""));
}

static void test_states(void)
{
	EXPECT_INT(prof_state_of('R'), WIRE_STATE_RUNNING);
	EXPECT_INT(prof_state_of('D'), WIRE_STATE_DISK);
	EXPECT_INT(prof_state_of('t'), WIRE_STATE_STOPPED);
	EXPECT_INT(prof_state_of('Z'), WIRE_STATE_GONE);
	EXPECT_INT(prof_state_of('?'), WIRE_STATE_UNKNOWN);
}

static void test_calls(void)
{
	EXPECT_INT(prof_call_kind(SYS_pread64)->how, PROF_CALL_READ);
	EXPECT_INT(prof_call_kind(SYS_fsync)->how, PROF_CALL_WRITE);
	EXPECT_INT(prof_call_kind(SYS_openat)->how, PROF_CALL_PATH);
	EXPECT_INT(prof_call_kind(SYS_openat)->arg, 1);
	EXPECT_INT(prof_call_kind(9999)->how, PROF_CALL_OTHER);
	EXPECT_INT(prof_call_kind(-1)->how, PROF_CALL_OTHER);
}

static void test_descriptors(void)
{
	EXPECT_INT(prof_fd_kind_of("pipe:[17]"), PROF_FD_PIPE);
	EXPECT_INT(prof_fd_kind_of("socket:[17]"), PROF_FD_SOCKET);
	EXPECT_INT(prof_fd_kind_of("/dev/nvidia0"), PROF_FD_NVIDIA);
	EXPECT_INT(prof_fd_kind_of("/dev/nvidia-uvm"), PROF_FD_NVIDIA);
	EXPECT_INT(prof_fd_kind_of("/dev/null"), PROF_FD_DEVICE);
	EXPECT_INT(prof_fd_kind_of("/dev/shm/torch_17"), PROF_FD_FILE);
	EXPECT_INT(prof_fd_kind_of("/data/shard (deleted)"), PROF_FD_FILE);
	EXPECT_INT(prof_fd_kind_of("anon_inode:[eventfd]"), PROF_FD_OTHER);
}

static struct prof_call call_of(int nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
	return (struct prof_call){ .nr = nr, .arg = { a, b, c, d, e } };
}

static void test_poll(void)
{
	struct pollfd list[PROF_POLL_SET_MAX + 4];
	struct prof_poll_set p;
	struct prof_call c;
	struct timespec t = { .tv_sec = 2, .tv_nsec = 5 };
	int i;

	for (i = 0; i < (int)PROF_POLL_SET_MAX + 4; i++)
		list[i] = (struct pollfd){ .fd = i == 1 ? -1 : 100 + i };
	c = call_of(SYS_ppoll, (uintptr_t)list, 2, (uintptr_t)&t, 0, 0);
	EXPECT_INT(prof_poll_set_read(0, &c, PROF_CALL_PPOLL, &p), 0);
	EXPECT_UINT(p.count, 1);
	EXPECT_INT(p.fd[0], 100);
	EXPECT_INT(p.timeout_ns, 2000000005);
	c = call_of(7, (uintptr_t)list, PROF_POLL_SET_MAX + 4, 5000, 0, 0);
	EXPECT_INT(prof_poll_set_read(0, &c, PROF_CALL_POLL, &p), 0);
	EXPECT_UINT(p.count, PROF_POLL_SET_MAX - 1);
	EXPECT_UINT(p.all, PROF_POLL_SET_MAX + 3);
	EXPECT_INT(p.timeout_ns, 5000000000);
	c = call_of(7, (uintptr_t)list, PROF_POLL_SET_MAX + 4, (uint64_t)-1, 0, 0);
	EXPECT_INT(prof_poll_set_read(0, &c, PROF_CALL_POLL, &p), 0);
	EXPECT_INT(p.timeout_ns, -1);
	c = call_of(7, 16, 3, 0, 0, 0); /* nothing is there */
	EXPECT_INT(prof_poll_set_read(0, &c, PROF_CALL_POLL, &p), -EFAULT);
	c = call_of(7, 0, 0, 100, 0, 0);
	EXPECT_INT(prof_poll_set_read(0, &c, PROF_CALL_POLL, &p), 0);
	EXPECT_UINT(p.all, 0);
}

static void test_sets(void)
{
	uint64_t set[16] = { 1ull << 3, 1ull << 6 };
	struct prof_poll_set p;
	struct prof_call c = call_of(SYS_pselect6, 71, (uintptr_t)set, 0, (uintptr_t)(set + 2), 0);

	EXPECT_INT(prof_poll_set_read(0, &c, PROF_CALL_SELECT, &p), 0);
	EXPECT_UINT(p.count, 2);
	EXPECT_INT(p.fd[1], 70);
	EXPECT_INT(p.timeout_ns, -1);
}

static void test_epoll(void)
{
	struct epoll_event e = { .events = EPOLLIN };
	struct prof_poll_set p = { .count = 0 };
	int fds[2], poll = epoll_create1(0);
	struct prof_call c;

	REQUIRE(poll >= 0 && !pipe(fds));
	REQUIRE(!epoll_ctl(poll, EPOLL_CTL_ADD, fds[0], &e));
	c = call_of(SYS_epoll_pwait, (uint64_t)poll, 0, 0, 1000, 0);
	EXPECT_INT(prof_poll_set_read(0, &c, PROF_CALL_EPOLL, &p), 0);
	EXPECT_UINT(p.count, 1);
	EXPECT_INT(p.fd[0], fds[0]);
	EXPECT_INT(p.timeout_ns, 1000000000);
}

int main(void)
{
	return RUN(test_files, test_futexes, test_queues, test_states, test_calls, test_descriptors,
		   test_poll, test_sets, test_epoll);
}
