/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The NVTX tool side against a client that speaks the same interface: every variant, depths, ids,
 * domains and registered strings, before the arm and after, from several threads at once.
 */
#include "ranges/nvtx.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "harness.h"
#include "nvtxmini.h"
#include "ranges/marks.h"
#include "ranges/ranges.h"

#define EVENTS 100000u

static struct wire_strtab *names;
static struct wire_event ev[EVENTS];
static size_t n;

static void keep(void *ctx, const struct wire_event *e)
{
	(void)ctx;
	REQUIRE(n < EVENTS);
	ev[n++] = *e;
}

static size_t drain(void)
{
	n = 0;
	prof_ranges_drain(names, NULL, keep, NULL, false);
	return n;
}

static const char *name_of(const struct wire_event *e)
{
	return wire_strtab_get(names, e->name, NULL);
}

static struct nvtxmini_attributes message(int type, const void *text)
{
	return (struct nvtxmini_attributes){
		.version = 3, .size = 48, .message_type = type, .message = text
	};
}

/* GPUSTARVE_NVTX=0: the program's NVTX finds no function and calls none. */
static void test_switched_off(void)
{
	setenv("GPUSTARVE_NVTX", "0", 1);
	nvtxmini_attach(InitializeInjectionNvtx2);
	EXPECT_UINT(nvtxmini_slots(), 0);
	EXPECT_INT(nvtxmini_push("x"), -2);
	unsetenv("GPUSTARVE_NVTX");
	setenv("GPUSTARVE", "0", 1);
	nvtxmini_attach(InitializeInjectionNvtx2);
	EXPECT_UINT(nvtxmini_slots(), 0);
	unsetenv("GPUSTARVE");
	EXPECT_INT(InitializeInjectionNvtx2(NULL), 1);
}

static void *domain, *registered;

static void test_before_arm(void)
{
	struct nvtxmini_attributes a;

	nvtxmini_attach(InitializeInjectionNvtx2);
	EXPECT_UINT(nvtxmini_slots(), 16);
	EXPECT_INT(nvtxmini_push("early"), -2);
	EXPECT_INT(nvtxmini_pop(), -2);
	EXPECT_UINT(nvtxmini_start("early"), 0);
	nvtxmini_end(0);
	domain = nvtxmini_domain("domain");
	registered = nvtxmini_string(domain, "registered early");
	EXPECT(domain && registered);
	a = message(3, registered);
	EXPECT_INT(nvtxmini_domain_push(domain, &a), -2);
	EXPECT_INT(nvtxmini_domain_pop(domain), -2);
}

static void test_arm(void)
{
	const struct prof_ranges_opts opts = { .nvtx = true };

	names = wire_strtab_new();
	REQUIRE(names && !prof_ranges_init(&opts));
	EXPECT_INT(nvtxmini_pop(), -1); /* of a push before the arm */
	EXPECT_UINT(drain(), 0);
}

static void test_push_pop(void)
{
	struct nvtxmini_attributes ascii = message(1, "attributes"),
				   wide = message(2, L"weit \x20ac");
	struct nvtxmini_attributes old = { .version = 1, .size = 16 };

	EXPECT_INT(nvtxmini_push("plain"), 0);
	EXPECT_INT(nvtxmini_push_wide(L"gr\xfc\xdf"
				      L"e \x1f600"),
		   1);
	EXPECT_INT(nvtxmini_push_attributes(&ascii), 2);
	EXPECT_INT(nvtxmini_push_attributes(&wide), 3);
	EXPECT_INT(nvtxmini_push_attributes(&old), 4);
	EXPECT_INT(nvtxmini_push(NULL), 5);
	EXPECT_INT(nvtxmini_push_attributes(NULL), 6);
	nvtxmini_mark("no range");
	EXPECT_INT(nvtxmini_pop(), 6);
	EXPECT_INT(nvtxmini_pop(), 5);
	EXPECT_INT(nvtxmini_pop(), 4);
	EXPECT_INT(nvtxmini_pop(), 3);
	EXPECT_INT(nvtxmini_pop(), 2);
	EXPECT_INT(nvtxmini_pop(), 1);
	EXPECT_INT(nvtxmini_pop(), 0);
	EXPECT_INT(nvtxmini_pop(), -1);
	REQUIRE(drain() == 7);
	EXPECT_STR(name_of(&ev[3]), "weit \xe2\x82\xac");
	EXPECT_STR(name_of(&ev[4]), "attributes");
	EXPECT_STR(name_of(&ev[5]), "gr\xc3\xbc\xc3\x9f"
				    "e \xf0\x9f\x98\x80");
	EXPECT_STR(name_of(&ev[6]), "plain");
	EXPECT_UINT(ev[6].tid, gettid());
}

static void test_domains(void)
{
	void *other = nvtxmini_domain("other");
	struct nvtxmini_attributes early = message(3, registered), none = message(3, NULL);
	struct nvtxmini_attributes late = message(3, nvtxmini_string_wide(other, L"late"));

	EXPECT(other != domain);
	EXPECT_INT(nvtxmini_domain_push(domain, &early), 0);
	EXPECT_INT(nvtxmini_push("default domain"), 0);
	EXPECT_INT(nvtxmini_domain_push(other, &late), 0);
	EXPECT_INT(nvtxmini_domain_push(domain, &none), 1);
	EXPECT_INT(nvtxmini_pop(), 0);
	EXPECT_INT(nvtxmini_domain_pop(domain), 1);
	EXPECT_INT(nvtxmini_domain_pop(domain), 0);
	EXPECT_INT(nvtxmini_domain_pop(other), 0);
	REQUIRE(drain() == 4);
	EXPECT_STR(name_of(&ev[0]), "default domain");
	EXPECT_STR(name_of(&ev[1]), "");
	EXPECT_STR(name_of(&ev[2]), "registered early");
	EXPECT_STR(name_of(&ev[3]), "late");
	EXPECT(ev[2].start_ns <= ev[0].start_ns && ev[0].end_ns <= ev[2].end_ns);
}

/* ---- communicators ---- */

struct call { /* what NCCL says of an all-reduce */
	uint64_t comm;
	size_t bytes;
	int op, other;
};

struct payload {
	uint64_t schema;
	size_t bytes;
	const void *at;
};

#define SCHEMA ((UINT64_C(1) << 24) + 5)
#define COMM UINT64_C(0xfedcba9876543210)

/* The communicator that the range has in the trace. */
static uint64_t comm_of(void *where, const struct nvtxmini_attributes *a)
{
	EXPECT_INT(nvtxmini_domain_push(where, a), 0);
	EXPECT_INT(nvtxmini_domain_pop(where), 0);
	REQUIRE(drain() == 1);
	EXPECT_STR(name_of(&ev[0]), a->message);
	return ev[0].bytes;
}

static struct nvtxmini_attributes in_payload(const char *name, const struct payload *p)
{
	struct nvtxmini_attributes a = message(1, name);

	a.payload_type = (int32_t)0xDFBD0009u;
	a.reserved = 1;
	a.payload = (uintptr_t)p;
	return a;
}

static void test_communicators(void)
{
	static const char *const call[] = { "ncclAllReduce", "ncclReduceScatter", "ncclBroadcast",
					    "ncclReduce",    "ncclSend",	  "ncclRecv",
					    "ncclGather",    "ncclScatter" };
	static const char *const two[] = { "ncclAllGather", "ncclAlltoAll" };
	struct call c = { COMM, 4096, 0, 0 };
	struct payload p = { SCHEMA, sizeof(c), &c };
	void *nccl = nvtxmini_domain("NCCL");
	struct nvtxmini_attributes a;
	size_t i;

	for (i = 0; i < sizeof(call) / sizeof(call[0]); i++) {
		a = in_payload(call[i], &p);
		EXPECT_UINT(comm_of(nccl, &a), COMM);
	}
	p.bytes = 16;
	for (i = 0; i < sizeof(two) / sizeof(two[0]); i++) {
		a = in_payload(two[i], &p);
		EXPECT_UINT(comm_of(nccl, &a), COMM);
	}
}

/* Every payload that has none, and those of NCCL before 2.25: sizes are no communicators. */
static void test_no_communicator(void)
{
	struct call c = { COMM, 4096, 0, 0 };
	struct payload p = { SCHEMA, sizeof(c), &c }, *data = NULL;
	void *nccl = nvtxmini_domain("NCCL"), *other = nvtxmini_domain("NCCLX");
	struct nvtxmini_attributes a = in_payload("ncclAllReduce", &p), b;

	EXPECT_UINT(comm_of(nccl, &a), COMM);
	EXPECT_UINT(comm_of(other, &a), 0);
	EXPECT_UINT(comm_of(NULL, &a), 0);
	EXPECT_UINT(comm_of((void *)&c, &a), 0); /* a handle that we did not make */
	b = a, b.reserved = 0;
	EXPECT_UINT(comm_of(nccl, &b), 0);
	b = a, b.payload_type = 1; /* an unsigned number */
	EXPECT_UINT(comm_of(nccl, &b), 0);
	b = a, b.payload = (uintptr_t)data;
	EXPECT_UINT(comm_of(nccl, &b), 0);
	b = a, b.message = "ncclCommInitRank";
	EXPECT_UINT(comm_of(nccl, &b), 0);
	b = a, b.message = "ncclAllReduceX";
	EXPECT_UINT(comm_of(nccl, &b), 0);
	p.at = NULL;
	EXPECT_UINT(comm_of(nccl, &a), 0);
	p = (struct payload){ SCHEMA, 16, &c.bytes }; /* size and reduction */
	EXPECT_UINT(comm_of(nccl, &a), 0);
	p = (struct payload){ SCHEMA, 8, &c.bytes };
	b = a, b.message = "ncclAllGather";
	EXPECT_UINT(comm_of(nccl, &b), 0);
	p = (struct payload){ 5, sizeof(c), &c };
	EXPECT_UINT(comm_of(nccl, &a), 0);
	p = (struct payload){ (UINT64_C(1) << 32) + 5, sizeof(c), &c };
	EXPECT_UINT(comm_of(nccl, &a), 0);
}

/* The mark has the communicator behind its name, which may have any length up to the longest. */
static void test_communicator_of_any_name(void)
{
	char name[600];
	size_t len;

	memset(name, 'n', sizeof(name));
	for (len = 0; len < sizeof(name); len++) {
		EXPECT_INT(prof_mark_push_comm(9, name, len, COMM + len), 0);
		EXPECT_INT(prof_mark_pop(9), 0);
		REQUIRE(drain() == 1);
		EXPECT_UINT(ev[0].bytes, COMM + len);
		EXPECT_UINT(strlen(name_of(&ev[0])), len < 511 ? len : 511);
	}
}

static void *end_it(void *id)
{
	nvtxmini_end((uint64_t)(uintptr_t)id);
	return NULL;
}

static void test_start_end(void)
{
	struct nvtxmini_attributes a = message(1, "in a domain");
	uint64_t id[3];
	pthread_t t;

	id[0] = nvtxmini_start("first");
	id[1] = nvtxmini_start_wide(L"second");
	id[2] = nvtxmini_domain_start(domain, &a);
	EXPECT(id[0] && id[1] && id[2] && id[0] != id[1] && id[1] != id[2] && id[0] != id[2]);
	nvtxmini_end(id[0]);
	REQUIRE(!pthread_create(&t, NULL, end_it, (void *)(uintptr_t)id[1]));
	pthread_join(t, NULL);
	nvtxmini_domain_end(domain, id[2]);
	nvtxmini_end(id[2]); /* twice */
	nvtxmini_end(1234567); /* never given out */
	REQUIRE(drain() == 3);
	EXPECT_STR(name_of(&ev[0]), "first");
	EXPECT_UINT(ev[0].tid, gettid());
	EXPECT_UINT(ev[1].tid, gettid());
	EXPECT_UINT(ev[2].tid, gettid());
}

/* Another shared object with slots of its own, one per thread here. */
typedef void (*slot_fn)(void);

static _Thread_local slot_fn slot[16], *slot_at[16];

static int get_module(int module, slot_fn ***slots, unsigned int *count)
{
	*slots = slot_at;
	*count = 10; /* an older NVTX with fewer functions: no push of wide text, no pop */
	return module == 1;
}

static const void *get_table(uint32_t id)
{
	static const struct {
		size_t size;
		int (*get_module)(int module, slot_fn ***slots, unsigned int *count);
	} table = { sizeof(table), get_module };

	return id == 1 ? &table : NULL;
}

static void attach_another(void)
{
	int i;

	for (i = 0; i < 16; i++)
		slot_at[i] = &slot[i];
	EXPECT_INT(InitializeInjectionNvtx2(get_table), 1);
	EXPECT(slot[4] && slot[9] && !slot[1] && !slot[10] && !slot[11]);
}

#define THREADS 8u
#define RANGES 2000u

static atomic_uint finished, drains;

/* A busy machine drains late, and what is dropped for that is not what is tested here. */
static void await_drains(void)
{
	unsigned int seen = atomic_load(&drains);

	while (atomic_load(&drains) - seen < 2)
		usleep(50);
}

static void *work(void *arg)
{
	struct nvtxmini_attributes a = message(3, registered);
	uint32_t i;

	attach_another();
	for (i = 0; i < RANGES; i++) {
		EXPECT_INT(nvtxmini_push("outer"), 0);
		EXPECT_INT(nvtxmini_domain_push(domain, &a), 0);
		EXPECT_INT(nvtxmini_domain_pop(domain), 0);
		EXPECT_INT(nvtxmini_pop(), 0);
		if (i % 256 == 0)
			await_drains();
	}
	atomic_fetch_add(&finished, 1);
	return arg;
}

static void test_threads(void)
{
	struct prof_ranges_stats before, after;
	pthread_t t[THREADS];
	size_t got = 0, i, k;

	prof_ranges_stats(&before);
	for (i = 0; i < THREADS; i++)
		REQUIRE(!pthread_create(&t[i], NULL, work, NULL));
	while (atomic_load(&finished) < THREADS) {
		got += drain();
		atomic_fetch_add(&drains, 1);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	for (i = 0; i < 2; i++) {
		got += drain();
		for (k = 0; k < n; k++)
			EXPECT(ev[k].end_ns >= ev[k].start_ns);
	}
	prof_ranges_stats(&after);
	EXPECT_UINT(got + after.dropped - before.dropped, 2 * THREADS * RANGES);
	EXPECT_UINT(after.dropped - before.dropped, 0);
}

static void test_fork(void)
{
	pid_t child = fork();
	int status;

	if (!child) {
		prof_ranges_dead();
		_exit(nvtxmini_push("child") != -2 || nvtxmini_pop() != -2 ||
		      nvtxmini_start("child"));
	}
	REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
	EXPECT_INT(status, 0);
}

int main(void)
{
	return RUN(test_switched_off, test_before_arm, test_arm, test_push_pop, test_domains,
		   test_communicators, test_no_communicator, test_communicator_of_any_name,
		   test_start_end, test_threads, test_fork);
}
