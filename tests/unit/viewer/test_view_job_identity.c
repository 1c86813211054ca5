/* SPDX-License-Identifier: Apache-2.0 */
/* What the scheduler says of a job: from the environment, from JSON, and both together. */
#include "job/cgroup.h"
#include "job/identity.h"

#include "harness.h"

struct pair {
	const char *name, *value;
};

static const char *of_pairs(void *arg, const char *name)
{
	const struct pair *p = arg;

	for (; p->name; p++)
		if (!strcmp(p->name, name))
			return p->value;
	return NULL;
}

static void test_environment(void)
{
	static const struct pair told[] = {
		{ "SLURM_JOB_ID", "4711" },
		{ "SLURM_CLUSTER_NAME", "c1" },
		{ "SLURM_STEP_ID", "0" },
		{ "SLURM_RESTART_COUNT", "2" },
		{ "SLURM_JOB_USER", "anna" },
		{ "SLURM_JOB_ACCOUNT", "" },
		{ "SLURM_ARRAY_JOB_ID", "-4" },
		{ "SLURM_ARRAY_TASK_ID", "3x" },
		{ "SLURM_JOB_UID", "99999999999999999999" },
		{ 0 },
	};
	struct view_job_identity id;

	view_job_from(&id, of_pairs, (void *)(uintptr_t)told);
	EXPECT(view_job_known(&id));
	EXPECT_INT(id.number[VIEW_JOB_ID], 4711);
	EXPECT_INT(id.number[VIEW_JOB_RESTART], 2);
	EXPECT_INT(id.number[VIEW_JOB_ARRAY], -1);
	EXPECT_INT(id.number[VIEW_JOB_ARRAY_TASK], -1);
	EXPECT_INT(id.number[VIEW_JOB_UID], -1);
	EXPECT_STR(id.text[VIEW_JOB_CLUSTER], "c1");
	EXPECT_STR(id.text[VIEW_JOB_STEP], "0");
	EXPECT_STR(id.text[VIEW_JOB_USER], "anna");
	EXPECT(!id.text[VIEW_JOB_ACCOUNT]);
	EXPECT(!id.text[VIEW_JOB_QOS]);
}

static void test_nothing(void)
{
	static const struct pair told[] = { { "SLURM_CLUSTER_NAME", "c1" }, { 0 } };
	struct view_job_identity id, none = VIEW_JOB_NONE;

	view_job_from(&id, of_pairs, (void *)(uintptr_t)told);
	EXPECT(!view_job_known(&id));
	EXPECT(!view_job_known(&none));
	for (int i = 0; i < VIEW_JOB_NUMBERS; i++)
		EXPECT_INT(none.number[i], -1);
}

/* Written and read again; what is of another type, negative or too large is not known. */
static void test_json(void)
{
	static const char bad[] =
		"{\"job\": \"12\", \"restart\": -1, \"uid\": 4294967296, \"cluster\": 7,"
		" \"user\": null, \"account\": \"\", \"array_job\": 1.5, \"array_task\": {}}";
	struct view_job_identity id = VIEW_JOB_NONE, back;
	struct base_arena mem = { 0 };
	struct base_json_error why;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	struct base_jsonout j = { .f = f };

	REQUIRE(f);
	id.number[VIEW_JOB_ID] = 12;
	id.number[VIEW_JOB_ARRAY_TASK] = 0;
	id.text[VIEW_JOB_NAME] = "a \"b\"\n";
	id.text[VIEW_JOB_NODES] = "n[1-4]";
	base_json_object(&j, NULL);
	view_job_put(&j, &id);
	base_json_end(&j);
	REQUIRE(!fclose(f));
	view_job_from_json(&back, base_json_parse(&mem, text, len, &why));
	EXPECT_MEM(back.number, id.number, sizeof(id.number));
	EXPECT_STR(back.text[VIEW_JOB_NAME], "a \"b\"\n");
	EXPECT_STR(back.text[VIEW_JOB_NODES], "n[1-4]");
	EXPECT(!back.text[VIEW_JOB_USER]);
	free(text);
	view_job_from_json(&back, base_json_parse(&mem, bad, sizeof(bad) - 1, &why));
	for (int i = 0; i < VIEW_JOB_NUMBERS; i++)
		EXPECT_INT(back.number[i], -1);
	for (int i = 0; i < VIEW_JOB_TEXTS; i++)
		EXPECT(!back.text[i]);
	view_job_from_json(&back, NULL);
	EXPECT(!view_job_known(&back));
	base_arena_fini(&mem);
}

static void test_add(void)
{
	struct view_job_identity id = VIEW_JOB_NONE, more = VIEW_JOB_NONE;

	id.number[VIEW_JOB_ID] = 5;
	id.text[VIEW_JOB_USER] = "anna";
	more.number[VIEW_JOB_ID] = 6;
	more.number[VIEW_JOB_UID] = 1000;
	more.text[VIEW_JOB_USER] = "eve";
	more.text[VIEW_JOB_QOS] = "normal";
	view_job_add(&id, &more);
	EXPECT_INT(id.number[VIEW_JOB_ID], 5);
	EXPECT_INT(id.number[VIEW_JOB_UID], 1000);
	EXPECT_STR(id.text[VIEW_JOB_USER], "anna");
	EXPECT_STR(id.text[VIEW_JOB_QOS], "normal");
}

/* A container drops the environment and stays in the job's cgroup. */
static void test_cgroup(void)
{
	static const struct {
		const char *text;
		int64_t job;
	} cases[] = {
		{ "0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0\n", 4711 },
		{ "0::/system.slice/n1_slurmstepd.scope/job_1/step_batch/user\n", 1 },
		{ "12:pids:/user.slice\n9:devices:/slurm/uid_1000/job_77/step_3/task_0\n"
		  "0::/user.slice\n",
		  77 },
		{ "4:memory:/slurm_n7/uid_0/job_8/step_0\n", 8 },
		{ "0::/slurm/uid_0/job_12", 12 },
		{ "", -1 },
		{ "0::/\n", -1 },
		{ "0::/user.slice/job_5/step_0\n", -1 }, /* not Slurm's */
		{ "0::/slurm\n1:x:/job_5\n", -1 }, /* of another line */
		{ "0::/slurm/job_\n", -1 },
		{ "0::/slurm/job_5x\n", -1 },
		{ "0::/slurm/job_-5\n", -1 },
		{ "0::/slurm/job_99999999999999\n", -1 },
		{ "0::/slurm/job_9999999999\n", -1 }, /* more than Slurm counts */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		EXPECT_INT(view_job_in_cgroup(cases[i].text), cases[i].job);
}

int main(void)
{
	return RUN(test_environment, test_nothing, test_json, test_add, test_cgroup);
}
