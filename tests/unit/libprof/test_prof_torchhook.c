/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooking torch, with a stand-in for libtorch_cpu.so: which versions are taken and where they are
 * read, both import orders, a library that lacks a symbol, callbacks that are not what they should
 * be, rows that emit_nvtx repeats. Each case runs in a child of its own, for arming is for life.
 */
#include "ranges/torchhook.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "harness.h"
#include "ranges/marks.h"
#include "ranges/ranges.h"

#define FAKE TESTS_BIN "/../tests/faketorch/libtorch_cpu.so"
#define FAKE_NAMELESS TESTS_BIN "/../tests/faketorch-nameless/libtorch_cpu.so"
#define OTHER TESTS_BIN "/../lib/libnvtxmini.so"
#define LOADER "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"

static char dir[256];
static void *torch;
static struct wire_strtab *names;
static uint32_t seen[8]; /* by type */

static int (*callbacks)(void);
static int (*begin)(int place, const char *name);
static void (*begin_at)(const void *fn);
static void (*end)(int place);

/* ---- a torch to import ---- */

static const char *in_dir(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void write_file(const char *name, const char *text)
{
	FILE *f = fopen(in_dir(name), "w");

	REQUIRE(f);
	fputs(text, f);
	fclose(f);
}

static void make_torch(const char *from, const char *version_file, const char *text)
{
	char command[1200];

	t_tempdir(dir, sizeof(dir));
	snprintf(command, sizeof(command), "mkdir -p %s/torch/lib && cp '%s' %s/torch/lib/", dir,
		 from, dir);
	REQUIRE(!system(command));
	if (text)
		write_file(version_file, text);
}

static void import_torch(void)
{
	torch = dlopen(in_dir("torch/lib/libtorch_cpu.so"), RTLD_NOW | RTLD_LOCAL);
	REQUIRE(torch);
	*(void **)&callbacks = dlsym(torch, "fake_callbacks");
	*(void **)&begin = dlsym(torch, "fake_begin");
	*(void **)&begin_at = dlsym(torch, "fake_begin_at");
	*(void **)&end = dlsym(torch, "fake_end");
	REQUIRE(callbacks && begin && begin_at && end);
}

static void arm(void)
{
	const struct prof_ranges_opts opts = { .torch = true, .nvtx = true };

	names = wire_strtab_new();
	REQUIRE(names && !prof_ranges_init(&opts));
}

static void count_types(void *ctx, const struct wire_event *e)
{
	(void)ctx;
	seen[e->op & 7]++;
}

static size_t drain(void)
{
	memset(seen, 0, sizeof(seen));
	return prof_ranges_drain(names, NULL, count_types, NULL, false);
}

static void range(const char *name)
{
	EXPECT_INT(begin(1, name), 1);
	end(1);
}

/* Each case in a child; its failures come back as the exit status. */
static void in_child(void (*body)(void))
{
	char command[300];
	pid_t child = fork();
	int status;

	if (!child) {
		body();
		snprintf(command, sizeof(command), "rm -rf %s", dir);
		if (dir[0] && system(command))
			t_failures++;
		exit(t_failures ? 1 : 0);
	}
	REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
	EXPECT_INT(status, 0);
}

/* ---- the cases ---- */

static void hooked(void)
{
	int i;

	make_torch(FAKE, "torch/version.py",
		   "from typing import Optional\n__all__ = ['__version__', 'debug']\n"
		   "__version__ = '2.4.0+cu121'\ndebug = False\n");
	import_torch();
	arm();
	EXPECT_INT(callbacks(), 1 << 7); /* USER_SCOPE alone */
	EXPECT_STR(prof_torch_version(), "2.4.0+cu121");
	EXPECT_STR(prof_torch_note(), "");
	EXPECT(prof_torch_hooked());
	for (i = 0; i < 30; i++)
		range(i % 3 ? "label" : LOADER);
	EXPECT_UINT(drain(), 30);
	EXPECT_UINT(seen[WIRE_RANGE_LOADER], 10);
	/* The same ranges once more from emit_nvtx, around torch's own and inside: each once. */
	prof_mark_push(0, LOADER ", op_id = 3", sizeof(LOADER) + 10);
	begin(2, LOADER);
	end(2);
	prof_mark_pop(0);
	begin(2, LOADER);
	prof_mark_push(0, LOADER ", op_id = 4", sizeof(LOADER) + 10);
	prof_mark_pop(0);
	end(2);
	prof_mark_push(0, "ProfilerStep#3, op_id = 5", 25);
	prof_mark_push(0, "aten::add, seq = 4, op_id = 6", 29);
	prof_mark_pop(0);
	prof_mark_pop(0);
	EXPECT_UINT(drain(), 3);
	EXPECT_UINT(seen[WIRE_RANGE_LOADER], 2);
	EXPECT_UINT(seen[WIRE_RANGE_OPERATOR], 1);
	begin(2, "open across the fork");
	prof_ranges_dead();
	range("after");
	EXPECT_UINT(drain(), 0);
}

static void late(void)
{
	int i;

	make_torch(FAKE, "torch/version.py", "__version__ = \"1.12.0\"\n");
	arm();
	EXPECT(!prof_ranges_poll());
	EXPECT_STR(prof_torch_version(), "");
	import_torch();
	EXPECT_INT(callbacks(), 0);
	for (i = 0; i < 500 && !prof_ranges_poll(); i++)
		usleep(10000);
	EXPECT(i < 500);
	EXPECT_INT(callbacks(), 1 << 7);
	EXPECT_STR(prof_torch_version(), "1.12.0");
	range("label");
	EXPECT_UINT(drain(), 1);
	EXPECT(!prof_ranges_poll());
}

static void refused(const char *from, const char *file, const char *text, const char *why)
{
	make_torch(from, file, text);
	import_torch();
	arm();
	EXPECT_INT(callbacks(), 0);
	EXPECT(!prof_torch_hooked());
	printf("     %s\n", prof_torch_note());
	EXPECT(strstr(prof_torch_note(), why) != NULL);
	EXPECT(!prof_ranges_poll());
}

static void old(void)
{
	refused(FAKE, "torch/version.py", "__version__ = '1.11.0'\n", "torch 1.11.0: ");
}

static void unknown_major(void)
{
	refused(FAKE, "torch/version.py", "__version__ = '3.0.0'\n", "1.12 to 2 are known");
}

static void no_version(void)
{
	refused(FAKE, "torch/version.py", NULL, "its version is not known");
}

static void odd_version(void)
{
	refused(FAKE, "torch/version.py", "__version__ = git()\n", "its version is not known");
}

static void lacks_symbol(void)
{
	refused(FAKE_NAMELESS, "torch/version.py", "__version__ = '2.1.0'\n", "lacks a symbol");
}

static void cpp_distribution(void)
{
	make_torch(FAKE, "torch/build-version", "2.3.1+cpu\n");
	import_torch();
	arm();
	EXPECT_STR(prof_torch_version(), "2.3.1+cpu");
	EXPECT(prof_torch_hooked());
}

static void given_up(void (*misbehave)(void))
{
	make_torch(FAKE, "torch/version.py", "__version__ = '2.9.0'\n");
	import_torch();
	arm();
	EXPECT(prof_torch_hooked());
	range("one that is right");
	misbehave();
	EXPECT(!prof_torch_hooked());
	range("no longer recorded");
	EXPECT(callbacks());
	EXPECT(!prof_ranges_poll());
	EXPECT(prof_ranges_poll()); /* the note is new */
	EXPECT_INT(callbacks(), 0);
	EXPECT(strstr(prof_ranges_note(), "not what was expected") != NULL);
	EXPECT_UINT(drain(), 1);
}

static void wrong_pointer(void)
{
	begin_at((const void *)(uintptr_t)4096);
}

static void wrong_name(void)
{
	begin(3, (const char *)(uintptr_t)16);
}

static void wrong_text(void)
{
	begin(3, "\x01\x02\x03");
}

static void bad_pointer(void)
{
	given_up(wrong_pointer);
}

static void bad_name(void)
{
	given_up(wrong_name);
}

static void bad_text(void)
{
	given_up(wrong_text);
}

static void bad_scope(void)
{
	int i;

	make_torch(FAKE, "torch/version.py", "__version__ = '2.9.0'\n");
	import_torch();
	arm();
	for (i = 0; i < 8; i++)
		begin(3, "aten::add");
	EXPECT(!prof_torch_hooked());
	EXPECT_UINT(drain(), 0);
}

/* Once trusted, a strange name is the program's own business. */
static void trusted(void)
{
	int i;

	make_torch(FAKE, "torch/version.py", "__version__ = '2.9.0'\n");
	import_torch();
	arm();
	for (i = 0; i < 20; i++)
		range("label");
	range("\x01");
	range("aten::add");
	EXPECT(prof_torch_hooked());
	EXPECT_UINT(drain(), 22);
}

/*
 * A child forked while the sender looks at the list of libraries can still load some: without the
 * fork handlers many of these hang.
 */
static atomic_bool stop;

static void *poll_on(void *arg)
{
	while (!atomic_load(&stop))
		prof_torch_poll();
	return arg;
}

static int nothing(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)info;
	(void)size;
	(void)arg;
	return 0;
}

/* 1 if a child cannot load libraries. */
static int fork_once(void)
{
	pid_t child = fork();
	int status;

	if (!child) {
		alarm(5);
		dl_iterate_phdr(nothing, NULL);
		_exit(0);
	}
	REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
	return status != 0;
}

static void forks(void)
{
	pthread_t t;
	int i, hung = 0;

	pthread_atfork(prof_ranges_fork_prepare, prof_ranges_fork_parent, prof_ranges_dead);
	arm();
	REQUIRE(!pthread_create(&t, NULL, poll_on, NULL));
	for (i = 0; i < 300 && hung < 3; i++) {
		void *lib = dlopen(OTHER, RTLD_NOW); /* new, so the look is a long one */

		REQUIRE(lib);

		hung += fork_once();
		dlclose(lib);
	}
	atomic_store(&stop, true);
	pthread_join(t, NULL);
	EXPECT_INT(hung, 0);
}

static void test_hooked(void)
{
	in_child(hooked);
	in_child(late);
	in_child(cpp_distribution);
	in_child(trusted);
}

static void test_refused(void)
{
	in_child(old);
	in_child(unknown_major);
	in_child(no_version);
	in_child(odd_version);
	in_child(lacks_symbol);
}

static void test_given_up(void)
{
	in_child(bad_pointer);
	in_child(bad_name);
	in_child(bad_text);
	in_child(bad_scope);
}

static void test_forks(void)
{
	in_child(forks);
}

int main(void)
{
#if !defined(__x86_64__) && !defined(__aarch64__)
	SKIP("torch's callback is known on x86-64 and aarch64 only");
#endif
	if (access(FAKE, R_OK))
		SKIP("no stand-in for torch was built");
	return RUN(test_hooked, test_refused, test_given_up, test_forks);
}
