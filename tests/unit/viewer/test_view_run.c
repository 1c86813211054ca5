/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `gpustarve run` is made of: run ids in their order, run.json and exit files, sizes.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "harness.h"
#include "base/jsondoc.h"
#include "core/values.h"
#include "run/others.h"
#include "run/runid.h"
#include "trace/runjson.h"

static char *command[] = { (char *)"/usr/bin/python3", (char *)"-u", (char *)"dir/train.py", NULL };

static void clear(void)
{
	static const char *const name[] = { "GPUSTARVE_RUN_ID",	     "SLURM_CLUSTER_NAME",
					    "SLURM_JOB_ID",	     "SLURM_STEP_ID",
					    "SLURM_RESTART_COUNT",   "PMIX_NAMESPACE",
					    "OMPI_MCA_orte_hnp_uri", "TORCHELASTIC_RUN_ID" };

	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		unsetenv(name[i]);
}

static const char *id(void)
{
	static char text[VIEW_RUN_ID_BYTES];

	view_run_id(text, sizeof(text), command);
	return text;
}

static void test_id_order(void)
{
	clear();
	EXPECT(strstr(id(), "Z-train-") != NULL);
	setenv("TORCHELASTIC_RUN_ID", "none", 1);
	EXPECT(strstr(id(), "Z-train-") != NULL);
	setenv("TORCHELASTIC_RUN_ID", "t1", 1);
	EXPECT_STR(id(), "torchelastic-t1");
	setenv("PMIX_NAMESPACE", "n1", 1);
	EXPECT_STR(id(), "pmix-n1");
	setenv("OMPI_MCA_orte_hnp_uri", "n0.0;tcp://192.0.2.2:49537",
	       1); /* as libprof's test has */
	EXPECT_STR(id(), "pmix-n1-cb5ea9");
	unsetenv("OMPI_MCA_orte_hnp_uri");
	setenv("SLURM_JOB_ID", "77", 1);
	EXPECT_STR(id(), "pmix-n1"); /* no step */
	setenv("SLURM_STEP_ID", "4294967291", 1); /* the batch step */
	EXPECT_STR(id(), "pmix-n1");
	setenv("SLURM_STEP_ID", "batch", 1);
	EXPECT_STR(id(), "pmix-n1");
	setenv("SLURM_STEP_ID", "0", 1);
	EXPECT_STR(id(), "slurm-cluster-77.0-0");
	setenv("SLURM_CLUSTER_NAME", "big", 1);
	setenv("SLURM_RESTART_COUNT", "2", 1);
	EXPECT_STR(id(), "slurm-big-77.0-2");
	setenv("GPUSTARVE_RUN_ID", "../../etc/my run", 1);
	EXPECT_STR(id(), "_._.._etc_my_run-fbfce627");
	clear();
}

static void test_id_names(void)
{
	static char *const module[] = { (char *)"python", (char *)"-m", (char *)"pkg.train", NULL };
	static char *const code[] = { (char *)"python", (char *)"-c", (char *)"print()", NULL };
	static char *const plain[] = { (char *)"/opt/x y/run it", NULL };
	char text[VIEW_RUN_ID_BYTES], again[VIEW_RUN_ID_BYTES];

	view_run_id(text, sizeof(text), module);
	EXPECT(strstr(text, "Z-pkg.train-") != NULL);
	view_run_id(text, sizeof(text), code);
	EXPECT(strstr(text, "Z-python-") != NULL);
	view_run_id(text, sizeof(text), plain);
	EXPECT(strstr(text, "Z-run_it-") != NULL);
	view_run_id(again, sizeof(again), plain);
	EXPECT(strcmp(text, again) != 0);
}

static int64_t exits_in(const char *path, int64_t *status)
{
	struct base_arena mem = { 0 };
	struct base_json *root = NULL;
	struct base_json_error error;
	int64_t n = -1;

	if (!base_json_read(&mem, path, &root, &error)) {
		n = (int64_t)base_json_count(base_json_get(root, "exits"));
		*status = base_json_get_int(root, "exit_status", -1);
	}
	base_arena_fini(&mem);
	return n;
}

static off_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? -1 : st.st_size;
}

/* The record has room for its end from the start: no later write of it can make it longer. */
static void test_record_room(void)
{
	char dir[] = "/tmp/gpustarve-run-XXXXXX", host[256], temp[320], *path;
	struct view_run_record r = {
		.id = "x", .command = command, .start_unix_ns = 1700000000000000001, .host = host
	};
	struct rlimit was, none;
	int64_t status = -1;
	bool first;

	memset(host, '\x01', sizeof(host) - 1);
	host[sizeof(host) - 1] = '\0';
	REQUIRE(mkdtemp(dir));
	EXPECT_INT(view_run_record_begin(dir, &r, &first, &path), 0);
	EXPECT_INT(exits_in(path, &status), 0);
	off_t room = size_of(path);
	r.ended = true;
	r.wall_ns = INT64_MAX - r.start_unix_ns;
	r.exit_status = 255;
	r.pid = INT_MAX;
	/* The temporary file cannot be made: a folder has its name. */
	snprintf(temp, sizeof(temp), "%s.%ld.tmp", path, (long)getpid());
	REQUIRE(!mkdir(temp, 0777));
	EXPECT_INT(view_run_record_end(path, &r), 0);
	EXPECT_INT(size_of(path), room);
	EXPECT_INT(exits_in(path, &status), 1);
	EXPECT_INT(status, 255);
	r.wall_ns = 7;
	r.pid = 9;
	EXPECT_INT(view_run_record_end(path, &r), 0);
	EXPECT(size_of(path) < room);
	EXPECT_INT(exits_in(path, &status), 1);
	rmdir(temp);
	unlink(path);
	free(path);

	/* What could not be made whole is not left behind. */
	snprintf(host, sizeof(host), "h");
	signal(SIGXFSZ, SIG_IGN);
	REQUIRE(!getrlimit(RLIMIT_FSIZE, &was));
	none = was;
	none.rlim_cur = 10;
	REQUIRE(!setrlimit(RLIMIT_FSIZE, &none));
	EXPECT_INT(view_run_record_begin(dir, &r, &first, &path), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &was);
	EXPECT(!path);
	EXPECT(!rmdir(dir));
}

static void test_record(void)
{
	char dir[] = "/tmp/gpustarve-run-XXXXXX", *mine, *other, gone[300];
	struct view_run_label label = { "team", "vision" };
	struct view_run_record r = { .id = "x",
				     .command = command,
				     .start_unix_ns = 5,
				     .label = &label,
				     .labels = 1,
				     .host = "my-node.lan",
				     .price = "2.5",
				     .price_from = "--price" };
	struct view_run_price price;
	int64_t status = -1;
	bool first;

	REQUIRE(mkdtemp(dir));
	EXPECT_INT(view_run_record_begin(dir, &r, &first, &mine), 0);
	EXPECT(first);
	EXPECT_INT(exits_in(mine, &status), 0);
	EXPECT_INT(view_run_record_begin(dir, &r, &first, &other), 0);
	EXPECT(!first);
	EXPECT(strstr(other, "/exit-my-node.lan-") != NULL);
	/* The other has not ended; its host is not this one, so nobody can tell it is dead. */
	EXPECT(view_others_go_on(dir, mine));
	EXPECT(!view_others_wait(dir, mine, 0));
	r.ended = true;
	r.wall_ns = 7;
	r.exit_status = 143;
	r.pid = 9;
	EXPECT_INT(view_run_record_end(other, &r), 0);
	EXPECT_INT(exits_in(other, &status), 1);
	EXPECT_INT(status, 143);
	EXPECT(!view_others_go_on(dir, mine));
	EXPECT_INT(view_run_record_end(mine, &r), 0);
	view_run_price_read(dir, &price);
	EXPECT_STR(price.price, "2.5");
	EXPECT_STR(price.from, "--price");
	EXPECT(!view_run_has_streams(dir));
	free(mine);
	/* A stream that a full disk left empty is a sign of a process, but nothing of its work. */
	snprintf(gone, sizeof(gone), "%s/00.gst", dir);
	int fd = open(gone, O_WRONLY | O_CREAT, 0666);
	REQUIRE(fd >= 0);
	EXPECT(view_run_has_streams(dir) && !view_run_has_data(dir));
	EXPECT_INT(write(fd, "x", 1), 1);
	view_run_drop_empty_streams(dir);
	EXPECT(view_run_has_streams(dir) && view_run_has_data(dir));
	REQUIRE(!ftruncate(fd, 0));
	close(fd);
	view_run_drop_empty_streams(dir);
	EXPECT(!view_run_has_streams(dir));
	snprintf(gone, sizeof(gone), "%s/none", dir);
	EXPECT_INT(view_run_record_begin(gone, &r, &first, &mine), -ENOENT);
	EXPECT(!mine);
	unlink(other);
	free(other);
}

static void test_sizes(void)
{
	uint64_t bytes;

	EXPECT(view_option_size("1000", &bytes) && bytes == 1000);
	EXPECT(view_option_size("2G", &bytes) && bytes == 2ull << 30);
	EXPECT(view_option_size("3kB", &bytes) && bytes == 3072);
	EXPECT(view_option_size("1MiB", &bytes) && bytes == 1 << 20);
	EXPECT(!view_option_size("", &bytes));
	EXPECT(!view_option_size("x", &bytes));
	EXPECT(!view_option_size("-1", &bytes));
	EXPECT(!view_option_size("1X", &bytes));
	EXPECT(!view_option_size("1KK", &bytes));
	EXPECT(!view_option_size("99999999999999999999T", &bytes));
	EXPECT(!view_option_size("9999999999T", &bytes));
}

int main(void)
{
	return RUN(test_id_order, test_id_names, test_record, test_record_room, test_sizes);
}
