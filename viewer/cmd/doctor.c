/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpustarve doctor: what a recording needs, what of it is here, and what to do about the rest.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/options.h"
#include "base/version.h"
#include "cmd.h"
#include "facts/cupti.h"
#include "core/envtable.h"
#include "run/install.h"
#include "run/preload_path.h"
#include "core/log.h"
#include "cost/machine.h"
#include "cost/price_list.h"
#include "doctor_missed.h"
#include "probe_cuda.h"
#include "probe_host.h"

struct checkup {
	int broken; /* things without which nothing can be recorded */
};

static void good(const char *what, const char *detail)
{
	printf("  ok       %-22s %s\n", what, detail);
}

static void absent(const char *what, const char *why, const char *remedy)
{
	printf("  missing  %-22s %s; %s\n", what, why, remedy);
}

static void broken(struct checkup *c, const char *what, const char *why, const char *remedy)
{
	c->broken++;
	printf("  BROKEN   %-22s %s; %s\n", what, why, remedy);
}

static void check_parts(struct checkup *c)
{
	char path[3072];

	puts("parts of gpustarve");
	if (view_find_libprof(path, sizeof(path)))
		good("libprof.so", path);
	else
		broken(c, "libprof.so", path, "it is not there: install it or set GPUSTARVE_LIB");
	if (view_preload_path(path, sizeof(path)))
		broken(c, "libprof.so",
		       "its path holds a space or a colon, where LD_PRELOAD is cut",
		       "and no link could be made in /tmp: install gpustarve elsewhere");
	if (view_find_collector(path, sizeof(path)))
		good("gpustarve-collector", path);
	else
		absent("gpustarve-collector", "not beside this program",
		       "traces are written by the processes themselves");
}

static void check_folder(struct checkup *c)
{
	const char *out = getenv("GPUSTARVE_OUT");
	char parent[4096], text[4300];
	struct stat st;

	if (!out || !out[0])
		out = "gpustarve-runs";
	snprintf(parent, sizeof(parent), "%s", out);
	/* The folder is made when needed: its nearest parent that exists must let us. */
	while (access(parent, F_OK)) {
		char *slash = strrchr(parent, '/');
		if (!slash) {
			strcpy(parent, ".");
			break;
		}
		slash[slash == parent] = '\0';
	}
	snprintf(text, sizeof(text), "%s", out);
	if (stat(parent, &st) || !S_ISDIR(st.st_mode))
		broken(c, "run directories", "something that is not a folder is in the way",
		       "choose another one with -o or GPUSTARVE_OUT");
	else if (access(parent, W_OK | X_OK))
		broken(c, "run directories", strerror(errno),
		       "choose another one with -o or GPUSTARVE_OUT");
	else
		good("run directories", text);
}

static void check_permissions(struct checkup *c)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	struct stat st;
	char folder[512];

	puts("permissions");
	check_folder(c);
	snprintf(folder, sizeof(folder), "%s/gpustarve-%u",
		 runtime && runtime[0] == '/' ? runtime : "/tmp", (unsigned)getuid());
	if (lstat(folder, &st) ||
	    (S_ISDIR(st.st_mode) && st.st_uid == getuid() && !(st.st_mode & 077)))
		good("socket folder", folder);
	else
		absent("socket folder", "it is not ours alone",
		       "remove it; until then traces go through spool files");
}

static void show_driver(const struct view_cuda_probe *p)
{
	char text[640];

	if (!p->driver.loaded) {
		absent("libcuda.so.1", p->driver.why,
		       "install NVIDIA's driver on a machine with a GPU");
		return;
	}
	snprintf(text, sizeof(text), "%s, CUDA %d.%d", p->driver.path, p->driver_version / 1000,
		 p->driver_version % 1000 / 10);
	good("libcuda.so.1", text);
	if (p->driver_init) {
		snprintf(text, sizeof(text), "cuInit says %d", p->driver_init);
		absent("GPU", text, "check nvidia-smi and the permissions of /dev/nvidia*");
		return;
	}
	for (int i = 0; i < p->devices && i < 8; i++) {
		snprintf(text, sizeof(text), "%d: %s", i, p->device_name[i]);
		good("GPU", text);
	}
	if (p->devices > 8)
		printf("           and %d more\n", p->devices - 8);
}

static void show_records(struct checkup *c, const struct view_cuda_probe *p)
{
	char text[256] = "";
	size_t at = 0;
	bool fit = true;

	for (int i = 0; i < VIEW_RECORDS; i++) {
		fit &= p->record[i].bytes >= p->record[i].least;
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s %u", i ? ", " : "",
				       p->record[i].name, p->record[i].bytes);
	}
	if (fit)
		good("record sizes", text);
	else
		broken(c, "record sizes", text,
		       "smaller than what libprof reads: use CUDA 11.8 or newer");
}

/* What is known of this version, that concerns who runs jobs with it. */
static void show_troubles(const struct facts_cupti *row)
{
	const struct facts_cupti_trouble *t = facts_cupti_trouble(FACTS_CUPTI_LONG_GRAPHS);

	if (row->facts & t->fact)
		printf("  careful  %-22s %s; %s\n", "libcupti", t->what, t->remedy);
}

/* CUDA 13.2 and newer answer only beside a driver that they can use. */
static void show_silent_cupti(const struct view_cuda_probe *p)
{
	const struct facts_cupti *row = facts_cupti(p->cupti_at_least, 0);
	const struct facts_cupti_trouble *t = facts_cupti_trouble(FACTS_CUPTI_ENDLESS);
	char release[32], text[640];

	facts_cupti_release(release, p->cupti_at_least, 0);
	if (row->facts & t->fact) {
		snprintf(text, sizeof(text), "%s, CUDA %s: %s", p->cupti.path, release, t->what);
		absent("libcupti", text, t->remedy);
		return;
	}
	snprintf(text, sizeof(text), "%s, CUDA %s or newer by what it exports: %s", p->cupti.path,
		 release,
		 p->driver.loaded ? "it cannot use this driver"
				  : "it answers only beside a driver");
	absent("libcupti", text,
	       p->driver.loaded ? "install the driver that this CUDA asks for"
				: "install NVIDIA's driver on a machine with a GPU");
}

static void show_cupti(struct checkup *c, const struct view_cuda_probe *p)
{
	const struct facts_cupti *row = facts_cupti(p->cupti_version, p->record[0].bytes);
	const struct facts_cupti_trouble *passive = facts_cupti_trouble(FACTS_CUPTI_PASSIVE);
	char release[32], text[640];

	if (!p->cupti.loaded) {
		absent("libcupti", p->cupti.why,
		       "it comes with the CUDA toolkit and with PyTorch's CUDA wheels (nvidia-"
		       "cuda-cupti); set GPUSTARVE_CUPTI to its path");
		return;
	}
	if (!p->cupti_version && p->cupti_at_least) {
		show_silent_cupti(p);
		return;
	}
	facts_cupti_release(release, p->cupti_version, p->record[0].bytes);
	snprintf(text, sizeof(text), "%s, version %u (CUDA %s)", p->cupti.path, p->cupti_version,
		 release);
	if (!row) {
		broken(c, "libcupti", text, "too old: use CUDA 11.8 or newer");
		return;
	}
	if (row->facts & passive->fact) {
		snprintf(text, sizeof(text), "%s, version %u (CUDA %s): %s", p->cupti.path,
			 p->cupti_version, release, passive->what);
		broken(c, "libcupti", text, passive->remedy);
		return;
	}
	good("libcupti", text);
	show_records(c, p);
	show_troubles(row);
}

/* What tells how busy a GPU is while its kernels are not recorded. */
static void show_meter(int index, enum view_probed_meter meter)
{
	static const char blind[] =
		"how busy the GPU is while its kernels are not recorded stays unknown";
	static const char *const words[] = {
		[VIEW_METER_GPM] = "GPM, also while kernels are not recorded",
		[VIEW_METER_GPM_MIG] =
			"GPM of its MIG instances, also while kernels are not recorded",
		[VIEW_METER_SAMPLES] =
			"the driver's samples, in whole percents, also while kernels are not "
			"recorded",
	};
	char text[160];

	snprintf(text, sizeof(text), "NVML's GPU %d: %s", index,
		 meter == VIEW_METER_ASKED     ? "no answer came"
		 : meter == VIEW_METER_NONE    ? "neither GPM nor utilisation samples"
		 : meter != VIEW_METER_UNASKED ? words[meter]
					       : "");
	if (meter == VIEW_METER_ASKED || meter == VIEW_METER_NONE)
		absent("busy share", text, blind);
	else if (meter != VIEW_METER_UNASKED)
		good("busy share", text);
}

static void check_cuda(struct checkup *c)
{
	struct view_cuda_probe p;

	puts("NVIDIA's libraries");
	view_probe_cuda(&p);
	if (!p.finished)
		broken(c, "driver", "loading it crashed or hung", "check dmesg and nvidia-smi");
	show_driver(&p);
	show_cupti(c, &p);
	if (!p.nvml.loaded)
		absent("libnvidia-ml.so.1", p.nvml.why,
		       "memory and utilisation facts will be absent");
	else if (p.nvml_init)
		absent("libnvidia-ml.so.1", "nvmlInit failed",
		       "memory and utilisation facts will be absent");
	else
		good("libnvidia-ml.so.1", p.nvml.path);
	for (int i = 0; i < VIEW_PROBED_METERS; i++)
		show_meter(i, p.meter[i]);
}

/* @err: an errno, 0 if it works. */
static void show_access(const char *what, int err, const char *detail, const char *remedy)
{
	if (!err)
		good(what, detail);
	else
		absent(what, strerror(err), remedy);
}

static const char *yama_text(int scope, char *text, size_t room)
{
	if (scope < 0)
		return "allowed";
	snprintf(text, room, "allowed (Yama's ptrace_scope is %d)", scope);
	return text;
}

static void show_pythons(const struct view_host_probe *p)
{
	char text[160];

	if (!p->pythons)
		absent("Python", "there is none in PATH",
		       "samples of other programs have no lines");
	for (int i = 0; i < p->pythons; i++) {
		const struct view_probed_python *python = &p->python[i];
		snprintf(text, sizeof(text), "%s%s", python->version,
			 python->torch ? ", with torch" : "");
		if (!python->version[0])
			absent(python->name, "it does not run", "samples of it cannot be tried");
		else if (python->stacks)
			good(python->name, text);
		else
			absent(python->name, text,
			       "its stacks are not known: causes come without lines");
	}
}

/* What tells why a GPU waited. Nothing here is needed for how long it did. */
static void check_sampling(void)
{
	struct view_host_probe p;
	char text[128];

	puts("samples of threads (why GPUs wait)");
	view_probe_host(&p);
	show_access("own memory", p.own_memory, "process_vm_readv works: Python stacks",
		    "no Python stacks: allow process_vm_readv in the container's seccomp profile");
	show_access("memory of children", p.child_memory, yama_text(p.yama, text, sizeof(text)),
		    "workers are seen by their own samplers only; set kernel.yama.ptrace_scope to "
		    "1 or 0");
	show_access("/proc syscall", p.syscall, "what a thread is blocked on",
		    "files and sockets that threads wait for stay unnamed");
	show_access("/proc schedstat", p.schedstat, "waits for a CPU",
		    "*.cpu_starved cannot be told");
	show_access("/proc io", p.io, "bytes that batches read",
		    "bytes read and page-cache hits stay unknown");
	if (p.seccomp == 2)
		good("seccomp", "a filter is on; what it refuses shows above");
	snprintf(text, sizeof(text), "%d%s%s", p.cores, p.quota[0] ? ", cgroup quota " : "",
		 p.quota);
	good("CPU cores", text);
	show_pythons(&p);
}

static void check_prices(void)
{
	struct view_prices site = { 0 }, builtin = { 0 };
	struct view_machine here;
	const char *path = view_prices_site(), *why = NULL;
	char text[512];

	puts("prices");
	int err = view_prices_read(&site, path, &why);
	if (err)
		absent("site file", path, why ? why : strerror(-err));
	else {
		snprintf(text, sizeof(text), "%.300s, %zu prices, %zu rows left out", path,
			 site.rows, site.bads);
		good("site file", text);
	}
	view_prices_builtin(&builtin);
	snprintf(text, sizeof(text), "%zu prices", builtin.rows);
	good("built-in catalogue", text);
	view_machine_here(&here);
	if (here.provider[0]) {
		snprintf(text, sizeof(text), "%s %s", here.provider, here.instance_type);
		good("this machine", text);
	} else {
		absent("this machine", "its provider is not known",
		       "the cheapest price of the catalogue is assumed; give --price");
	}
	view_prices_fini(&site);
	view_prices_fini(&builtin);
}

static void show_environment(void)
{
	puts("environment");
	for (const struct view_env_entry *e = view_env_table; e->name; e++) {
		const char *value = getenv(e->name);
		bool set = value && value[0];
		printf("  %-27s %s%s%s%s%s\n", e->name, e->meaning, set ? "; is " : " (",
		       set ? value : "default: ", set ? "" : e->fallback, set ? "" : ")");
	}
}

static const char usage[] =
	"usage: gpustarve doctor\n"
	"       gpustarve doctor --pid N | --job ID | --pod NAME | -- COMMAND...\n"
	"\n"
	"Says what is here, what is missing and what to do about it; or, in one line, why a\n"
	"process, a job or a pod on this machine is not recorded, or a command would not be.\n"
	"\n";

static const struct base_opt opt[] = {
	{ "pid", 0, "N", "of this process", BASE_TEXT(struct view_doctor_asked, pid) },
	{ "job", 0, "ID", "of the scheduler's job, by its variables (SLURM_JOB_ID and others)",
	  BASE_TEXT(struct view_doctor_asked, job) },
	{ "pod", 0, "NAME", "of the pod, by its host name",
	  BASE_TEXT(struct view_doctor_asked, pod) },
	{ BASE_HELP },
	{ 0 },
};

const struct base_options view_doctor_options = {
	.command = "doctor",
	.usage = usage,
	.column = 15,
	.wraps = true,
	.opt = opt,
	.tail = "\nexit status: 0 nothing needed is missing (a machine without a GPU is fine), or it\n"
		"is recorded; 1 a job here would run unrecorded, or this one does\n",
	.error = view_error,
};

int view_cmd_doctor(int argc, char **argv)
{
	struct view_doctor_asked asked = { 0 };
	struct checkup c = { 0 };
	int go = base_options_parse(&view_doctor_options, argc, argv, &asked);

	if (go <= 0)
		return go ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
	asked.command = optind < argc ? argv + optind : NULL;
	switch (!!asked.pid + !!asked.job + !!asked.pod + !!asked.command) {
	case 0:
		break;
	case 1:
		return view_doctor_missed(&asked);
	default:
		view_error("give only one of --pid, --job, --pod and a command");
		return VIEW_EXIT_ERROR;
	}
	base_version_print(stdout, "gpustarve");
	check_parts(&c);
	check_permissions(&c);
	check_cuda(&c);
	check_sampling();
	check_prices();
	show_environment();
	return c.broken ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
}
