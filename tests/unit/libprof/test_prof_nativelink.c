/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may end a wait in native code: threads with a pointer to the object, not those with one to
 * its neighbour, however alike they are; blocks of malloc's; the outer end of a stack.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/clockpoll.h"
#include "harness.h"
#include "sample/heapblock.h"
#include "sample/native.h"
#include "sample/nativelink.h"
#include "sample/stacktop.h"
#include "sample/threadfacts.h"

/* Sanitizers start threads by functions of their own, whose frames lie outermost. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#endif

#define BLOCK 320u /* bytes of a chunk, its head included */
#define OBJECTS 20u
#define SECOND INT64_C(1000000000)

struct object { /* what threads wait and work on */
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	int items;
	bool over;
};

static union heap { /* objects side by side, each with its size before it */
	uint64_t word[OBJECTS * BLOCK / 8 + 4];
	uint8_t byte[OBJECTS * BLOCK + 32];
} * heap;

static struct prof_nativelink links;
static struct {
	uint8_t before[1024]; /* of a wait all that is near is held to be one object */
	struct object object;
	uint8_t behind[1024];
} alone;

#define somewhere alone.object /* nobody has a pointer to it */

static struct object *object_at(unsigned int i)
{
	return (struct object *)(heap->byte + i * BLOCK + 16);
}

static void make_heap(void)
{
	unsigned int i;

	heap = mmap(NULL, sizeof(*heap), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	if (heap == MAP_FAILED)
		exit(1);
	for (i = 0; i <= OBJECTS; i++)
		heap->word[i * BLOCK / 8 + 1] = i < OBJECTS ? BLOCK | 1 : 33;
	for (i = 0; i < OBJECTS; i++) {
		pthread_mutex_init(&object_at(i)->lock, NULL);
		pthread_cond_init(&object_at(i)->filled, NULL);
		pthread_cond_init(&object_at(i)->emptied, NULL);
	}
}

/*
 * ---- threads ----------------------------------------------------------------------------------
 */

struct job {
	struct object *object;
	_Atomic pid_t tid;
} __attribute__((aligned(64)));

static atomic_bool stop;

__attribute__((noinline)) static void take(struct object *o)
{
	pthread_mutex_lock(&o->lock);
	while (!o->items && !o->over)
		pthread_cond_wait(&o->filled, &o->lock);
	pthread_mutex_unlock(&o->lock);
}

static void *take_one(void *arg)
{
	struct job *j = arg;

	atomic_store(&j->tid, (pid_t)syscall(SYS_gettid));
	take(j->object);
	return NULL;
}

static void *put_one(void *arg)
{
	struct job *j = arg;

	atomic_store(&j->tid, (pid_t)syscall(SYS_gettid));
	pthread_mutex_lock(&j->object->lock);
	while (!j->object->over)
		pthread_cond_wait(&j->object->emptied, &j->object->lock);
	pthread_mutex_unlock(&j->object->lock);
	return NULL;
}

static void *take_somewhere(void *arg)
{
	atomic_store(&((struct job *)arg)->tid, (pid_t)syscall(SYS_gettid));
	take(&somewhere);
	return NULL;
}

/* The same wait for one object and then for the next. */
static void *take_two(void *arg)
{
	struct job *j = arg;
	volatile unsigned int times = 2; /* one call in the code */
	unsigned int i;

	atomic_store(&j->tid, (pid_t)syscall(SYS_gettid));
	for (i = 0; i < times; i++)
		take(object_at(i));
	return NULL;
}

/* Waits on what nobody points to, for something to be done to an object that others know. */
static void *take_beside(void *arg)
{
	struct job *j = arg;
	struct object *o = j->object;

	atomic_store(&j->tid, (pid_t)syscall(SYS_gettid));
	take(&somewhere);
	o->items = 0;
	return o;
}

/* Busy, with no more to tell by than what it was started with. */
static void *compute(void *arg)
{
	struct job *j = arg;

	atomic_store(&j->tid, (pid_t)syscall(SYS_gettid));
	while (!atomic_load_explicit(&stop, memory_order_relaxed))
		sched_yield();
	return j->object;
}

static pthread_t start(void *(*run)(void *), struct job *j, struct object *o)
{
	pthread_t t;

	j->object = o;
	atomic_store(&j->tid, 0);
	if (pthread_create(&t, NULL, run, j))
		exit(1);
	while (!atomic_load(&j->tid))
		usleep(1000);
	return t;
}

static void end_wait(struct object *o, pthread_t t)
{
	pthread_mutex_lock(&o->lock);
	o->over = true;
	pthread_cond_broadcast(&o->filled);
	pthread_cond_broadcast(&o->emptied);
	pthread_mutex_unlock(&o->lock);
	pthread_join(t, NULL);
}

/* As the sampler sees it once it is blocked. False: the kernel does not tell. */
static bool look_blocked(pid_t tid, struct prof_nativelink_look *look)
{
	struct prof_task task;
	struct prof_call call;
	int i, err = 0;

	for (i = 0; i < 2000; i++) {
		prof_task_init(&task, 0, tid);
		err = prof_task_call(&task, &call);
		prof_task_close(&task);
		if (err || call.nr == SYS_futex)
			break;
		usleep(5000);
	}
	*look = (struct prof_nativelink_look){ .tid = tid,
					       .submits = true,
					       .futex = call.arg[0],
					       .arg = call.arg[0],
					       .sp = call.sp,
					       .pc = call.pc,
					       .now_ns = prof_mono_ns() };
	return !err && call.nr == SYS_futex;
}

static enum prof_nativelink_kind kind_of(pid_t tid, uint64_t id)
{
	enum prof_nativelink_kind kind;
	uint64_t found;
	size_t i;

	for (i = 0; i < PROF_NATIVELINK_WAITS; i++) {
		kind = prof_nativelink_of(&links, tid, i, &found);
		if (found == id)
			return kind;
	}
	return PROF_NATIVELINK_NONE;
}

static bool makes(pid_t tid)
{
	pid_t all[16];
	size_t n = prof_nativelink_makers(&links, all, 16), i;

	for (i = 0; i < n; i++)
		if (all[i] == tid)
			return true;
	return false;
}

/* A thread of Python's, so that nobody has to feed it. */
static uint64_t await(struct prof_nativelink_look *look)
{
	look->python = true;
	return prof_nativelink_await(&links, look);
}

static void scan(int64_t now_ns)
{
	prof_nativelink_scan(&links, NULL, 0, now_ns);
}

/*
 * ---- tests ------------------------------------------------------------------------------------
 */

static void test_blocks(void)
{
	const struct prof_cfi_memory *mem = prof_native_memory();
	uint64_t first = (uintptr_t)object_at(0), second = (uintptr_t)object_at(1);
	struct prof_heapblock b;

	EXPECT(prof_heapblock_at(mem, first, &b));
	EXPECT(b.begin == first && b.end == second - 8);
	EXPECT(prof_heapblock_has(&b, first + BLOCK - 32));
	EXPECT(!prof_heapblock_has(&b, second));
	EXPECT(prof_heapblock_of(mem, first + 16, &b) && b.begin == first);
	EXPECT(!prof_heapblock_at(mem, first + 32, &b));
	EXPECT(!prof_heapblock_at(mem, first + 8, &b));
	EXPECT(!prof_heapblock_at(mem, 16, &b));
	EXPECT(!prof_heapblock_at(mem, UINT64_MAX - 15, &b));
}

static void test_top(void)
{
	struct prof_stacktop top;
	struct job j;
	pthread_t t = start(compute, &j, object_at(2));
	int rc = prof_stacktop_read(prof_native_memory(), j.tid, &top);

	EXPECT_INT(rc, 0);
	EXPECT(top.words >= 256 && prof_native_module(top.entry));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
	EXPECT(top.entry == (uintptr_t)compute && top.argument == (uintptr_t)&j);
#endif
	EXPECT_INT(prof_stacktop_read(prof_native_memory(), 0x3ffffff, &top), -ESRCH);
	atomic_store(&stop, true);
	pthread_join(t, NULL);
	atomic_store(&stop, false);
}

#ifndef SANITIZED
/*
 * Beside who waits: one who works on the same object, and one on its neighbour, both all the time.
 */
static void test_object(void)
{
	struct job waits, works, other;
	pthread_t w = start(take_one, &waits, object_at(0)),
		  a = start(compute, &works, object_at(0)),
		  b = start(compute, &other, object_at(1));
	struct prof_nativelink_look look;
	char text[1024];
	uint64_t id;

	memset(&links, 0, sizeof(links));
	REQUIRE(look_blocked(waits.tid, &look));
	id = await(&look);
	EXPECT(id && id == (look.futex & ~UINT64_C(7)));
	scan(look.now_ns);
	EXPECT_INT(kind_of(works.tid, id), PROF_NATIVELINK_OBJECT);
	EXPECT_INT(kind_of(other.tid, id), PROF_NATIVELINK_NONE);
	EXPECT_INT(kind_of(waits.tid, id), PROF_NATIVELINK_NONE);
	EXPECT(makes(works.tid) && !makes(other.tid) && !makes(waits.tid));
	EXPECT(prof_nativelink_stack(&links, works.tid, text, sizeof(text)) > 0);
	EXPECT(strstr(text, "test_prof_nativelink\t"));
	EXPECT(!strncmp(prof_nativelink_name(&links, works.tid), "test_prof_nativ", 15));
	scan(look.now_ns + 20 * SECOND); /* nobody has waited since */
	EXPECT_INT(kind_of(works.tid, id), PROF_NATIVELINK_NONE);
	EXPECT(!makes(works.tid));
	atomic_store(&stop, true);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	end_wait(object_at(0), w);
	object_at(0)->over = false;
	atomic_store(&stop, false);
}
#endif

/* Nobody has a pointer: that all are of one library is something, after all were looked at. */
static void test_library(void)
{
	struct job waits, works;
	pthread_t w = start(take_somewhere, &waits, NULL), a = start(compute, &works, object_at(1));
	struct prof_nativelink_look look;
	uint64_t id;

	memset(&links, 0, sizeof(links));
	REQUIRE(look_blocked(waits.tid, &look));
	id = await(&look);
	EXPECT(id);
	scan(look.now_ns);
	EXPECT_INT(kind_of(works.tid, id), PROF_NATIVELINK_NONE);
	scan(look.now_ns + SECOND / 10);
	EXPECT_INT(kind_of(works.tid, id), PROF_NATIVELINK_LIBRARY);
	atomic_store(&stop, true);
	pthread_join(a, NULL);
	end_wait(&somewhere, w);
	somewhere.over = false;
	atomic_store(&stop, false);
}

/* As before, of a maker's wait: only once it is seen to be waited for meanwhile, three times. */
static void test_pressed(void)
{
	struct job waits, deeper, works;
	pthread_t w = start(take_one, &waits, object_at(0)),
		  d = start(take_somewhere, &deeper, NULL),
		  a = start(compute, &works, object_at(1));
	struct prof_nativelink_look look, deep;
	uint64_t id;
	int i;

	memset(&links, 0, sizeof(links));
	REQUIRE(look_blocked(waits.tid, &look) && look_blocked(deeper.tid, &deep));
	deep.depth = 1;
	EXPECT(await(&look));
	for (i = 0; i < 3; i++) {
		deep.now_ns = look.now_ns + (i + 1) * SECOND / 10; /* nobody waits for it then */
		id = await(&deep);
		EXPECT(id);
		scan(deep.now_ns);
	}
	EXPECT_INT(kind_of(works.tid, id), PROF_NATIVELINK_NONE);
	for (i = 0; i < 3; i++) {
		look.now_ns = deep.now_ns += SECOND / 10;
		EXPECT(await(&look) && await(&deep));
		scan(deep.now_ns);
	}
	EXPECT_INT(kind_of(works.tid, id), PROF_NATIVELINK_LIBRARY);
	atomic_store(&stop, true);
	pthread_join(a, NULL);
	end_wait(&somewhere, d);
	end_wait(object_at(0), w);
	somewhere.over = object_at(0)->over = false;
	atomic_store(&stop, false);
}

#ifndef SANITIZED
/*
 * A maker that waits for another object each time, at one place, keeps its one place among the
 * waits.
 */
static void test_anew(void)
{
	struct job waits, first, second;
	pthread_t w = start(take_two, &waits, NULL), a = start(compute, &first, object_at(0)),
		  b = start(compute, &second, object_at(1));
	struct prof_nativelink_look look;
	uint64_t id, then;
	size_t i, used = 0;

	memset(&links, 0, sizeof(links));
	REQUIRE(look_blocked(waits.tid, &look));
	look.depth = 1;
	id = await(&look);
	scan(look.now_ns);
	EXPECT_INT(kind_of(first.tid, id), PROF_NATIVELINK_OBJECT);
	pthread_mutex_lock(&object_at(0)->lock);
	object_at(0)->over = true;
	pthread_cond_broadcast(&object_at(0)->filled);
	pthread_mutex_unlock(&object_at(0)->lock);
	do {
		REQUIRE(look_blocked(waits.tid, &look));
		look.depth = 1;
		then = await(&look);
	} while (!then || then == id);
	scan(look.now_ns);
	EXPECT_INT(kind_of(second.tid, then), PROF_NATIVELINK_OBJECT);
	EXPECT_INT(kind_of(first.tid, then), PROF_NATIVELINK_NONE);
	for (i = 0; i < PROF_NATIVELINK_WAITS; i++)
		used += links.wait[i].id != 0;
	EXPECT_INT(used, 1);
	atomic_store(&stop, true);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	end_wait(object_at(1), w);
	object_at(0)->over = object_at(1)->over = false;
	atomic_store(&stop, false);
}

/* Joined by another object than the one that is waited on: by that which fewest have. */
static void test_other(void)
{
	struct job waits, works, other;
	pthread_t w = start(take_beside, &waits, object_at(0)),
		  a = start(compute, &works, object_at(0)),
		  b = start(compute, &other, object_at(1));
	struct prof_nativelink_look look;
	uint64_t id;

	memset(&links, 0, sizeof(links));
	REQUIRE(look_blocked(waits.tid, &look));
	id = await(&look);
	EXPECT(id);
	scan(look.now_ns);
	scan(look.now_ns + SECOND / 10);
	EXPECT_INT(kind_of(works.tid, id), PROF_NATIVELINK_OTHER);
	EXPECT_INT(kind_of(other.tid, id), PROF_NATIVELINK_NONE);
	EXPECT(makes(works.tid) && !makes(other.tid));
	atomic_store(&stop, true);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	end_wait(&somewhere, w);
	somewhere.over = false;
	atomic_store(&stop, false);
}
#endif

/* More waits than there is room for: that of the submitter stays. */
static void test_room(void)
{
	static struct job waits[OBJECTS];
	struct prof_nativelink_look look;
	pthread_t thread[OBJECTS];
	uint64_t first = 0, id;
	size_t i, there = 0;

	memset(&links, 0, sizeof(links));
	for (i = 0; i < OBJECTS; i++) {
		thread[i] = start(take_one, &waits[i], object_at((unsigned int)i));
		REQUIRE(look_blocked(waits[i].tid, &look));
		look.depth = i != 0;
		look.now_ns = (int64_t)i * SECOND / 10;
		id = await(&look);
		EXPECT(id);
		first = i ? first : id;
	}
	for (i = 0; i < PROF_NATIVELINK_WAITS; i++)
		there += links.wait[i].id == first;
	EXPECT_INT(there, 1);
	for (i = 0; i < OBJECTS; i++) {
		end_wait(object_at((unsigned int)i), thread[i]);
		object_at((unsigned int)i)->over = false;
	}
}

/*
 * A submitter without Python is fed by the main thread, until somebody is seen to use its object.
 */
static void test_feeder(void)
{
	struct job waits, feeds;
	pthread_t w = start(take_one, &waits, object_at(2)),
		  f = start(put_one, &feeds, object_at(2));
	struct prof_nativelink_look look, fed;
	uint64_t id;

	memset(&links, 0, sizeof(links));
	REQUIRE(look_blocked(waits.tid, &look) && look_blocked(feeds.tid, &fed));
	EXPECT_INT(prof_nativelink_feeder(&links, getpid()), 0);
	id = prof_nativelink_await(&links, &look);
	EXPECT_INT(prof_nativelink_feeder(&links, getpid()), getpid());
	EXPECT_INT(prof_nativelink_feeder(&links, 0), 0);
	EXPECT_INT(kind_of(getpid(), id), PROF_NATIVELINK_OTHER);
	fed.submits = false;
	EXPECT(await(&fed));
	EXPECT_INT(prof_nativelink_feeder(&links, getpid()), feeds.tid);
	EXPECT_INT(kind_of(feeds.tid, id), PROF_NATIVELINK_OBJECT);
	EXPECT_INT(kind_of(getpid(), id), PROF_NATIVELINK_NONE);
	end_wait(object_at(2), w);
	pthread_join(f, NULL);
}

int main(void)
{
	struct prof_nativelink_look look;
	struct job waits;
	pthread_t t;
	bool told;

	make_heap();
	pthread_mutex_init(&somewhere.lock, NULL);
	pthread_cond_init(&somewhere.filled, NULL);
	if (!PROF_STACKTOP_KNOWN || !prof_native_ready()) {
		printf("skipped: %s\n", *prof_native_note()
						? prof_native_note()
						: "what begins a thread's stack is not known here");
		return T_SKIPPED;
	}
	t = start(take_one, &waits, object_at(3));
	told = look_blocked(waits.tid, &look);
	end_wait(object_at(3), t);
	object_at(3)->over = false;
	if (!told) {
		printf("skipped: the kernel does not tell of system calls here\n");
		return T_SKIPPED;
	}
#ifdef SANITIZED
	puts("not told: objects on stacks, of which the sanitizer has the outer ends");
	return RUN(test_blocks, test_top, test_library, test_pressed, test_room, test_feeder);
#else
	return RUN(test_blocks, test_top, test_object, test_library, test_other, test_room,
		   test_feeder, test_pressed, test_anew);
#endif
}
