/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user's own line with the value that is advised, and what is refused: a trace may name any
 * file.
 */
#include "harness.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "findings/own_line.h"
#include "view_made.h"

#define WORKERS "DataLoader(..., num_workers=4)"

static void test_lines(void)
{
	static const struct {
		const char *line, *change, *want;
	} cases[] = {
		{ "loader = DataLoader(data, batch_size=8, num_workers=1)", WORKERS,
		  "loader = DataLoader(data, batch_size=8, num_workers=4)" },
		{ "loader = DataLoader(data, num_workers=os.cpu_count(), shuffle=True)  # fast",
		  WORKERS, "loader = DataLoader(data, num_workers=4, shuffle=True)  # fast" },
		{ "for x in torch.utils.data.DataLoader(data):", WORKERS,
		  "for x in torch.utils.data.DataLoader(data, num_workers=4):" },
		{ "d = DataLoader(Set('a)', \"b\\\"(\"), f(1, [2, 3]))", WORKERS,
		  "d = DataLoader(Set('a)', \"b\\\"(\"), f(1, [2, 3]), num_workers=4)" },
		{ "d = DataLoader(data)", "DataLoader(..., num_workers=2, persistent_workers=True)",
		  "d = DataLoader(data, num_workers=2, persistent_workers=True)" },
		{ "pool = mp.Pool()", "Pool(processes=6)", "pool = mp.Pool(processes=6)" },
		{ "pool = Pool(processes=2)", "Pool(processes=6)", "pool = Pool(processes=6)" },
		{ "d = dataset.map(f, num_parallel_calls=1)",
		  "dataset.map(..., num_parallel_calls=8)", NULL },
		{ "d = set(f)", "dask.config.set(num_workers=8)", NULL },
		{ "v = decord.VideoReader(path)", "VideoReader(..., num_threads=3)",
		  "v = decord.VideoReader(path, num_threads=3)" },
		{ "d = DataLoader(data, num_workers=n_workers=2)", "DataLoader(..., num_workers=4)",
		  "d = DataLoader(data, num_workers=4)" },
		{ "d = DataLoader(\n\tdata,\n\tnum_workers=0,  # in here\n)", WORKERS,
		  "d = DataLoader(\n\tdata,\n\tnum_workers=4,  # in here\n)" },
		{ "d = DataLoader(\n\tdata,  # (\n)", WORKERS,
		  "d = DataLoader(\n\tdata,  # (\nnum_workers=4)" },
		{ "d = DataLoader(data, )", WORKERS, "d = DataLoader(data, num_workers=4)" },
		{ "loader = DataLoader(", WORKERS, NULL }, /* it goes on in the next line */
		{ "a = DataLoader(x); b = DataLoader(y)", WORKERS, NULL },
		{ "from torch.utils.data import DataLoader", WORKERS, NULL },
		{ "class DataLoader(Base):", WORKERS, NULL },
		{ "# DataLoader(data)", WORKERS, NULL },
		{ "say('DataLoader(data)')", WORKERS, NULL },
		{ "x = MyDataLoader(data)", WORKERS, NULL },
		{ "x = DataLoader_(data)", WORKERS, NULL },
		{ "x = DataLoader(data, 'open", WORKERS, NULL },
		{ "", WORKERS, NULL },
		{ "x = [Thread(target=f) for _ in range(2)]",
		  "[Thread(target=...) for _ in range(5)]", NULL },
	};
	struct base_arena mem = { 0 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *got = view_own_line_changed(&mem, cases[i].line, cases[i].change);

		if (cases[i].want)
			EXPECT_STR(got ? got : "(none)", cases[i].want);
		else
			EXPECT_STR(got ? got : "(none)", "(none)");
	}
	base_arena_fini(&mem);
}

/* Bytes at random end, and end within their line. */
static void test_any_bytes(void)
{
	struct base_arena mem = { 0 };
	uint64_t random = 11;

	for (int n = 0; n < 20000; n++) {
		static const char of[] = "DataLoader((()),,='\"\\#[]{} \tnum_workers=1\xff\x01";
		char line[80] = "x = DataLoader(";
		size_t at = strlen(line);

		while (at < 30 + t_random(&random) % 40)
			line[at++] = of[t_random(&random) % (sizeof(of) - 1)];
		line[at] = '\0';
		const char *got = view_own_line_changed(&mem, line, WORKERS);
		EXPECT(!got || strstr(got, "num_workers=4"));
	}
	base_arena_fini(&mem);
}

static void put_file(const char *path, const char *text, size_t len, time_t written)
{
	const struct timespec t[2] = { { .tv_sec = written }, { .tv_sec = written } };
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	REQUIRE(fd >= 0 && write(fd, text, len) == (ssize_t)len && !futimens(fd, t) && !close(fd));
}

/* The own line of a run that began at 1000 s and whose finding names the file. */
static struct view_own find_made(const char *path, const char *made, uint32_t line)
{
	static struct view_own own;
	static char before[300], after[300];
	struct view_summary *s = made_summary_of(made_starved(NULL), "NVIDIA H100 80GB HBM3", 1);

	s->start_unix_ns = INT64_C(1000000000000);
	s->finding = base_arena_alloc(&s->mem, sizeof(*s->finding));
	s->findings = 1;
	s->finding[0].where.file = path;
	s->advice = base_arena_alloc(&s->mem, sizeof(*s->advice));
	s->advices = 1;
	s->advice[0].change = WORKERS;
	if (made) {
		s->result->loader[0].made_file = strdup(made);
		s->result->loader[0].made_line = line;
	}
	view_own_lines_add(s);
	own = s->advice[0].own ? *s->advice[0].own : (struct view_own){ 0 };
	if (own.before) {
		snprintf(before, sizeof(before), "%s", own.before);
		snprintf(after, sizeof(after), "%s", own.after);
		own.before = before;
		own.after = after;
	}
	view_summary_free(s);
	return own;
}

static struct view_own find(const char *path)
{
	return find_made(path, NULL, 0);
}

/* The loader tells which of several calls made it, and that none of them did. */
static void test_made(void)
{
	static const char text[] = "a = DataLoader(x, num_workers=1)\nb = DataLoader(\n\ty,\n"
				   "\tnum_workers=2,\n)\nc = Mine(z)\n";
	static const char one[] = "a = DataLoader(x)\nb = Mine(y)\n";
	char folder[] = "/tmp/gs-source-XXXXXX", file[64];
	struct view_own own;

	REQUIRE(mkdtemp(folder));
	snprintf(file, sizeof(file), "%s/train.py", folder);
	put_file(file, text, sizeof(text) - 1, 500);
	EXPECT(!find(file).before);
	own = find_made("/srv/other.py", file, 1);
	REQUIRE(own.before);
	EXPECT_UINT(own.line, 1);
	EXPECT_STR(own.after, "a = DataLoader(x, num_workers=4)");
	own = find_made(file, file, 2);
	REQUIRE(own.before);
	EXPECT_UINT(own.line, 4);
	EXPECT_STR(own.after, "num_workers=4,");
	EXPECT(!find_made(file, file, 6).before);
	EXPECT(!find_made(file, "/srv/other.py", 1).before);
	put_file(file, one, sizeof(one) - 1, 500);
	EXPECT(find(file).before != NULL);
	EXPECT(!find_made(file, file, 2).before); /* the only call is another loader's */
	EXPECT(find_made(file, "/srv/venv/lib/site-packages/l/data.py", 2).before != NULL);
	unlink(file);
	rmdir(folder);
}

static void test_files(void)
{
	static const char text[] =
		"import torch\n\n\tloader = DataLoader(data, num_workers=1)\nfor x in loader:\n";
	static const char long_one[] = "x = 1\nd = DataLoader(\n\tdata,\n\tnum_workers=1,\n)\n";
	static const char two[] = "a = DataLoader(x)\nb = DataLoader(\n\ty)\n";
	static const char zero[] = "a = DataLoader(x)\n\0";
	static const char turned[] = "a = DataLoader(x) # \xe2\x80\xae\n";
	char folder[] = "/tmp/gs-source-XXXXXX", file[64], other[64];
	static char large[(1 << 20) + 100];
	struct view_own own;

	REQUIRE(mkdtemp(folder));
	snprintf(file, sizeof(file), "%s/train.py", folder);
	snprintf(other, sizeof(other), "%s/link.py", folder);
	put_file(file, text, sizeof(text) - 1, 500);
	own = find(file);
	REQUIRE(own.before);
	EXPECT_UINT(own.line, 3);
	EXPECT_STR(own.before, "loader = DataLoader(data, num_workers=1)");
	EXPECT_STR(own.after, "loader = DataLoader(data, num_workers=4)");
	put_file(file, long_one, sizeof(long_one) - 1, 500);
	own = find(file);
	REQUIRE(own.before);
	EXPECT_UINT(own.line, 4);
	EXPECT_STR(own.before, "num_workers=1,");
	EXPECT_STR(own.after, "num_workers=4,");
	put_file(file, text, sizeof(text) - 1, 1000); /* written since */
	EXPECT(!find(file).before);
	put_file(file, two, sizeof(two) - 1, 500); /* which of them? */
	EXPECT(!find(file).before);
	put_file(file, zero, sizeof(zero) - 1, 500);
	EXPECT(!find(file).before);
	put_file(file, turned, sizeof(turned) - 1, 500);
	EXPECT(!find(file).before);
	memset(large, '\n', sizeof(large));
	memcpy(large, text, sizeof(text) - 1);
	put_file(file, large, sizeof(large), 500);
	EXPECT(!find(file).before);
	put_file(file, text, sizeof(text) - 1, 500);
	REQUIRE(!symlink(file, other));
	EXPECT(!find(other).before);
	unlink(other);
	REQUIRE(!mkfifo(other, 0600)); /* nor does it wait there */
	EXPECT(!find(other).before);
	unlink(other);
	EXPECT(!find(other).before);
	EXPECT(!find("train.py").before);
	EXPECT(!find("/dev/zero").before);
	EXPECT(!find("/etc/passwd").before);
	EXPECT(!find(folder).before);
	unlink(file);
	rmdir(folder);
}

int main(void)
{
	return RUN(test_lines, test_any_bytes, test_made, test_files);
}
