/* SPDX-License-Identifier: Apache-2.0 */
/* What a replay's loader was seen at: files read as hostile, waits shared out and nothing more. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "check/seen.h"
#include "harness.h"

static char folder[] = "/tmp/test-view-seen-XXXXXX";

static void put(const char *name, const char *text)
{
	t_put_text(folder, name, text);
}

static void drop(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	unlink(path);
}

static void test_read(void)
{
	static struct check_seen s;
	struct base_arena mem = { 0 };
	int dir = open(folder, O_RDONLY | O_DIRECTORY);

	REQUIRE(dir >= 0);
	put("seen.7.8", "input.fetch 300 88\t__getitem__\t/d/a.py\n"
			"input.prep 100 88\t__getitem__\t/d/a.py\n"
			"input.unknown 50 0\t\t\n"
			"input.fetch -5 1\tf\tg\n"
			"host.gc 5 1\tf\tg\n"
			"nonsense\n"
			"input.fetch 99999999999999999999999 1\tf\tg\n"
			"input.fetch 5 1\tno file\n"
			"input.fetch");
	put("seen.7.9", "input.fetch 200 88\t__getitem__\t/d/a.py\n");
	put("seen.71.9", "input.fetch 1000 1\tother\t/d/b.py\n");
	EXPECT(!check_seen_read(dir, "7", &mem, &s));
	EXPECT(s.all_ns == 650 && s.hotspots == 3);
	EXPECT(s.hotspot[0].ns == 500 && s.hotspot[0].class == ANA_INPUT_FETCH &&
	       s.hotspot[0].line == 88);
	EXPECT(!strcmp(s.hotspot[0].file, "/d/a.py") &&
	       !strcmp(s.hotspot[0].function, "__getitem__"));
	EXPECT(s.hotspot[1].ns == 100 && s.hotspot[1].class == ANA_INPUT_PREP);
	EXPECT(s.hotspot[2].ns == 50 && !s.hotspot[2].file);
	close(dir);
	drop("seen.7.8");
	drop("seen.7.9");
	drop("seen.71.9");
	base_arena_fini(&mem);
}

static void share(struct check_run *run, int64_t seen_ns, int64_t waited_ns)
{
	static struct check_seen s;

	s = (struct check_seen){ .hotspot = { { ANA_INPUT_PREP, "a.py", "f", 1, seen_ns / 4 },
					      { ANA_INPUT_FETCH, "a.py", "f", 2, seen_ns / 2 },
					      { ANA_INPUT_UNKNOWN, NULL, NULL, 0, seen_ns / 4 } },
				 .hotspots = 3,
				 .all_ns = seen_ns };
	*run = (struct check_run){ .starved_ns = 1000 };
	run->classes[ANA_INPUT_UNKNOWN] = 1000;
	check_seen_share(&s, waited_ns, run);
}

static void test_share(void)
{
	struct check_run run;

	share(&run, 400000000, 400000000); /* all of it was looked at */
	EXPECT(run.classes[ANA_INPUT_FETCH] == 500 && run.classes[ANA_INPUT_PREP] == 250);
	EXPECT(run.classes[ANA_INPUT_UNKNOWN] == 250);
	EXPECT(run.hotspots == 2 && run.hotspot[0].line == 2 && run.hotspot[0].ns == 500);
	share(&run, 400000000, 800000000); /* half of it was: the other half stays unknown */
	EXPECT(run.classes[ANA_INPUT_FETCH] == 250 && run.classes[ANA_INPUT_UNKNOWN] == 625);
	share(&run, 400000000, 100000000); /* never more than was waited */
	EXPECT(run.classes[ANA_INPUT_FETCH] == 500 && run.classes[ANA_INPUT_UNKNOWN] == 250);
	share(&run, CHECK_SEEN_LEAST_NS - 4, CHECK_SEEN_LEAST_NS); /* a look or two say nothing */
	EXPECT(run.classes[ANA_INPUT_UNKNOWN] == 1000 && !run.hotspots);
}

int main(void)
{
	int failed;

	if (!mkdtemp(folder))
		return 1;
	failed = RUN(test_read, test_share);
	rmdir(folder);
	return failed;
}
