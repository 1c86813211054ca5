/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libprof reads of the environment and puts in its place. One array is published per process,
 * so that each case runs in a child.
 */
#include <sys/wait.h>
#include "core/env.h"
#include "harness.h"

extern char **environ;

static char a[] = "A=1", empty[] = "EMPTY=", twice[] = "TWICE=x", again[] = "TWICE=y",
	    odd[] = "no value", near[] = "AB=2", ours[] = "OURS=";
static char *given[] = { a, empty, near, twice, odd, again, NULL };

static void in_child(void (*run)(void))
{
	pid_t child = fork();
	int status;

	if (!child) {
		t_failures = 0;
		environ = given;
		run();
		fflush(stdout);
		_exit(t_failures ? 1 : 0);
	}
	REQUIRE(waitpid(child, &status, 0) == child);
	EXPECT_INT(status, 0);
}

static void reads(void)
{
	EXPECT_STR(prof_env("A"), "1");
	EXPECT_STR(prof_env("AB"), "2");
	EXPECT_STR(prof_env("EMPTY"), "");
	EXPECT_STR(prof_env("TWICE"), "x");
	EXPECT(!prof_env("EMPT") && !prof_env("no value") && !prof_env(""));
	EXPECT(!prof_env_text("EMPTY"));
	environ = NULL;
	EXPECT(!prof_env("A"));
	prof_env_publish(); /* nothing was set */
	EXPECT(!environ);
}

static void keeps(void)
{
	char value[] = "copied";

	prof_env_set("A", "other");
	prof_env_set("EMPTY", value);
	prof_env_set("NEW", "new");
	prof_env_set("TWICE", NULL);
	memset(value, 'x', sizeof(value) - 1);
	EXPECT(environ == given);
	EXPECT_STR(prof_env("A"), "1"); /* the program's word */
	EXPECT_STR(prof_env("EMPTY"), "copied");
	EXPECT_STR(prof_env("NEW"), "new");
	EXPECT_STR(prof_env("TWICE"), "x");
	EXPECT(!getenv("NEW"));
	environ = NULL;
	EXPECT_STR(prof_env("NEW"), "new");
}

static void publishes(void)
{
	char **before = environ;
	int n = 0;

	prof_env_set("A", "other");
	prof_env_set("EMPTY", NULL);
	prof_env_set("GONE", NULL);
	prof_env_set("TWICE", "once");
	prof_env_put(ours);
	prof_env_publish();
	EXPECT(environ != before && before[0] == a && !before[6]); /* who reads on there may */
	while (environ[n])
		n++;
	EXPECT_INT(n, 5);
	EXPECT_STR(environ[0], "A=other"); /* in its place */
	EXPECT(environ[1] == near && environ[3] == ours);
	EXPECT_STR(environ[2], "TWICE=once");
	EXPECT(environ[4] == odd); /* the last of what the kernel gave */
	strcpy(given[0], "A=9");
	EXPECT_STR(getenv("A"), "other");
	/* The program's changes count from now on, also what it takes away. */
	REQUIRE(!setenv("NEW", "1", 1) && !unsetenv("A") && !setenv("TWICE", "z", 1));
	EXPECT(!prof_env("A"));
	EXPECT_STR(prof_env("NEW"), "1");
	EXPECT_STR(prof_env("TWICE"), "z");
	EXPECT_STR(prof_env("OURS"), "");
	EXPECT(!clearenv() && !prof_env("TWICE") && !prof_env("OURS"));
}

static void from_nothing(void)
{
	environ = NULL;
	prof_env_set("A", "1");
	prof_env_publish();
	EXPECT(environ && !environ[1]);
	EXPECT_STR(getenv("A"), "1");
}

static void one_of_its_own(void)
{
	static char *lone[] = { a, NULL };

	environ = lone;
	prof_env_set("NEW", "1");
	prof_env_set("NEWER", "2");
	prof_env_publish();
	EXPECT_STR(environ[0], "NEW=1");
	EXPECT_STR(environ[1], "NEWER=2");
	EXPECT(environ[2] == a && !environ[3]);
}

static void last_changed(void)
{
	static char *three[] = { a, near, twice, NULL };

	environ = three;
	prof_env_set("TWICE", "once");
	prof_env_set("NEW", "1");
	prof_env_publish();
	EXPECT(environ[0] == a && environ[3] == near && !environ[4]);
	EXPECT_STR(environ[1], "TWICE=once");
	EXPECT_STR(environ[2], "NEW=1");
}

static void too_many(void)
{
	for (int i = 0; i < 100; i++)
		prof_env_set(i % 2 ? "X" : "Y", "1");
	prof_env_publish();
	EXPECT_STR(getenv("X"), "1");
	EXPECT_STR(getenv("AB"), "2");
}

static void test_reads(void)
{
	in_child(reads);
}

static void test_keeps(void)
{
	in_child(keeps);
}

static void test_publishes(void)
{
	in_child(publishes);
}

static void test_edges(void)
{
	in_child(from_nothing);
	in_child(one_of_its_own);
	in_child(last_changed);
	in_child(too_many);
}

int main(void)
{
	return RUN(test_reads, test_keeps, test_publishes, test_edges);
}
