/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ways into libprof.so: the constructor, which every program that inherits LD_PRELOAD runs and
 * must not notice; InitializeInjection, which the CUDA driver calls from cuInit; and the exit
 * handler that it registers.
 */
#include <errno.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "atfork.h"
#include "core/atstart.h"
#include "core/clockpoll.h"
#include "core/config.h"
#include "core/env.h"
#include "core/errtext.h"
#include "core/fork.h"
#include "core/fork_lock.h"
#include "core/log.h"
#include "core/notes.h"
#include "core/procinfo.h"
#include "core/sanitizer.h"
#include "core/thread.h"
#include "cupti/activity.h"
#include "cupti/bufpool.h"
#include "cupti/cuda_api.h"
#include "cupti/devices.h"
#include "cupti/flusher.h"
#include "cupti/handover.h"
#include "cupti/levels.h"
#include "cupti/nvml.h"
#include "entry.h"
#include "facts/cupti.h"
#include "loader/files.h"
#include "loader/shim.h"
#include "ranges/nvtx.h"
#include "ranges/ranges.h"
#include "sample/sampler.h"
#include "sample/shared.h"
#include "send/exits.h"
#include "send/sender.h"

#define EXIT_NS 5000000000

static struct prof_cupti cupti;
static struct prof_sender_opts sender;
static char self[PATH_MAX];

/* Absolute path of this library; "" if it cannot be had. */
static void find_self(void)
{
	Dl_info info;

	if (!dladdr(&cupti, &info) || !info.dli_fname)
		return;
	if (info.dli_fname[0] == '/' && strlen(info.dli_fname) < sizeof(self))
		strcpy(self, info.dli_fname);
	else if (!realpath(info.dli_fname, self))
		self[0] = 0;
}

/* Other tools that load themselves into CUDA, also with more behind: cuda-gdb-python3.12-tui. */
static bool is_other_tool(void)
{
	static const char *const tool[] = { "ncu",	"nv-nsight-cu-cli",  "nsys",
					    "cuda-gdb", "compute-sanitizer", "nvprof" };
	char path[PATH_MAX], *name;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	size_t i, len;

	if (n <= 0)
		return false;
	path[n] = 0;
	name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	for (i = 0; i < sizeof(tool) / sizeof(tool[0]); i++) {
		len = strlen(tool[i]);
		if (!strncmp(name, tool[i], len) && (!name[len] || name[len] == '-'))
			return true;
	}
	return false;
}

/*
 * Nsight Compute and compute-sanitizer load themselves into what they start, and into what that
 * starts: the first lets no program go on in which CUDA is to load somebody else. LD_PRELOAD does
 * not tell, for they have taken their libraries off it by then; how these reach the tool does.
 */
static bool is_their_target(void)
{
	return prof_env("NV_NSIGHT_INJECTION_TRANSPORT_TYPE") ||
	       prof_env("NV_SANITIZER_INJECTION_TRANSPORT_TYPE");
}

/*
 * Some of them refuse to start where these variables are set, and a shell script that starts them
 * has inherited ours. What they start in turn sees to itself.
 */
static void withdraw(const char *name)
{
	const char *value = prof_env_text(name);

	if (value && !strcmp(value, self))
		prof_env_set(name, NULL);
}

/* Is this program Python 3? It links the interpreter, or is it. */
static bool is_python(void)
{
	const char *(*version)(void);

	*(void **)&version = dlsym(RTLD_DEFAULT, "Py_GetVersion");
	return version && *version() == '3' && dlsym(RTLD_DEFAULT, "Py_Main");
}

/*
 * Puts the shim's folder first on PYTHONPATH, where its sitecustomize takes it away again. A
 * program that shares no sitecustomize with us (python -I, -E, -S) has no shim.
 */
static void prepend_shim(void)
{
	const char *have = prof_env_text("PYTHONPATH");
	char *slash = strrchr(self, '/');
	char path[2 * PATH_MAX];
	int n;

	if (!slash || strchr(self, ':'))
		return;
	if (prof_env_off(prof_env("GPUSTARVE_SHIM")))
		return;
	n = snprintf(path, sizeof(path), "%.*s/python", (int)(slash - self), self);
	if (have && !strncmp(have, path, (size_t)n) && (!have[n] || have[n] == ':'))
		return;
	n += snprintf(path + n, sizeof(path) - (size_t)n, "%s%s", have ? ":" : "",
		      have ? have : "");
	if (n < (int)sizeof(path))
		prof_env_set("PYTHONPATH", path);
}

/* So that all processes below write into one run, wherever they change to. */
static void name_the_run(int argc, char **argv)
{
	char id[252], path[PATH_MAX + 32], dir[PATH_MAX];
	const char *out = prof_env_text("GPUSTARVE_OUT");

	if (!prof_run_id_from_env(id, sizeof(id))) {
		prof_run_id_make(id, sizeof(id), argc, argv);
		prof_env_set("GPUSTARVE_RUN_ID", id);
	}
	if (!out)
		out = "gpustarve-runs";
	if (*out != '/' && getcwd(dir, sizeof(dir)) &&
	    snprintf(path, sizeof(path), "%s/%s", dir, out) < (int)sizeof(path))
		prof_env_set("GPUSTARVE_OUT", path);
}

/* Variables for those that this process starts, and for itself where CUDA and Python read them. */
static void set_variables(int argc, char **argv)
{
	if (self[0] && !prof_env_text("CUDA_INJECTION64_PATH"))
		prof_env_set("CUDA_INJECTION64_PATH", self);
	if (self[0] && !prof_env_text("NVTX_INJECTION64_PATH"))
		prof_env_set("NVTX_INJECTION64_PATH", self);
	name_the_run(argc, argv);
	if (is_python()) {
		prof_shared_find();
		prepend_shim();
	}
}

/*
 * Nothing else may happen here: no thread, no descriptor, no output. Loaded later, into a program
 * that is well on its way, what would be set is kept: prof_env finds it here and in forked
 * children.
 */
__attribute__((constructor)) static void prepare(int argc, char **argv)
{
	int kept = errno;
	bool tool;

	prof_exits_find();
	prof_files_find();
	if (!prof_atfork_known() || prof_sanitizer_judges()) {
		prof_fork_never();
		prof_nvtx_off();
		return;
	}
	if (prof_env_off(prof_env("GPUSTARVE")))
		return;
	if (prof_at_start())
		prof_process_begins();
	find_self();
	tool = is_other_tool() || is_their_target();
	if (tool) {
		withdraw("CUDA_INJECTION64_PATH");
		withdraw("NVTX_INJECTION64_PATH");
	} else {
		set_variables(argc, argv);
	}
	if (prof_at_start())
		prof_env_publish();
	if (!tool) {
		prof_thread_remember();
		prof_log_remember();
		prof_atfork_watch();
	}
	errno = kept;
}

static void at_exit(void)
{
	if (prof_fork_mine() && sender.process.pid == getpid())
		prof_sender_stop(prof_mono_ns() + EXIT_NS);
	prof_exits_yield();
}

static const char *meaning(int rc)
{
	switch (rc) {
	case CUPTI_NOT_INITIALIZED:
		return "not initialised; this CUPTI may be newer than the driver";
	case CUPTI_MULTIPLE_SUBSCRIBERS:
		return "another profiler holds it";
	case CUPTI_NOT_SUPPORTED:
		return "not supported here";
	case CUPTI_CONFIDENTIAL_COMPUTING:
		return "not with confidential computing";
	case CUPTI_MIG_DEVICE:
		return "not on a MIG device";
	default:
		return "unusable";
	}
}

/* All that needs no thread and switches nothing on. 0, or -1 with a note of what is missing. */
static int prepare_cupti(void)
{
	static const struct prof_activity_hooks hooks = { prof_sender_start, prof_sender_pending };
	int rc = prof_pool_init(cupti.facts & FACTS_CUPTI_TAKES_NULL);

	if (rc) {
		prof_note("CUPTI was not started: %s",
			  rc == -ENOSPC
				  ? "limits on address space (ulimit -v, ulimit -d, "
				    "vm.overcommit_memory=2) leave too little room for its buffers"
				  : "malloc gives no large buffers that stay untouched (a limit, "
				    "mlockall, MALLOC_PERTURB_)");
		return -1;
	}
	prof_activity_init(&cupti, &hooks);
	prof_level_choose(&sender.level, prof_config(), &cupti);
	prof_level_prepare(&cupti);
	return 0;
}

/* The threads that take what CUPTI gives. 0, or -1: there is none, and nobody to tell it to. */
static int start_threads(void)
{
	int err = prof_sender_prepare(&sender);

	if (err) {
		prof_complain("nothing is recorded: %s; the job goes on",
			      err == -ENOMEM ? "no memory" : "no thread could be started");
		return -1;
	}
	err = sender.cupti ? prof_flusher_start(&cupti, prof_sender_wake, prof_devices_canary) : 0;
	if (err) {
		prof_note("CUPTI was not started: no second thread could be started (%s)",
			  prof_error_text(-err));
		sender.cupti = NULL;
	}
	if (!prof_config()->loader && prof_nvml_start())
		prof_note("NVML is not asked: no thread could be started");
	return 0;
}

/*
 * Callbacks and kinds, and with them what it costs. 0, also where the second interface has the
 * process, for that may end; or -1 with a note: then nothing is on.
 */
static int start_cupti(void)
{
	int rc = cupti.RegisterCallbacks(prof_activity_request, prof_activity_complete);

	if (!rc)
		rc = prof_level_enable(&sender.level, &cupti);
	sender.refused = rc == CUPTI_NOT_COMPATIBLE;
	if (sender.refused)
		return 0;
	if (rc)
		prof_note("CUPTI %u at %s answers with error %d (%s): no GPU record is written",
			  cupti.version, cupti.path, rc, meaning(rc));
	return rc ? -1 : 0;
}

static void start_ranges(void)
{
	struct prof_ranges_opts o = { .torch = prof_config()->torch,
				      .nvtx = prof_config()->nvtx,
				      .wake = prof_sender_wake,
				      .waits = prof_sampler_nudge };

	if (prof_ranges_init(&o) == -ENOMEM)
		prof_note("ranges are not recorded: no memory");
	if (*prof_ranges_note())
		prof_note("%s", prof_ranges_note());
}

/* Only Python has loader workers. */
static void start_shared(void)
{
	int err = is_python() ? prof_shared_create(sender.process.stream) : 0;

	if (err)
		prof_note("workers of loaders are not recorded: no shared memory (%s)",
			  err == -EFBIG ? "ulimit -f forbids files that large"
					: prof_error_text(-err));
}

/* All that we ever load. False, and why: there is no CUPTI. */
static bool load_libraries(bool may, char *why, size_t size)
{
	if (!may) {
		snprintf(why, size,
			 "the program forks all the time, and no library may be loaded "
			 "meanwhile");
		return false;
	}
	prof_devices_load();
	return !prof_cupti_open(&cupti, prof_config()->cupti, why, size);
}

/*
 * Threads first, kinds last: whatever fails on the way, nothing of CUPTI's is on that nobody takes.
 * A session of another client may begin meanwhile (cupti/handover.h).
 */
static void arm_apart(bool may_load)
{
	bool loader = prof_config()->loader, active;
	char why[700];

	if (prof_config()->bad)
		prof_note("the value of %s could not be read; its default is used",
			  prof_config()->bad);
	prof_process_read(&sender.process);
	if (!prof_run_id_from_env(sender.run_id, sizeof(sender.run_id)))
		prof_run_id_make(sender.run_id, sizeof(sender.run_id), (int)sender.process.words,
				 sender.process.command);
	sender.armed_ns = prof_now_ns();
	active = !loader && load_libraries(may_load, why, sizeof(why));
	if (!active && !loader)
		prof_note("%s: no GPU record is written", why);
	prof_clock_settle(active ? cupti.GetTimestamp : NULL);
	prof_fork_own();
	prof_shim_init(prof_sender_wake);
	start_shared();
	start_ranges();
	sender.cupti = active && !prepare_cupti() ? &cupti : NULL;
	if (start_threads())
		return;
	sender.handed_over = prof_handover_init(prof_sender_start, prof_sender_wake);
	if (sender.cupti && !sender.handed_over && start_cupti())
		sender.cupti = NULL;
	if (!sender.cupti || sender.handed_over || sender.refused)
		prof_sender_start(); /* no buffer will ever start it */
	prof_sender_armed();
	prof_exits_arm();
	if (atexit(at_exit))
		prof_debug("no exit handler: the last second may be missing");
}

/*
 * Forks of other threads wait until it is done, CUPTI's first calls included, for these may load
 * more: a child that is made in the middle of a load cannot load anything itself
 * (core/fork_lock.h).
 */
static void arm(void)
{
	bool apart;

	prof_config_read();
	if (!prof_config()->on)
		return;
	apart = prof_fork_lock_load_enter();
	arm_apart(apart);
	if (apart)
		prof_fork_lock_load_leave();
}

/* The driver calls it from cuInit and dies of any other answer than 1. */
int InitializeInjection(void)
{
	static atomic_flag once = ATOMIC_FLAG_INIT;
	int kept = errno;

	if (!prof_fork_dead() && !atomic_flag_test_and_set(&once))
		arm();
	errno = kept;
	return 1;
}
