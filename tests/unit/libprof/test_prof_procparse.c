/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel writes of threads, mounts, cgroups and children, taken apart. */
#include <errno.h>

#include "core/procfile.h"
#include "sample/children.h"
#include "sample/mounts.h"
#include "sample/threadfacts.h"
#include "sample/throttle.h"

#include "harness.h"

static void test_state(void)
{
	char letter = 0;

	EXPECT_INT(prof_parse_state("17 (python3) S 1 17", &letter), 0);
	EXPECT_INT(letter, 'S');
	EXPECT_INT(prof_parse_state("17 (x) R (y) D 1", &letter), 0);
	EXPECT_INT(letter, 'D');
	EXPECT_INT(prof_parse_state("17 ()) ) t 1", &letter), 0);
	EXPECT_INT(letter, 't');
	EXPECT_INT(prof_parse_state("17 (a\nb) Z 1", &letter), 0);
	EXPECT_INT(letter, 'Z');
	EXPECT_INT(prof_parse_state("17 (python3", &letter), -EBADMSG);
	EXPECT_INT(prof_parse_state("17 (python3)", &letter), -EBADMSG);
	EXPECT_INT(prof_parse_state("17 (python3) ", &letter), -EBADMSG);
	EXPECT_INT(prof_parse_state("", &letter), -EBADMSG);
}

static void test_sched(void)
{
	struct prof_sched s;

	EXPECT_INT(prof_parse_sched("18250802 222283570 320\n", &s), 0);
	EXPECT_UINT(s.cpu_ns, 18250802);
	EXPECT_UINT(s.delay_ns, 222283570);
	EXPECT_UINT(s.turns, 320);
	EXPECT_INT(prof_parse_sched("18250802 222283570", &s), -EBADMSG);
	EXPECT_INT(prof_parse_sched("", &s), -EBADMSG);
}

static void test_rchar(void)
{
	uint64_t bytes = 1;

	EXPECT_INT(prof_parse_rchar("rchar: 81920\nwchar: 7\nsyscr: 3\n", &bytes), 0);
	EXPECT_UINT(bytes, 81920);
	EXPECT_INT(prof_parse_rchar("wchar: 7\nrchar: 1\n", &bytes), -EBADMSG);
	EXPECT_INT(prof_parse_rchar("rchar: ", &bytes), -EBADMSG);
	EXPECT_INT(prof_parse_rchar("", &bytes), -EBADMSG);
}

static void test_call(void)
{
	struct prof_call c;

	EXPECT_INT(prof_parse_call("running\n", &c), 0);
	EXPECT_INT(c.nr, PROF_CALL_RUNNING);
	EXPECT_INT(prof_parse_call(
			   "7 0x7ffe 0x2 0x1388 0x0 0x5 0xffffffffffffffff 0x7ffd10 0x7f22\n", &c),
		   0);
	EXPECT_INT(c.nr, 7);
	EXPECT_UINT(c.arg[0], 0x7ffe);
	EXPECT_UINT(c.arg[2], 5000);
	EXPECT_UINT(c.arg[5], UINT64_MAX);
	EXPECT_UINT(c.sp, 0x7ffd10);
	EXPECT_UINT(c.pc, 0x7f22);
	EXPECT_INT(prof_parse_call("-1 0x7ffd10 0x7f22\n", &c), 0);
	EXPECT_INT(c.nr, PROF_CALL_NONE);
	EXPECT_UINT(c.sp, 0x7ffd10);
	EXPECT_INT(prof_parse_call("7 0x1 0x2\n", &c), -EBADMSG);
	EXPECT_INT(prof_parse_call("", &c), -EBADMSG);
	EXPECT_INT(prof_parse_call("sleeping", &c), -EBADMSG);
}

static const char mountinfo[] =
	"22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw,errors=remount-ro\n"
	"30 22 0:26 / /mnt/with\\040space\\134 rw shared:7 master:1 - fuse.slowfs slowfs rw\n"
	"31 22 0:27 /sub /data rw - nfs4 server:/export rw,vers=4.2\n"
	"32 22 0:28 / /data/hot rw,noexec - tmpfs tmpfs rw\n"
	"33 22 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
	"garbage\n"
	"34 22 0:30 / /cut\n"
	"35 22 0:31 / /last rw - xfs /dev/x rw";

static void test_mounts(void)
{
	struct prof_mount list[16];
	struct prof_mounts m = { .list = list };
	char text[sizeof(mountinfo)];
	const struct prof_mount *at;

	memcpy(text, mountinfo, sizeof(text));
	m.count = prof_mounts_parse(text, list, 16);
	EXPECT_UINT(m.count, 6);
	at = prof_mounts_id(&m, 30);
	REQUIRE(at);
	EXPECT_STR(at->point, "/mnt/with space\\");
	EXPECT_STR(at->type, "fuse.slowfs");
	EXPECT(!m.stale);
	EXPECT(!prof_mounts_id(&m, 99));
	EXPECT(m.stale);
	EXPECT_STR(prof_mounts_path(&m, "/data/hot/x")->type, "tmpfs");
	EXPECT_STR(prof_mounts_path(&m, "/data/hotter")->type, "nfs4");
	EXPECT_STR(prof_mounts_path(&m, "/data")->type, "nfs4");
	EXPECT_STR(prof_mounts_path(&m, "/database")->type, "ext4");
	EXPECT_STR(prof_mounts_path(&m, "/last/x")->type, "xfs");
	EXPECT(!prof_mounts_path(&m, "relative"));
	memcpy(text, mountinfo, sizeof(text));
	EXPECT_UINT(prof_mounts_parse(text, list, 2), 2);
}

static void test_fdinfo(void)
{
	EXPECT_INT(prof_fdinfo_mount("pos:\t0\nflags:\t0100000\nmnt_id:\t30\nino:\t5\n"), 30);
	EXPECT_INT(prof_fdinfo_mount("pos:\t0\nflags:\t02\n"), -1);
	EXPECT_INT(prof_fdinfo_mount("pos:\t0\nxmnt_id:\t30\n"), -1);
	EXPECT_INT(prof_fdinfo_mount("mnt_id:\t-1\n"), -1);
	EXPECT_INT(prof_fdinfo_mount(""), -1);
}

static void test_cgroups(void)
{
	struct prof_mount one[] = {
		{ 1, "/sys/fs/cgroup/cpuset", "cgroup", "/", "rw,cpuset" },
		{ 2, "/sys/fs/cgroup/cpu", "cgroup", "/", "rw,cpu,cpuacct" },
		{ 3, "/sys/fs/cgroup", "cgroup2", "/", "rw" },
		{ 4, "/in", "cgroup2", "/docker/abc", "rw" },
	};
	struct prof_mounts m = { .list = one, .count = 3 };
	struct prof_throttle t;

	prof_throttle_paths(&t, &m, "3:cpuset:/x\n2:cpu,cpuacct:/job/1\n1:name=systemd:/y\n");
	REQUIRE(t.count == 3);
	EXPECT_STR(t.path[0], "/sys/fs/cgroup/cpu/job/1/cpu.stat");
	EXPECT_STR(t.path[1], "/sys/fs/cgroup/cpu/job/cpu.stat");
	EXPECT_STR(t.path[2], "/sys/fs/cgroup/cpu/cpu.stat");
	prof_throttle_paths(&t, &m, "0::/a");
	REQUIRE(t.count == 2);
	EXPECT_STR(t.path[0], "/sys/fs/cgroup/a/cpu.stat");
	m.list = &one[3];
	m.count = 1;
	prof_throttle_paths(&t, &m, "0::/docker/abc/x\n");
	REQUIRE(t.count == 2);
	EXPECT_STR(t.path[0], "/in/x/cpu.stat");
	EXPECT_STR(t.path[1], "/in/cpu.stat");
	prof_throttle_paths(&t, &m, "0::/elsewhere\n");
	REQUIRE(t.count == 1);
	EXPECT_STR(t.path[0], "/in/cpu.stat");
	prof_throttle_paths(&t, &m, "0::/a/b/c/d/e/f/g/h/i/j/k\nnonsense");
	EXPECT(t.count <= PROF_THROTTLE_LEVELS);
}

static void test_throttled(void)
{
	EXPECT_UINT(prof_throttle_parse("usage_usec 5\nnr_throttled 2\nthrottled_usec 17\n"),
		    17000);
	EXPECT_UINT(prof_throttle_parse("nr_periods 5\nnr_throttled 2\nthrottled_time 17\n"), 17);
	EXPECT_UINT(prof_throttle_parse("nr_periods 5\n"), 0);
	EXPECT_UINT(prof_throttle_parse(""), 0);
}

static enum prof_child_kind kind_of(const char *command, size_t len)
{
	static const char ours[] = "python3\0train.py";

	return prof_child_kind(command, len, ours, sizeof(ours));
}

static void test_children(void)
{
	static const char fork[] = "python3\0train.py";
	static const char command[] = "python3\0-c\0import this";
	static const char spawn[] =
		"python3\0-c\0from multiprocessing.spawn import spawn_main; x()";
	static const char server[] =
		"python3\0-c\0from multiprocessing.forkserver import main; main(3, 4)";
	static const char tracker[] =
		"python3\0-c\0from multiprocessing.resource_tracker import main;main(25)";

	EXPECT_INT(kind_of(fork, sizeof(fork)), PROF_CHILD_WORKER);
	EXPECT_INT(kind_of(spawn, sizeof(spawn)), PROF_CHILD_WORKER);
	EXPECT_INT(kind_of(server, sizeof(server)), PROF_CHILD_SERVER);
	EXPECT_INT(kind_of(tracker, sizeof(tracker)), PROF_CHILD_OTHER);
	EXPECT_INT(kind_of(command, sizeof(command)), PROF_CHILD_OTHER);
}

static void test_numbers(void)
{
	const char *p = " 12 0x1f -3 x";
	uint64_t v;

	EXPECT(prof_proc_number(&p, &v) && v == 12);
	EXPECT(prof_proc_number(&p, &v) && v == 31);
	EXPECT(prof_proc_number(&p, &v) && v == UINT64_MAX - 2);
	EXPECT(!prof_proc_number(&p, &v));
}

int main(void)
{
	return RUN(test_state, test_sched, test_rchar, test_call, test_mounts, test_fdinfo,
		   test_cgroups, test_throttled, test_children, test_numbers);
}
