/* SPDX-License-Identifier: Apache-2.0 */
/* Run ids in their order, ranks, and the identity of this very process. */
#include "core/procinfo.h"

#include <time.h>

#include "core/clockpoll.h"
#include "core/config.h"
#include "harness.h"

static const char *const names[] = { "GPUSTARVE_RUN_ID",
				     "SLURM_JOB_ID",
				     "SLURM_STEP_ID",
				     "SLURM_CLUSTER_NAME",
				     "SLURM_RESTART_COUNT",
				     "PMIX_NAMESPACE",
				     "OMPI_MCA_orte_hnp_uri",
				     "TORCHELASTIC_RUN_ID",
				     "RANK",
				     "LOCAL_RANK",
				     "WORLD_SIZE",
				     "SLURM_PROCID",
				     "SLURM_LOCALID",
				     "SLURM_NTASKS",
				     "OMPI_COMM_WORLD_RANK",
				     "OMPI_COMM_WORLD_SIZE",
				     "PMI_RANK",
				     "PMIX_RANK",
				     "PMI_SIZE",
				     "MV2_COMM_WORLD_RANK",
				     "PALS_RANKID",
				     "SLURM_JOB_USER" };

static void clear(void)
{
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
}

/* What the id is with one more variable set. */
static const char *with(const char *name, const char *value)
{
	static char id[252];

	setenv(name, value, 1);
	if (!prof_run_id_from_env(id, sizeof(id)))
		return "";
	return id;
}

static void test_order(void)
{
	clear();
	EXPECT_STR(with("RANK", "0"), "");
	EXPECT_STR(with("TORCHELASTIC_RUN_ID", "none"), "");
	EXPECT_STR(with("TORCHELASTIC_RUN_ID", "abc"), "torchelastic-abc");
	EXPECT_STR(with("PMIX_NAMESPACE", "n1"), "pmix-n1");
	EXPECT_STR(with("OMPI_MCA_orte_hnp_uri", "n0.0;tcp://192.0.2.2:49537"), "pmix-n1-cb5ea9");
	unsetenv("OMPI_MCA_orte_hnp_uri");
	EXPECT_STR(with("PMIX_NAMESPACE", "prterun-1"), "pmix-prterun-1");
	EXPECT_STR(with("SLURM_JOB_ID", "77"), "pmix-prterun-1"); /* no step: the batch script */
	EXPECT_STR(with("SLURM_STEP_ID", "batch"), "pmix-prterun-1");
	EXPECT_STR(with("SLURM_STEP_ID", "4294967291"), "pmix-prterun-1");
	EXPECT_STR(with("SLURM_STEP_ID", "3"), "slurm-cluster-77.3-0");
	EXPECT_STR(with("SLURM_CLUSTER_NAME", "big"), "slurm-big-77.3-0");
	EXPECT_STR(with("SLURM_RESTART_COUNT", "2"), "slurm-big-77.3-2");
	EXPECT_STR(with("GPUSTARVE_RUN_ID", "mine"), "mine");
	EXPECT_STR(with("GPUSTARVE_RUN_ID", ""), "slurm-big-77.3-2");
}

static void test_safe(void)
{
	char name[300], want[252];

	clear();
	EXPECT_STR(with("GPUSTARVE_RUN_ID", "a/b c\n../x"), "a_b_c_.._x-bb9f0ec5");
	EXPECT_STR(with("GPUSTARVE_RUN_ID", "../x"), "_._x-838c62fa");
	EXPECT_STR(with("GPUSTARVE_RUN_ID", "\u03b1\u03b2"), "____-0863d788");
	EXPECT_STR(with("GPUSTARVE_RUN_ID", "\u03b1\u03b3"), "____-0863d93b");
	EXPECT_STR(with("GPUSTARVE_RUN_ID", "A-1.z=4+5@b"), "A-1.z=4+5@b");
	memset(name, 'x', 251);
	name[251] = '\0';
	EXPECT_STR(with("GPUSTARVE_RUN_ID", name), name);
	memcpy(want, name, sizeof(want));
	strcpy(name + 251, "y"); /* two that differ behind what is kept */
	strcpy(want + 242, "-38a0fce2");
	EXPECT_STR(with("GPUSTARVE_RUN_ID", name), want);
	clear();
	EXPECT_STR(with("TORCHELASTIC_RUN_ID", "a b"), "torchelastic-a_b-f0eed848");
}

/* The id's time is UTC, and local time stays as the program will set it. */
static void test_time(void)
{
	time_t before = time(NULL), after, at;
	struct tm tm = { 0 }, local;
	char id[252];

	prof_run_id_make(id, sizeof(id), 0, NULL);
	after = time(NULL);
	setenv("TZ", "JST-9", 1);
	at = 0;
	REQUIRE(localtime_r(&at, &local));
	EXPECT_INT(local.tm_hour, 9);
	REQUIRE(sscanf(id, "%4d%2d%2dT%2d%2d%2dZ", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
		       &tm.tm_hour, &tm.tm_min, &tm.tm_sec) == 6);
	tm.tm_year -= 1900;
	tm.tm_mon--;
	at = timegm(&tm);
	EXPECT(at >= before && at <= after);
}

static const char *made(int argc, char **argv)
{
	static char id[252];

	prof_run_id_make(id, sizeof(id), argc, argv);
	EXPECT_UINT(strspn(id, "0123456789"), 8);
	EXPECT_INT(id[8], 'T');
	EXPECT_INT(id[15], 'Z');
	EXPECT_INT(id[16], '-');
	id[strlen(id) - 7] = 0; /* the random part */
	return id + 17;
}

static void test_make(void)
{
	char *plain[] = { (char *)"/usr/bin/train", (char *)"x", NULL };
	char *script[] = { (char *)"/usr/bin/python3.11", (char *)"-u", (char *)"dir/train.py",
			   NULL };
	char *module[] = { (char *)"python", (char *)"-m", (char *)"torch.run", NULL };
	char *code[] = { (char *)"python", (char *)"-c", (char *)"import x; y", NULL };
	char *odd[] = { (char *)"a b/c d", NULL };
	char a[252], b[252];

	EXPECT_STR(made(2, plain), "train");
	EXPECT_STR(made(3, script), "train");
	EXPECT_STR(made(3, module), "torch.run");
	EXPECT_STR(made(3, code), "python");
	EXPECT_STR(made(1, odd), "c_d");
	EXPECT_STR(made(0, NULL), "run");
	prof_run_id_make(a, sizeof(a), 1, odd);
	prof_run_id_make(b, sizeof(b), 1, odd);
	EXPECT(strcmp(a, b));
}

static void test_rank(void)
{
	struct prof_process p;

	clear();
	prof_process_read(&p);
	EXPECT(!p.has_rank);
	EXPECT_UINT(p.world_size, 0);
	setenv("SLURM_PROCID", "9", 1);
	setenv("RANK", "5", 1);
	setenv("LOCAL_RANK", "1", 1);
	setenv("WORLD_SIZE", "8", 1);
	prof_process_read(&p);
	EXPECT(p.has_rank);
	EXPECT_INT(p.rank, 5);
	EXPECT_INT(p.local_rank, 1);
	EXPECT_UINT(p.world_size, 8);
	setenv("RANK", "-3", 1);
	setenv("WORLD_SIZE", "8x", 1);
	prof_process_read(&p);
	EXPECT_INT(p.rank, 9);
	EXPECT_UINT(p.world_size, 0);
}

/* Each launcher inside a job is believed before Slurm, which started it. */
static void test_launchers(void)
{
	static const char *const order[] = {
		"SLURM_PROCID",	       "PALS_RANKID",	       "PMI_RANK", "PMIX_RANK",
		"MV2_COMM_WORLD_RANK", "OMPI_COMM_WORLD_RANK", "RANK"
	};
	struct prof_process p;
	char value[8];

	clear();
	for (int i = 0; i < 7; i++) {
		snprintf(value, sizeof(value), "%d", i + 1);
		setenv(order[i], value, 1);
		prof_process_read(&p);
		EXPECT_INT(p.rank, i + 1);
	}
}

/* What stands in Hello for the bill; a list of nodes that is too long is left out alone. */
static void test_job(void)
{
	static char nodes[8000];
	struct prof_process p;
	const char *qos = NULL;

	memset(nodes, 'n', sizeof(nodes) - 1);
	setenv("SLURM_JOB_NODELIST", nodes, 1);
	setenv("SLURM_JOB_QOS", "high", 1);
	prof_process_read(&p);
	for (size_t i = 0; i < p.variables; i++) {
		EXPECT(strcmp(p.variable[i].name, "SLURM_JOB_NODELIST"));
		if (!strcmp(p.variable[i].name, "SLURM_JOB_QOS"))
			qos = p.variable[i].value;
	}
	EXPECT_STR(qos, "high");
	setenv("SLURM_JOB_NODELIST", "n[1-4]", 1);
	prof_process_read(&p);
	REQUIRE(p.variables);
	EXPECT_STR(p.variable[p.variables - 1].value, "n[1-4]");
	unsetenv("SLURM_JOB_NODELIST");
	unsetenv("SLURM_JOB_QOS");
}

static void test_self(void)
{
	struct prof_process p, q;
	int64_t now = prof_now_ns();

	prof_process_read(&p);
	prof_process_read(&q);
	EXPECT(memcmp(p.stream, q.stream, sizeof(p.stream)));
	EXPECT_INT(p.pid, getpid());
	EXPECT_INT(p.parent_pid, getppid());
	EXPECT(p.start_ns <= now && p.start_ns > now - 600000000000);
	EXPECT_UINT(strlen(p.boot_id), 36);
	EXPECT_UINT(p.words, 1);
	EXPECT(strstr(p.command[0], "test_prof_procinfo"));
	EXPECT(p.host[0]);
}

static void test_machine(void)
{
	char dir[256], path[400];
	struct prof_process p;
	FILE *f;

	t_tempdir(dir, sizeof(dir));
	setenv("GPUSTARVE_DMI", dir, 1);
	prof_config_read();
	prof_process_read(&p);
	EXPECT_STR(p.provider, "");
	snprintf(path, sizeof(path), "%s/sys_vendor", dir);
	REQUIRE((f = fopen(path, "w")));
	fputs("Amazon EC2\n", f);
	fclose(f);
	snprintf(path, sizeof(path), "%s/product_name", dir);
	REQUIRE((f = fopen(path, "w")));
	fputs("p5.48xlarge\n", f);
	fclose(f);
	prof_process_read(&p);
	EXPECT_STR(p.provider, "aws");
	EXPECT_STR(p.instance_type, "p5.48xlarge");
	unlink(path);
	snprintf(path, sizeof(path), "%s/sys_vendor", dir);
	unlink(path);
	rmdir(dir);
}

int main(void)
{
	return RUN(test_time, test_machine, test_order, test_safe, test_make, test_rank,
		   test_launchers, test_job, test_self);
}
