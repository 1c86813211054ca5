/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool of CUPTI buffers: bounds, zeroing, what is still out, discards, many threads, and other
 * clients that get hold of buffers.
 */
#include "cupti/bufpool.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "cupti/bufblock.h"

#include "harness.h"

static bool all_zero(const uint8_t *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (p[i])
			return false;
	return true;
}

static void complete(uint8_t *buffer, size_t valid)
{
	uint32_t id = prof_pool_find(buffer, valid);

	if (id != PROF_POOL_NONE)
		prof_pool_queue(id, valid);
}

static unsigned int drain(void)
{
	struct prof_pool_done d;
	unsigned int n = 0;

	for (; prof_pool_next(&d); n++)
		prof_pool_give_back(&d);
	return n;
}

/* While torch.profiler may come, even a large buffer is handed out as a small one. */
static void test_limit(void)
{
	struct prof_pool_done d;
	size_t size;
	uint8_t *b;

	prof_pool_want(1 << 20);
	prof_pool_limit(16384);
	b = prof_pool_take(1000, &size);
	EXPECT_UINT(size, 16384);
	memset(b, 0xab, size);
	complete(b, size);
	prof_pool_limit(0);
	REQUIRE(prof_pool_next(&d));
	EXPECT_UINT(d.valid, 16384);
	prof_pool_give_back(&d);
	b = prof_pool_take(1000, &size);
	EXPECT_UINT(size, 1 << 20);
	EXPECT(all_zero(b, size));
	complete(b, 0);
	drain();
	prof_pool_want(0);
}

static void test_one(void)
{
	struct prof_pool_done d;
	uint64_t count;
	size_t size;
	uint8_t *b;

	EXPECT_INT(prof_pool_init(false), 0);
	EXPECT(prof_pool_oldest_out() == INT64_MAX);
	EXPECT(!prof_pool_next(&d));
	prof_pool_want(20000);
	b = prof_pool_take(1000, &size);
	EXPECT_UINT(size, 16384);
	EXPECT_INT((uintptr_t)b % 8, 0);
	EXPECT(all_zero(b, size));
	EXPECT_INT(prof_pool_oldest_out(), 1000);
	memset(b, 0xab, 100);
	complete(b, 100);
	EXPECT_INT(prof_pool_oldest_out(), 1000); /* until the sender has it */
	REQUIRE(prof_pool_next(&d));
	EXPECT(prof_pool_oldest_out() == INT64_MAX);
	EXPECT(d.data == b);
	EXPECT_UINT(d.valid, 100);
	EXPECT_INT(d.request_ns, 1000);
	prof_pool_give_back(&d);
	EXPECT(all_zero(b, size));
	EXPECT(prof_pool_discards(&count) == INT64_MAX);
}

static void test_order(void)
{
	struct prof_pool_done d;
	uint8_t *b[5];
	size_t size;
	int i;

	for (i = 0; i < 5; i++)
		b[i] = prof_pool_take(i + 1, &size);
	for (i = 4; i >= 0; i--)
		complete(b[i], 8);
	for (i = 4; i >= 0; i--) {
		REQUIRE(prof_pool_next(&d));
		EXPECT(d.data == b[i]);
		EXPECT_INT(prof_pool_oldest_out(), i ? 1 : INT64_MAX);
		prof_pool_give_back(&d);
	}
}

static void test_sizes(void)
{
	static const struct {
		size_t want, get;
	} table[] = { { 0, 16384 },	  { 65535, 16384 },   { 65536, 65536 },
		      { 262144, 262144 }, { 900000, 262144 }, { (size_t)1 << 30, 1048576 } };
	size_t size, i;
	uint8_t *b;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		prof_pool_want(table[i].want);
		EXPECT_UINT(prof_pool_wanted(), table[i].get);
		b = prof_pool_take(1, &size);
		EXPECT_UINT(size, table[i].get);
		complete(b, 0); /* an empty buffer comes back too */
		EXPECT_UINT(drain(), 1);
	}
	prof_pool_want(0);
}

#define MANY 400

static void test_bound(void)
{
	static uint8_t *b[MANY];
	struct prof_pool_stats s;
	uint64_t discards, count;
	size_t size[MANY];
	int i, j;

	prof_pool_stats(&s);
	discards = s.discards;
	for (i = 0; i < MANY; i++) {
		b[i] = prof_pool_take(5000 + i, &size[i]);
		REQUIRE(b[i]);
		b[i][size[i] - 1] = 1;
	}
	prof_pool_stats(&s);
	EXPECT(s.discards > discards);
	EXPECT_UINT(s.out + (s.discards - discards), MANY);
	EXPECT(s.touched_bytes <= PROF_POOL_BYTES);
	/* No buffer is given twice, but for the last discard. */
	for (i = 0; i < MANY; i++)
		for (j = i + 1; j < MANY && b[j] != b[MANY - 1]; j++)
			EXPECT(b[i] != b[j]);
	EXPECT_INT(prof_pool_discards(&count), 5000 + (int)s.out);
	EXPECT_UINT(count, s.discards - discards);
	/* They are still out, so what they get is still lost. */
	EXPECT_INT(prof_pool_discards(&count), 5000 + (int)s.out);
	EXPECT_UINT(count, 0);
	for (i = 0; i < MANY; i++)
		complete(b[i], size[i]);
	EXPECT_UINT(drain(), s.out);
	EXPECT(prof_pool_discards(&count) < INT64_MAX); /* they came back since */
	EXPECT(prof_pool_discards(&count) == INT64_MAX);
	prof_pool_stats(&s);
	EXPECT_UINT(s.out, 0);
	EXPECT(s.lost_bytes > 0);
	b[0] = prof_pool_take(1, &size[0]);
	EXPECT(all_zero(b[0], size[0]));
	complete(b[0], 0);
	drain();
}

static void test_foreign(void)
{
	static uint8_t alien[64];
	struct prof_pool_stats s;

	EXPECT_UINT(prof_pool_find(alien, 64), PROF_POOL_NONE);
	prof_pool_stats(&s);
	EXPECT_UINT(s.foreign, 1);
}

/* What is given up is never ours again, whatever CUPTI does with it. */
static void test_abandon(void)
{
	struct prof_pool_done d;
	struct prof_pool_stats s;
	int64_t oldest;
	size_t size;
	uint8_t *a = prof_pool_take(70, &size), *b = prof_pool_take(60, &size), *c;

	EXPECT_UINT(prof_pool_abandon(&oldest), 2);
	EXPECT_INT(oldest, 60);
	EXPECT(prof_pool_oldest_out() == INT64_MAX);
	c = prof_pool_take(80, &size);
	EXPECT(c != a && c != b);
	memset(a, 0xab, size);
	complete(c, 8);
	complete(a, 8); /* it comes back after all */
	REQUIRE(prof_pool_next(&d));
	EXPECT(d.data == c);
	prof_pool_give_back(&d);
	EXPECT(!prof_pool_next(&d));
	EXPECT_UINT(a[0], 0xab);
	EXPECT_UINT(a[size - 1], 0xab);
	prof_pool_stats(&s);
	EXPECT_UINT(s.gone, 2);
	EXPECT_UINT(s.gone_bytes, 2 * 16384);
}

/*
 * ---- in the hands of other clients ------------------------------------------------------------
 */

/*
 * An allocator that keeps what is freed does not show it. A sanitizer needs more address space than
 * the limit of a child leaves.
 */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KEEPS_FREED 1
#endif
#if __has_feature(thread_sanitizer)
#define WANTS_SPACE 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(KEEPS_FREED)
#undef KEEPS_FREED
#define KEEPS_FREED 1
#else
#define KEEPS_FREED 0
#endif
#if defined(__SANITIZE_THREAD__) || defined(WANTS_SPACE)
#undef WANTS_SPACE
#define WANTS_SPACE 1
#else
#define WANTS_SPACE 0
#endif

static uint32_t gone(void)
{
	struct prof_pool_stats s;

	prof_pool_stats(&s);
	return s.gone;
}

static bool taken(void)
{
	struct prof_pool_stats s;

	prof_pool_stats(&s);
	return s.taken;
}

/* It writes all of a buffer, as large as it makes its own, and frees it late. */
static void test_recycles(void)
{
	uint32_t before = gone();
	int64_t oldest;
	size_t size;
	uint8_t *a = prof_pool_take(1, &size);

	EXPECT_UINT(prof_pool_abandon(&oldest), 1);
	memset(a, 0xff, PROF_BLOCK_BYTES);
	complete(a, PROF_BLOCK_BYTES);
	EXPECT_UINT(drain(), 0);
	prof_pool_refill();
	EXPECT_UINT(gone(), before + 1);
	free(a);
	prof_pool_refill();
	if (!KEEPS_FREED)
		EXPECT_UINT(gone(), before);
}

#define LARGE 21 /* buffers of 1 MiB */

/* Freed before anybody noticed; malloc may give the same memory again, to us. */
static void test_address_again(void)
{
	uint32_t before = gone();
	struct prof_pool_done d;
	uint8_t *b[LARGE], *plug[8], *again;
	int64_t oldest;
	size_t size;
	int i;

	prof_pool_want((size_t)1 << 20);
	for (i = 0; i < 8; i++) /* what others have freed before is not there, either */
		REQUIRE(!prof_block_new(1, &plug[i]));
	prof_pool_take(1, &size);
	prof_pool_abandon(&oldest); /* so that one of that size has to get a new block */
	for (i = 0; i < LARGE - 1; i++)
		b[i] = prof_pool_take(2, &size);
	free(b[0]);
	EXPECT(!taken());
	again = prof_pool_take(3, &size);
	EXPECT_UINT(size, 1 << 20);
	EXPECT(KEEPS_FREED || taken()); /* which shows that another client has been there ... */
	EXPECT_INT(prof_pool_oldest_out(), 2); /* ... and what it took is waited for, until told */
	EXPECT(KEEPS_FREED || again == b[0]);
	if (KEEPS_FREED)
		prof_pool_abandon(&oldest);
	complete(again, 8);
	EXPECT_INT(prof_pool_next(&d), !KEEPS_FREED);
	EXPECT(KEEPS_FREED || d.data == again);
	if (!KEEPS_FREED)
		prof_pool_give_back(&d);
	complete(again, 8); /* a second time it is none of ours: neither as the old one */
	EXPECT(!prof_pool_next(&d));
	for (i = 1; i < LARGE - 1; i++)
		complete(b[i], 8);
	if (!KEEPS_FREED) {
		EXPECT_UINT(drain(), LARGE - 2);
		prof_pool_refill(); /* the old one counts as freed, for we have its memory */
		EXPECT_UINT(gone(), before + 1);
		EXPECT_INT(prof_pool_oldest_out(), 2);
		prof_pool_abandon(&oldest);
		EXPECT_INT(oldest, 2);
	}
	EXPECT(prof_pool_oldest_out() == INT64_MAX);
	EXPECT(!taken());
	for (i = 0; i < 8; i++)
		free(plug[i]);
	prof_pool_want(0);
}

/* Session after session takes some, for good or until it frees them: there are always others. */
static void test_sessions(void)
{
	uint32_t before = gone();
	struct prof_pool_stats s, t;
	uint8_t *b[3];
	int64_t oldest;
	size_t size;
	int i, k;

	prof_pool_stats(&s);
	for (i = KEEPS_FREED ? 370 : 0; i < 400; i++) { /* there each of them costs ms */
		for (k = 0; k < 3; k++)
			b[k] = prof_pool_take(1, &size);
		EXPECT_UINT(prof_pool_abandon(&oldest), 3);
		for (k = 0; k < 3 && i < 300; k++)
			free(b[k]);
		prof_pool_refill();
	}
	prof_pool_stats(&t);
	EXPECT_UINT(t.discards, s.discards);
	if (!KEEPS_FREED)
		EXPECT_UINT(gone(), before + 3 * 100);
}

/* A discard that another client holds says nothing of what comes after. */
static void test_lost_discards(void)
{
	static uint8_t *b[MANY];
	int64_t oldest;
	uint64_t count;
	size_t size;
	int i;

	for (i = 0; i < MANY; i++)
		b[i] = prof_pool_take(9000 + i, &size);
	EXPECT(prof_pool_discards(&count) < INT64_MAX);
	prof_pool_abandon(&oldest);
	EXPECT_INT(oldest, 9000);
	EXPECT(prof_pool_discards(&count) == INT64_MAX);
	prof_pool_refill();
	b[0] = prof_pool_take(1, &size);
	complete(b[0], 0);
	EXPECT_UINT(drain(), 1);
	EXPECT(prof_pool_discards(&count) == INT64_MAX);
}

/* Only what may be handed out has memory. */
static void test_lean(void)
{
	static unsigned char vec[PROF_BLOCK_BYTES / 4096];
	size_t bytes, i, n = 0;
	volatile uintptr_t was;
	uint8_t *block;
	uintptr_t at;

	REQUIRE(!prof_block_new(16384, &block));
	was = (uintptr_t)block;
	at = (was + 16384 + 4095) & ~(uintptr_t)4095;
	bytes = (was + PROF_BLOCK_BYTES - at) & ~(size_t)4095;
	EXPECT(all_zero(block, 16384));
	REQUIRE(sysconf(_SC_PAGESIZE) != 4096 || !mincore((void *)at, bytes, vec));
	for (i = 0; i < bytes / 4096; i++)
		n += vec[i] & 1;
	EXPECT_UINT(n, 0);
	EXPECT(!prof_block_freed(block));
	free(block);
	EXPECT(KEEPS_FREED || prof_block_freed((const uint8_t *)was));
}

/*
 * ---- what is not needed -----------------------------------------------------------------------
 */

#define BURST 60
#define READY 6 /* of 16 KiB, and one to discard */

static size_t touched(void)
{
	struct prof_pool_stats s;

	prof_pool_stats(&s);
	return s.touched_bytes;
}

/* So many of 16 KiB at once. They come back. */
static void burst(uint8_t **b, int n)
{
	size_t size;
	int i;

	for (i = 0; i < n; i++)
		b[i] = prof_pool_take(1, &size);
	for (i = 0; i < n; i++)
		complete(b[i], 8);
	drain();
}

/* Time that passes in these tests. */
static int64_t later(int64_t ns)
{
	static int64_t now = PROF_POOL_IDLE_NS;

	return now += ns;
}

static void trim_all(void)
{
	size_t before;

	do {
		before = touched();
		prof_pool_trim(later(1));
	} while (touched() < before);
}

static void test_trim(void)
{
	uint8_t *b[BURST];
	size_t most;
	int i;

	burst(b, BURST);
	prof_pool_trim(later(PROF_POOL_IDLE_NS)); /* until now they may have been needed */
	most = touched();
	EXPECT(most >= BURST * 16384);
	prof_pool_trim(later(PROF_POOL_IDLE_NS - 1));
	EXPECT_UINT(touched(), most);
	prof_pool_trim(later(1));
	EXPECT(touched() < most && touched() > most / 2); /* not all at once */
	trim_all();
	EXPECT_UINT(touched(), READY * 16384 + 65536);
	for (i = READY; i < BURST; i++) { /* the first ones had been there before */
		EXPECT(KEEPS_FREED || prof_block_freed(b[i]));
		EXPECT_UINT(prof_pool_find(b[i], 8), PROF_POOL_NONE);
	}
}

/* Of what was free, as much stays as was taken at one time. */
static void test_trim_needed(void)
{
	uint8_t *b[BURST], *held;
	size_t size;

	burst(b, BURST);
	trim_all();
	prof_pool_trim(later(PROF_POOL_IDLE_NS));
	held = prof_pool_take(1, &size);
	burst(b, 10);
	prof_pool_trim(later(PROF_POOL_IDLE_NS));
	trim_all();
	EXPECT_UINT(touched(), (1 + 10 + READY) * 16384 + 65536);
	memset(held, 1, size); /* CUPTI has it yet */
	complete(held, size);
	EXPECT_UINT(drain(), 1);
	prof_pool_trim(later(PROF_POOL_IDLE_NS)); /* it was needed in these seconds, ... */
	trim_all();
	EXPECT_UINT(touched(), (1 + READY) * 16384 + 65536);
	prof_pool_trim(later(PROF_POOL_IDLE_NS)); /* ... not in those */
	trim_all();
	EXPECT_UINT(touched(), READY * 16384 + 65536);
}

/*
 * ---- in processes of their own ----------------------------------------------------------------
 */

static void in_child(int (*fn)(void), int want)
{
	pid_t pid = fork();
	int status = -1;

	if (!pid)
		_exit(fn());
	REQUIRE(pid > 0 && waitpid(pid, &status, 0) == pid);
	REQUIRE(WIFEXITED(status));
	EXPECT_INT(WEXITSTATUS(status), want);
}

/* A CUPTI that takes NULL gets no buffer twice. */
static int refuses(void)
{
	static uint8_t *b[MANY];
	size_t size;
	int n, i;

	if (prof_pool_init(true))
		return 1;
	for (n = 0; n < MANY && (b[n] = prof_pool_take(1, &size)); n++)
		for (i = 0; i < n; i++)
			if (b[i] == b[n])
				return 2;
	return n == 277 && !size ? 0 : 3;
}

static int limited(void)
{
	struct rlimit limit = { (rlim_t)6 << 30, (rlim_t)6 << 30 };

	return setrlimit(RLIMIT_AS, &limit) ? 1 : -prof_pool_init(false);
}

static int locked(void)
{
	return mlockall(MCL_FUTURE) ? ENOMEM : -prof_pool_init(false);
}

static long faults(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return use.ru_minflt;
}

/* Where a block costs all of its pages, no more is asked for than now and then. */
static int locked_late(void)
{
	static uint8_t *b[MANY];
	long before, one;
	size_t size;
	int i;

	if (prof_pool_init(false))
		return 1;
	burst(b, BURST);
	prof_pool_trim(later(0));
	prof_pool_trim(later(PROF_POOL_IDLE_NS));
	if (mlockall(MCL_FUTURE))
		return 0; /* no right to */
	trim_all();
	if (touched() != READY * 16384 + 65536)
		return 2;
	for (i = 0; i < READY; i++)
		prof_pool_take(1, &size);
	before = faults();
	prof_pool_refill();
	one = faults() - before;
	if (one < 8) /* of 2 MiB, if not of 4 KiB */
		return 3;
	for (i = 0; i < 300; i++) {
		prof_pool_take(1, &size);
		prof_pool_refill();
	}
	return faults() - before > 12 * one ? 4 : 0;
}

static void test_children(void)
{
	in_child(refuses, 0);
	if (!WANTS_SPACE)
		in_child(limited, ENOSPC);
	if (!KEEPS_FREED && !WANTS_SPACE) /* there mlockall does nothing */
		in_child(locked, ENOMEM);
	if (!KEEPS_FREED && !WANTS_SPACE)
		in_child(locked_late, 0);
}

#define THREADS 4
#define ROUNDS (WANTS_SPACE ? 3000 : 20000) /* that sanitizer is slow, and sees more in each */

static atomic_bool stop;
static atomic_uint_fast64_t given;

static void *host(void *unused)
{
	uint64_t stamp = (uint64_t)(uintptr_t)&stamp;
	size_t size;
	int i;

	(void)unused;
	for (i = 0; i < ROUNDS; i++) {
		uint8_t *b = prof_pool_take(i + 1, &size);
		uint32_t id;

		memcpy(b, &stamp, sizeof(stamp));
		memcpy(b + size - 8, &stamp, sizeof(stamp));
		id = prof_pool_find(b, size);
		if (id == PROF_POOL_NONE)
			continue;
		atomic_fetch_add(&given, 1);
		prof_pool_queue(id, size);
	}
	return NULL;
}

static void *sender(void *taken)
{
	uint64_t first, last, lost, *n = taken;
	struct prof_pool_stats s;
	struct prof_pool_done d;
	unsigned int turn = 0;
	bool more = true;

	while (more) {
		more = !atomic_load(&stop);
		if (++turn % 64 == 0)
			prof_pool_trim(later(PROF_POOL_IDLE_NS));
		prof_pool_stats(&s);
		prof_pool_want(s.queued % 2 ? 16384 : 1 << 18);
		EXPECT(prof_pool_oldest_out() > 0);
		EXPECT(prof_pool_discards(&lost) > 0);
		while (prof_pool_next(&d)) {
			memcpy(&first, d.data, 8);
			memcpy(&last, d.data + d.valid - 8, 8);
			EXPECT_UINT(first, last);
			EXPECT(all_zero(d.data + 8, 256));
			prof_pool_give_back(&d);
			(*n)++;
		}
	}
	return NULL;
}

static void test_threads(void)
{
	pthread_t hosts[THREADS], reader;
	struct prof_pool_stats s;
	uint64_t taken = 0;
	int i;

	REQUIRE(!pthread_create(&reader, NULL, sender, &taken));
	for (i = 0; i < THREADS; i++)
		REQUIRE(!pthread_create(&hosts[i], NULL, host, NULL));
	for (i = 0; i < THREADS; i++)
		pthread_join(hosts[i], NULL);
	atomic_store(&stop, true);
	pthread_join(reader, NULL);
	EXPECT_UINT(taken, atomic_load(&given));
	prof_pool_stats(&s);
	EXPECT_UINT(s.out, 0);
	EXPECT_UINT(s.queued, 0);
}

int main(void)
{
	int failed =
		RUN(test_children, test_one, test_limit, test_order, test_sizes, test_bound,
		    test_foreign, test_abandon, test_recycles, test_address_again, test_sessions,
		    test_lost_discards, test_lean, test_trim, test_trim_needed, test_threads);

	fflush(NULL);
	if (KEEPS_FREED) /* who looks for leaks reads all 64 MiB of hundreds of blocks */
		_exit(failed);
	return failed;
}
