/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identity from the environment and /proc.
 */
#include "procinfo.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "clockpoll.h"
#include "config.h"
#include "env.h"
#include "hash.h"

#define AZURE_CHASSIS "7783-7084-3265-9085-8269-3286-77" /* of every machine of theirs */
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void fill_random(void *out, size_t n)
{
	uint8_t *p = out;
	size_t i;

	if (syscall(SYS_getrandom, out, n, GRND_NONBLOCK) ==
	    (long)n) /* no function before glibc 2.25 */
		return;
	for (i = 0; i < n; i++) /* early boot or an old kernel: differ at least by time and pid */
		p[i] = (uint8_t)((uint64_t)(prof_mono_ns() ^ getpid()) * 0x9e3779b97f4a7c15u >>
				 (i % 8 * 8));
}

/* A run id becomes a directory's name. True: it was none. */
static bool make_safe(char *s)
{
	bool changed = *s == '.';

	if (changed)
		*s = '_';
	for (; *s; s++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+=@",
			    *s)) {
			*s = '_';
			changed = true;
		}
	return changed;
}

static bool all_digits(const char *s)
{
	return s && *s && strspn(s, "0123456789") == strlen(s);
}

/* The batch and interactive steps have names or huge numbers; several jobs' commands share them. */
static bool slurm_numbered_step(const char *step)
{
	return all_digits(step) && strlen(step) < 10 && strtoul(step, NULL, 10) < 0xfffffff0u;
}

static bool slurm_run_id(char *out, size_t size)
{
	const char *job = prof_env_text("SLURM_JOB_ID"), *step = prof_env_text("SLURM_STEP_ID");
	const char *cluster = prof_env_text("SLURM_CLUSTER_NAME"),
		   *restart = prof_env_text("SLURM_RESTART_COUNT");

	if (!job || !slurm_numbered_step(step))
		return false;
	snprintf(out, size, "slurm-%s-%s.%s-%s", cluster ? cluster : "cluster", job, step,
		 restart ? restart : "0");
	return true;
}

/*
 * Somebody's own text. Two that differ where a name may not, or behind its end, are two runs: the
 * hash of the whole follows, as in viewer/run/runid.c and collector/store/run_name.c.
 */
static bool variable_run_id(char *out, size_t size, const char *prefix, const char *value)
{
	char hash[16];
	size_t len, most;

	if (!value)
		return false;
	len = (size_t)snprintf(out, size, "%s%s", prefix, value);
	if (!make_safe(out) && len < size)
		return true;
	snprintf(hash, sizeof(hash), "-%08x",
		 (unsigned)prof_hash_more(prof_hash_text(prefix), value, strlen(value)));
	most = size - strlen(hash) - 1;
	strcpy(out + (len < most ? len : most), hash);
	return true;
}

/*
 * OpenMPI 4 makes its namespace of mpirun's host and process number, which come again in the next
 * container. The address at which mpirun may be asked, port and all, does not.
 */
static bool pmix_run_id(char *out, size_t size)
{
	const char *space = prof_env_text("PMIX_NAMESPACE");
	const char *uri = prof_env_text("OMPI_MCA_orte_hnp_uri");

	if (space && uri)
		snprintf(out, size, "pmix-%s-%06x", space,
			 (unsigned)(prof_hash_text(uri) & 0xffffff));
	else
		variable_run_id(out, size, "pmix-", space);
	return space;
}

bool prof_run_id_from_env(char *out, size_t size)
{
	const char *torch = prof_env_text("TORCHELASTIC_RUN_ID");
	bool found;

	*out = 0;
	if (torch && !strcmp(torch, "none"))
		torch = NULL;
	found = variable_run_id(out, size, "", prof_env_text("GPUSTARVE_RUN_ID")) ||
		slurm_run_id(out, size) || pmix_run_id(out, size) ||
		variable_run_id(out, size, "torchelastic-", torch);
	make_safe(out);
	return found;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* python train.py is the run of train, not of python. */
static const char *command_name(int argc, char **argv)
{
	const char *name = argc > 0 && argv[0] ? base_name(argv[0]) : "run";
	int i;

	if (strncmp(name, "python", 6))
		return name;
	for (i = 1; i < argc && argv[i]; i++) {
		if (!strcmp(argv[i], "-m") && i + 1 < argc && argv[i + 1])
			return argv[i + 1];
		if (!strcmp(argv[i], "-c"))
			return name;
		if (argv[i][0] != '-')
			return base_name(argv[i]);
	}
	return name;
}

/*
 * UTC as in 20261121T013000Z. Not by gmtime, whose first call reads /etc/localtime and fixes TZ in
 * a process that may yet set it. Days are counted in eras of 400 years that begin in March.
 */
static void utc_text(int64_t now, char *out, size_t size)
{
	unsigned int second = (unsigned int)(now % 86400),
		     day = (unsigned int)(now / 86400) + 719468;
	unsigned int era = day / 146097, of_era = day % 146097;
	unsigned int year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	unsigned int of_year = of_era - (365 * year + year / 4 - year / 100);
	unsigned int month = (5 * of_year + 2) / 153; /* from March */

	day = of_year - (153 * month + 2) / 5 + 1;
	year += era * 400 + (month >= 10);
	month = month < 10 ? month + 3 : month - 9;
	snprintf(out, size, "%04u%02u%02uT%02u%02u%02uZ", year, month, day, second / 3600,
		 second / 60 % 60, second % 60);
}

void prof_run_id_make(char *out, size_t size, int argc, char **argv)
{
	char name[48], when[80];
	uint8_t random[3];
	struct timespec now;
	size_t length;

	snprintf(name, sizeof(name), "%s", command_name(argc, argv));
	length = strlen(name);
	if (length > 3 && !strcmp(name + length - 3, ".py"))
		name[length - 3] = 0;
	make_safe(name);
	clock_gettime(CLOCK_REALTIME, &now);
	utc_text(now.tv_sec, when, sizeof(when));
	fill_random(random, sizeof(random));
	snprintf(out, size, "%s-%s-%02x%02x%02x", when, name, random[0], random[1], random[2]);
}

/* Reads a small file; returns its length, 0 on any trouble. The text ends with NUL. */
static size_t read_file(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t n;

	*out = 0;
	if (fd < 0)
		return 0;
	while (used + 1 < size && (n = read(fd, out + used, size - 1 - used)) > 0)
		used += (size_t)n;
	close(fd);
	out[used] = 0;
	return used;
}

static void read_command(struct prof_process *p)
{
	size_t n = read_file("/proc/self/cmdline", p->command_text, sizeof(p->command_text));
	size_t at = 0;

	while (at < n && p->words < COUNT(p->command)) {
		p->command[p->words++] = p->command_text + at;
		at += strlen(p->command_text + at) + 1;
	}
}

/* Field 22 of /proc/self/stat, in clock ticks since boot; the name before it may hold anything. */
static int64_t start_ticks(void)
{
	char stat[1024], *at;
	int field;

	if (!read_file("/proc/self/stat", stat, sizeof(stat)))
		return -1;
	at = strrchr(stat, ')');
	for (field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoll(at + 1, NULL, 10) : -1;
}

static int64_t since_boot(void)
{
	struct timespec t;

	return clock_gettime(CLOCK_BOOTTIME, &t) ? 0 : (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t began; /* the program, since boot; 0: not known */

void prof_process_begins(void)
{
	began = since_boot();
}

static void read_start(struct prof_process *p)
{
	int64_t ticks = start_ticks(), now = prof_now_ns(), boot = since_boot();
	long rate = sysconf(_SC_CLK_TCK);

	p->start_ns = now;
	if (ticks >= 0 && rate > 0 && boot)
		p->start_ns = now - boot + ticks * (1000000000 / rate);
	if (began && boot)
		p->program_start_ns = now - boot + began;
}

static bool number(const char *name, long *out)
{
	const char *v = prof_env_text(name);
	char *end;
	long x;

	if (!v)
		return false;
	errno = 0;
	x = strtol(v, &end, 10);
	if (errno || *end || x < 0 || x > 0x7fffffff)
		return false;
	*out = x;
	return true;
}

static bool first_number(const char *const *names, size_t n, long *out)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (number(names[i], out))
			return true;
	return false;
}

static void read_rank(struct prof_process *p)
{
	/*
	 * torchrun under one Slurm task per node numbers its own workers, and of launchers inside a
	 * job only theirs is right: Slurm's comes last.
	 */
	static const char *const ranks[] = {
		"RANK",	    "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PMIX_RANK",
		"PMI_RANK", "PALS_RANKID",	    "SLURM_PROCID"
	};
	static const char *const locals[] = {
		"LOCAL_RANK",	   "OMPI_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK",
		"MPI_LOCALRANKID", "PALS_LOCAL_RANKID",		 "SLURM_LOCALID"
	};
	static const char *const worlds[] = { "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE",
					      "MV2_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS" };
	long value;

	p->has_rank = first_number(ranks, COUNT(ranks), &value);
	if (p->has_rank)
		p->rank = (int)value;
	if (first_number(locals, COUNT(locals), &value))
		p->local_rank = (int)value;
	if (first_number(worlds, COUNT(worlds), &value))
		p->world_size = (uint32_t)value;
}

static const char *const identity[] = {
	"SLURM_JOB_ID",
	"SLURM_STEP_ID",
	"SLURM_CLUSTER_NAME",
	"SLURM_RESTART_COUNT",
	"SLURM_JOB_NAME",
	"SLURM_JOB_PARTITION",
	"SLURM_JOB_ACCOUNT",
	"SLURM_JOB_USER",
	"SLURM_JOB_UID",
	"SLURM_JOB_QOS",
	"SLURM_ARRAY_JOB_ID",
	"SLURM_ARRAY_TASK_ID",
	"SLURM_NODEID",
	"SLURMD_NODENAME",
	"SLURM_PROCID",
	"SLURM_LOCALID",
	"PMIX_NAMESPACE",
	"TORCHELASTIC_RUN_ID",
	"GROUP_RANK",
	"CUDA_VISIBLE_DEVICES",
	"NVIDIA_VISIBLE_DEVICES",
	"TORCHELASTIC_RESTART_COUNT",
	"SLURM_JOB_NODELIST", /* last: it may be long, and then it is left out */
};
_Static_assert(COUNT(identity) <= PROF_VARIABLES, "room for each");

/* Copied now: the program may change its environment while our thread would read it. */
static void read_environment(struct prof_process *p)
{
	size_t used = 0, i, n;
	const char *value;

	for (i = 0; i < COUNT(identity); i++) {
		value = prof_env_text(identity[i]);
		n = value ? strlen(value) + 1 : 0;
		if (!n || used + n > sizeof(p->environment_text))
			continue;
		memcpy(p->environment_text + used, value, n);
		p->variable[p->variables].name = identity[i];
		p->variable[p->variables++].value = p->environment_text + used;
		used += n;
	}
}

static void read_dmi(const char *name, char *out, size_t size)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", prof_config()->dmi, name);
	read_file(path, out, size);
	out[strcspn(out, "\r\n")] = 0;
}

/* Amazon puts the instance type into the product's name; others only say who they are. */
static void read_machine(struct prof_process *p)
{
	char vendor[64], chassis[64];

	read_dmi("sys_vendor", vendor, sizeof(vendor));
	read_dmi("chassis_asset_tag", chassis, sizeof(chassis));
	if (!strcmp(vendor, "Amazon EC2")) {
		strcpy(p->provider, "aws");
		read_dmi("product_name", p->instance_type, sizeof(p->instance_type));
	} else if (!strcmp(vendor, "Google")) {
		strcpy(p->provider, "gcp");
	} else if (!strcmp(chassis, AZURE_CHASSIS)) {
		strcpy(p->provider, "azure");
	}
}

void prof_process_read(struct prof_process *p)
{
	const char *user = prof_env_text("SLURM_JOB_USER");
	struct utsname name;

	memset(p, 0, sizeof(*p));
	fill_random(p->stream, sizeof(p->stream));
	if (!uname(&name))
		snprintf(p->host, sizeof(p->host), "%s", name.nodename);
	if (!user)
		user = prof_env_text("USER");
	if (!user)
		user = prof_env_text("LOGNAME");
	if (user)
		snprintf(p->user, sizeof(p->user), "%s", user);
	read_file("/proc/sys/kernel/random/boot_id", p->boot_id, sizeof(p->boot_id));
	p->boot_id[strcspn(p->boot_id, "\n")] = 0;
	p->pid = getpid();
	p->parent_pid = getppid();
	read_start(p);
	read_command(p);
	read_rank(p);
	read_environment(p);
	p->notebook = prof_env_text("JPY_PARENT_PID") != NULL;
	read_machine(p);
}
