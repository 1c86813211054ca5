/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index of a store's runs: what sweeps and lists say with it and without, and what they look
 * at, counted where they ask the C library.
 */
#include "harness.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <sys/stat.h>
#include "core/clock.h"
#include "core/context.h"
#include "retain/digest_tries.h"
#include "retain/retention.h"
#include "retain/run_view.h"
#include "retain/run_walk.h"
#include "retain/sweep.h"
#include "serve/run_list.h"

#define ALPHA 1100 /* runs */
#define BETA 30
#define DAY_S 86400
#define HEX "00112233445566778899aabbccddeeff"

/* Runs of the store, which is made once: that takes longer than all that is asked of it. */
static size_t stored;
static char base[256], alpha[280], beta[280];
static size_t opened, entries, asked; /* files opened, names read, files whose size was asked for */

static void *real(const char *name)
{
	void *p = dlsym(RTLD_NEXT, name);

	REQUIRE(p);
	return p;
}

struct dirent *readdir(DIR *d)
{
	static struct dirent *(*next)(DIR *);

	if (!next)
		*(void **)&next = real("readdir");
	entries++;
	return next(d);
}

int openat(int fd, const char *path, int flags, ...)
{
	static int (*next)(int, const char *, int, ...);
	va_list more;
	unsigned int mode;

	if (!next)
		*(void **)&next = real("openat");
	va_start(more, flags);
	mode = flags & O_CREAT ? va_arg(more, unsigned int) : 0;
	va_end(more);
	opened++;
	return next(fd, path, flags, mode);
}

int fstatat(int fd, const char *path, struct stat *st, int flags)
{
	static int (*next)(int, const char *, struct stat *, int);

	if (!next)
		*(void **)&next = real("fstatat");
	asked++;
	return next(fd, path, st, flags);
}

static size_t looks(void)
{
	size_t n = opened + entries + asked;

	opened = entries = asked = 0;
	return n;
}

static void age(const char *dir, const char *name, int64_t seconds)
{
	struct timespec now, t[2];
	char path[500];

	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_sec -= (time_t)seconds;
	t[0] = t[1] = now;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	REQUIRE(!utimensat(AT_FDCWD, path, t, 0));
}

static void put_old(const char *dir, const char *name, const char *text, int64_t seconds)
{
	t_put_text(dir, name, text);
	age(dir, name, seconds);
}

/* As any collector has left it: a stream, its record, the mark of its digest. */
static void make_run(const char *folder, const char *name, int64_t seconds, const char *label)
{
	char dir[400], record[100];

	snprintf(dir, sizeof(dir), "%s/%s", folder, name);
	snprintf(record, sizeof(record), "{\"labels\": {\"who\": \"%s\"}}", label);
	REQUIRE(!mkdir(dir, 0777) || errno == EEXIST);
	put_old(dir, "run.json", record, seconds);
	put_old(dir, HEX ".gst", "some bytes", seconds);
	put_old(dir, COLL_DIGEST_MARK, "", seconds);
}

static void make_store(void)
{
	char name[32], dir[400];

	t_tempdir(base, sizeof(base));
	snprintf(alpha, sizeof(alpha), "%s/alpha", base);
	snprintf(beta, sizeof(beta), "%s/beta", base);
	REQUIRE(!mkdir(alpha, 0777) && !mkdir(beta, 0777));
	make_run(base, "own.gst", 3 * DAY_S, "x");
	for (int i = 0; i < ALPHA; i++) {
		snprintf(name, sizeof(name), "r%05d.gst", i);
		make_run(alpha, name, (i + 1) * 3600, i % 100 ? "x" : "gold");
	}
	for (int i = 0; i < BETA; i++) {
		snprintf(name, sizeof(name), "b%05d.gst", i);
		make_run(beta, name, (i + 1) * 3600, "x");
	}
	snprintf(dir, sizeof(dir), "%s/empty.gst", alpha);
	REQUIRE(!mkdir(dir, 0777)); /* no run */
	stored = 1 + ALPHA + BETA;
}

static int remove_one(const char *path, const struct stat *st, int what, struct FTW *at)
{
	(void)st;
	(void)what;
	(void)at;
	return remove(path);
}

static void remove_tree(const char *path)
{
	REQUIRE(!nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS));
}

/* The next walk, as if its time had come, all of it. How many steps it took. */
static size_t walk(struct coll_run_index *x)
{
	uint64_t number = x->walk.number + 1;
	size_t steps = 0;

	do {
		coll_run_walk_tick(x, x->walk.next_ns);
		steps++;
	} while (x->walk.number < number || x->walk.at != COLL_WALK_RESTS || x->stale);
	return steps;
}

static void begin(struct coll_run_index *x)
{
	REQUIRE(!coll_run_index_init(x, base));
	EXPECT(!coll_run_index_has(x, NULL));
	walk(x);
	EXPECT(coll_run_index_has(x, NULL) && coll_run_index_has(x, "alpha"));
	EXPECT(!coll_run_index_has(x, "gamma"));
	EXPECT_UINT(x->count, stored);
	looks();
}

static void end(struct coll_run_index *x)
{
	stored = x->count;
	coll_run_index_fini(x);
}

/* What is written to a descriptor meanwhile; the caller's to free. */
static char *text_of(FILE *f)
{
	long len;
	char *text;

	REQUIRE(!fseek(f, 0, SEEK_END) && (len = ftell(f)) >= 0);
	rewind(f);
	REQUIRE(text = calloc(1, (size_t)len + 1));
	REQUIRE(fread(text, 1, (size_t)len, f) == (size_t)len);
	fclose(f);
	return text;
}

static char *swept(struct coll_sweep *plan, struct coll_run_index *x)
{
	FILE *f = tmpfile();
	char *text;

	REQUIRE(f);
	plan->index = x;
	looks();
	EXPECT_INT(coll_sweep(plan, fileno(f)), 0);
	text = text_of(f);
	return text;
}

static char *listed(struct coll_run_list *list, struct coll_run_index *x)
{
	FILE *f = tmpfile();
	int out = dup(STDOUT_FILENO);

	REQUIRE(f && out >= 0);
	fflush(stdout);
	dup2(fileno(f), STDOUT_FILENO);
	list->index = x;
	looks();
	EXPECT_INT(coll_run_list_write(list), 0);
	dup2(out, STDOUT_FILENO);
	close(out);
	return text_of(f);
}

static size_t count_of(const char *text, const char *what)
{
	size_t n = 0;

	while ((text = strstr(text, what))) {
		n++;
		text++;
	}
	return n;
}

/* `next` of an answer becomes `after`. False: it was the last page. */
static bool next_page(struct coll_run_list *list, const char *answer)
{
	const char *next = strstr(answer, "\"next\":\"");

	if (!next)
		return false;
	next += 8;
	snprintf(list->after, sizeof(list->after), "%.*s", (int)strcspn(next, "\""), next);
	return true;
}

/* A page looks at its own runs, however many there are; and says what it says without an index. */
static void test_lists(void)
{
	struct coll_run_index x;
	struct coll_run_list list = { .limit = 160, .team = "alpha" };
	size_t pages = 0, runs = 0, with, without;
	char *a, *b;
	bool more;

	begin(&x);
	snprintf(list.base, sizeof(list.base), "%s", alpha);
	do {
		a = listed(&list, &x);
		with = looks();
		b = listed(&list, NULL);
		without = looks();
		EXPECT_STR(a, b);
		runs += count_of(a, "{\"id\":");
		EXPECT(strstr(a, "\"total\":1100,"));
		/* A run: its folder twice, its streams, its record, what else lies there. */
		EXPECT(with < 160 * 14 + 100);
		EXPECT(without > (size_t)ALPHA * 6);
		more = next_page(&list, a);
		free(a);
		free(b);
		pages++;
	} while (more);
	EXPECT_UINT(pages, 7);
	EXPECT_UINT(runs, ALPHA);
	list.after[0] = '\0';
	list.limit = 1;
	free(listed(&list, &x));
	EXPECT(looks() < 40);
	end(&x);
}

/* Few runs are looked at as they are: others may have written there. */
static void test_few(void)
{
	struct coll_run_index x;
	struct coll_run_list list = { .limit = 100, .team = "beta" };
	char dir[400], *text;

	begin(&x);
	snprintf(list.base, sizeof(list.base), "%s", beta);
	make_run(beta, "copied.gst", 60, "x");
	text = listed(&list, &x);
	EXPECT_UINT(count_of(text, "{\"id\":"), BETA + 1);
	EXPECT(strstr(text, "copied"));
	free(text);
	snprintf(dir, sizeof(dir), "%s/copied.gst", beta);
	remove_tree(dir);
	end(&x);
}

static void hear(struct coll_retention *k, const char *text)
{
	char line[700];
	size_t len;

	for (; *text; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)len, text);
		coll_retention_read_line(k, line);
	}
}

static struct coll_limits limits;
static struct coll_context context;

static void begin_sweeps(struct coll_retention *k, struct coll_sweep *plan,
			 struct coll_run_index *x)
{
	begin(x);
	coll_limits_init(&limits);
	memset(&context, 0, sizeof(context));
	coll_retention_init(k, base, &limits, &context);
	k->index = x;
	*plan = (struct coll_sweep){
		.base = base, .limits = &limits, .digests = true, .rules = k->rules
	};
}

/* A sweep that finds nothing to do looks at nothing; what it says is what it says without. */
static void test_sweep_of_nothing(void)
{
	struct coll_run_index x;
	struct coll_retention k;
	struct coll_sweep plan;
	char *a, *b;

	begin_sweeps(&k, &plan, &x);
	a = swept(&plan, &x);
	EXPECT(looks() < 40);
	b = swept(&plan, NULL);
	EXPECT(looks() > (size_t)ALPHA * 6);
	EXPECT_STR(a, b);
	EXPECT(strstr(a, " 1131 0 0\n")); /* runs; bytes and runs that were removed */
	free(a);
	free(b);
	coll_retention_fini(&k);
	end(&x);
}

/* What goes is looked at, labels are asked for once, and what was removed is known to be gone. */
static void test_sweep(void)
{
	const char *why;
	struct coll_run_index x;
	struct coll_retention k;
	struct coll_sweep plan;
	char *a, *b;

	begin_sweeps(&k, &plan, &x);
	REQUIRE(!coll_limits_set(&limits, "keep", "44d", &why)); /* 1,056 hours */
	REQUIRE(!coll_limits_set(&limits, "keep-label", "who=gold:forever", &why));
	plan.dry = true;
	a = swept(&plan, NULL);
	plan.dry = false;
	b = swept(&plan, &x);
	EXPECT(looks() < 45 * 60);
	EXPECT_UINT(count_of(a, "removed "), 45); /* none of it gold */
	EXPECT_UINT(count_of(b, "removed "), 45);
	EXPECT_UINT(count_of(b, "keep "), 45);
	EXPECT_STR(strstr(b, "total"), strstr(a, "total"));
	free(a);
	hear(&k, b);
	free(b);
	looks();
	walk(&x);
	EXPECT_UINT(x.count, ALPHA + BETA + 1 - 45);
	/* Other rules, and others are old: each is asked once. */
	REQUIRE(!coll_limits_set(&limits, "keep", "40d", &why));
	coll_retention_reloaded(&k);
	plan.rules = k.rules;
	plan.dry = true;
	b = swept(&plan, &x);
	EXPECT_UINT(count_of(b, "keep "), 96);
	hear(&k, b);
	free(b);
	plan.limits = &limits;
	b = swept(&plan, &x);
	EXPECT_UINT(count_of(b, "keep "), 0);
	free(b);
	coll_retention_fini(&k);
	end(&x);
}

/* A run in which somebody has gone on is not removed for what was seen of it before. */
static void test_written_since(void)
{
	const char *why;
	struct coll_run_index x;
	struct coll_retention k;
	struct coll_sweep plan;
	char dir[400], *text;

	begin_sweeps(&k, &plan, &x);
	REQUIRE(!coll_limits_set(&limits, "keep", "65970m", &why));
	snprintf(dir, sizeof(dir), "%s/r01099.gst", alpha);
	t_put_text(dir, HEX ".gst", "more than there was");
	text = swept(&plan, &x);
	EXPECT_UINT(count_of(text, "removed "), 0);
	EXPECT(strstr(text, "changed alpha r01099.gst\n"));
	EXPECT(x.stale == NULL);
	hear(&k, text);
	EXPECT(x.stale && !strcmp(x.stale->dir.name, "r01099.gst"));
	free(text);
	text = swept(&plan, &x);
	EXPECT_UINT(count_of(text, "changed "), 0);
	EXPECT_UINT(count_of(text, "removed "), 0);
	free(text);
	make_run(alpha, "r01099.gst", 1100 * 3600, "x");
	coll_retention_fini(&k);
	end(&x);
}

/* No step looks at more than it may, and the first walk comes to its end. */
static void test_steps(void)
{
	struct coll_run_index x;
	size_t steps = 0;
	char dir[400];

	REQUIRE(!coll_run_index_init(&x, base));
	while (!x.whole) {
		looks();
		coll_run_walk_tick(&x, coll_now_ns());
		EXPECT(asked <= 6 * (COLL_WALK_STALE + COLL_WALK_FIRST_RUNS));
		steps++;
	}
	printf("the first walk: %zu steps\n", steps);
	x.walk.next_ns = coll_now_ns();
	for (int i = 0; i < 300; i++) {
		snprintf(dir, sizeof(dir), "%s/r%05d.gst", alpha, i);
		coll_run_index_touch(&x, dir);
	}
	looks();
	coll_run_walk_tick(&x, coll_now_ns());
	EXPECT(asked <= 6 * (COLL_WALK_STALE + COLL_WALK_RUNS) && asked > 0);
	while (x.walk.at != COLL_WALK_RESTS || x.stale)
		coll_run_walk_tick(&x, x.walk.next_ns - 1);
	looks();
	coll_run_walk_tick(&x, x.walk.next_ns - 1); /* it rests */
	EXPECT_UINT(looks(), 0);
	end(&x);
}

static int by_name(const void *a, const void *b)
{
	const struct coll_run_dir *x = *(struct coll_run_dir *const *)a;
	const struct coll_run_dir *y = *(struct coll_run_dir *const *)b;
	int order = strcmp(x->team, y->team);

	return order ? order : strcmp(x->name, y->name);
}

static void compare(struct coll_run_index *x)
{
	struct coll_run_view a, b;

	REQUIRE(!coll_run_view_make(&a, x, base, NULL) && a.indexed);
	REQUIRE(!coll_run_view_make(&b, NULL, base, NULL) && !b.indexed);
	qsort(a.run, a.count, sizeof(*a.run), by_name);
	qsort(b.run, b.count, sizeof(*b.run), by_name);
	EXPECT_UINT(a.count, b.count);
	for (size_t i = 0; i < a.count && i < b.count; i++) {
		EXPECT_STR(a.run[i]->team, b.run[i]->team);
		EXPECT_STR(a.run[i]->name, b.run[i]->name);
		EXPECT_UINT(a.run[i]->bytes, b.run[i]->bytes);
		EXPECT_UINT(a.run[i]->trace_bytes, b.run[i]->trace_bytes);
		EXPECT_UINT(a.run[i]->streams, b.run[i]->streams);
		EXPECT_INT(a.run[i]->newest_ns, b.run[i]->newest_ns);
		EXPECT_INT(a.run[i]->digest_ns, b.run[i]->digest_ns);
		EXPECT_UINT(a.run[i]->attempts, b.run[i]->attempts);
	}
	coll_run_view_fini(&a);
	coll_run_view_fini(&b);
}

/* One thing that happens to a run. True: nobody tells the index. */
static bool happen(struct coll_run_index *x, uint64_t *seed, bool *open)
{
	unsigned int i = (unsigned int)(t_random(seed) % 50);
	bool told = t_random(seed) % 2;
	char name[32], dir[400];

	snprintf(name, sizeof(name), "r%05u.gst", i);
	snprintf(dir, sizeof(dir), "%s/%s", i % 2 ? alpha : beta, name);
	switch (t_random(seed) % 6) {
	case 0:
		make_run(i % 2 ? alpha : beta, name, (int64_t)(t_random(seed) % 1000), "x");
		break;
	case 1:
		if (open[i] || access(dir, F_OK))
			return false;
		remove_tree(dir);
		break;
	case 2:
		if (access(dir, F_OK))
			return false;
		t_put_text(dir, "exit-1.json", i % 3 ? "{}" : "{\"status\": 1}");
		break;
	case 3:
		if (access(dir, F_OK))
			return false;
		t_put_text(dir, COLL_DIGEST_TRIES, "nonsense");
		break;
	case 4: /* opened, before there is anything, or closed */
		if (open[i])
			coll_run_index_closed(x, dir);
		else
			coll_run_index_opened(x, dir);
		open[i] = !open[i];
		return false;
	default:
		if (!open[i])
			return false;
		make_run(i % 2 ? alpha : beta, name, (int64_t)(t_random(seed) % 1000), "x");
		return false;
	}
	if (told)
		coll_run_index_touch(x, dir);
	return !told;
}

/* Whatever happens, what it tells is what lies there; of what it was not told after a walk. */
static void test_any_order(void)
{
	struct coll_run_index x;
	uint64_t seed = t_seed(coll_now_ns() & 0xffff);
	bool open[50] = { false }, untold;
	char dir[400];

	begin(&x);
	for (int round = 0; round < 12; round++) {
		untold = false;
		for (int i = 0; i < 8; i++)
			untold |= happen(&x, &seed, open);
		if (untold)
			walk(&x);
		else if (round % 2)
			coll_run_walk_tick(&x, coll_now_ns());
		compare(&x);
	}
	for (int i = 0; i < 50; i++) {
		snprintf(dir, sizeof(dir), "%s/r%05d.gst", i % 2 ? alpha : beta, i);
		if (open[i])
			coll_run_index_closed(&x, dir);
	}
	walk(&x);
	end(&x);
}

/* A team's folder that goes, and one that is a link to somewhere else. */
static void test_folders(void)
{
	struct coll_run_index x;
	size_t without_beta;
	char path[400];

	begin(&x);
	remove_tree(beta);
	walk(&x);
	without_beta = x.count;
	EXPECT(without_beta < stored);
	EXPECT(!coll_run_index_has(&x, "beta"));
	REQUIRE(!symlink(alpha, beta));
	snprintf(path, sizeof(path), "%s/r00001.gst", beta);
	coll_run_index_touch(&x, path);
	walk(&x);
	EXPECT_UINT(x.count, without_beta);
	EXPECT(!coll_run_index_has(&x, "beta"));
	coll_run_index_touch(&x, "/elsewhere/alpha/r.gst");
	coll_run_index_touch(&x, base);
	snprintf(path, sizeof(path), "%s/alpha/no-run", base);
	coll_run_index_touch(&x, path);
	EXPECT(!x.stale);
	coll_run_index_touch(NULL, path);
	compare(&x);
	end(&x);
}

/* In this order: what they leave is the next one's store. */
int main(void)
{
	int status;

	make_store();
	status = RUN(test_lists, test_few, test_sweep_of_nothing, test_steps, test_written_since,
		     test_sweep, test_any_order, test_folders);
	remove_tree(base);
	return status;
}
