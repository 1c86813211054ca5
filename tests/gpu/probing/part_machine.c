/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_machine.c - step 0: what is here. What may hang comes last; each libcupti on the disk is
 * asked for its version in a child of its own.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cupti.h"
#include "drv.h"
#include "nvml.h"
#include "probe.h"
#include "row.h"

#define MAX_FOUND 32
#define SECOND_INTERFACE 130300 /* CUPTI in which it is no longer beta */
#define SECOND_DRIVER 13030 /* and what cuDriverGetVersion says of r610 */

static int driver_version;

/* One line of a file that begins with `key`, without it; "" if there is none. */
static void line_of(const char *path, const char *key, char *text, size_t size)
{
	FILE *f = fopen(path, "r");
	char line[400];

	*text = 0;
	while (f && fgets(line, sizeof line, f))
		if (!strncmp(line, key, strlen(key))) {
			snprintf(text, size, "%s", line + strlen(key));
			text[strcspn(text, "\n")] = 0;
			break;
		}
	if (f)
		fclose(f);
}

static void trim(char *text)
{
	size_t skip = strspn(text, " \t:");

	memmove(text, text + skip, strlen(text + skip) + 1);
}

/* ---- the device ---- */

static void no_gpu(const char *why)
{
	row_fact("no_gpu", "no GPU: %s", why);
	row_skip("machine.gpu", "no GPU: %s", why);
}

static void tell_gpu(const char *name, const char *driver, int count)
{
	char bus[32] = "";
	struct row r;

	row_begin(&r, "machine.gpu", "");
	row_answer(&r, "%s, driver %s, CUDA %d.%d, %d device%s", name, *driver ? driver : "?",
		   driver_version / 1000, driver_version % 1000 / 10, count, count == 1 ? "" : "s");
	row_figure(&r, "cuda_driver", driver_version);
	row_figure(&r, "devices", count);
	row_figure(&r, "multiprocessors", drv_blocks());
	row_figure(&r, "processors", sysconf(_SC_NPROCESSORS_ONLN));
	row_send(&r);
	row_fact("gpu", "%s", name);
	row_fact("driver", "%s", *driver ? driver : "?");
	row_fact("cuda", "%d.%d", driver_version / 1000, driver_version % 1000 / 10);
	row_fact("blocks", "%u", drv_blocks());
	if (!drv.DeviceGetPCIBusId(bus, sizeof bus, 0))
		row_fact("bus", "%s", bus);
}

/* "... Kernel Module  580.65.06  Thu ...": the first word that begins as a version does. */
static void driver_of(char *line, char *version, size_t size)
{
	char *word;

	*version = 0;
	for (word = strtok(line, " \t"); word; word = strtok(NULL, " \t"))
		if (strspn(word, "0123456789") >= 2 && word[strspn(word, "0123456789")] == '.') {
			snprintf(version, size, "%s", word);
			return;
		}
}

static void ask_gpu(void)
{
	char name[128] = "?", driver[64], line[300];
	int count = 0, rc = drv_init();
	struct utsname system;

	if (!uname(&system))
		row_fact("system", "%s %s", system.sysname, system.release);
	if (!rc)
		rc = drv.DeviceGetCount(&count);
	if (rc || !count) {
		no_gpu(*drv_why() ? drv_why() : "the driver counts none");
		return;
	}
	drv.DriverGetVersion(&driver_version);
	drv.DeviceGetName(name, sizeof name, 0);
	line_of("/proc/driver/nvidia/version", "NVRM version:", line, sizeof line);
	driver_of(line, driver, sizeof driver);
	tell_gpu(name, driver, count);
}

static void ask_rights(void)
{
	char only[64], caps[64];
	unsigned long long bits;
	struct row r;

	line_of("/proc/driver/nvidia/params", "RmProfilingAdminOnly", only, sizeof only);
	trim(only);
	line_of("/proc/self/status", "CapEff:", caps, sizeof caps);
	bits = strtoull(caps, NULL, 16);
	row_begin(&r, "machine.rights", "");
	row_answer(&r, "RmProfilingAdminOnly %s; we are uid %d, CAP_SYS_ADMIN %s, CAP_PERFMON %s",
		   *only ? only : "not to be read", (int)geteuid(), bits >> 21 & 1 ? "yes" : "no",
		   bits >> 38 & 1 ? "yes" : "no");
	if (*only)
		row_figure(&r, "admin_only", strtol(only, NULL, 10));
	row_figure(&r, "uid", geteuid());
	row_figure(&r, "sys_admin", (int64_t)(bits >> 21 & 1));
	row_figure(&r, "perfmon", (int64_t)(bits >> 38 & 1));
	row_send(&r);
}

/* ---- libcupti ---- */

struct found {
	char path[400];
	uint32_t version; /* 0: it does not load */
};

static void tell_version(int fd, void *path)
{
	void *lib = dlopen(path, RTLD_NOW);
	int (*get)(uint32_t *);
	void *fn = lib ? dlsym(lib, "cuptiGetVersion") : NULL;
	uint32_t v = 0;
	char real[4096] = "";
	Dl_info info;

	if (!fn)
		return;
	memcpy(&get, &fn, sizeof fn);
	if (dladdr(fn, &info) && !realpath(info.dli_fname, real))
		snprintf(real, sizeof real, "%s", info.dli_fname);
	if (!get(&v))
		dprintf(fd, "%u %s", v, real);
}

static bool add(struct found *list, size_t *n, const char *path)
{
	char text[4200], *real;
	uint32_t v;
	size_t i;

	if (*n == MAX_FOUND ||
	    child_text(tell_version, (void *)(uintptr_t)path, false, 4 * SECOND, text, sizeof text))
		return false;
	v = (uint32_t)strtoul(text, &real, 10);
	if (!v || *real != ' ')
		return false;
	for (i = 0; i < *n; i++)
		if (!strcmp(list[i].path, real + 1))
			return false;
	list[*n].version = v;
	snprintf(list[*n].path, sizeof list[*n].path, "%s", real + 1);
	++*n;
	return true;
}

/* By the loader's own search, then what the script has found on the disk (PROBE_FOUND). */
static size_t find_all(struct found *list, size_t *by_loader)
{
	static const char *const names[] = { "libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8",
					     "libcupti.so" };
	const char *disk = getenv("PROBE_FOUND"), *own = getenv("PROBE_CUPTI");
	char line[400];
	size_t n = 0, i;
	FILE *f;

	if (own && *own)
		add(list, &n, own);
	for (i = 0; i < LENGTH(names); i++)
		add(list, &n, names[i]);
	*by_loader = n;
	f = disk ? fopen(disk, "r") : NULL;
	while (f && fgets(line, sizeof line, f) && left_ns() > 6 * SECOND) {
		line[strcspn(line, "\n")] = 0;
		if (*line)
			add(list, &n, line);
	}
	if (f)
		fclose(f);
	return n;
}

/* 18 is 11.8, 28 is 12.9: before 13.0 the numbers do not show the release. */
static bool suits_driver(uint32_t version)
{
	uint32_t most =
		(uint32_t)(driver_version / 1000 * 10000 + driver_version % 1000 / 10 * 100);

	return version < 1000 || version <= most + 99;
}

/*
 * The newest that is not newer than the driver; but what PROBE_CUPTI names or, where somebody has
 * set LD_LIBRARY_PATH, what that leads to comes first.
 */
static const struct found *choose(const struct found *list, size_t n, size_t by_loader)
{
	const char *own = getenv("PROBE_CUPTI"), *path = getenv("LD_LIBRARY_PATH");
	const struct found *best = NULL;
	size_t i;

	if (by_loader && ((own && *own) || (path && *path)))
		return &list[0];
	for (i = 0; i < n; i++)
		if (suits_driver(list[i].version) && (!best || list[i].version > best->version))
			best = &list[i];
	return best ? best : n ? &list[0] : NULL;
}

static void tell_second(uint32_t newest)
{
	struct row r;

	row_begin(&r, "machine.v2", "");
	if (newest < SECOND_INTERFACE)
		row_answer(&r, "no: the newest libcupti here is %u, and %d is needed", newest,
			   SECOND_INTERFACE);
	else if (driver_version < SECOND_DRIVER)
		row_answer(&r, "no: libcupti %u, but the driver is CUDA %d.%d and 13.3 is needed",
			   newest, driver_version / 1000, driver_version % 1000 / 10);
	else
		row_answer(&r, "yes: libcupti %u, driver CUDA %d.%d", newest, driver_version / 1000,
			   driver_version % 1000 / 10);
	row_figure(&r, "newest_cupti", newest);
	row_figure(&r, "cuda_driver", driver_version);
	row_send(&r);
}

static void ask_cupti(void)
{
	struct found *list = calloc(MAX_FOUND, sizeof *list);
	const struct found *one;
	uint32_t newest = 0;
	struct row r;
	size_t n, i, by_loader = 0;

	n = list ? find_all(list, &by_loader) : 0;
	one = choose(list, n, by_loader);
	for (i = 0; i < n; i++)
		newest = list[i].version > newest ? list[i].version : newest;
	if (!one) {
		row_fact("no_cupti", "no libcupti was found");
		row_skip("machine.cupti", "no libcupti was found");
		row_skip("machine.v2", "no libcupti was found");
		return;
	}
	row_fact("cupti_path", "%s", one->path);
	row_fact("cupti", "%u", one->version);
	row_fact("newest", "%u", newest);
	row_begin(&r, "machine.cupti", "");
	row_answer(&r, "%u: %s", one->version, one->path);
	for (i = 0; i < n; i++)
		if (&list[i] != one)
			row_answer(&r, "; %u: %s", list[i].version, list[i].path);
	row_figure(&r, "used", one->version);
	row_figure(&r, "newest", newest);
	row_figure(&r, "found", (int64_t)n);
	row_send(&r);
	tell_second(newest);
	free(list);
}

/* ---- clocks ---- */

static void ask_clocks(void)
{
	unsigned sm = 0, memory = 0, most = 0, mig = 0, pending;
	unsigned long long reasons = 0;
	char driver[80];
	struct row r;
	int rc;

	rc = nvml_begin();
	if (rc) {
		row_skip("machine.clocks", "NVML: %s (%d)", nvml_words(rc), rc);
		return;
	}
	if (nvml.SystemGetDriverVersion && !nvml.SystemGetDriverVersion(driver, sizeof driver))
		row_fact("driver", "%s", driver);
	sm = nvml_sm_mhz();
	if (nvml.DeviceGetClockInfo)
		nvml.DeviceGetClockInfo(nvml_device, NVML_MEMORY_CLOCK, &memory);
	if (nvml.DeviceGetMaxClockInfo)
		nvml.DeviceGetMaxClockInfo(nvml_device, NVML_SM_CLOCK, &most);
	if (nvml.DeviceGetCurrentClocksEventReasons)
		nvml.DeviceGetCurrentClocksEventReasons(nvml_device, &reasons);
	if (nvml.DeviceGetMigMode && nvml.DeviceGetMigMode(nvml_device, &mig, &pending))
		mig = 0;
	row_begin(&r, "machine.clocks", "MHz");
	row_answer(&r, "SM %u of at most %u, memory %u, reasons 0x%llx, MIG %s", sm, most, memory,
		   reasons, mig ? "on" : "off");
	row_figure(&r, "sm", sm);
	row_figure(&r, "sm_most", most);
	row_figure(&r, "memory", memory);
	row_figure(&r, "reasons", (int64_t)reasons);
	row_figure(&r, "mig", mig);
	row_send(&r);
}

void part_machine(void)
{
	ask_gpu();
	ask_rights();
	ask_cupti();
	ask_clocks();
}

/* ---- step 6, which waits for another machine ---- */

void part_second(void)
{
	const char *newest = getenv("PROBE_NEWEST");
	unsigned long v = newest ? strtoul(newest, NULL, 10) : 0;

	if (v < SECOND_INTERFACE)
		row_skip("second.all",
			 "it needs libcupti %d (CUDA 13.3) or newer, and the newest "
			 "here is %lu",
			 SECOND_INTERFACE, v);
	else
		row_skip("second.all", "libcupti %lu is here, but this probe does not ask yet", v);
}
