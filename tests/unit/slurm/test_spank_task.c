/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SPANK plugin without a SLURM: what it sets in a task, when it leaves one alone, options and
 * arguments that are hostile, and calls of SLURM's that fail. This file is the SLURM.
 */
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include "harness.h"
#include "task.h"

#define VARIABLES 64

static struct {
	char *name, *value;
} env[VARIABLES];
static struct spank_option *option;
static spank_context_t context = S_CTX_REMOTE;
static uint32_t step;
static bool no_step, no_set;
static int complaints, argc;
static char *argv[2];
static char where[64], lib[128];

static int slot(const char *name)
{
	for (int i = 0; i < VARIABLES; i++)
		if (env[i].name && !strcmp(env[i].name, name))
			return i;
	return -1;
}

static void unset(int i)
{
	if (i < 0)
		return;
	free(env[i].name);
	free(env[i].value);
	env[i].name = env[i].value = NULL;
}

static void set(const char *name, const char *value)
{
	int i = slot(name);

	unset(i);
	for (i = 0; env[i].name; i++)
		;
	env[i].name = strdup(name);
	env[i].value = strdup(value);
}

static const char *value(const char *name)
{
	int i = slot(name);

	return i < 0 ? "(unset)" : env[i].value;
}

spank_context_t spank_context(void)
{
	return context;
}

spank_err_t spank_option_register(spank_t sp, struct spank_option *o)
{
	(void)sp;
	option = o;
	return ESPANK_SUCCESS;
}

spank_err_t spank_get_item(spank_t sp, spank_item_t item, ...)
{
	va_list arguments;

	(void)sp;
	if (item == S_JOB_ARGV ? !argc : no_step || item != S_JOB_STEPID)
		return ESPANK_NOT_TASK;
	va_start(arguments, item);
	if (item == S_JOB_STEPID) {
		*va_arg(arguments, uint32_t *) = step;
	} else {
		*va_arg(arguments, int *) = argc;
		*va_arg(arguments, char ***) = argv;
	}
	va_end(arguments);
	return ESPANK_SUCCESS;
}

spank_err_t spank_getenv(spank_t sp, const char *name, char *out, int len)
{
	int i = slot(name);

	(void)sp;
	if (i < 0)
		return ESPANK_ENV_NOEXIST;
	if (strlen(env[i].value) >= (size_t)len) {
		memset(out, 'z', (size_t)len); /* without an end, as SLURM may leave it */
		return ESPANK_NOSPACE;
	}
	strcpy(out, env[i].value);
	return ESPANK_SUCCESS;
}

spank_err_t spank_setenv(spank_t sp, const char *name, const char *text, int overwrite)
{
	(void)sp;
	if (no_set)
		return ESPANK_ERROR;
	if (!overwrite && slot(name) >= 0)
		return ESPANK_ENV_EXISTS;
	set(name, text);
	return ESPANK_SUCCESS;
}

spank_err_t spank_unsetenv(spank_t sp, const char *name)
{
	(void)sp;
	unset(slot(name));
	return ESPANK_SUCCESS;
}

void slurm_error(const char *format, ...)
{
	(void)format;
	complaints++;
}

void slurm_info(const char *format, ...)
{
	(void)format;
	complaints++;
}

/* A step of job 77 with a GPU. */
static struct gs_spank fresh(void)
{
	struct gs_spank g = { .on = true, .run = "/nonexistent" };

	for (int i = 0; i < VARIABLES; i++)
		unset(i);
	set("SLURM_JOB_ID", "77");
	set("SLURMD_NODENAME", "n1");
	set("SLURM_JOB_USER", "me");
	set("SLURM_SUBMIT_DIR", "/home/me");
	set("SLURM_STEP_GPUS", "0");
	step = 0;
	no_step = no_set = false;
	argc = 0;
	strcpy(g.lib, lib);
	return g;
}

static void run(const struct gs_spank *g)
{
	gs_spank_task(NULL, g);
}

/* Nothing was set. */
static void expect_alone(const char *what)
{
	if (slot("LD_PRELOAD") >= 0 || slot("GPUSTARVE_OUT") >= 0 ||
	    slot("GPUSTARVE_SOCKET") >= 0 || slot("GPUSTARVE_RUN_ID") >= 0)
		T_FAIL("%s: the task was not left alone", what);
}

static void test_sets(void)
{
	struct gs_spank g = fresh();

	run(&g);
	EXPECT_STR(value("LD_PRELOAD"), lib);
	EXPECT_STR(value("GPUSTARVE_OUT"), "/home/me/gpustarve-runs");
	EXPECT_STR(value("GPUSTARVE_SLURM_JOB"), "77");
	EXPECT_STR(value("GPUSTARVE_QUIET_ERRORS"), "1");
	EXPECT_STR(value("GPUSTARVE_SOCKET"), "(unset)");
	EXPECT_STR(value("GPUSTARVE_RUN_ID"), "(unset)");
	run(&g);
	EXPECT_STR(value("LD_PRELOAD"), lib);
}

static void test_guards(void)
{
	static const uint32_t shells[] = { 0xfffffffbu, 0xfffffffau, 0xfffffffcu, 0xfffffffeu };
	static const char *const no[] = { "0", "off", "no" };
	static const char *const none[] = { "", "NoDevFiles", "-1" };
	struct gs_spank g = fresh();

	g.on = false;
	run(&g);
	expect_alone("not asked for");
	set("GPUSTARVE", "1");
	run(&g);
	EXPECT_STR(value("LD_PRELOAD"), lib);
	for (size_t i = 0; i < 3; i++) {
		g = fresh();
		set("GPUSTARVE", no[i]);
		run(&g);
		expect_alone(no[i]);
		g = fresh();
		unset(slot("SLURM_STEP_GPUS"));
		set("SLURM_JOB_GPUS", "0,1"); /* the batch shell's, which srun passes on */
		set("CUDA_VISIBLE_DEVICES", none[i]);
		run(&g);
		expect_alone(none[i]);
	}
	for (size_t i = 0; i < 4; i++) {
		g = fresh();
		step = shells[i];
		run(&g);
		expect_alone("a step without a number");
	}
	g = fresh();
	no_step = true;
	run(&g);
	expect_alone("no step is told");
	g = fresh();
	strcpy(g.lib, "/nonexistent/libprof.so");
	run(&g);
	expect_alone("no library");
	g = fresh();
	g.off = true;
	run(&g);
	expect_alone("switched off");
	EXPECT_STR(value("GPUSTARVE"), "0");
	g = fresh();
	unset(slot("SLURM_JOB_ID"));
	run(&g);
	expect_alone("no job");
	g = fresh();
	no_set = true;
	run(&g);
	expect_alone("nothing can be set");
}

static void test_listed(void)
{
	struct gs_spank g = fresh();
	char want[1024], *huge = malloc(40000);

	EXPECT(gs_spank_listed("/a/b.so", "/a/b.so"));
	EXPECT(gs_spank_listed("/x /a/b.so:/y", "/a/b.so"));
	EXPECT(gs_spank_listed("/own/libprof.so", "/a/libprof.so"));
	EXPECT(!gs_spank_listed("/a/b.so.1:/a/b.s /a/b.soo", "/a/b.so"));
	EXPECT(!gs_spank_listed("libprof.so:/xlibprof.so:/libprof.so.1", "/a/libprof.so"));
	EXPECT(!gs_spank_listed("", "/a"));
	EXPECT(!gs_spank_listed(":: : ", "/a"));
	set("LD_PRELOAD", "/a.so /b.so");
	run(&g);
	snprintf(want, sizeof(want), "/a.so /b.so:%s", lib);
	EXPECT_STR(value("LD_PRELOAD"), want);
	/* Too long to be read as a whole: not touched. */
	g = fresh();
	memset(huge, 'x', 39999);
	huge[39999] = '\0';
	set("LD_PRELOAD", huge);
	run(&g);
	EXPECT_STR(value("LD_PRELOAD"), huge);
	EXPECT_STR(value("GPUSTARVE_OUT"), "(unset)");
	/* A list of devices too long to be read is one. */
	g = fresh();
	unset(slot("SLURM_STEP_GPUS"));
	set("CUDA_VISIBLE_DEVICES", huge);
	run(&g);
	EXPECT_STR(value("LD_PRELOAD"), lib);
	free(huge);
}

/*
 * What lets nothing be preloaded is left to CUDA; test_sanitized_programs has programs that do not.
 */
static void test_injected(void)
{
	static const char *const no[] = { "0", "off", "no" };
	struct gs_spank g;

	for (size_t i = 0; i < 3; i++) {
		g = fresh();
		set("GPUSTARVE_PRELOAD", no[i]);
		run(&g);
		EXPECT_STR(value("LD_PRELOAD"), "(unset)");
		EXPECT_STR(value("CUDA_INJECTION64_PATH"), lib);
		EXPECT_STR(value("NVTX_INJECTION64_PATH"), lib);
		EXPECT_STR(value("GPUSTARVE_OUT"), "/home/me/gpustarve-runs");
	}
	g = fresh();
	set("GPUSTARVE_PRELOAD", "0");
	set("CUDA_INJECTION64_PATH", "/theirs.so");
	set("LD_PRELOAD", "/a.so");
	run(&g);
	EXPECT_STR(value("CUDA_INJECTION64_PATH"), "/theirs.so");
	EXPECT_STR(value("LD_PRELOAD"), "/a.so");
	g = fresh();
	set("GPUSTARVE_PRELOAD", "0");
	strcpy(g.lib, "/nonexistent/libprof.so");
	run(&g);
	expect_alone("no library");
	EXPECT_STR(value("CUDA_INJECTION64_PATH"), "(unset)");
	/* A command that cannot be read, or is none, is like any other. */
	for (int i = 0; i < 2; i++) {
		g = fresh();
		argc = 1;
		argv[0] = (char *)(i ? "/nonexistent/program" : "");
		run(&g);
		EXPECT_STR(value("LD_PRELOAD"), lib);
		EXPECT_STR(value("CUDA_INJECTION64_PATH"), "(unset)");
	}
}

static void test_folder(void)
{
	struct gs_spank g = fresh();
	char out[32], want[256], cwd[128];

	EXPECT(gs_spank_fill_in(out, sizeof(out), "/s/%u/x%u", "me.@_-1"));
	EXPECT_STR(out, "/s/me.@_-1/x%u");
	EXPECT(gs_spank_fill_in(out, sizeof(out), "/s", ""));
	EXPECT(!gs_spank_fill_in(out, sizeof(out), "/s/%u", ""));
	EXPECT(!gs_spank_fill_in(out, sizeof(out), "/s/%u", ".."));
	EXPECT(!gs_spank_fill_in(out, sizeof(out), "/s/%u", "a/b"));
	EXPECT(!gs_spank_fill_in(out, sizeof(out), "/s/%u", "-x"));
	EXPECT(!gs_spank_fill_in(out, sizeof(out), "/s/%u", "a2345678901234567890123456789"));
	EXPECT(gs_spank_fill_in(out, sizeof(out), "/s/%u", "a23456789012345678901234567"));
	set("GPUSTARVE_OUT", "/mine");
	strcpy(g.dir, "/site/%u/x");
	run(&g);
	EXPECT_STR(value("GPUSTARVE_OUT"), "/mine");
	g = fresh();
	strcpy(g.dir, "/site/%u/x");
	set("GPUSTARVE_OUT", "/old");
	set("GPUSTARVE_SOCKET", "/old/sock");
	set("GPUSTARVE_SLURM_JOB", "76");
	run(&g);
	EXPECT_STR(value("GPUSTARVE_OUT"), "/site/me/x");
	EXPECT_STR(value("GPUSTARVE_SOCKET"), "(unset)");
	g = fresh();
	strcpy(g.asked, "/asked $(id);'\"");
	set("GPUSTARVE_OUT", "/mine");
	run(&g);
	EXPECT_STR(value("GPUSTARVE_OUT"), "/asked $(id);'\"");
	g = fresh();
	strcpy(g.asked, "rel");
	EXPECT(getcwd(cwd, sizeof(cwd)) != NULL);
	snprintf(want, sizeof(want), "%s/rel", cwd);
	run(&g);
	EXPECT_STR(value("GPUSTARVE_OUT"), want);
	g = fresh();
	set("SLURM_SUBMIT_DIR", "/a\nexport X=1");
	run(&g);
	expect_alone("a line break in the folder");
}

static void test_own_folder(void)
{
	struct gs_spank g = fresh();
	char path[128];
	struct stat st;

	snprintf(g.dir, sizeof(g.dir), "%s/%%u", where);
	snprintf(path, sizeof(path), "%s/me", where);
	run(&g);
	EXPECT_STR(value("GPUSTARVE_OUT"), path);
	EXPECT(!stat(path, &st) && S_ISDIR(st.st_mode));
	run(&g);
	EXPECT_STR(value("GPUSTARVE_OUT"), path);
	rmdir(path);
	EXPECT_INT(symlink("/tmp", path), 0);
	struct gs_spank again = fresh();
	strcpy(again.dir, g.dir);
	run(&again);
	expect_alone("a link in place of the user's folder");
	unlink(path);
}

static void test_socket(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct gs_spank g = fresh();
	char path[128];
	FILE *f;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(g.run, where);
	snprintf(path, sizeof(path), "%s/77@n1", where);
	mkdir(path, 0700);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s/77@n1/sock", where);
	EXPECT_INT(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	snprintf(path, sizeof(path), "%s/77@n1.out", where);
	f = fopen(path, "w");
	fputs("/told dir\nmore", f);
	fclose(f);
	run(&g);
	EXPECT_STR(value("GPUSTARVE_OUT"), "/told dir");
	EXPECT_STR(value("GPUSTARVE_SOCKET"), a.sun_path);
	struct gs_spank other = fresh();
	strcpy(other.run, where);
	strcpy(other.asked, "/elsewhere");
	run(&other);
	EXPECT_STR(value("GPUSTARVE_SOCKET"), "(unset)");
	/* Not a word from Prolog: no end of it, no file. */
	f = fopen(path, "w");
	for (int i = 0; i < 10000; i++)
		fputc('y', f);
	fclose(f);
	g = fresh();
	strcpy(g.run, where);
	run(&g);
	EXPECT_STR(value("GPUSTARVE_SOCKET"), "(unset)");
	unlink(path);
	EXPECT_INT(mkfifo(path, 0600), 0);
	run(&g);
	unlink(path);
	unlink(a.sun_path);
	close(fd);
}

static void test_run_id(void)
{
	struct gs_spank g = fresh();

	set("GPUSTARVE_RUN_ID", "mine");
	run(&g);
	EXPECT_STR(value("GPUSTARVE_RUN_ID"), "mine");
	set("GPUSTARVE_RUN_ID", "slurm-big-77.0-0");
	run(&g);
	EXPECT_STR(value("GPUSTARVE_RUN_ID"), "slurm-big-77.0-0");
	set("GPUSTARVE_RUN_ID", "slurm-big-76.0-0");
	run(&g);
	EXPECT_STR(value("GPUSTARVE_RUN_ID"), "(unset)");
	g = fresh();
	g.batch = true;
	step = 0xfffffffbu;
	unset(slot("SLURM_STEP_GPUS"));
	set("SLURM_JOB_GPUS", "0");
	run(&g);
	expect_alone("an extern step");
	set("ENVIRONMENT", "BATCH");
	set("SLURM_RESTART_COUNT", "2");
	run(&g);
	EXPECT_STR(value("GPUSTARVE_RUN_ID"), "slurm-cluster-77.batch-2");
	EXPECT_STR(value("LD_PRELOAD"), lib);
	step = 1;
	set("SLURM_STEP_GPUS", "0");
	run(&g);
	EXPECT_STR(value("GPUSTARVE_RUN_ID"), "(unset)");
}

/* One job in @partition with the site's default @on; is it recorded? */
static bool is_recorded_in(const char *partition, bool on, const char *on_in, const char *off_in)
{
	struct gs_spank g = fresh();

	g.on = on;
	strcpy(g.on_in, on_in);
	strcpy(g.off_in, off_in);
	if (partition)
		set("SLURM_JOB_PARTITION", partition);
	run(&g);
	return slot("LD_PRELOAD") >= 0;
}

static void test_partitions(void)
{
	struct gs_spank g = fresh();

	EXPECT(gs_spank_names("gpu", "gpu"));
	EXPECT(gs_spank_names("a,gpu,b", "gpu"));
	EXPECT(!gs_spank_names("gpus,gp,xgpu", "gpu"));
	EXPECT(!gs_spank_names("", "gpu"));
	EXPECT(!gs_spank_names(",,", ""));
	EXPECT(is_recorded_in("gpu", false, "a,gpu", ""));
	EXPECT(!is_recorded_in("b", false, "a,gpu", ""));
	EXPECT(!is_recorded_in(NULL, false, "a,gpu", ""));
	EXPECT(is_recorded_in(NULL, true, "", "gpu"));
	EXPECT(!is_recorded_in("gpu", true, "", "gpu"));
	EXPECT(is_recorded_in("b", true, "", "gpu"));
	EXPECT(!is_recorded_in("gpu", false, "gpu", "gpu"));
	/* Who asks is recorded anywhere, and who declines nowhere. */
	strcpy(g.off_in, "gpu");
	set("SLURM_JOB_PARTITION", "gpu");
	g.given = true;
	run(&g);
	EXPECT_STR(value("LD_PRELOAD"), lib);
	g = fresh();
	g.on = false;
	strcpy(g.on_in, "gpu");
	set("SLURM_JOB_PARTITION", "gpu");
	set("GPUSTARVE", "0");
	run(&g);
	expect_alone("declined in a partition that is recorded");
}

/* As srun, slurmd and slurmstepd call it. The plugin keeps what it is told: last of all tests. */
static void test_plugin(void)
{
	char libword[160], *words[] = { libword,
					(char *)"nonsense",
					(char *)"default=on",
					(char *)"dir=/site",
					(char *)"run=/nonexistent",
					(char *)"partitions_on=a,b",
					(char *)"partitions_off=debug" };
	char *huge = malloc(10000);

	snprintf(libword, sizeof(libword), "lib=%s", lib);
	context = S_CTX_SLURMD;
	EXPECT_INT(slurm_spank_init(NULL, 0, NULL), 0);
	EXPECT(!option);
	context = S_CTX_REMOTE;
	EXPECT_INT(slurm_spank_init(NULL, 7, words), 0);
	EXPECT_INT(complaints, 1); /* of the argument it does not know */
	EXPECT_STR(option->name, "gpustarve");
	EXPECT_INT(option->has_arg, 2);
	fresh();
	EXPECT_INT(slurm_spank_task_init(NULL, 0, NULL), 0);
	EXPECT_STR(value("LD_PRELOAD"), lib);
	EXPECT_STR(value("GPUSTARVE_OUT"), "/site");
	fresh();
	set("SLURM_JOB_PARTITION", "debug");
	EXPECT_INT(slurm_spank_task_init(NULL, 0, NULL), 0);
	expect_alone("partitions_off=debug");
	EXPECT_INT(option->cb(0, NULL, 1), 0);
	EXPECT_INT(option->cb(0, "", 1), 0);
	EXPECT_INT(option->cb(0, "(null)", 1), 0);
	memset(huge, 'x', 9999);
	huge[9999] = '\0';
	EXPECT_INT(option->cb(0, huge, 1), 0);
	EXPECT_INT(option->cb(0, "a\nb", 1), 0);
	EXPECT_INT(complaints, 1);
	EXPECT_INT(option->cb(0, huge, 0), 0);
	EXPECT_INT(complaints, 2); /* srun tells its user */
	fresh();
	slurm_spank_task_init(NULL, 0, NULL);
	EXPECT_STR(value("GPUSTARVE_OUT"), "/site");
	EXPECT_INT(option->cb(0, "/asked", 1), 0);
	fresh();
	slurm_spank_task_init(NULL, 0, NULL);
	EXPECT_STR(value("GPUSTARVE_OUT"), "/asked");
	EXPECT_INT(option->cb(0, "off", 1), 0);
	fresh();
	slurm_spank_task_init(NULL, 0, NULL);
	expect_alone("--gpustarve=off");
	free(huge);
	fresh();
	for (int i = 0; i < VARIABLES; i++)
		unset(i);
}

int main(void)
{
	FILE *f;
	int failed;

	strcpy(where, "/tmp/gsspank-XXXXXX");
	if (!mkdtemp(where))
		return 1;
	snprintf(lib, sizeof(lib), "%s/libprof.so", where);
	f = fopen(lib, "w");
	if (!f)
		return 1;
	fclose(f);
	failed = RUN(test_sets, test_guards, test_listed, test_injected, test_folder,
		     test_own_folder, test_socket, test_run_id, test_partitions, test_plugin);
	unlink(lib);
	char path[128];
	snprintf(path, sizeof(path), "%s/77@n1", where);
	rmdir(path);
	rmdir(where);
	return failed;
}
