/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A byte asks, a byte answers; what is answered lies in shared memory, and is hostile as far as
 * it comes from a library that may have gone wild.
 */
#include "look.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "job/nvml.h"

#define LAST_MS 500
#define KINDS 2 /* of lists: with MPS, its clients stand in another one */

struct utilization { /* nvmlUtilization_t */
	unsigned int gpu, memory;
};

struct process { /* nvmlProcessInfo_t since its second version */
	unsigned int pid;
	unsigned long long memory;
	unsigned int gpu_instance, compute_instance;
};

struct nvml {
	int (*init)(void);
	int (*count)(unsigned int *n);
	int (*by_index)(unsigned int i, void **d);
	int (*uuid)(void *d, char *text, unsigned int size);
	int (*name)(void *d, char *text, unsigned int size);
	int (*mig_mode)(void *d, unsigned int *now, unsigned int *pending);
	int (*utilization)(void *d, struct utilization *u);
	int (*holders[KINDS])(void *d, unsigned int *n, struct process *list);
};

/* --- in the process that asks --- */

static void find(void *h, void *to, const char *name, const char *older)
{
	view_nvml_find(h, to, name);
	if (!*(void **)to)
		view_nvml_find(h, to, older);
}

static int open_nvml(struct nvml *n)
{
	void *h = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!h)
		return ENOENT;
	view_nvml_find(h, &n->init, "nvmlInit_v2");
	view_nvml_find(h, &n->count, "nvmlDeviceGetCount_v2");
	view_nvml_find(h, &n->by_index, "nvmlDeviceGetHandleByIndex_v2");
	view_nvml_find(h, &n->uuid, "nvmlDeviceGetUUID");
	view_nvml_find(h, &n->name, "nvmlDeviceGetName");
	view_nvml_find(h, &n->mig_mode, "nvmlDeviceGetMigMode");
	view_nvml_find(h, &n->utilization, "nvmlDeviceGetUtilizationRates");
	find(h, &n->holders[0], "nvmlDeviceGetComputeRunningProcesses_v3",
	     "nvmlDeviceGetComputeRunningProcesses_v2");
	find(h, &n->holders[1], "nvmlDeviceGetMPSComputeRunningProcesses_v3",
	     "nvmlDeviceGetMPSComputeRunningProcesses_v2");
	return n->init && n->count && n->by_index && n->uuid && n->name && n->holders[0] &&
			       !n->init()
		       ? 0
		       : EIO;
}

static void add_holder(struct view_look_gpu *g, pid_t pid)
{
	for (unsigned int i = 0; i < g->holders; i++)
		if (g->holder[i] == pid)
			return;
	if (g->holders < VIEW_LOOK_HOLDERS && pid > 0)
		g->holder[g->holders++] = pid;
}

static void ask_holders(const struct nvml *n, void *d, struct view_look_gpu *g)
{
	static struct process list[VIEW_LOOK_HOLDERS];

	for (int kind = 0; kind < KINDS; kind++) {
		unsigned int count = VIEW_LOOK_HOLDERS;

		if (!n->holders[kind] || n->holders[kind](d, &count, list))
			continue;
		for (unsigned int i = 0; i < count && i < VIEW_LOOK_HOLDERS; i++)
			add_holder(g, (pid_t)list[i].pid);
	}
}

static void ask_gpu(const struct nvml *n, void *d, struct view_look_gpu *g)
{
	unsigned int now = 0, pending;
	struct utilization u;

	memset(g, 0, sizeof(*g));
	g->percent = -1;
	if (n->uuid(d, g->uuid, sizeof(g->uuid)) || n->name(d, g->name, sizeof(g->name)))
		return;
	g->mig = n->mig_mode && !n->mig_mode(d, &now, &pending) && now;
	if (n->utilization && !n->utilization(d, &u) && u.gpu <= 100)
		g->percent = (int)u.gpu;
	if (!g->mig)
		ask_holders(n, d, g);
}

static void ask_all(const struct nvml *n, struct view_look *look)
{
	unsigned int count = 0;
	void *d;

	look->gpus = 0;
	n->count(&count);
	for (unsigned int i = 0; i < count && look->gpus < VIEW_LOOK_GPUS; i++)
		if (!n->by_index(i, &d))
			ask_gpu(n, d, &look->gpu[look->gpus++]);
}

/* Ends with its parent, or its parent's end of the pipe. */
static _Noreturn void ask(struct view_looker *l, pid_t parent)
{
	struct rlimit none = { 0 };
	struct nvml n = { 0 };
	unsigned char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	setrlimit(RLIMIT_CORE, &none);
	unsetenv("CUDA_INJECTION64_PATH");
	byte = (unsigned char)open_nvml(&n);
	while (read(l->ask, &(char){ 0 }, 1) == 1) {
		if (!byte)
			ask_all(&n, l->shared);
		if (write(l->answer, &byte, 1) != 1)
			break;
	}
	_exit(0); /* no destructors of theirs */
}

/* --- here --- */

static int start(struct view_looker *l)
{
	int down[2], up[2];
	pid_t parent = getpid();

	if (pipe2(down, O_CLOEXEC))
		return -errno;
	if (pipe2(up, O_CLOEXEC)) {
		close(down[0]);
		close(down[1]);
		return -EMFILE;
	}
	l->pid = fork();
	l->ask = l->pid ? down[1] : down[0];
	l->answer = l->pid ? up[0] : up[1];
	close(l->pid ? down[0] : down[1]);
	close(l->pid ? up[1] : up[0]);
	if (!l->pid)
		ask(l, parent);
	if (l->pid > 0)
		return 0;
	l->pid = 0;
	close(l->ask);
	close(l->answer);
	return -EAGAIN;
}

/* One that hangs in the driver cannot even be killed; it is left behind. */
static void stop(struct view_looker *l)
{
	if (!l->pid)
		return;
	close(l->ask);
	close(l->answer);
	kill(l->pid, SIGKILL);
	for (int i = 0; i < LAST_MS / 5 && waitpid(l->pid, NULL, WNOHANG) == 0; i++)
		poll(NULL, 0, 5);
	l->pid = 0;
}

static int exchange(struct view_looker *l)
{
	struct pollfd p = { .fd = l->answer, .events = POLLIN };
	unsigned char byte = 0;
	int n;

	if (write(l->ask, &byte, 1) != 1)
		return -EIO;
	do
		n = poll(&p, 1, VIEW_LOOK_PATIENCE_MS);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return -ETIMEDOUT;
	return read(l->answer, &byte, 1) == 1 ? -(int)byte : -EIO;
}

/* Whatever the library wrote: as many as there may be, and texts that end. */
static void bound(struct view_look *look)
{
	if (look->gpus > VIEW_LOOK_GPUS)
		look->gpus = 0;
	for (unsigned int i = 0; i < look->gpus; i++) {
		struct view_look_gpu *g = &look->gpu[i];

		g->uuid[sizeof(g->uuid) - 1] = g->name[sizeof(g->name) - 1] = '\0';
		if (g->holders > VIEW_LOOK_HOLDERS)
			g->holders = 0;
	}
}

int view_look(struct view_looker *l, const struct view_look **look)
{
	int err = 0;

	if (!l->shared) {
		void *shared = mmap(NULL, sizeof(*l->shared), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

		if (shared == MAP_FAILED)
			return -ENOMEM;
		l->shared = shared;
	}
	if (!l->pid)
		err = start(l);
	if (!err)
		err = exchange(l);
	if (err) {
		stop(l);
		return err;
	}
	bound(l->shared);
	*look = l->shared;
	return 0;
}

void view_looker_fini(struct view_looker *l)
{
	stop(l);
	if (l->shared)
		munmap(l->shared, sizeof(*l->shared));
	l->shared = NULL;
}
