/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks and ranges: pairing, classes, pieces of open waits, losses, threads that come and go. The
 * marks are made as the hooks make them; the clock is the real one.
 */
#include "core/clockpoll.h"
#include "ranges/ranges.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "harness.h"
#include "ranges/marks.h"
#include "ranges/nvtx.h"

#define LOADER "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
#define EVENTS 400000u

static struct wire_strtab *names;
static struct wire_event ev[EVENTS];
static size_t n;
static atomic_int wakes;

static void on_wake(void)
{
	atomic_fetch_add(&wakes, 1);
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void keep(void *ctx, const struct wire_event *e)
{
	(void)ctx;
	REQUIRE(n < EVENTS);
	ev[n++] = *e;
}

static size_t drain(bool final)
{
	n = 0;
	EXPECT_UINT(prof_ranges_drain(names, NULL, keep, NULL, final), n);
	return n;
}

static const char *name_of(const struct wire_event *e)
{
	return wire_strtab_get(names, e->name, NULL);
}

static void begin(uint64_t key, const char *name)
{
	prof_mark_begin(PROF_SOURCE_TORCH, key, name, strlen(name));
}

static void end(uint64_t key)
{
	prof_mark_end(PROF_SOURCE_TORCH, key);
}

static uint64_t dropped(void)
{
	struct prof_ranges_stats s;

	prof_ranges_stats(&s);
	return s.dropped;
}

static void test_before_init(void)
{
	EXPECT(!prof_marks_on());
	EXPECT_UINT(drain(false), 0);
	EXPECT(!prof_ranges_poll());
	EXPECT_INT(prof_ranges_loader_since(), 0);
}

static void test_init(void)
{
	const struct prof_ranges_opts o = { .torch = true, .nvtx = true, .wake = on_wake };

	names = wire_strtab_new();
	REQUIRE(names);
	REQUIRE(!prof_ranges_init(&o));
	EXPECT_INT(prof_ranges_init(&o), -EALREADY);
	EXPECT(prof_marks_on());
	EXPECT(!prof_ranges_poll()); /* no torch here, and nothing to say about it */
	EXPECT_STR(prof_ranges_note(), "");
	EXPECT_STR(prof_ranges_torch_version(), "");
}

static void test_pairs(void)
{
	int64_t t0 = now_ns(), t1, t2;

	EXPECT_INT(prof_mark_push(0, "outer", 5), 0);
	EXPECT_INT(prof_mark_push(0, "inner", 5), 1);
	EXPECT_INT(prof_mark_push(77, "other domain", 12), 0);
	t1 = now_ns();
	EXPECT_INT(prof_mark_pop(0), 1);
	EXPECT_INT(prof_mark_pop(0), 0);
	EXPECT_INT(prof_mark_pop(77), 0);
	EXPECT_INT(prof_mark_pop(77), -1); /* nothing open */
	t2 = now_ns();
	EXPECT_UINT(drain(false), 3);
	EXPECT_STR(name_of(&ev[0]), "inner");
	EXPECT_STR(name_of(&ev[1]), "outer");
	EXPECT_STR(name_of(&ev[2]), "other domain");
	EXPECT(t0 <= ev[1].start_ns && ev[1].start_ns <= ev[0].start_ns && ev[0].start_ns <= t1);
	EXPECT(t1 <= ev[0].end_ns && ev[0].end_ns <= ev[1].end_ns && ev[1].end_ns <= t2);
	EXPECT_UINT(ev[0].tid, gettid());
	EXPECT_UINT(ev[0].kind, WIRE_KIND_RANGE);
	EXPECT_UINT(ev[0].flags, 0);
	EXPECT_UINT(drain(false), 0);
}

struct class_row {
	enum prof_source source;
	const char *name;
	uint8_t type, flags;
	const char *stored;
};

static void test_classes(void)
{
	static const struct class_row rows[] = {
		{ PROF_SOURCE_TORCH, LOADER, WIRE_RANGE_LOADER, 0, LOADER },
		{ PROF_SOURCE_TORCH, "enumerate(DataPipe)#X", WIRE_RANGE_LOADER, 0,
		  "enumerate(DataPipe)#X" },
		{ PROF_SOURCE_TORCH, "enumerate(DataLoader)", WIRE_RANGE_USER, 0,
		  "enumerate(DataLoader)" },
		{ PROF_SOURCE_TORCH, "my " LOADER, WIRE_RANGE_USER, 0, "my " LOADER },
		{ PROF_SOURCE_TORCH, "ProfilerStep#12", WIRE_RANGE_STEP, 0, "ProfilerStep#12" },
		{ PROF_SOURCE_TORCH, "Optimizer.step#SGD.step", WIRE_RANGE_OPTIMIZER, 0,
		  "Optimizer.step#SGD.step" },
		{ PROF_SOURCE_TORCH, "Optimizer.zero_grad#SGD.zero_grad", WIRE_RANGE_USER, 0,
		  "Optimizer.zero_grad#SGD.zero_grad" },
		{ PROF_SOURCE_TORCH, "a, seq = 5", WIRE_RANGE_USER, 0, "a, seq = 5" },
		{ PROF_SOURCE_ID, LOADER, WIRE_RANGE_LOADER, 0, LOADER },
		{ PROF_SOURCE_ID, LOADER ", op_id = 9", WIRE_RANGE_LOADER, WIRE_EV_FL_OPERATOR,
		  LOADER },
		{ PROF_SOURCE_ID, "aten::add, seq = 5, op_id = 9", WIRE_RANGE_OPERATOR, 0,
		  "aten::add" },
		{ PROF_SOURCE_ID, "aten::add, op_id = 9, sizes = [[2]]", WIRE_RANGE_OPERATOR, 0,
		  "aten::add" },
		{ PROF_SOURCE_ID, "ProfilerStep#3, op_id = 9", WIRE_RANGE_STEP, WIRE_EV_FL_OPERATOR,
		  "ProfilerStep#3" },
		{ PROF_SOURCE_ID, "Optimizer.step#SGD.step, op_id = 1", WIRE_RANGE_OPERATOR, 0,
		  "Optimizer.step#SGD.step" },
		{ PROF_SOURCE_ID, "save checkpoint", WIRE_RANGE_USER, 0, "save checkpoint" },
		{ PROF_SOURCE_ID, "", WIRE_RANGE_USER, 0, "" },
	};
	size_t i, count = sizeof(rows) / sizeof(rows[0]);

	for (i = 0; i < count; i++) {
		prof_mark_begin(rows[i].source, 500 + i, rows[i].name, strlen(rows[i].name));
		prof_mark_end(rows[i].source, 500 + i);
	}
	EXPECT_UINT(drain(false), count);
	for (i = 0; i < n; i++) {
		EXPECT_STR(name_of(&ev[i]), rows[i].stored);
		EXPECT_UINT(ev[i].op, rows[i].type);
		EXPECT_UINT(ev[i].flags, rows[i].flags);
	}
}

static void test_long_name(void)
{
	char name[4096];

	memset(name, 'x', sizeof(name));
	prof_mark_push(0, name, sizeof(name));
	prof_mark_pop(0);
	EXPECT_UINT(drain(false), 1);
	EXPECT_UINT(strlen(name_of(&ev[0])), PROF_MARK_NAME_MAX);
}

/* An open wait comes in pieces that abut; the waits inside it are part of it. */
static void test_pieces(void)
{
	struct prof_ranges_stats before, after;
	int64_t since, last, first, mono = prof_mono_ns();

	prof_ranges_stats(&before);
	begin(1, LOADER);
	since = prof_ranges_loader_since();
	EXPECT(since > 0);
	EXPECT(prof_ranges_loader_mono() >= mono && prof_ranges_loader_mono() <= prof_mono_ns());
	EXPECT_UINT(drain(false), 1);
	first = ev[0].start_ns;
	last = ev[0].end_ns;
	EXPECT_INT(first, since);
	EXPECT_UINT(ev[0].flags, 0);
	begin(2, LOADER); /* nested */
	EXPECT_INT(prof_ranges_loader_since(), since);
	prof_ranges_stats(&after);
	EXPECT_UINT(after.loader_open, 1);
	EXPECT_INT(after.loader_since_ns, since);
	EXPECT_UINT(drain(false), 1);
	EXPECT_INT(ev[0].start_ns, last);
	EXPECT(ev[0].end_ns > last);
	EXPECT_UINT(ev[0].flags, WIRE_EV_FL_CONT);
	last = ev[0].end_ns;
	end(2);
	EXPECT_INT(prof_ranges_loader_since(), since);
	end(1);
	EXPECT_INT(prof_ranges_loader_since(), 0);
	EXPECT_INT(prof_ranges_loader_mono(), 0);
	EXPECT_UINT(drain(false), 1);
	EXPECT_INT(ev[0].start_ns, last);
	EXPECT_UINT(ev[0].flags, WIRE_EV_FL_CONT);
	last = ev[0].end_ns;
	prof_ranges_stats(&after);
	EXPECT_UINT(after.loader_waits - before.loader_waits, 1);
	EXPECT_INT(after.loader_wait_ns - before.loader_wait_ns, last - first);
	EXPECT_UINT(after.loader_open, 0);
}

/* A chain of data pipes, deeper than what is told apart, and waits that do not nest. */
static void test_nested_waits(void)
{
	struct prof_ranges_stats before, after;
	uint64_t i;

	prof_ranges_stats(&before);
	for (i = 0; i < 40; i++)
		begin(100 + i, "enumerate(DataPipe)#Mapper");
	for (i = 40; i--;)
		end(100 + i);
	EXPECT_INT(prof_ranges_loader_since(), 0);
	drain(false);
	EXPECT_UINT(n, 1 + 8);
	begin(1, LOADER);
	begin(2, LOADER);
	end(1);
	EXPECT_INT(prof_ranges_loader_since(), 0);
	end(2);
	begin(2, LOADER);
	end(2);
	EXPECT_UINT(drain(false), 2);
	drain(false);
	EXPECT_UINT(drain(false), 0);
	prof_ranges_stats(&after);
	EXPECT_UINT(after.loader_waits - before.loader_waits, 3);
	EXPECT_UINT(after.dropped - before.dropped, 0);
	begin(1, LOADER); /* its end is never seen, but its place is used again */
	begin(1, LOADER);
	end(1);
	EXPECT_INT(prof_ranges_loader_since(), 0);
	EXPECT_UINT(drain(false), 1);
}

static int64_t shift(int64_t t)
{
	return t - 1000000000;
}

static void test_axis(void)
{
	int64_t t0 = now_ns(), start;

	begin(1, LOADER);
	n = 0;
	prof_ranges_drain(names, shift, keep, NULL, false);
	REQUIRE(n == 1);
	start = ev[0].start_ns;
	EXPECT(start >= shift(t0) && ev[0].end_ns <= shift(now_ns()));
	t0 = ev[0].end_ns;
	end(1);
	n = 0;
	prof_ranges_drain(names, shift, keep, NULL, false);
	REQUIRE(n == 1);
	EXPECT_INT(ev[0].start_ns, t0);
}

/* RecordFunctions need not nest, and may end on another thread. */
static void *end_9(void *arg)
{
	prof_mark_end(PROF_SOURCE_TORCH, 9);
	prof_mark_end(PROF_SOURCE_ID, 10);
	prof_mark_end(PROF_SOURCE_ID, 11); /* was never begun */
	return arg;
}

static void test_not_nested(void)
{
	pthread_t t;
	uint64_t lost = dropped();
	size_t i, count = 0, rounds;

	begin(5, "a");
	begin(6, "b");
	end(5);
	begin(9, "moves");
	end(6);
	prof_mark_begin(PROF_SOURCE_ID, 10, "id", 2);
	REQUIRE(!pthread_create(&t, NULL, end_9, NULL));
	pthread_join(t, NULL);
	for (rounds = 0; rounds < 3; rounds++) {
		drain(false);
		for (i = 0; i < n; i++)
			EXPECT_UINT(ev[i].tid, gettid()); /* the thread that began it */
		count += n;
	}
	EXPECT_UINT(count, 4);
	begin(5, "lost end");
	begin(5, "same place"); /* so the first one's end was never seen */
	end(5);
	EXPECT_UINT(drain(false), 1);
	EXPECT_STR(name_of(&ev[0]), "same place");
	EXPECT_UINT(dropped() - lost, 1);
}

/* A flood without a drain: what comes out is right, what does not is counted. */
static void test_flood(void)
{
	const uint32_t ranges = 20000;
	uint64_t lost = dropped();
	uint32_t i, last = 0, outer = 0;
	char name[32];

	atomic_store(&wakes, 0);
	prof_mark_push(3, "outer", 5);
	for (i = 1; i <= ranges; i++) {
		snprintf(name, sizeof(name), "r %u", i);
		prof_mark_push(0, name, strlen(name));
		prof_mark_pop(0);
	}
	prof_mark_pop(3); /* found no room, so outer is not to be trusted */
	EXPECT_INT(atomic_load(&wakes), 1);
	drain(false);
	EXPECT(n > 1000);
	for (i = 0; i < n; i++) {
		uint32_t number = (uint32_t)strtoul(name_of(&ev[i]) + 2, NULL, 10);

		outer += !number;
		EXPECT(!number || number > last);
		EXPECT(ev[i].end_ns - ev[i].start_ns < 1000000000);
		last = number ? number : last;
	}
	EXPECT_UINT(outer, 0);
	prof_mark_push(0, "after", 5);
	prof_mark_pop(0);
	drain(false);
	EXPECT_UINT(n, 1);
	EXPECT_STR(name_of(&ev[0]), "after");
	EXPECT(dropped() - lost + last >= ranges);
}

/* Threads come and go: every range arrives, and the logs are taken back. */
static void *one_range(void *arg)
{
	prof_mark_push((uintptr_t)arg, "short-lived", 11);
	prof_mark_pop((uintptr_t)arg);
	prof_mark_push((uintptr_t)arg, LOADER, strlen(LOADER)); /* dies inside */
	return NULL;
}

static void test_thread_exit(void)
{
	struct prof_ranges_stats s;
	pthread_t t[40];
	size_t got = 0, k;
	int i, j;

	for (i = 0; i < 10; i++) {
		for (j = 0; j < 40; j++)
			REQUIRE(!pthread_create(&t[j], NULL, one_range, (void *)(uintptr_t)j));
		for (j = 0; j < 40; j++)
			pthread_join(t[j], NULL);
		for (j = 0; j < 3; j++) {
			drain(false);
			for (k = 0; k < n; k++)
				got += ev[k].op == WIRE_RANGE_USER;
		}
	}
	EXPECT_UINT(got, 400);
	drain(false);
	EXPECT_UINT(n, 0);
	EXPECT_INT(prof_ranges_loader_since(), 0);
	prof_ranges_stats(&s);
	EXPECT_UINT(s.loader_open, 0);
	EXPECT(s.threads <= 1);
	EXPECT(s.bytes <= (32u << 20));
}

/* In place of the C library's: a thread asks for its id where it looks for a log. */
static _Thread_local unsigned int searches;

long syscall(long number, ...)
{
	long (*real)(long number, ...), a[6];
	va_list arguments;
	int i;

	*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	va_start(arguments, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(arguments, long);
	va_end(arguments);
	searches += number == SYS_gettid;
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/*
 * A thread without a log looks for one once, and again only when one has got free: its marks cost
 * next to nothing meanwhile.
 */
static pthread_barrier_t taken, freed;
static atomic_uint searched;

static void *go_without(void *arg)
{
	unsigned int before;
	int i;

	prof_mark_push(0, "first", 5);
	pthread_barrier_wait(&taken);
	before = searches;
	for (i = 0; i < 1000; i++) {
		prof_mark_push(0, "again", 5);
		prof_mark_pop(0);
	}
	atomic_fetch_add(&searched, searches - before);
	pthread_barrier_wait(&taken);
	return arg;
}

static void *come_late(void *arg)
{
	int refused = prof_mark_push(0, "refused", 7);

	pthread_barrier_wait(&freed);
	pthread_barrier_wait(&freed);
	*(bool *)arg = refused < 0 && prof_mark_push(0, "late", 4) == 0;
	prof_mark_pop(0);
	return arg;
}

static void no_log_to_be_had(void)
{
	enum {
		THREADS = PROF_RANGE_LOGS + 20
	};
	pthread_t t[THREADS], late;
	bool served = false;
	int i;

	for (i = 0; i < 3; i++)
		drain(false);
	pthread_barrier_init(&taken, NULL, THREADS + 1);
	pthread_barrier_init(&freed, NULL, 2);
	for (i = 0; i < THREADS; i++)
		REQUIRE(!pthread_create(&t[i], NULL, go_without, NULL));
	pthread_barrier_wait(&taken);
	REQUIRE(!pthread_create(&late, NULL, come_late, &served));
	pthread_barrier_wait(&freed);
	pthread_barrier_wait(&taken);
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	EXPECT_UINT(atomic_load(&searched), 0);
	for (i = 0; i < 3; i++)
		drain(false);
	pthread_barrier_wait(&freed);
	pthread_join(late, NULL);
	EXPECT(served);
	drain(false);
	drain(false);
	pthread_barrier_destroy(&taken);
	pthread_barrier_destroy(&freed);
}

/* More threads at once than logs: the rest is counted. */
static pthread_barrier_t everyone;

static void *hold_log(void *arg)
{
	prof_mark_push(0, "held", 4);
	pthread_barrier_wait(&everyone);
	prof_mark_pop(0);
	return arg;
}

static void test_too_many_threads(void)
{
	enum {
		THREADS = PROF_RANGE_LOGS + 20
	};
	pthread_t t[THREADS];
	uint64_t lost = dropped();
	int i;

	drain(false);
	pthread_barrier_init(&everyone, NULL, THREADS);
	for (i = 0; i < THREADS; i++)
		REQUIRE(!pthread_create(&t[i], NULL, hold_log, NULL));
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	drain(false);
	EXPECT(n >= PROF_RANGE_LOGS - 2 && n <= PROF_RANGE_LOGS);
	EXPECT_UINT(n + dropped() - lost, THREADS);
	pthread_barrier_destroy(&everyone);
	no_log_to_be_had();
}

/*
 * Waits that open and close while the sender drains: no piece reaches beyond the wait's end, pieces
 * abut, and together they are exactly the wait.
 */
#define WAITS 40000u

static int64_t wait_from[WAITS], wait_to[WAITS]; /* the thread's own clock, around each wait */
static atomic_bool waits_done;
static atomic_uint drains;

/* On a busy machine the drains fall behind, and dropped waits are not what is tested here. */
static void await_drains(void)
{
	unsigned int seen = atomic_load(&drains);

	while (atomic_load(&drains) - seen < 2)
		usleep(50);
}

static void *many_waits(void *arg)
{
	uint32_t i;

	for (i = 0; i < WAITS; i++) {
		wait_from[i] = now_ns();
		begin(i % 7 + 1, LOADER);
		while (now_ns() - wait_from[i] < i % 4000)
			;
		if (i % 512 == 0)
			await_drains();
		end(i % 7 + 1);
		wait_to[i] = now_ns();
	}
	atomic_store(&waits_done, true);
	return arg;
}

static void test_pieces_race(void)
{
	pthread_t t;
	uint32_t i, w = 0;
	size_t all = 0;
	bool last = false;
	int64_t at = 0;

	atomic_store(&waits_done, false);
	drain(false);
	REQUIRE(!pthread_create(&t, NULL, many_waits, NULL));
	n = 0;
	while (!last) {
		last = atomic_load(&waits_done);
		all += prof_ranges_drain(names, NULL, keep, NULL, false);
		atomic_fetch_add(&drains, 1);
	}
	pthread_join(t, NULL);
	EXPECT_UINT(all, n);
	for (i = 0; i < n && !t_failures; i++) {
		bool cont = ev[i].flags & WIRE_EV_FL_CONT;

		w += !cont && i;
		REQUIRE(w < WAITS);
		if (cont)
			EXPECT_INT(ev[i].start_ns, at);
		EXPECT(ev[i].start_ns >= wait_from[w]);
		EXPECT(ev[i].end_ns <= wait_to[w]);
		at = ev[i].end_ns;
	}
	EXPECT_UINT(w + 1, WAITS);
	EXPECT(n > WAITS); /* else the test has not met an open wait */
	printf("%u waits in %zu pieces\n", WAITS, n);
}

static void test_final(void)
{
	begin(1, "user, open at exit");
	begin(2, LOADER);
	prof_mark_begin(PROF_SOURCE_ID, 3, "started", 7);
	EXPECT_UINT(drain(false), 1);
	EXPECT_UINT(drain(true), 3);
	EXPECT_UINT(ev[0].flags, WIRE_EV_FL_CONT);
	EXPECT_STR(name_of(&ev[1]), "user, open at exit");
	EXPECT_STR(name_of(&ev[2]), "started");
	end(2);
	end(1);
	prof_mark_end(PROF_SOURCE_ID, 3);
	EXPECT_UINT(drain(false), 0);
	EXPECT_UINT(drain(false), 0);
}

/* The table of names stays bounded whatever the program calls its ranges. */
static void test_names(void)
{
	char name[32];
	uint32_t i, k;

	for (i = 0; i < 200; i++) {
		for (k = 0; k < 1000; k++) {
			snprintf(name, sizeof(name), "batch %u of epoch", i * 1000 + k);
			prof_mark_push(0, name, strlen(name));
			prof_mark_pop(0);
		}
		EXPECT_UINT(drain(false), 1000);
	}
	EXPECT(wire_strtab_count(names) < 90000);
	EXPECT_STR(name_of(&ev[999]), "batch # of epoch");
}

static void test_fork(void)
{
	pid_t child;
	int status;

	begin(1, LOADER);
	prof_ranges_fork_prepare();
	child = fork();
	if (!child) {
		prof_ranges_dead();
		begin(2, "in the child");
		end(2);
		_exit(prof_marks_on() || prof_ranges_loader_since() || drain(false) != 0);
	}
	prof_ranges_fork_parent();
	REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
	EXPECT_INT(status, 0);
	end(1);
	EXPECT_UINT(drain(false), 1);
}

int main(void)
{
	return RUN(test_before_init, test_init, test_pairs, test_classes, test_long_name,
		   test_pieces, test_nested_waits, test_axis, test_not_nested, test_flood,
		   test_thread_exit, test_too_many_threads, test_pieces_race, test_final, test_fork,
		   test_names);
}
