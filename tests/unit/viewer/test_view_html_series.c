/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the page draws: steps, the loader, stacks, windows, of one rank and of 64, with names that
 * try to break it.
 */
#include "harness.h"
#include "analysis/series/series.h"
#include "report/html/html.h"
#include "view_made.h"

#define SECOND 1000000000LL

static void *room(size_t n, size_t bytes)
{
	void *p = calloc(n, bytes);

	REQUIRE(p != NULL);
	return p;
}

static void made_processes(struct ana_result *r, size_t n)
{
	r->process = realloc(r->process, n * sizeof(*r->process));
	REQUIRE(r->process != NULL);
	for (size_t i = 1; i < n; i++)
		r->process[i] = (struct ana_process){ strdup("node1"),
						      5000 + (int64_t)i,
						      true,
						      (int32_t)i,
						      strdup("trainer"),
						      strdup("exit"),
						      r->process[0].start_ns,
						      r->process[0].end_ns,
						      true };
	r->processes = n;
}

static void made_steps(struct ana_series *s, size_t n, size_t buckets)
{
	s->steps = room(n, sizeof(*s->steps));
	s->step_series = n;
	for (size_t i = 0; i < n; i++) {
		struct ana_step_series *l = &s->steps[i];
		*l = (struct ana_step_series){ (uint32_t)i, room(buckets, sizeof(*l->bucket)),
					       buckets, 2 };
		for (size_t b = 0; b < buckets; b++) {
			int64_t at = s->start_ns + (int64_t)b * SECOND;
			l->bucket[b] =
				(struct ana_step_bucket){ at,	  at + SECOND, 400000000, 600000000,
							  SECOND, 200000000,   2 };
		}
	}
	s->histogram[ana_histogram_bin(400000000)] = n * buckets;
	s->histogram[ana_histogram_bin(600000000)] = n * buckets - 1;
	s->histogram[ana_histogram_bin(90 * SECOND)] = 1;
	s->outlier = room(1, sizeof(*s->outlier));
	s->outliers = 1;
	s->outlier[0] = (struct ana_step){ .start_ns = s->start_ns,
					   .end_ns = s->start_ns + 90 * SECOND,
					   .input_ns = 80 * SECOND };
}

static void made_cells(struct ana_series *s)
{
	s->cells = ANA_SERIES_CELLS;
	s->cell = room(s->cells, sizeof(*s->cell));
	s->cell_ns = (s->end_ns - s->start_ns) / (int64_t)s->cells + 1;
	s->has_states = s->has_ready = true;
	for (size_t i = 1; i < s->cells; i++) {
		struct ana_loader_cell *c = &s->cell[i];
		c->state_ns[ANA_WORKER_IO] = SECOND;
		c->state_ns[ANA_WORKER_CPU] = (int64_t)i * 1000000;
		c->fetch = (struct ana_spread){ 4, 100000, 300000, 800000 };
		c->take = (struct ana_spread){ 4, 1000, 3000, 8000 };
		c->ready = (int64_t)(i % 5);
	}
}

/* A class, below it a chain of frames, each with a sibling and something cut off. */
static void made_flame(struct ana_series *s, size_t at, size_t depth)
{
	struct ana_flame *f = &s->flame[at];
	int64_t ns = 1000 * SECOND;

	f->process = (uint32_t)at;
	f->role = 2;
	f->node = room(depth * 3 + 2, sizeof(*f->node));
	f->node[f->nodes++] = (struct ana_flame_node){ 0, 0, ns };
	f->node[f->nodes++] = (struct ana_flame_node){ 0, 0, ns };
	for (size_t i = 0; i < depth; i++) {
		uint32_t up = (uint32_t)f->nodes - 1;
		f->node[f->nodes++] = (struct ana_flame_node){ up, 1, ns / 100 };
		f->node[f->nodes++] = (struct ana_flame_node){ up, 2, ns / 10 };
		ns -= ns / 4;
		f->node[f->nodes++] = (struct ana_flame_node){ up, (uint32_t)(3 + i % 2), ns };
	}
}

static void made_flames(struct ana_series *s, size_t n, const char *name)
{
	static const char *const frames[] = { "input.fetch", "(other)", "read loader.py:10",
					      "__getitem__ data.py:88", "decode image.py:7" };

	s->frames = 5;
	s->frame = room(s->frames, sizeof(*s->frame));
	for (size_t i = 0; i < s->frames; i++)
		s->frame[i] = strdup(name && i > 1 ? name : frames[i]);
	s->flames = n;
	s->flame = room(n, sizeof(*s->flame));
	for (size_t i = 0; i < n; i++)
		made_flame(s, i, 60);
	s->flame_total_ns = s->flame_sampled_ns = (int64_t)n * 1000 * SECOND;
}

static void made_windows(struct ana_series *s, const struct ana_result *r)
{
	s->gpus = r->gpus;
	s->gpu = room(r->gpus, sizeof(*s->gpu));
	s->zooms = 2;
	s->zoom = room(s->zooms, sizeof(*s->zoom));
	for (size_t i = 0; i < s->zooms; i++) {
		struct ana_timeline *t = &s->zoom[i].line;
		t->bucket = room(40, sizeof(*t->bucket));
		t->count = 40;
		for (size_t b = 0; b < t->count; b++) {
			struct ana_bucket *k = &t->bucket[b];
			k->start_ns = s->start_ns + (int64_t)(i * 100 + b) * SECOND;
			k->end_ns = k->start_ns + SECOND;
			k->classes[b < 20 ? ANA_INPUT_FETCH : ANA_COMPUTE] = SECOND;
		}
	}
}

/* @name: of every frame; NULL: harmless ones. */
static struct view_summary *made(size_t ranks, const char *name)
{
	struct ana_result *r = made_result(ranks, "NVIDIA H100 80GB HBM3", 240);
	struct ana_series *s = room(1, sizeof(*s));

	r->series = s;
	made_processes(r, ranks);
	s->start_ns = r->gpu[0].held_start_ns;
	s->end_ns = r->gpu[ranks - 1].held_end_ns;
	made_steps(s, ranks, ANA_SERIES_STEPS);
	made_cells(s);
	made_flames(s, ranks, name);
	made_windows(s, r);
	return made_summary_of(r, "x", 6880000000LL);
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

static void test_one(void)
{
	struct view_summary *s = made(1, NULL);
	char *page = made_page(s, view_html_write);

	EXPECT_UINT(count(page, "data-chart=\"steps\""), 1);
	EXPECT_UINT(count(page, "data-chart=\"histogram\""), 1);
	EXPECT_UINT(count(page, "data-chart=\"workers\""), 1);
	EXPECT_UINT(count(page, "data-chart=\"flame\""), 1);
	EXPECT_UINT(count(page, "<div class=\"zoom\">"), 2);
	EXPECT_UINT(count(page, "<svg class=\"flame\""), 1);
	EXPECT(strstr(page, ">__getitem__ data.py:88</text>") != NULL);
	/* The slowest step, exactly. */
	EXPECT(strstr(page,
		      "<data value=\"90000000000\" data-key=\"page:/steps/outliers/0/end_ns - "
		      "page:/steps/outliers/0/start_ns\" data-unit=\"ns\">90.0 s</data>") != NULL);
	printf("one rank: %zu bytes\n", strlen(page));
	free(page);
	view_summary_free(s);
}

/* Graphs that the page draws are all there, with one open; the page stays within its bound. */
static void test_many(void)
{
	struct view_summary *s = made(64, NULL);
	char *page = made_page(s, view_html_write);

	EXPECT_UINT(count(page, "data-chart=\"steps\""), 8);
	EXPECT_UINT(count(page, "<details class=\"choice\" open>"), 1);
	EXPECT(count(page, "<details class=\"choice\"") >= 4);
	printf("64 ranks: %zu bytes\n", strlen(page));
	EXPECT(strlen(page) <= 1000000);
	free(page);
	view_summary_free(s);
}

static void test_hostile(void)
{
	struct view_summary *s = made(2, MADE_EVIL);
	char *page = made_page(s, view_html_write);

	EXPECT_UINT(count(page, "<script>alert"), 0);
	EXPECT_UINT(count(page, "</title>"), count(page, "<title>"));
	EXPECT_UINT(count(page, "\x1b"), 0);
	EXPECT_UINT(count(page, "\xff"), 0);
	EXPECT_UINT(count(page, "\xe2\x80\xae"), 0);
	EXPECT(strstr(page, "&lt;/title&gt;") != NULL);
	free(page);
	view_summary_free(s);
}

/* A frame that is cut in the middle of a character, or has no name. */
static void test_narrow(void)
{
	struct view_summary *s =
		made(1, "\xf0\x9f\x94\xa5\xf0\x9f\x94\xa5\xf0\x9f\x94\xa5 \xc3\xa9tape "
			"one two three four five six seven eight nine ten eleven");
	char *page = made_page(s, view_html_write);

	EXPECT(strstr(page, "&#8230;</text>") != NULL);
	EXPECT_UINT(count(page, "\xef\xbf\xbd"), 0);
	free(page);
	view_summary_free(s);
	s = made(1, "");
	page = made_page(s, view_html_write);
	EXPECT_UINT(count(page, "<svg class=\"flame\""), 1);
	free(page);
	view_summary_free(s);
}

int main(void)
{
	return RUN(test_one, test_many, test_hostile, test_narrow);
}
