/* SPDX-License-Identifier: Apache-2.0 */
/* Room below the limits of cgroups, version 1 and 2, in a tree of files that looks like theirs. */
#include "loader/headroom.h"

#include <sys/stat.h>

#include "harness.h"

static char top[128];

static void put(const char *group, const char *file, const char *text)
{
	char command[300], folder[200];

	snprintf(folder, sizeof(folder), "%s%s", top, group);
	snprintf(command, sizeof(command), "mkdir -p '%s'", folder);
	REQUIRE(!system(command));
	t_put_text(folder, file, text);
}

static void clear(void)
{
	char command[300];

	snprintf(command, sizeof(command), "rm -rf '%s'; mkdir '%s'", top, top);
	REQUIRE(!system(command));
}

static void test_second(void)
{
	const char *mine = "0::/job/step\n";

	t_tempdir(top, sizeof(top));
	EXPECT(prof_headroom_in("", top));
	EXPECT(prof_headroom_in(mine, top)); /* nothing to be seen */
	put("/job/step", "memory.max", "max\n");
	put("/job/step", "memory.current", "90000000000\n");
	put("/job/step", "pids.max", "max\n");
	EXPECT(prof_headroom_in(mine, top));
	put("/job", "memory.max", "1073741824\n"); /* 1 GiB: 64 MiB are to be left */
	put("/job", "memory.current", "1000000000\n");
	EXPECT(prof_headroom_in(mine, top));
	put("/job", "memory.current", "1010000000\n");
	EXPECT(!prof_headroom_in(mine, top));
	put("/job", "memory.stat",
	    "anon 5\nfile 500000000\ninactive_file 4000000\nactive_file 9\n");
	EXPECT(prof_headroom_in(mine, top)); /* 4 MB of page cache that nobody uses */
	put("/job", "memory.current", "1100000000\n"); /* above: it is being reclaimed */
	EXPECT(!prof_headroom_in(mine, top));
	put("/job", "memory.current", "5\n");
	put("/job", "memory.max", "rubbish\n");
	put("", "pids.max", "100\n");
	put("", "pids.current", "84\n");
	EXPECT(prof_headroom_in(mine, top));
	put("", "pids.current", "85\n");
	EXPECT(!prof_headroom_in(mine, top));
	put("", "pids.max", "32768\n");
	put("", "pids.current", "32640\n");
	EXPECT(prof_headroom_in(mine, top));
	put("", "pids.current", "32641\n");
	EXPECT(!prof_headroom_in(mine, top));
}

static void test_first(void)
{
	const char *mine = "9:name=systemd:/\n8:pids:/docker/abc\n4:memory:/docker/abc\n"
			   "2:cpu,cpuacct:/\n0::/\n";

	clear();
	put("/memory/docker/abc", "memory.limit_in_bytes", "9223372036854771712\n"); /* none */
	put("/memory/docker/abc", "memory.usage_in_bytes", "90000000000\n");
	EXPECT(prof_headroom_in(mine, top));
	clear(); /* a container sees its own group as the top */
	put("/memory", "memory.limit_in_bytes", "100000000000\n");
	put("/memory", "memory.usage_in_bytes", "99700000000\n");
	EXPECT(prof_headroom_in(mine, top));
	put("/memory", "memory.usage_in_bytes", "99800000000\n");
	EXPECT(!prof_headroom_in(mine, top));
	put("/memory", "memory.stat",
	    "cache 1\nrss 2\ninactive_file 1\ntotal_inactive_file 900000000\n");
	EXPECT(prof_headroom_in(mine, top));
	put("/pids", "pids.max", "20\n");
	put("/pids", "pids.current", "3\n");
	EXPECT(prof_headroom_in(mine, top));
	put("/pids", "pids.current", "5\n");
	EXPECT(!prof_headroom_in(mine, top));
}

static void test_odd_lines(void)
{
	char text[3000];

	EXPECT(prof_headroom_in("\n\n:\n::\n1:memory\npids:/x\n", top));
	memset(text, 'a', sizeof(text) - 1);
	memcpy(text, "0::/", 4);
	text[sizeof(text) - 1] = 0;
	EXPECT(prof_headroom_in(text, top));
	clear();
	EXPECT(!rmdir(top));
}

int main(void)
{
	return RUN(test_second, test_first, test_odd_lines);
}
