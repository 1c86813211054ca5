/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data block: whatever the run is it is small enough, valid JSON, and holds nothing that could
 * end its element; what had to be made coarser says so and still sums.
 */
#include "harness.h"
#include <inttypes.h>
#include "analysis/series/series.h"
#include "base/jsondoc.h"
#include "base/utf8.h"
#include "report/data/data.h"
#include "report/data/data_read.h"
#include "view_made.h"

#define NAME_BYTES 1000
#define US INT64_C(1000)

/*
 * ---- a result of any size ---------------------------------------------------------------------
 */

struct size {
	size_t gpus, buckets, processes, steps, cells, flames, nodes, frames;
	bool hostile; /* names full of what must be escaped, numbers as long as can be */
};

static void evil_name(char *text, size_t i, bool hostile)
{
	static const char *const part[] = { "</script><script>alert(1)</script>",
					    "\xff\xfe",
					    "\xe2\x80\xa8",
					    "\xe2\x80\xae",
					    "\"'\\&",
					    "\x01\x1b[31m",
					    "\xf0\x9f\x98\x80",
					    "]]>",
					    "<!--" };
	size_t len =
		(size_t)snprintf(text, NAME_BYTES, hostile ? "%zu " : "function_%zu a/b.py:7", i);

	while (hostile && len + 40 < NAME_BYTES)
		len += (size_t)snprintf(text + len, NAME_BYTES - len, "%s",
					part[(i + len) % (sizeof(part) / sizeof(part[0]))]);
}

static int64_t some(uint64_t *random, bool hostile)
{
	uint64_t v = t_random(random);

	return (int64_t)(hostile ? v % (UINT64_C(1) << 48) : v % 100000000) + 1;
}

static void add_timeline(struct ana_series *s, struct ana_timeline *t, size_t g,
			 const struct size *z, uint64_t *random)
{
	size_t i;
	int c;

	s->gpu[g].longest_ns = calloc(t->count + 1, sizeof(int64_t));
	for (i = 0; i < t->count; i++) {
		s->gpu[g].longest_ns[i] = some(random, z->hostile);
		for (c = 0; c < ANA_CLASSES && z->hostile; c++)
			t->bucket[i].classes[c] = some(random, true);
	}
	s->gpu[g].gaps = ANA_SERIES_GAPS;
	s->gpu[g].gap = calloc(ANA_SERIES_GAPS, sizeof(struct ana_gap));
	for (i = 0; i < ANA_SERIES_GAPS; i++)
		s->gpu[g].gap[i] = (struct ana_gap){ .gpu = (uint32_t)g,
						     .start_ns = some(random, z->hostile),
						     .end_ns = some(random, z->hostile),
						     .major = ANA_DEVICE_TURNAROUND };
}

static void add_zooms(struct ana_series *s, const struct size *z, uint64_t *random)
{
	s->zoom = calloc(ANA_SERIES_ZOOMS, sizeof(*s->zoom));
	for (s->zooms = 0; s->zooms < ANA_SERIES_ZOOMS; s->zooms++) {
		struct ana_timeline *t = &s->zoom[s->zooms].line;

		t->count = 96;
		t->bucket = calloc(t->count, sizeof(*t->bucket));
		for (size_t i = 0; i < t->count; i++)
			for (int c = 0; c < ANA_CLASSES; c++)
				t->bucket[i].classes[c] =
					c % 9 && !z->hostile ? 0 : some(random, z->hostile);
	}
}

static void add_steps(struct ana_series *s, const struct size *z, uint64_t *random)
{
	s->steps = calloc(z->processes + 1, sizeof(*s->steps));
	for (size_t p = 0; p < z->processes && z->steps; p++) {
		struct ana_step_series *l = &s->steps[s->step_series++];
		int64_t at = s->start_ns;

		*l = (struct ana_step_series){ .process = (uint32_t)p, .each = 4 };
		l->bucket = calloc(z->steps, sizeof(*l->bucket));
		for (l->buckets = 0; l->buckets < z->steps; l->buckets++) {
			int64_t ns = some(random, z->hostile);
			l->bucket[l->buckets] =
				(struct ana_step_bucket){ at, at + ns * 4, ns, ns, ns * 4, ns, 4 };
			at += ns * 4;
		}
	}
	for (int i = 0; i < (int)ANA_HISTOGRAM_BINS; i += z->hostile ? 1 : 40)
		s->histogram[i] = (uint64_t)some(random, z->hostile);
	s->outliers = ANA_SERIES_OUTLIERS;
	s->outlier = calloc(s->outliers, sizeof(*s->outlier));
	for (size_t i = 0; i < s->outliers; i++)
		s->outlier[i] = (struct ana_step){ .start_ns = some(random, z->hostile),
						   .end_ns = some(random, z->hostile),
						   .process = (uint32_t)(z->processes - 1 -
									 i % z->processes) };
}

static void add_loader(struct ana_series *s, const struct size *z, uint64_t *random)
{
	s->cells = z->cells;
	s->cell_ns = 1000;
	s->cell = calloc(z->cells, sizeof(*s->cell));
	for (size_t i = 0; i < z->cells; i++) {
		struct ana_loader_cell *c = &s->cell[i];
		for (int k = 0; k < ANA_WORKER_STATES; k++)
			c->state_ns[k] = some(random, z->hostile);
		c->fetch = c->take =
			(struct ana_spread){ 5, some(random, z->hostile), some(random, z->hostile),
					     some(random, z->hostile) };
		c->ready = some(random, z->hostile);
	}
	s->has_states = s->has_ready = true;
}

/* Deep and broad: a chain with leaves; the root's time is what all nodes have on their own. */
static void add_flames(struct ana_series *s, const struct size *z, uint64_t *random)
{
	char name[NAME_BYTES];

	s->frames = z->frames;
	s->frame = calloc(z->frames, sizeof(*s->frame));
	for (size_t i = 0; i < z->frames; i++) {
		evil_name(name, i, z->hostile);
		s->frame[i] = strdup(i ? name : "(other)");
	}
	s->flame = calloc(z->flames, sizeof(*s->flame));
	for (s->flames = 0; s->flames < z->flames; s->flames++) {
		struct ana_flame *f = &s->flame[s->flames];

		*f = (struct ana_flame){ .process = (uint32_t)(s->flames % z->processes),
					 .role = (uint8_t)(s->flames % 5),
					 .nodes = z->nodes };
		f->node = calloc(z->nodes, sizeof(*f->node));
		for (size_t i = 0; i < z->nodes; i++) {
			size_t up = i % 66; /* chains of 66 */
			f->node[i] =
				(struct ana_flame_node){ (uint32_t)(up ? i - 1 : 0),
							 (uint32_t)(t_random(random) % z->frames),
							 1 + (int64_t)(t_random(random) % 1000) };
		}
		for (size_t i = z->nodes; i-- > 1;)
			f->node[f->node[i].parent].ns += f->node[i].ns;
		s->flame_sampled_ns += f->node[0].ns;
	}
	s->flame_total_ns = s->flame_sampled_ns * 2;
}

static struct view_summary *made_run(const struct size *z)
{
	struct view_summary *s =
		made_summary(z->gpus, "NVIDIA H100 80GB HBM3", 6880000000LL, z->buckets);
	struct ana_result *r = s->result;
	struct ana_series *x = calloc(1, sizeof(*x));
	char name[NAME_BYTES];
	uint64_t random = 5;

	r->series = x;
	x->start_ns = r->gpu[0].held_start_ns;
	x->gpu = calloc(z->gpus, sizeof(*x->gpu));
	x->gpus = z->gpus;
	for (size_t g = 0; g < z->gpus; g++) {
		add_timeline(x, &r->timeline[g], g, z, &random);
		if (z->hostile) {
			evil_name(name, g, true);
			free(r->gpu[g].host);
			r->gpu[g].host = strdup(name);
		}
	}
	r->process = realloc(r->process, z->processes * sizeof(*r->process));
	for (; r->processes < z->processes; r->processes++) {
		evil_name(name, r->processes, z->hostile);
		r->process[r->processes] = (struct ana_process){ .host = strdup(name),
								 .pid = INT64_MAX,
								 .has_rank = !z->hostile,
								 .rank = (int32_t)r->processes };
	}
	add_zooms(x, z, &random);
	add_steps(x, z, &random);
	add_loader(x, z, &random);
	add_flames(x, z, &random);
	return s;
}

static char *write_block(const struct view_summary *s, size_t *len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, len);

	REQUIRE(f);
	view_data_write(s, f);
	REQUIRE(!fclose(f));
	return text;
}

/*
 * ---- what must hold of every block ------------------------------------------------------------
 */

/* Printable, and nothing in it means anything to HTML or to a script. */
static void check_bytes(const char *text, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t n = base_utf8_length(text + i, len - i);
		REQUIRE(n);
		REQUIRE((unsigned char)text[i] >= 0x20 && text[i] != 0x7f);
		REQUIRE(text[i] != '<' && text[i] != '>' && text[i] != '&');
		REQUIRE(n != 3 || memcmp(text + i, "\xe2\x80\xa8", 3) != 0);
		REQUIRE(n != 3 || memcmp(text + i, "\xe2\x80\xae", 3) != 0);
		i += n;
	}
}

static size_t count(const struct base_json *node, const char *key)
{
	return base_json_count(base_json_get(node, key));
}

static int64_t sum(const struct base_json *array)
{
	int64_t all = 0, v;

	for (const struct base_json *n = array ? array->child : NULL; n; n = n->next)
		all += base_json_to_int(n, &v) ? v : 0;
	return all;
}

/* Every graph sums, and all of them to what has samples. */
static void check_flame(const struct base_json *flame)
{
	int64_t all = base_json_get_int(flame, "left_out_ns", 0);
	size_t frames = count(flame, "frames");

	for (const struct base_json *g = base_json_get(flame, "graphs")->child; g; g = g->next) {
		const struct base_json *back = base_json_get(g, "parent")->child,
				       *frame = base_json_get(g, "frame")->child,
				       *ns = base_json_get(g, "ns_below")->child;
		size_t n = count(g, "parent"), i;
		int64_t *below = calloc(n, sizeof(*below)), *own = calloc(n, sizeof(*own));

		REQUIRE(below && own && n == count(g, "frame") && n == count(g, "ns_below"));
		for (i = 0; i < n; i++, back = back->next, frame = frame->next, ns = ns->next) {
			int64_t b, f;
			REQUIRE(base_json_to_int(back, &b) && base_json_to_int(frame, &f) &&
				base_json_to_int(ns, &own[i]));
			REQUIRE(b >= (i != 0) && b <= (int64_t)i && f >= 0 && f < (int64_t)frames);
			if (i)
				below[i - (size_t)b] += own[i];
		}
		for (i = 0; i < n; i++)
			EXPECT(below[i] <= own[i]);
		EXPECT_INT(own[0], base_json_get_int(g, "ns", -1));
		all += own[0];
		free(below);
		free(own);
	}
	EXPECT_INT(all, base_json_get_int(flame, "sampled_ns", -1));
}

static void check_gpus(const struct base_json *root, const struct view_summary *s)
{
	size_t g = 0;

	for (const struct base_json *n = base_json_get(root, "gpus")->child; n; n = n->next, g++) {
		const struct base_json *line = base_json_get(n, "timeline");
		const struct ana_timeline *t = &s->result->timeline[g];
		int64_t want = 0, got = 0, v;

		for (size_t i = 0; i < t->count; i++)
			for (int c = 0; c < ANA_CLASSES; c++)
				want += t->bucket[i].classes[c];
		for (const struct base_json *p = base_json_get(line, "parts")->child; p;
		     p = p->next)
			for (const struct base_json *k = p->child; k; k = k->next->next) {
				REQUIRE(k->next && base_json_to_int(k->next, &v));
				got += v;
			}
		EXPECT_INT(got, want); /* merged, and nothing is lost */
		EXPECT_UINT(count(line, "longest_ns"), count(line, "parts"));
	}
	EXPECT_UINT(g + base_json_get_uint(root, "gpus_left_out", 0), s->result->gpus);
}

static void check_steps(const struct base_json *steps, const struct ana_series *s, size_t processes)
{
	size_t i = 0;

	for (const struct base_json *n = base_json_get(steps, "series")->child; n;
	     n = n->next, i++) {
		int64_t want = 0;
		for (size_t k = 0; k < s->steps[i].buckets; k++)
			want += s->steps[i].bucket[k].sum_ns;
		EXPECT_INT(sum(base_json_get(n, "sum_ns")), want);
		EXPECT_UINT(count(n, "start_ns"), count(n, "count"));
		EXPECT(base_json_get_uint(n, "process", 99999) < processes);
	}
	EXPECT_UINT(i + base_json_get_uint(steps, "series_left_out", 0), s->step_series);
}

static void check_block(const struct size *z, bool reduced)
{
	struct view_summary *s = made_run(z);
	size_t len, again_len;
	char *text = write_block(s, &len), *again = write_block(s, &again_len);
	struct base_arena mem = { 0 };
	struct base_json_error error;
	struct base_json *root = base_json_parse(&mem, text, len, &error);

	printf("%zu GPUs, %zu processes: %zu bytes, %zu parts reduced\n", z->gpus, z->processes,
	       len, count(root, "reduced"));
	REQUIRE(root);
	EXPECT(len <= VIEW_DATA_BYTES_MAX);
	EXPECT_STR(again, text);
	check_bytes(text, len);
	EXPECT((count(root, "reduced") > 0) == reduced);
	EXPECT_UINT(count(root, "classes"), ANA_CLASSES);
	check_gpus(root, s);
	check_steps(base_json_get(root, "steps"), s->result->series, count(root, "processes"));
	check_flame(base_json_get(root, "flame"));
	free(text);
	free(again);
	base_arena_fini(&mem);
	view_summary_free(s);
}

static void test_an_ordinary_run(void)
{
	check_block(&(struct size){ 1, 240, 1, 1024, 480, 3, 500, 400, false }, false);
	check_block(&(struct size){ 1, 1, 1, 1, 1, 1, 1, 1, false }, false);
}

static void test_large_runs(void)
{
	check_block(&(struct size){ 8, 240, 8, 1024, 480, 24, 1000, 4000, false }, true);
	check_block(&(struct size){ 64, 240, 64, 1024, 480, 192, 500, 10000, false }, true);
	check_block(&(struct size){ 300, 60, 300, 64, 480, 300, 100, 10000, false }, true);
}

static void test_hostile_runs(void)
{
	check_block(&(struct size){ 64, 240, 64, 1024, 480, 192, 660, 10000, true }, true);
	check_block(&(struct size){ 300, 60, 400, 64, 480, 400, 66, 10000, true }, true);
	check_block(&(struct size){ 1, 240, 1, 1024, 480, 1, 8192, 8192, true }, true);
}

/* Made from a summary alone: no series, and it says so. */
static void test_without_a_trace(void)
{
	struct view_summary *s = made_summary(2, "NVIDIA H100 80GB HBM3", 6880000000LL, 0);
	size_t len;
	char *text = write_block(s, &len);

	EXPECT(strstr(text, "\"series\":false,\"checksum\":\"") != NULL);
	EXPECT(!strstr(text, "\"gpus\""));
	free(text);
	view_summary_free(s);
}

/*
 * ---- reading it back ---------------------------------------------------------------------------
 */

static enum view_block_state state_of(const char *page, size_t len, struct view_data_block *b)
{
	char path[] = "/tmp/gpustarve-block-XXXXXX";
	int fd = mkstemp(path);

	REQUIRE(fd >= 0 && write(fd, page, len) == (ssize_t)len && !close(fd));
	REQUIRE(!view_block_read(b, path));
	REQUIRE(!unlink(path));
	return b->state;
}

static void expect_state(const char *page, size_t len, enum view_block_state want)
{
	struct view_data_block b;

	EXPECT_INT(state_of(page, len, &b), want);
	view_block_fini(&b);
}

/* The page with one text replaced by another as long. */
static char *with(const char *page, const char *what, const char *by)
{
	char *copy = strdup(page), *at = strstr(copy, what);

	REQUIRE(at && strlen(what) == strlen(by));
	memcpy(at, by, strlen(by));
	return copy;
}

/* The same, with a checksum that fits. */
static char *resealed(const char *page, const char *what, const char *by)
{
	char *copy = with(page, what, by),
	     *open = strstr(copy, VIEW_DATA_OPEN) + strlen(VIEW_DATA_OPEN);
	char *seal = strstr(open, ",\"checksum\":\""), digits[17];

	snprintf(digits, sizeof(digits), "%016" PRIx64,
		 view_data_checksum(open, (size_t)(seal - open)));
	memcpy(seal + strlen(",\"checksum\":\""), digits, 16);
	return copy;
}

static void test_reading(void)
{
	const struct size z = { 2, 60, 2, 30, 30, 2, 30, 30, false };
	struct view_summary *s = made_run(&z), *bare = made_summary(1, "x", 1000, 0);
	char *page = made_page(s, view_data_element), *none = made_page(bare, view_data_element),
	     *text;
	struct view_data_block b;
	size_t i, at;
	uint64_t random = 3;

	EXPECT_INT(state_of(page, strlen(page), &b), VIEW_BLOCK_READY);
	EXPECT_STR(b.version, GPUSTARVE_VERSION);
	view_block_fini(&b);
	expect_state(none, strlen(none), VIEW_BLOCK_BARE);
	expect_state("<p>1</p>", 8, VIEW_BLOCK_NONE);
	expect_state(page, strlen(page) / 2, VIEW_BLOCK_DAMAGED);
	text = resealed(page, "\"schema\":\"gpustarve.page/1\"", "\"schema\":\"gpustarve.page/9\"");
	expect_state(text, strlen(text), VIEW_BLOCK_FOREIGN);
	free(text);
	text = with(page, "\"schema\":\"gpustarve.page/1\"", "\"schema\":\"gpustarve.page/9\"");
	expect_state(text, strlen(text), VIEW_BLOCK_DAMAGED);
	free(text);
	text = malloc(2 * strlen(page) + 1);
	sprintf(text, "%s%s", page, page); /* which of the two would a script read? */
	expect_state(text, strlen(text), VIEW_BLOCK_DAMAGED);
	free(text);
	for (i = 0; i < 100; i++) {
		text = strdup(page);
		do
			at = t_random(&random) % strlen(text);
		while (text[at] < '0' || text[at] > '9');
		text[at] = (char)('0' + (text[at] - '0' + 1 + (int)(t_random(&random) % 9)) % 10);
		expect_state(text, strlen(text), VIEW_BLOCK_DAMAGED);
		free(text);
	}
	REQUIRE(!view_block_read(&b, "/nowhere/report.html"));
	EXPECT_INT(b.state, VIEW_BLOCK_NO_PAGE);
	EXPECT(view_block_read(&b, "/tmp") < 0);
	free(page);
	free(none);
	view_summary_free(s);
	view_summary_free(bare);
}

int main(void)
{
	return RUN(test_an_ordinary_run, test_large_runs, test_hostile_runs, test_without_a_trace,
		   test_reading);
}
