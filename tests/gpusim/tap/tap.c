/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tap.c - the simulator's own reader: an injectable library that turns what a libcupti delivers
 * into lines of JSON, simulated or real, and shows its manners (which thread asked for a buffer,
 * when it came back). For tests of the simulator only; it shares no code with libprof.
 *
 * CUDA_INJECTION64_PATH=gpusim-tap.so   TAP_OUT=FILE (FILE.<pid> is written at exit)
 * TAP_KINDS=1,2,10,...  TAP_DRIVER=307,... and TAP_RUNTIME=211,... single calls, where there are
 * TAP_FLUSH_MS=N (0 never) TAP_FLUSH_FLAG=0|1 TAP_BUFFER=bytes TAP_FORCE=1 a forced flush at exit
 * (default) TAP_ATTRIBUTES=9:0,5:1 TAP_NULL=N the Nth request gets no buffer
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static struct {
	int (*version)(uint32_t *);
	int (*callbacks)(void *, void *);
	int (*enable)(int);
	int (*flush)(uint32_t);
	int (*next)(uint8_t *, size_t, void **);
	int (*dropped)(void *, uint32_t, size_t *);
	int (*set)(int, size_t *, void *);
	int (*driver_api)(uint32_t, uint8_t);
	int (*runtime_api)(uint32_t, uint8_t);
	int (*thread_type)(int);
} cupti;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Held from before a flush until its line is written: outside of lock, which deliveries take. */
static pthread_mutex_t flushing = PTHREAD_MUTEX_INITIALIZER;
static FILE *out;
static size_t buffer_size;
static int requests, null_at, flush_ms, force = 1;
static uint32_t flush_flag;
static pid_t owner;

EXPORT int InitializeInjection(void);

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static long number(const char *key, long fallback)
{
	const char *v = getenv(key);

	return v && *v ? strtol(v, NULL, 10) : fallback;
}

static uint32_t u32(const uint8_t *r, int at)
{
	uint32_t v;

	memcpy(&v, r + at, 4);
	return v;
}

static unsigned long long u64(const uint8_t *r, int at)
{
	uint64_t v;

	memcpy(&v, r + at, 8);
	return v;
}

__attribute__((format(printf, 1, 2))) static void line(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vfprintf(out, format, ap);
	va_end(ap);
}

/* ---- records ---- */

static void api(const uint8_t *r, uint32_t kind)
{
	line("{\"kind\":%u,\"cbid\":%u,\"start\":%llu,\"end\":%llu,\"pid\":%u,\"tid\":%u,"
	     "\"correlation\":%u,\"result\":%u}\n",
	     kind, u32(r, 4), u64(r, 8), u64(r, 16), u32(r, 24), u32(r, 28), u32(r, 32),
	     u32(r, 36));
}

static void kernel(const uint8_t *r, uint32_t kind)
{
	const char *name = (const char *)(uintptr_t)u64(r, 104);

	line("{\"kind\":%u,\"start\":%llu,\"end\":%llu,\"device\":%u,\"context\":%u,\"stream\":%u,"
	     "\"correlation\":%u,\"node\":%llu,\"graph\":%u,\"name\":\"%s\",\"queued\":%llu,"
	     "\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"shared\":%u}\n",
	     kind, u64(r, 16), u64(r, 24), u32(r, 40), u32(r, 44), u32(r, 48), u32(r, 92),
	     u64(r, 144), u32(r, 156), name ? name : "", u64(r, 120), u32(r, 52), u32(r, 56),
	     u32(r, 60), u32(r, 64), u32(r, 68), u32(r, 72), u32(r, 80));
}

static void copy(const uint8_t *r, uint32_t kind)
{
	bool peer = kind == 22;

	line("{\"kind\":%u,\"copy\":%u,\"src\":%u,\"dst\":%u,\"flags\":%u,\"bytes\":%llu,"
	     "\"start\":%llu,\"end\":%llu,\"device\":%u,\"context\":%u,\"stream\":%u,"
	     "\"correlation\":%u,\"node\":%llu,\"graph\":%u,\"src_device\":%u,\"dst_device\":%u}\n",
	     kind, r[4], r[5], r[6], r[7], u64(r, 8), u64(r, 16), u64(r, 24), u32(r, 32),
	     u32(r, 36), u32(r, 40), u32(r, peer ? 60 : 44), u64(r, peer ? 72 : 64),
	     u32(r, peer ? 80 : 72), u32(r, peer ? 44 : 32), u32(r, peer ? 52 : 32));
}

static void fill(const uint8_t *r, uint32_t kind)
{
	line("{\"kind\":%u,\"value\":%u,\"bytes\":%llu,\"start\":%llu,\"end\":%llu,\"device\":%u,"
	     "\"context\":%u,\"stream\":%u,\"correlation\":%u,\"node\":%llu,\"graph\":%u}\n",
	     kind, u32(r, 4), u64(r, 8), u64(r, 16), u64(r, 24), u32(r, 32), u32(r, 36), u32(r, 40),
	     u32(r, 44), u64(r, 64), u32(r, 72));
}

static void sync_record(const uint8_t *r, uint32_t kind)
{
	line("{\"kind\":%u,\"type\":%u,\"start\":%llu,\"end\":%llu,\"correlation\":%u,"
	     "\"context\":%u,\"stream\":%u,\"event\":%u}\n",
	     kind, u32(r, 4), u64(r, 8), u64(r, 16), u32(r, 24), u32(r, 28), u32(r, 32),
	     u32(r, 36));
}

static void graph(const uint8_t *r, uint32_t kind)
{
	line("{\"kind\":%u,\"correlation\":%u,\"start\":%llu,\"end\":%llu,\"device\":%u,"
	     "\"graph\":%u,\"context\":%u,\"stream\":%u}\n",
	     kind, u32(r, 4), u64(r, 8), u64(r, 16), u32(r, 24), u32(r, 28), u32(r, 32),
	     u32(r, 36));
}

static void record(const uint8_t *r)
{
	uint32_t kind = u32(r, 0);

	switch (kind) {
	case 4:
	case 5:
		api(r, kind);
		break;
	case 3:
	case 10:
		kernel(r, kind);
		break;
	case 1:
	case 22:
		copy(r, kind);
		break;
	case 2:
		fill(r, kind);
		break;
	case 38:
		sync_record(r, kind);
		break;
	case 51:
		graph(r, kind);
		break;
	case 36:
		line("{\"kind\":36,\"correlation\":%u,\"context\":%u,\"stream\":%u,\"event\":%u}\n",
		     u32(r, 4), u32(r, 8), u32(r, 12), u32(r, 16));
		break;
	case 9:
		line("{\"kind\":9,\"context\":%u,\"device\":%u}\n", u32(r, 4), u32(r, 8));
		break;
	case 8:
		line("{\"kind\":8,\"id\":%u,\"memory\":%llu,\"name\":\"%s\"}\n", u32(r, 112),
		     u64(r, 16), (const char *)(uintptr_t)u64(r, 136));
		break;
	default:
		line("{\"kind\":%u}\n", kind);
	}
}

/* ---- buffers ---- */

static void request(uint8_t **buffer, size_t *size, size_t *max)
{
	int n = __atomic_add_fetch(&requests, 1, __ATOMIC_RELAXED);

	*max = 0;
	*buffer = NULL;
	*size = 0;
	if (n != null_at) {
		*buffer = calloc(1, buffer_size);
		*size = buffer_size;
	}
	/* No lock of ours here: CUPTI holds one of its own, and complete() calls CUPTI. */
	line("{\"request\":%d,\"at\":%llu,\"tid\":%ld}\n", n, (unsigned long long)now(),
	     syscall(SYS_gettid));
}

static void complete(void *ctx, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	void *r = NULL;
	size_t drops = 0;
	int n = 0, rc;

	(void)ctx;
	(void)stream;
	pthread_mutex_lock(&lock);
	while (!(rc = cupti.next(buffer, valid, &r))) {
		record(r);
		n++;
	}
	cupti.dropped(NULL, 0, &drops);
	line("{\"buffer\":%zu,\"valid\":%zu,\"records\":%d,\"last\":%d,\"dropped\":%zu,"
	     "\"at\":%llu,\"tid\":%ld}\n",
	     size, valid, n, rc, drops, (unsigned long long)now(), syscall(SYS_gettid));
	pthread_mutex_unlock(&lock);
	free(buffer);
}

static void *flusher(void *arg)
{
	struct timespec d = { flush_ms / 1000, flush_ms % 1000 * 1000000L };

	for (;;) {
		unsigned long long begin;

		nanosleep(&d, NULL);
		pthread_mutex_lock(&flushing);
		begin = now();
		cupti.flush(flush_flag);
		line("{\"flush\":%u,\"at\":%llu,\"ns\":%llu}\n", flush_flag, begin,
		     (unsigned long long)now() - begin);
		pthread_mutex_unlock(&flushing);
	}
	return arg;
}

static void at_exit(void)
{
	if (getpid() != owner)
		return;
	/* A flush that is under way says how long it took before the process is gone. */
	pthread_mutex_lock(&flushing);
	cupti.flush(force ? 1 : 0);
	pthread_mutex_lock(&lock);
	fflush(out);
	pthread_mutex_unlock(&lock);
}

/* ---- start ---- */

static void *find(void)
{
	static const char *const names[] = { "libcupti.so.13", "libcupti.so.12",
					     "libcupti.so.11.8" };
	void *handle = NULL;
	int i;

	for (i = 0; i < 3 && !handle; i++)
		handle = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
	for (i = 0; i < 3 && !handle; i++)
		handle = dlopen(names[i], RTLD_NOW);
	return handle;
}

static int load(void)
{
	void *handle = find();

	if (!handle)
		return -1;
	*(void **)&cupti.version = dlsym(handle, "cuptiGetVersion");
	*(void **)&cupti.callbacks = dlsym(handle, "cuptiActivityRegisterCallbacks");
	*(void **)&cupti.enable = dlsym(handle, "cuptiActivityEnable");
	*(void **)&cupti.flush = dlsym(handle, "cuptiActivityFlushAll");
	*(void **)&cupti.next = dlsym(handle, "cuptiActivityGetNextRecord");
	*(void **)&cupti.dropped = dlsym(handle, "cuptiActivityGetNumDroppedRecords");
	*(void **)&cupti.set = dlsym(handle, "cuptiActivitySetAttribute");
	*(void **)&cupti.driver_api = dlsym(handle, "cuptiActivityEnableDriverApi");
	*(void **)&cupti.runtime_api = dlsym(handle, "cuptiActivityEnableRuntimeApi");
	*(void **)&cupti.thread_type = dlsym(handle, "cuptiSetThreadIdType");
	return 0;
}

/* Calls fn(first, second) for each "first[:second]" of the list. */
static void each(const char *key, void (*fn)(long, long))
{
	const char *v = getenv(key);
	char *end;

	while (v && *v) {
		long a = strtol(v, &end, 10), b = *end == ':' ? strtol(end + 1, &end, 10) : 0;

		fn(a, b);
		v = *end ? end + 1 : end;
	}
}

static void enable_kind(long kind, long unused)
{
	(void)unused;
	line("{\"enable\":%ld,\"result\":%d}\n", kind, cupti.enable((int)kind));
}

static void enable_driver(long cbid, long unused)
{
	(void)unused;
	if (cupti.driver_api)
		cupti.driver_api((uint32_t)cbid, 1);
}

static void enable_runtime(long cbid, long unused)
{
	(void)unused;
	if (cupti.runtime_api)
		cupti.runtime_api((uint32_t)cbid, 1);
}

static void set_attribute(long attribute, long value)
{
	size_t size = attribute == 5 || attribute == 9 ? 1 : 8;

	cupti.set((int)attribute, &size, &value);
}

int InitializeInjection(void)
{
	uint32_t version = 0;
	char path[4096];
	pthread_t t;

	snprintf(path, sizeof path, "%s.%d", getenv("TAP_OUT") ? getenv("TAP_OUT") : "tap",
		 getpid());
	out = fopen(path, "w");
	if (!out || load())
		return 1;
	owner = getpid();
	buffer_size = (size_t)number("TAP_BUFFER", 65536);
	flush_ms = (int)number("TAP_FLUSH_MS", 100);
	null_at = (int)number("TAP_NULL", 0);
	force = (int)number("TAP_FORCE", 1);
	flush_flag = (uint32_t)number("TAP_FLUSH_FLAG", 0);
	cupti.version(&version);
	line("{\"version\":%u,\"per_call\":%d}\n", version, cupti.driver_api != NULL);
	each("TAP_ATTRIBUTES", set_attribute);
	if (cupti.thread_type)
		cupti.thread_type(1); /* kernel's thread ids */
	cupti.callbacks((void *)request, (void *)complete);
	each("TAP_KINDS", enable_kind);
	each("TAP_DRIVER", enable_driver);
	each("TAP_RUNTIME", enable_runtime);
	atexit(at_exit);
	if (flush_ms && !pthread_create(&t, NULL, flusher, NULL))
		pthread_detach(t);
	return 1;
}
