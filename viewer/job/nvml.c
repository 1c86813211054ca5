/* SPDX-License-Identifier: Apache-2.0 */
#include "nvml.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 4000 /* hooks have some seconds, and numbers alone are worth writing down */
#define LAST_MS 500
#define SLICES 7 /* compute slices of every GPU that has MIG */

struct answer {
	char uuid[96], name[128], profile[64];
	int64_t index;
	uint32_t slices;
};

struct asked { /* shared with the process that asks */
	int err; /* what came of it, once finished */
	bool finished;
	struct answer gpu[VIEW_ALLOC_GPUS_MAX];
};

struct attributes { /* nvmlDeviceAttributes_t */
	unsigned int multiprocessors, shared_copy, shared_decoder, shared_encoder, shared_jpeg,
		shared_ofa, gpu_slices, compute_slices;
	unsigned long long memory_mb;
};

struct nvml {
	int (*init)(void);
	int (*count)(unsigned int *n);
	int (*by_index)(unsigned int i, void **d);
	int (*by_uuid)(const char *uuid, void **d);
	int (*index)(void *d, unsigned int *i);
	int (*minor)(void *d, unsigned int *n);
	int (*uuid)(void *d, char *text, unsigned int size);
	int (*name)(void *d, char *text, unsigned int size);
	int (*parent)(void *slice, void **d);
	int (*mig_mode)(void *d, unsigned int *now, unsigned int *pending);
	int (*attributes)(void *slice, struct attributes *a);
};

void view_nvml_find(void *handle, void *to, const char *name)
{
	void *address = dlsym(handle, name);

	memcpy(to, &address, sizeof(address));
}

static int open_nvml(struct nvml *n)
{
	void *h = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!h)
		return -ENOENT;
	view_nvml_find(h, &n->init, "nvmlInit_v2");
	view_nvml_find(h, &n->count, "nvmlDeviceGetCount_v2");
	view_nvml_find(h, &n->by_index, "nvmlDeviceGetHandleByIndex_v2");
	view_nvml_find(h, &n->by_uuid, "nvmlDeviceGetHandleByUUID");
	view_nvml_find(h, &n->index, "nvmlDeviceGetIndex");
	view_nvml_find(h, &n->minor, "nvmlDeviceGetMinorNumber");
	view_nvml_find(h, &n->uuid, "nvmlDeviceGetUUID");
	view_nvml_find(h, &n->name, "nvmlDeviceGetName");
	view_nvml_find(h, &n->parent, "nvmlDeviceGetDeviceHandleFromMigDeviceHandle");
	view_nvml_find(h, &n->mig_mode, "nvmlDeviceGetMigMode");
	view_nvml_find(h, &n->attributes, "nvmlDeviceGetAttributes_v2");
	return n->init && n->count && n->by_index && n->uuid && !n->init() ? 0 : -EIO;
}

/* The GPU of this minor number; where none is told, of this index. NULL: there is none. */
static void *numbered(const struct nvml *n, int64_t number)
{
	unsigned int count = 0, minor;
	void *d, *own = NULL;
	bool told = false;

	n->count(&count);
	for (unsigned int i = 0; i < count; i++) {
		if (n->by_index(i, &d))
			continue;
		if (i == number)
			own = d;
		if (!n->minor || n->minor(d, &minor))
			continue;
		told = true;
		if (minor == number)
			return d;
	}
	return told ? NULL : own;
}

static bool has_mig(const struct nvml *n, void *d)
{
	unsigned int now = 0, pending;

	return n->mig_mode && !n->mig_mode(d, &now, &pending) && now;
}

/* "NVIDIA H100 80GB HBM3 MIG 1g.10gb": the profile ends the name. */
static void ask_slice(const struct nvml *n, void *d, struct answer *a)
{
	struct attributes own = { 0 };
	const char *profile = strstr(a->name, "MIG ");

	if (profile)
		snprintf(a->profile, sizeof(a->profile), "%.*s", (int)sizeof(a->profile) - 1,
			 profile + 4);
	if (n->attributes && !n->attributes(d, &own) && own.compute_slices <= SLICES)
		a->slices = own.compute_slices;
}

static void ask_one(const struct nvml *n, const struct view_alloc_gpu *g, struct answer *a)
{
	void *d = NULL, *parent = NULL;
	unsigned int index;

	if (g->uuid && n->by_uuid && n->by_uuid(g->uuid, &d))
		d = NULL;
	if (!g->uuid && g->index >= 0)
		d = numbered(n, g->index);
	if (!d)
		return;
	if (g->uuid && n->parent && n->parent(d, &parent))
		parent = NULL;
	if (!parent && has_mig(n, d))
		return; /* a number cannot tell which of its slices */
	if (n->uuid(d, a->uuid, sizeof(a->uuid)))
		a->uuid[0] = '\0';
	if (n->name && n->name(d, a->name, sizeof(a->name)))
		a->name[0] = '\0';
	if (parent)
		ask_slice(n, d, a);
	if (n->index && !n->index(parent ? parent : d, &index))
		a->index = index;
}

static _Noreturn void ask(const struct view_alloc_gpu *gpu, size_t count, struct asked *shared)
{
	struct rlimit none = { 0 };
	struct nvml n = { 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &none);
	unsetenv("CUDA_INJECTION64_PATH");
	shared->err = open_nvml(&n);
	for (size_t i = 0; i < count && !shared->err; i++)
		ask_one(&n, &gpu[i], &shared->gpu[i]);
	shared->finished = true;
	_exit(0); /* no destructors of theirs */
}

static bool gone_within(pid_t pid, int ms)
{
	struct timespec nap = { .tv_nsec = 5000000 };

	for (int i = 0; i < ms / 5; i++) {
		if (waitpid(pid, NULL, WNOHANG) == pid)
			return true;
		nanosleep(&nap, NULL);
	}
	return false;
}

/* One that hangs in the driver cannot even be killed; it is left behind. */
static int wait_for(pid_t pid)
{
	if (gone_within(pid, PATIENCE_MS))
		return 0;
	kill(pid, SIGKILL);
	gone_within(pid, LAST_MS);
	return -ETIMEDOUT;
}

static void take(struct view_alloc_gpu *g, struct answer *a, struct base_arena *mem)
{
	a->uuid[sizeof(a->uuid) - 1] = a->name[sizeof(a->name) - 1] = '\0';
	a->profile[sizeof(a->profile) - 1] = '\0';
	if (!g->uuid && view_alloc_is_uuid(a->uuid))
		g->uuid = base_arena_text(mem, a->uuid);
	if (a->name[0])
		g->name = base_arena_text(mem, a->name);
	if (g->index < 0)
		g->index = a->index;
	if (!a->profile[0] || !a->slices)
		return;
	g->mig_profile = base_arena_text(mem, a->profile);
	g->mig_slices = a->slices;
	g->mig_slices_total = SLICES;
}

int view_nvml_fill(struct view_alloc_gpu *gpu, size_t n, struct base_arena *mem)
{
	struct asked *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int err;

	if (shared == MAP_FAILED)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		shared->gpu[i].index = -1;
	pid_t pid = fork();
	if (!pid)
		ask(gpu, n, shared);
	err = pid < 0 ? -errno : wait_for(pid);
	if (!err)
		err = shared->finished ? shared->err : -EIO;
	for (size_t i = 0; i < n && !err; i++)
		take(&gpu[i], &shared->gpu[i], mem);
	munmap(shared, sizeof(*shared));
	return err;
}
