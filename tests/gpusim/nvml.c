/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvml.c - the management library's view of the simulated devices: names, memory, utilisation from
 * the kernels that were placed, processes with a context, and MIG slices. It reads the shared
 * segment and changes nothing in it.
 */
#include "nvml_device.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "busy.h"
#include "clock.h"
#include "config.h"
#include "shm.h"

#define WINDOW_NS 1000000000u /* that a utilisation looks back */

static struct nvml_device gpus[SIM_MAX_DEVICES], slices[SIM_MAX_DEVICES];
static int inits;

static void text_of_uuid(const struct nvml_device *d, char text[41]);

/* ---- the frame around each call ---- */

/* Held during each call: a child that is forked meanwhile finds it locked for ever. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int under_way;

/* GPUSIM_NVML_CALLS: a line for each call. */
static void write_line(const char *what, const char *uuid)
{
	const char *path = getenv("GPUSIM_NVML_CALLS");
	char line[128];
	int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644) : -1, n;

	if (fd < 0)
		return;
	n = snprintf(line, sizeof line, "%d %s %s\n", (int)getpid(), what, uuid);
	if (write(fd, line, (size_t)n) != n)
		perror("gpusim: GPUSIM_NVML_CALLS");
	close(fd);
}

static void hang(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (;;)
		pause();
}

bool nvml_call_begin(const char *what, const struct nvml_device *d)
{
	const char *how = getenv("GPUSIM_NVML");
	struct timespec t = { 0 };
	char uuid[41] = "-";

	if (d)
		text_of_uuid(d, uuid);
	write_line(what, uuid);
	pthread_mutex_lock(&lock);
	__atomic_fetch_add(&under_way, 1, __ATOMIC_SEQ_CST);
	if (how && !strcmp(how, "stuck") && strstr(what, "GetMemoryInfo"))
		hang();
	if (!how || strncmp(how, "slow:", 5))
		return true;
	t.tv_sec = atol(how + 5) / 1000;
	t.tv_nsec = atol(how + 5) % 1000 * 1000000;
	nanosleep(&t, NULL);
	return true;
}

void nvml_call_end(const bool *unused)
{
	(void)unused;
	__atomic_fetch_sub(&under_way, 1, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&lock);
}

/* The real one frees what its calls work with. */
__attribute__((destructor)) static void unload(void)
{
	if (__atomic_load_n(&under_way, __ATOMIC_SEQ_CST))
		write_line("destroyed-beside-a-call", "-");
}

/*
 * GPUSIM_NVML: what a driver does that is not well; "outside" is no illness, see nvml_pid;
 * "slow:MS" and "stuck" come later, see nvml_call_begin.
 */
static int be_ill(const char *how)
{
	if (!strcmp(how, "hang"))
		hang();
	if (!strcmp(how, "crash"))
		raise(SIGSEGV);
	if (!strcmp(how, "exit"))
		_exit(0);
	return NVML_NOT_FOUND;
}

int nvmlInit_v2(void)
{
	const char *how = getenv("GPUSIM_NVML");
	uint32_t i;
	CALL(NULL);

	if (how && strcmp(how, "outside") && strcmp(how, "stuck") && strncmp(how, "slow:", 5))
		return be_ill(how);
	for (i = 0; i < SIM_MAX_DEVICES; i++) {
		gpus[i] = (struct nvml_device){ i, false };
		slices[i] = (struct nvml_device){ i, true };
	}
	inits++;
	return NVML_OK;
}

int nvmlInit(void)
{
	return nvmlInit_v2();
}

int nvmlInitWithFlags(unsigned flags)
{
	(void)flags;
	return nvmlInit_v2();
}

int nvmlShutdown(void)
{
	if (!inits)
		return NVML_UNINITIALIZED;
	inits--;
	return NVML_OK;
}

const char *nvmlErrorString(int result)
{
	static const struct {
		int result;
		const char *text;
	} known[] = {
		{ NVML_OK, "Success" },
		{ NVML_UNINITIALIZED, "Uninitialized" },
		{ NVML_INVALID_ARGUMENT, "Invalid Argument" },
		{ NVML_NOT_SUPPORTED, "Not Supported" },
		{ NVML_NO_PERMISSION, "Insufficient Permissions" },
		{ NVML_NOT_FOUND, "Not Found" },
		{ NVML_INSUFFICIENT_SIZE, "Insufficient Size" },
	};
	size_t i;

	for (i = 0; i < sizeof known / sizeof known[0]; i++)
		if (known[i].result == result)
			return known[i].text;
	return "Unknown Error";
}

int nvml_check(const struct nvml_device *d)
{
	if (!inits)
		return NVML_UNINITIALIZED;
	return d ? NVML_OK : NVML_INVALID_ARGUMENT;
}

static int copy_text(char *out, unsigned size, const char *text)
{
	if (strlen(text) >= size)
		return NVML_INSUFFICIENT_SIZE;
	strcpy(out, text);
	return NVML_OK;
}

/* ---- the system ---- */

int nvmlSystemGetDriverVersion(char *text, unsigned size)
{
	return inits ? copy_text(text, size, "580.65.06") : NVML_UNINITIALIZED;
}

int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
	if (!inits)
		return NVML_UNINITIALIZED;
	*version = sim_config()->driver_version;
	return NVML_OK;
}

int nvmlSystemGetCudaDriverVersion(int *version)
{
	return nvmlSystemGetCudaDriverVersion_v2(version);
}

/* ---- handles ---- */

int nvmlDeviceGetCount_v2(unsigned *count)
{
	CALL(NULL);

	if (!inits)
		return NVML_UNINITIALIZED;
	*count = sim_config()->gpus;
	return NVML_OK;
}

int nvmlDeviceGetCount(unsigned *count)
{
	return nvmlDeviceGetCount_v2(count);
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct nvml_device **device)
{
	if (!inits)
		return NVML_UNINITIALIZED;
	if (index >= sim_config()->gpus)
		return NVML_INVALID_ARGUMENT;
	*device = &gpus[index];
	return NVML_OK;
}

int nvmlDeviceGetHandleByIndex(unsigned index, struct nvml_device **device)
{
	return nvmlDeviceGetHandleByIndex_v2(index, device);
}

static void text_of_uuid(const struct nvml_device *d, char text[41])
{
	uint8_t uuid[16];

	if (d->slice) {
		sim_device_uuid_text(d->index, text);
		return;
	}
	sim_gpu_uuid(d->index, uuid);
	sim_uuid_text(uuid, "GPU-", text);
}

int nvmlDeviceGetHandleByUUID(const char *uuid, struct nvml_device **device)
{
	const struct sim_config *c = sim_config();
	char text[41];
	uint32_t i;
	CALL(NULL);

	if (!inits)
		return NVML_UNINITIALIZED;
	for (i = 0; i < SIM_MAX_DEVICES; i++) {
		if (i < c->gpus && (text_of_uuid(&gpus[i], text), !strcmp(text, uuid))) {
			*device = &gpus[i];
			return NVML_OK;
		}
		if (i < c->devices && *c->unit[i].profile &&
		    (text_of_uuid(&slices[i], text), !strcmp(text, uuid))) {
			*device = &slices[i];
			return NVML_OK;
		}
	}
	return NVML_NOT_FOUND;
}

static void bus_id(uint32_t gpu, char *text, size_t size)
{
	snprintf(text, size, "0000:%02X:00.0", ((gpu + 1) * 16) & 0xfff);
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *id, struct nvml_device **device)
{
	char text[32];
	uint32_t i;

	if (!inits)
		return NVML_UNINITIALIZED;
	for (i = 0; i < sim_config()->gpus; i++) {
		bus_id(i, text, sizeof text);
		if (strlen(id) >= 7 && !strcasecmp(text + 5, id + strlen(id) - 7)) {
			*device = &gpus[i];
			return NVML_OK;
		}
	}
	return NVML_NOT_FOUND;
}

/* ---- what a device is ---- */

int nvmlDeviceGetIndex(struct nvml_device *d, unsigned *index)
{
	int rc = nvml_check(d);
	CALL(d);

	if (!rc && d->slice)
		rc = NVML_NOT_SUPPORTED;
	if (!rc)
		*index = d->index;
	return rc;
}

int nvmlDeviceGetName(struct nvml_device *d, char *text, unsigned size)
{
	int rc = nvml_check(d);
	CALL(d);

	if (rc)
		return rc;
	return copy_text(text, size,
			 d->slice ? sim_config()->unit[d->index].name
				  : sim_config()->name[d->index]);
}

int nvmlDeviceGetUUID(struct nvml_device *d, char *text, unsigned size)
{
	char uuid[41];
	int rc = nvml_check(d);
	CALL(d);

	if (rc)
		return rc;
	text_of_uuid(d, uuid);
	return copy_text(text, size, uuid);
}

int nvmlDeviceGetPciInfo_v3(struct nvml_device *d, struct nvml_pci *pci)
{
	int rc = nvml_check(d);

	if (rc)
		return rc;
	memset(pci, 0, sizeof *pci);
	pci->bus = ((d->slice ? sim_config()->unit[d->index].gpu : d->index) + 1) * 16;
	bus_id(pci->bus / 16 - 1, pci->legacy, sizeof pci->legacy);
	snprintf(pci->text, sizeof pci->text, "00000000:%02X:00.0", pci->bus);
	return NVML_OK;
}

bool nvml_covers(const struct nvml_device *d, uint32_t device)
{
	return d->slice ? d->index == device : sim_config()->unit[device].gpu == d->index;
}

int nvml_unit(const struct nvml_device *d)
{
	uint32_t i;

	if (d->slice)
		return (int)d->index;
	for (i = 0; i < sim_config()->devices; i++)
		if (nvml_covers(d, i))
			return *sim_config()->unit[i].profile ? -1 : (int)i;
	return -1;
}

/* ---- what it does ---- */

static void memory_of(const struct nvml_device *d, unsigned long long *used,
		      unsigned long long *total)
{
	const struct sim_config *c = sim_config();
	uint32_t i;

	*used = 0;
	*total = d->slice ? c->unit[d->index].memory : c->memory[d->index];
	for (i = 0; i < c->devices; i++)
		if (nvml_covers(d, i))
			*used += sim_shm()->device[i].memory_used;
}

int nvmlDeviceGetMemoryInfo(struct nvml_device *d, struct nvml_memory *m)
{
	int rc = nvml_check(d);
	CALL(d);

	if (rc || !sim_shm())
		return rc ? rc : NVML_NOT_SUPPORTED;
	memory_of(d, &m->used, &m->total);
	m->free = m->total - m->used;
	return NVML_OK;
}

int nvmlDeviceGetMemoryInfo_v2(struct nvml_device *d, struct nvml_memory_v2 *m)
{
	int rc = nvml_check(d);

	if (rc || !sim_shm())
		return rc ? rc : NVML_NOT_SUPPORTED;
	memory_of(d, &m->used, &m->total);
	m->free = m->total - m->used;
	m->reserved = 0;
	return NVML_OK;
}

/* Percent of the last second in which kernels ran. */
static unsigned utilisation(const struct sim_device *d, uint64_t now)
{
	struct sim_busy busy = sim_busy_between(d, now - WINDOW_NS, now, SIM_ANYBODY);

	return (unsigned)((100 * busy.kernel_ns + WINDOW_NS / 2) / WINDOW_NS);
}

int nvmlDeviceGetUtilizationRates(struct nvml_device *d, struct nvml_utilization *u)
{
	uint32_t i;
	int rc = nvml_check(d);
	CALL(d);

	if (!rc && (d->slice || !sim_shm() || *sim_config()->unit[d->index].profile))
		rc = NVML_NOT_SUPPORTED;
	if (rc)
		return rc;
	u->gpu = u->memory = 0;
	for (i = 0; i < sim_config()->devices; i++)
		if (nvml_covers(d, i))
			u->gpu = utilisation(&sim_shm()->device[i], sim_now());
	return NVML_OK;
}

bool nvml_uses(const struct sim_proc *p, const struct nvml_device *d, uint32_t *device)
{
	for (*device = 0; p->pid && *device < sim_config()->devices; ++*device)
		if (nvml_covers(d, *device) && p->contexts[*device])
			return true;
	return false;
}

unsigned nvml_pid(const struct sim_proc *p)
{
	const char *how = getenv("GPUSIM_NVML");

	return (unsigned)p->pid + (how && !strcmp(how, "outside") ? 1u << 22 : 0);
}

static int processes(const struct nvml_device *d, unsigned *count, struct nvml_process *list)
{
	unsigned room = *count, n = 0;
	uint32_t device;
	int i;

	for (i = 0; i < SIM_MAX_PROCS; i++) {
		const struct sim_proc *p = &sim_shm()->proc[i];

		if (!nvml_uses(p, d, &device) || !sim_proc_alive(p))
			continue;
		if (list && n < room)
			list[n] = (struct nvml_process){ nvml_pid(p), p->memory[device],
							 sim_config()->unit[device].instance, 0 };
		n++;
	}
	*count = n;
	return n > room ? NVML_INSUFFICIENT_SIZE : NVML_OK;
}

static int processes_if(bool listed, const struct nvml_device *d, unsigned *count,
			struct nvml_process *list)
{
	int rc = nvml_check(d);

	if (rc || !count || !sim_shm())
		return rc ? rc : NVML_INVALID_ARGUMENT;
	if (!listed) {
		*count = 0;
		return NVML_OK;
	}
	return processes(d, count, list);
}

int nvmlDeviceGetComputeRunningProcesses_v3(struct nvml_device *d, unsigned *count,
					    struct nvml_process *list)
{
	CALL(d);

	return processes_if(!sim_config()->mps, d, count, list);
}

int nvmlDeviceGetMPSComputeRunningProcesses_v3(struct nvml_device *d, unsigned *count,
					       struct nvml_process *list)
{
	CALL(d);

	return processes_if(sim_config()->mps, d, count, list);
}

int nvmlDeviceGetComputeRunningProcesses_v2(struct nvml_device *d, unsigned *count,
					    struct nvml_process *list)
{
	CALL(d);

	return processes_if(!sim_config()->mps, d, count, list);
}

/* The oldest form, without instances. */
static int processes_v1(const struct nvml_device *d, unsigned *count, struct nvml_process_v1 *list)
{
	struct nvml_process all[SIM_MAX_PROCS];
	unsigned n = SIM_MAX_PROCS, i;
	int rc = count ? processes_if(!sim_config()->mps, d, &n, all) : NVML_INVALID_ARGUMENT;

	if (rc)
		return rc;
	for (i = 0; list && i < n && i < *count; i++)
		list[i] = (struct nvml_process_v1){ all[i].pid, all[i].memory };
	i = *count;
	*count = n;
	return n > i ? NVML_INSUFFICIENT_SIZE : NVML_OK;
}

int nvmlDeviceGetComputeRunningProcesses(struct nvml_device *d, unsigned *count,
					 struct nvml_process_v1 *list)
{
	CALL(d);

	return processes_v1(d, count, list);
}

/* None draws. */
int nvmlDeviceGetGraphicsRunningProcesses_v3(struct nvml_device *d, unsigned *count,
					     struct nvml_process *list)
{
	return processes_if(false, d, count, list);
}

/* ---- NVLink: all links of all GPUs lead to one switch, as in a node of eight H100 ---- */

#define LINKS 18
#define SWITCH_BUS 0x08 /* where no GPU is */
#define TO_SWITCH 2 /* nvmlIntNvLinkDeviceType_t */

static int link_check(const struct nvml_device *d, unsigned link)
{
	int rc = nvml_check(d);

	if (!rc && link >= LINKS)
		rc = NVML_INVALID_ARGUMENT;
	if (!rc && d->slice)
		rc = NVML_NOT_SUPPORTED;
	return rc;
}

int nvmlDeviceGetNvLinkState(struct nvml_device *d, unsigned link, unsigned *active)
{
	int rc = link_check(d, link);
	CALL(d);

	if (!rc)
		*active = 1;
	return rc;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(struct nvml_device *d, unsigned link, unsigned *type)
{
	int rc = link_check(d, link);
	CALL(d);

	if (!rc)
		*type = TO_SWITCH;
	return rc;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(struct nvml_device *d, unsigned link, struct nvml_pci *pci)
{
	int rc = link_check(d, link);
	CALL(d);

	if (rc)
		return rc;
	memset(pci, 0, sizeof *pci);
	pci->bus = SWITCH_BUS;
	snprintf(pci->legacy, sizeof pci->legacy, "0000:%02X:00.0", SWITCH_BUS);
	snprintf(pci->text, sizeof pci->text, "00000000:%02X:00.0", SWITCH_BUS);
	return NVML_OK;
}

/* Whatever is asked (reading, writing, NVLink, atomics): every GPU reaches every other. */
int nvmlDeviceGetP2PStatus(struct nvml_device *d, struct nvml_device *other, int what, int *status)
{
	int rc = nvml_check(d);
	CALL(d);

	if (!rc)
		rc = nvml_check(other);
	if (!rc && (what < 0 || what > 5 || !status))
		rc = NVML_INVALID_ARGUMENT;
	if (!rc)
		*status = 0; /* NVML_P2P_STATUS_OK */
	return rc;
}

/* ---- slices ---- */

static int slice_of(const struct nvml_device *d, unsigned index)
{
	const struct sim_config *c = sim_config();
	uint32_t i;

	for (i = 0; i < c->devices; i++)
		if (c->unit[i].gpu == d->index && *c->unit[i].profile && !index--)
			return (int)i;
	return -1;
}

int nvmlDeviceGetMigMode(struct nvml_device *d, unsigned *current, unsigned *pending)
{
	int rc = nvml_check(d);

	if (!rc && d->slice)
		rc = NVML_NOT_SUPPORTED;
	if (!rc)
		*current = *pending = slice_of(d, 0) >= 0;
	return rc;
}

int nvmlDeviceIsMigDeviceHandle(struct nvml_device *d, unsigned *is)
{
	int rc = nvml_check(d);

	if (!rc)
		*is = d->slice;
	return rc;
}

int nvmlDeviceGetMaxMigDeviceCount(struct nvml_device *d, unsigned *count)
{
	int rc = nvml_check(d);

	if (!rc)
		*count = 7;
	return rc;
}

int nvmlDeviceGetMigDeviceHandleByIndex(struct nvml_device *d, unsigned index,
					struct nvml_device **slice)
{
	int rc = nvml_check(d), i;

	if (rc)
		return rc;
	i = d->slice ? -1 : slice_of(d, index);
	if (i < 0)
		return NVML_NOT_FOUND;
	*slice = &slices[i];
	return NVML_OK;
}

int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(struct nvml_device *slice,
						 struct nvml_device **device)
{
	int rc = nvml_check(slice);
	CALL(slice);

	if (!rc && !slice->slice)
		rc = NVML_INVALID_ARGUMENT;
	if (!rc)
		*device = &gpus[sim_config()->unit[slice->index].gpu];
	return rc;
}

int nvmlDeviceGetGpuInstanceId(struct nvml_device *slice, unsigned *id)
{
	int rc = nvml_check(slice);

	if (!rc && !slice->slice)
		rc = NVML_NOT_SUPPORTED;
	if (!rc)
		*id = sim_config()->unit[slice->index].instance;
	return rc;
}

int nvmlDeviceGetComputeInstanceId(struct nvml_device *slice, unsigned *id)
{
	int rc = nvmlDeviceGetGpuInstanceId(slice, id);

	if (!rc)
		*id = 0;
	return rc;
}

int nvmlDeviceGetAttributes_v2(struct nvml_device *slice, struct nvml_attributes *a)
{
	const struct sim_unit *u;
	int rc = nvml_check(slice);
	CALL(slice);

	if (!rc && !slice->slice)
		rc = NVML_NOT_SUPPORTED;
	if (rc)
		return rc;
	u = &sim_config()->unit[slice->index];
	memset(a, 0, sizeof *a);
	a->multiprocessors = sim_multiprocessors(slice->index);
	a->gpu_slices = a->compute_slices = u->slices;
	a->memory_mb = u->memory >> 20;
	return NVML_OK;
}
