/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains of frames of a thread that runs on while it is looked at: between two reads of the walker,
 * which come to this file's process_vm_readv, the thread gets somewhere else.
 */
#include <sys/uio.h>

#include <errno.h>

#include "harness.h"
#include "python/pylayout.h"
#include "python/pywalk.h"

#define V(minor) (UINT32_C(3) << 24 | (uint32_t)(minor) << 16 | 0xf0)
#define THREAD_WORDS 256
#define FRAME_WORDS 16

static struct prof_pymem mem;
static struct prof_pylayout layout;
static struct prof_pywalk walk;
static uint64_t state[THREAD_WORDS], frame[8][FRAME_WORDS], cframe[4];
static unsigned int reads, moves_at; /* behind so many reads; 0: never */
static void (*move)(void);

static ssize_t copy(const struct iovec *to, const struct iovec *from, unsigned long n)
{
	ssize_t sum = 0;
	unsigned long i;

	for (i = 0; i < n; i++) {
		memcpy(to[i].iov_base, from[i].iov_base, from[i].iov_len);
		sum += (ssize_t)from[i].iov_len;
	}
	return sum;
}

/* In place of libc's. */
ssize_t process_vm_readv(pid_t pid, const struct iovec *to, unsigned long n_to,
			 const struct iovec *from, unsigned long n_from, unsigned long flags)
{
	ssize_t n;

	(void)pid, (void)n_to, (void)flags;
	n = copy(to, from, n_from);
	if (++reads == moves_at)
		move();
	return n;
}

static void put(uint64_t *at, uint32_t offset, uint64_t value)
{
	memcpy((uint8_t *)at + offset, &value, sizeof(value));
}

static uint64_t address(const void *at)
{
	return (uintptr_t)at;
}

static void link_frame(unsigned int i, const void *previous)
{
	put(frame[i], layout.frame.previous, address(previous));
}

/* Five frames, each of its own code; the first is the innermost. */
static void make_chain(uint32_t version)
{
	char why[120];
	unsigned int i;

	REQUIRE(!prof_pylayout_find(&mem, &(struct prof_pyplaces){ 0 }, version, &layout, why,
				    sizeof(why)));
	memset(state, 0, sizeof(state));
	memset(frame, 0, sizeof(frame));
	put(state, layout.thread.interp, 1);
	put(state, layout.thread.ident, 2);
	put(state, layout.thread.frame, address(frame[0]));
	for (i = 0; i < 8; i++) {
		put(frame[i], PROF_PYOBJECT_REFERENCES, 1);
		put(frame[i], layout.frame.code, (i + 1) * 4096);
		put(frame[i], layout.frame.instr, 2 * i);
		link_frame(i, i < 4 ? frame[i + 1] : NULL);
	}
}

static int look(unsigned int behind, void (*what)(void))
{
	struct prof_py_thread t = { .tstate = address(state), .interp = 1, .ident = 2 };

	reads = 0;
	moves_at = behind;
	move = what;
	return prof_pywalk(&mem, &layout, &t, &walk);
}

static void check_whole(void)
{
	EXPECT(walk.still);
	EXPECT_UINT(walk.frames, 5);
	EXPECT_UINT(walk.root, 5 * 4096);
}

/* So many of them, the outermost ones. */
static void check_lasting(size_t n)
{
	EXPECT(!walk.still);
	EXPECT_UINT(walk.frames, n);
	EXPECT_UINT(walk.depth, n);
	EXPECT_UINT(walk.root, 5 * 4096);
	REQUIRE(walk.frames == n);
	EXPECT_UINT(walk.frame[0].code, (6 - n) * 4096);
	EXPECT_UINT(walk.frame[n - 1].code, 5 * 4096);
}

/* The innermost function was left and called again, by another, and has its frame again. */
static void call_again(void)
{
	link_frame(0, frame[5]);
	link_frame(5, frame[2]);
}

static void test_back_in_its_frame(void)
{
	unsigned int i;

	make_chain(V(8));
	EXPECT_INT(look(0, NULL), 0);
	check_whole();
	for (i = 3; i < 8; i++) { /* behind a read of a frame */
		make_chain(V(8));
		EXPECT_INT(look(i, call_again), 0);
		check_lasting(4);
	}
}

/* The thread has gone into a function: what was found is still there, but is not all. */
static void call_another(void)
{
	link_frame(5, frame[0]);
	put(state, layout.thread.frame, address(frame[5]));
}

static void return_from_two(void)
{
	put(frame[0], PROF_PYOBJECT_REFERENCES, 0);
	put(frame[1], PROF_PYOBJECT_REFERENCES, 0);
	put(state, layout.thread.frame, address(frame[2]));
}

/* Another function's frame is where the third was, or where all were. */
static void call_elsewhere(void)
{
	put(frame[2], layout.frame.code, 9 * 4096);
}

static void call_all_elsewhere(void)
{
	put(frame[4], layout.frame.code, 9 * 4096);
}

static void test_moved_on(void)
{
	make_chain(V(8));
	EXPECT_INT(look(7, call_another), 0);
	check_lasting(5);
	make_chain(V(9));
	EXPECT_INT(look(7, return_from_two), 0);
	check_lasting(3);
	make_chain(V(10));
	EXPECT_INT(look(6, call_elsewhere), 0);
	check_lasting(2);
	make_chain(V(10));
	EXPECT_INT(look(7, call_all_elsewhere), -EAGAIN);
}

/* As in a chunk, where newer frames lie above older ones: several come by one read. */
static void test_close_together(void)
{
	unsigned int i;

	make_chain(V(8));
	for (i = 0; i < 5; i++) {
		link_frame(i, i ? frame[i - 1] : NULL);
		put(frame[i], layout.frame.code, (5 - i) * 4096);
	}
	put(state, layout.thread.frame, address(frame[4]));
	EXPECT_INT(look(0, NULL), 0);
	check_whole();
	for (i = 0; i < 5; i++)
		EXPECT_UINT(walk.frame[i].instr, 2 * (4 - i));
	EXPECT_INT(look(7, call_elsewhere), 0);
	check_lasting(2);
}

/* The list of frames that wait for use goes on by the same word as a stack. */
static void leave_third(void)
{
	put(frame[2], PROF_PYOBJECT_REFERENCES, 0);
	link_frame(2, frame[6]);
	put(frame[6], PROF_PYOBJECT_REFERENCES, 0);
}

static void test_left_frames(void)
{
	uint32_t minor;

	for (minor = 8; minor <= 10; minor++) {
		make_chain(V(minor));
		leave_third();
		EXPECT_INT(look(0, NULL), -EAGAIN);
		make_chain(V(minor));
		EXPECT_INT(look(4, leave_third), -EAGAIN);
		make_chain(V(minor));
		EXPECT_INT(look(0, NULL), 0);
		check_whole();
	}
}

/* 3.11 and 3.12: the structure on the C stack is there before its frame is. */
static void test_entering(void)
{
	make_chain(V(11));
	memset(cframe, 0, sizeof(cframe));
	put(state, layout.thread.frame, address(cframe));
	EXPECT_INT(look(0, NULL), -EAGAIN);
	put(state, layout.thread.frame, address(state + 40)); /* in the state itself */
	EXPECT_INT(look(0, NULL), 0);
	EXPECT_UINT(walk.frames, 0);
	put(state, layout.thread.frame, address(cframe));
	put(cframe, layout.thread.cframe, address(frame[4]));
	((uint8_t *)frame[4])[layout.frame.entry] = 1;
	EXPECT_INT(look(0, NULL), 0);
	EXPECT_UINT(walk.frames, 1);
	((uint8_t *)frame[4])[layout.frame.owner] = 77; /* nor is it any frame yet */
	EXPECT_INT(look(0, NULL), -EAGAIN);
}

int main(void)
{
	mem = (struct prof_pymem){ .pid = getpid(), .way = PROF_PYMEM_VM };
	return RUN(test_back_in_its_frame, test_moved_on, test_close_together, test_left_frames,
		   test_entering);
}
