/* SPDX-License-Identifier: Apache-2.0 */
#include "probe_cuda.h"
#include "facts/cupti.h"

#include <dlfcn.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 20000

/* CUPTI's numbers of the kinds that libprof reads, and how much of each it needs to see. */
static const struct record {
	const char *name;
	uint32_t kind, least;
	int place;
} records[] = {
#define KIND(symbol, number, bytes, event, only, when, needed, handed, parse, words, place, name) \
	{ name, number, bytes, place },
#include "facts/cupti_kinds.def"
};

static void note_path(void *handle, struct view_probed_library *l)
{
	struct link_map *map;

	l->loaded = true;
	if (!dlinfo(handle, RTLD_DI_LINKMAP, &map) && map->l_name)
		snprintf(l->path, sizeof(l->path), "%s", map->l_name);
}

/* By name as the loader finds it, else in the usual folders of a toolkit. */
static void *load(struct view_probed_library *l, const char *const *names,
		  const char *const *folders)
{
	static const char *const anywhere[] = { "", NULL };
	char path[1024];

	for (const char *const *f = anywhere; f; f = f == anywhere ? folders : NULL) {
		for (; *f; f++) {
			for (const char *const *n = names; *n; n++) {
				snprintf(path, sizeof(path), "%s%s%s", *f, **f ? "/" : "", *n);
				void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
				if (handle) {
					note_path(handle, l);
					return handle;
				}
			}
			if (!**f)
				break;
		}
	}
	snprintf(l->why, sizeof(l->why), "not found");
	return NULL;
}

typedef int (*call_none)(void);
typedef int (*call_uint)(unsigned int);
typedef int (*call_int_out)(int *);
typedef int (*call_uint_out)(uint32_t *);
typedef int (*call_name)(char *, int, int);
typedef int (*call_next)(uint8_t *, size_t, void **);

static void *symbol(void *handle, const char *name)
{
	return handle ? dlsym(handle, name) : NULL;
}

/* A function pointer out of dlsym's object pointer, as POSIX wants it. */
#define CALLABLE(type, var, handle, name)                  \
	type var = NULL;                                   \
	do {                                               \
		void *address_ = symbol(handle, name);     \
		memcpy(&var, &address_, sizeof(address_)); \
	} while (0)

static void *load_driver(struct view_cuda_probe *p)
{
	static const char *const names[] = { "libcuda.so.1", NULL };
	static const char *const none[] = { NULL };
	void *handle = load(&p->driver, names, none);

	CALLABLE(call_int_out, version, handle, "cuDriverGetVersion");
	if (version)
		version(&p->driver_version);
	return handle;
}

/* Last, for it may hang. */
static void init_driver(struct view_cuda_probe *p, void *handle)
{
	CALLABLE(call_uint, init, handle, "cuInit");
	CALLABLE(call_int_out, count, handle, "cuDeviceGetCount");
	CALLABLE(call_name, name, handle, "cuDeviceGetName");
	if (init)
		p->driver_init = init(0);
	if (p->driver_init || !count || count(&p->devices))
		return;
	for (int i = 0; name && i < p->devices && i < 8; i++)
		name(p->device_name[i], sizeof(p->device_name[i]), i);
}

/*
 * CUPTI walks any buffer, so it tells the size of its records without a GPU: a buffer that names
 * the kind at every eighth byte, and the distance between the first two records it sees.
 */
static uint32_t record_bytes(call_next next, uint32_t kind)
{
	static _Alignas(8) uint8_t buffer[4096];
	void *first = NULL, *second;

	memset(buffer, 0, sizeof(buffer));
	for (size_t i = 0; i < sizeof(buffer); i += 8)
		memcpy(buffer + i, &kind, sizeof(kind));
	if (!next || next(buffer, sizeof(buffer), &first))
		return 0;
	second = first;
	if (next(buffer, sizeof(buffer), &second))
		return 0;
	return (uint32_t)((uint8_t *)second - (uint8_t *)first);
}

static bool exports(void *handle, const char *name)
{
	return symbol(handle, name) != NULL;
}

/* Some end the process where they cannot use the driver (facts/cupti.h). */
static bool may_be_asked(struct view_cuda_probe *p, void *handle)
{
	p->cupti_at_least = handle ? facts_cupti_by_symbols(exports, handle) : 0;
	const struct facts_cupti *row = facts_cupti(p->cupti_at_least, 0);
	return !row || !(row->facts & FACTS_CUPTI_ENDLESS) ||
	       p->driver_version >= FACTS_CUPTI_ENDLESS_DRIVER;
}

static void probe_cupti(struct view_cuda_probe *p)
{
	static const char *const names[] = { "libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8",
					     "libcupti.so", NULL };
	static const char *const folders[] = { "/usr/local/cuda/extras/CUPTI/lib64",
					       "/usr/local/cuda/lib64", "/usr/local/cuda/lib",
					       NULL };
	const char *own[] = { getenv("GPUSTARVE_CUPTI"), NULL };
	void *handle = NULL;

	if (own[0] && own[0][0])
		handle = load(&p->cupti, own, own + 1);
	if (!handle)
		handle = load(&p->cupti, names, folders);
	if (!may_be_asked(p, handle))
		return;
	CALLABLE(call_uint_out, version, handle, "cuptiGetVersion");
	CALLABLE(call_next, next, handle, "cuptiActivityGetNextRecord");
	if (version)
		version(&p->cupti_version);
	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		const struct record *r = &records[i];

		if (!r->place)
			continue;
		p->record[r->place - 1].name = r->name;
		p->record[r->place - 1].least = r->least;
		p->record[r->place - 1].bytes = record_bytes(next, r->kind);
	}
}

static void *probe_nvml(struct view_cuda_probe *p)
{
	static const char *const names[] = { "libnvidia-ml.so.1", NULL };
	static const char *const none[] = { NULL };
	void *handle = load(&p->nvml, names, none);

	CALLABLE(call_none, init, handle, "nvmlInit_v2");
	if (init)
		p->nvml_init = init();
	return p->nvml_init ? NULL : handle;
}

static _Noreturn void probe_all(struct view_cuda_probe *p)
{
	struct rlimit none = { 0 };

	setrlimit(RLIMIT_CORE, &none);
	void *driver = load_driver(p);
	probe_cupti(p);
	void *nvml = probe_nvml(p);
	init_driver(p, driver);
	p->finished = true;
	/* Whatever becomes of this, a job can be recorded. */
	if (nvml)
		view_probe_meters(nvml, p->meter);
	_exit(0); /* no destructors of theirs */
}

static void wait_for(pid_t pid)
{
	struct timespec nap = { .tv_nsec = 10000000 };

	for (int i = 0; i < PATIENCE_MS / 10; i++) {
		if (waitpid(pid, NULL, WNOHANG) == pid)
			return;
		nanosleep(&nap, NULL);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

void view_probe_cuda(struct view_cuda_probe *out)
{
	struct view_cuda_probe *p =
		mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	*out = (struct view_cuda_probe){ .driver_init = -1, .nvml_init = -1, .devices = -1 };
	if (p == MAP_FAILED)
		return;
	*p = *out;
	/* The profiler itself must not be loaded by the driver that we load. */
	pid_t pid = fork();
	if (!pid) {
		unsetenv("CUDA_INJECTION64_PATH");
		probe_all(p);
	}
	if (pid > 0)
		wait_for(pid);
	*out = *p;
	munmap(p, sizeof(*p));
}
