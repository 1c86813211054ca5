/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which steps the picture shows, in whatever order processes are walked; and that the layers of a
 * row sum to the step to the nanosecond.
 */
#include "harness.h"
#include "analysis/picture/picture_pick.h"
#include "analysis/picture/picture_row.h"
#include "analysis/picture/picture_usual.h"

#define MS INT64_C(1000000)

static struct ana_step step(uint32_t process, int64_t start, int64_t ns, int64_t exposed)
{
	return (struct ana_step){
		.start_ns = start, .end_ns = start + ns, .exposed_ns = exposed, .process = process
	};
}

/* Two processes of steps of 10 ms; one step of 90 ms, the first of each of 500 ms. */
static void add_process(struct ana_picture_pick *p, uint32_t process)
{
	int64_t at = process; /* so that no two begin together */

	for (int i = 0; i < 100; i++) {
		int64_t ns = i == 0 ? 500 * MS : i == 70 && process ? 90 * MS : 10 * MS;
		struct ana_step s = step(process, at, ns, 0);

		ana_picture_pick_add(p, &s);
		at += ns;
	}
}

static void check_pick(uint32_t first)
{
	struct ana_picture_pick p;
	struct ana_step s;

	REQUIRE(!ana_picture_pick_init(&p, 2, 700 * MS));
	EXPECT(!ana_picture_pick_worst(&p, &s));
	EXPECT(!ana_picture_pick_near(&p, 10 * MS, 0, &s));
	add_process(&p, first);
	add_process(&p, 1 - first);
	REQUIRE(ana_picture_pick_worst(&p, &s));
	EXPECT_INT(s.end_ns - s.start_ns, 90 * MS); /* no process's first */
	EXPECT_UINT(s.process, 1);
	REQUIRE(ana_picture_pick_near(&p, 10 * MS, 0, &s));
	EXPECT_INT(s.end_ns - s.start_ns, 10 * MS);
	EXPECT_INT(s.start_ns, 700 * MS); /* nearest to the middle */
	EXPECT_UINT(s.process, 0);
	for (size_t n = 1; n < ANA_PICTURE_KEPT; n++) { /* others as long, farther and farther */
		int64_t nearer =
			s.start_ns > 700 * MS ? s.start_ns - 700 * MS : 700 * MS - s.start_ns;

		REQUIRE(ana_picture_pick_near(&p, 10 * MS, n, &s));
		EXPECT(llabs(s.start_ns - 700 * MS) >= nearer);
		EXPECT_INT(s.end_ns - s.start_ns, 10 * MS);
	}
	EXPECT(!ana_picture_pick_near(&p, 10 * MS, ANA_PICTURE_KEPT, &s));
	EXPECT(!ana_picture_pick_near(&p, 33 * MS, 0, &s)); /* there is none */
	EXPECT(!ana_picture_pick_near(&p, -1, 0, &s));
	ana_picture_pick_fini(&p);
}

static void test_pick(void)
{
	check_pick(0);
	check_pick(1);
}

/*
 * Of steps as long as each other the one that waited itself; a first step where there is no other.
 */
static void test_ranks_that_meet(void)
{
	struct ana_step a[] = { step(0, 0, 50 * MS, 0), step(0, 60 * MS, 100 * MS, 2 * MS),
				step(1, 0, 70 * MS, 0), step(1, 60 * MS, 100 * MS - 100, 60 * MS) };
	struct ana_picture_pick p;
	struct ana_step s;

	REQUIRE(!ana_picture_pick_init(&p, 2, 0));
	ana_picture_pick_add(&p, &a[0]);
	ana_picture_pick_add(&p, &a[2]);
	REQUIRE(ana_picture_pick_worst(&p, &s));
	EXPECT_INT(s.end_ns, 70 * MS);
	ana_picture_pick_add(&p, &a[1]);
	ana_picture_pick_add(&p, &a[3]);
	REQUIRE(ana_picture_pick_worst(&p, &s));
	EXPECT_UINT(s.process, 1);
	EXPECT_INT(s.exposed_ns, 60 * MS);
	s = step(9, 0, 900 * MS, 0); /* of no process; of no length */
	ana_picture_pick_add(&p, &s);
	s = step(0, 200 * MS, 0, 0);
	ana_picture_pick_add(&p, &s);
	REQUIRE(ana_picture_pick_worst(&p, &s));
	EXPECT_UINT(s.process, 1);
	ana_picture_pick_fini(&p);
}

static int64_t sum_of(const struct ana_picture_row *r)
{
	int64_t sum = 0;

	for (int k = 0; k < ANA_DOES; k++)
		sum += r->ns[k];
	return sum;
}

static void test_layers(void)
{
	struct ana_step s = step(0, 1000, 16000, 0); /* cells of 100 ns */
	struct ana_picture_row row = { .kind = ANA_ROW_GPU };
	static struct ana_picture_paint p;
	struct ana_spans busy = { 0 }, waits = { 0 };

	REQUIRE(!ana_spans_add(&busy, 0, 2000) && !ana_spans_add(&busy, 1500, 3000));
	REQUIRE(!ana_spans_add(&waits, 2500, 5040) && !ana_spans_add(&waits, 16900, 99999));
	ana_paint_begin(&p, &row, &s);
	REQUIRE(!ana_paint_layer(&p, ANA_DOES_BUSY, &busy));
	REQUIRE(!ana_paint_layer(&p, ANA_DOES_STARVED, &waits));
	ana_paint_end(&p, ANA_DOES_IDLE);
	EXPECT_INT(row.ns[ANA_DOES_BUSY], 2000);
	EXPECT_INT(row.ns[ANA_DOES_STARVED], 2040 + 100);
	EXPECT_INT(sum_of(&row), 16000);
	EXPECT_UINT(strlen(row.cell), ANA_PICTURE_CELLS);
	EXPECT_UINT(strspn(row.cell, "b"), 20);
	EXPECT_UINT(strspn(row.cell + 20, "s"),
		    20); /* 40 ns of the next are less than most of it */
	EXPECT_UINT(strspn(row.cell + 40, "i"), 119);
	EXPECT_STR(row.cell + 159, "s");
	EXPECT_UINT(strspn(row.eighth, "8"), 20);
	EXPECT_UINT(strspn(row.eighth + 20, "0"), 140);
	ana_spans_fini(&busy);
	ana_spans_fini(&waits);
}

/* Work that takes less than most of a part is seen in it, however short; rounded up. */
static void test_eighths(void)
{
	struct ana_step s = step(0, 0, 16000, 0); /* cells of 100 ns */
	struct ana_picture_row row = { .kind = ANA_ROW_GPU };
	static struct ana_picture_paint p;
	struct ana_spans busy = { 0 };

	REQUIRE(!ana_spans_add(&busy, 110, 111) && !ana_spans_add(&busy, 205, 230));
	REQUIRE(!ana_spans_add(&busy, 300, 376) && !ana_spans_add(&busy, 450, 550));
	ana_paint_begin(&p, &row, &s);
	REQUIRE(!ana_paint_layer(&p, ANA_DOES_BUSY, &busy));
	ana_paint_end(&p, ANA_DOES_IDLE);
	EXPECT_UINT(strlen(row.eighth), ANA_PICTURE_CELLS);
	EXPECT(!strncmp(row.eighth, "01274400", 8));
	EXPECT(!strncmp(row.cell, "iiibibii", 4));
	ana_spans_fini(&busy);
}

static struct ana_picture_step drawn(int64_t cpu, int64_t lock, int64_t io)
{
	struct ana_picture_step s = { .step = step(0, 0, 100, 0), .rows = 3 };

	s.row[0] = (struct ana_picture_row){ .kind = ANA_ROW_GPU, .ns = { [ANA_DOES_IDLE] = 100 } };
	s.row[1] = (struct ana_picture_row){ .kind = ANA_ROW_MAIN,
					     .ns = { [ANA_DOES_CPU] = cpu,
						     [ANA_DOES_LOCK] = lock,
						     [ANA_DOES_UNSEEN] = 100 - cpu - lock } };
	s.row[2] = (struct ana_picture_row){
		.kind = ANA_ROW_WORKER, .ns = { [ANA_DOES_IO] = io, [ANA_DOES_ASLEEP] = 100 - io }
	};
	return s;
}

/* The one most like the others, by the main row and by workers' alike; the first of equal ones. */
static void test_usual(void)
{
	struct ana_picture_step main_odd[] = { drawn(0, 90, 80), drawn(70, 10, 80),
					       drawn(60, 10, 80), drawn(90, 0, 80) };
	struct ana_picture_step worker_odd[] = { drawn(50, 0, 10), drawn(50, 0, 80),
						 drawn(50, 0, 80) };

	EXPECT_UINT(ana_picture_usual(main_odd, 4), 1);
	EXPECT_UINT(ana_picture_usual(worker_odd, 3), 1);
	worker_odd[1].step.end_ns *= 2; /* parts of its time: a longer step is another one */
	EXPECT_UINT(ana_picture_usual(worker_odd, 3), 2);
	EXPECT_UINT(ana_picture_usual(worker_odd, 2), 0); /* of two neither */
	EXPECT_UINT(ana_picture_usual(NULL, 0), 0);
}

/*
 * In steps shorter than the time from look to look: of those in which the main process was looked
 * at.
 */
static void test_usual_looked_at(void)
{
	struct ana_picture_step s[] = { drawn(0, 0, 80),  drawn(0, 0, 80),  drawn(0, 90, 80),
					drawn(70, 0, 80), drawn(80, 0, 80), drawn(0, 0, 80) };

	EXPECT_UINT(ana_picture_usual(s, 6), 0);
	s[4].row[1].samples = 1;
	EXPECT_UINT(ana_picture_usual(s, 6), 4);
	s[2].row[1].samples = s[3].row[1].samples = 1;
	EXPECT_UINT(ana_picture_usual(s, 6), 3); /* by those alone */
	s[0].row[2].samples = 9; /* workers' tell nothing of it */
	EXPECT_UINT(ana_picture_usual(s, 6), 3);
}

/*
 * Where few steps have the median's bin, those of the bins beside it, the nearest first; none far
 * away.
 */
static void test_near(void)
{
	static const int64_t ms[] = { 100, 130, 103, 99, 101, 80 };
	struct ana_picture_pick p;
	struct ana_step s;
	int64_t before = 0;
	size_t n = 0;

	REQUIRE(!ana_picture_pick_init(&p, 1, 0));
	for (size_t i = 0; i < sizeof(ms) / sizeof(ms[0]); i++) {
		s = step(0, (int64_t)i * 200 * MS, ms[i] * MS, 0);
		ana_picture_pick_add(&p, &s);
	}
	for (; ana_picture_pick_near(&p, 100 * MS, n, &s); n++) {
		int64_t far = llabs(s.end_ns - s.start_ns - 100 * MS);

		EXPECT(far >= before && far <= 3 * MS);
		before = far;
	}
	EXPECT_UINT(n, 4);
	ana_picture_pick_fini(&p);
}

/* Spans at random, steps shorter than they have cells: the sum stays the step. */
static void test_sums(void)
{
	static struct ana_picture_paint p;
	uint64_t random = 7;

	for (int n = 0; n < 400; n++) {
		int64_t ns = 1 + (int64_t)(t_random(&random) % (n % 4 ? 100000 : 200));
		int64_t start = (int64_t)(t_random(&random) % 1000) - 500;
		struct ana_step s = step(0, start, ns, 0);
		struct ana_picture_row row = { .kind = ANA_ROW_WORKER };

		ana_paint_begin(&p, &row, &s);
		for (int layer = 0; layer < 3; layer++) {
			struct ana_spans spans = { 0 };
			for (int i = 0; i < 20; i++) {
				int64_t a = start - 50 +
					    (int64_t)(t_random(&random) % (uint64_t)(ns + 100));
				REQUIRE(!ana_spans_add(
					&spans, a,
					a + (int64_t)(t_random(&random) % (uint64_t)(ns / 8 + 2))));
			}
			REQUIRE(!ana_paint_layer(&p, (enum ana_picture_state)layer, &spans));
			ana_spans_fini(&spans);
		}
		ana_paint_end(&p, ANA_DOES_UNSEEN);
		EXPECT_INT(sum_of(&row), ns);
		EXPECT_UINT(strlen(row.cell), ANA_PICTURE_CELLS);
	}
}

/* Letters and names tell states apart. */
static void test_words(void)
{
	for (int i = 0; i < ANA_DOES; i++)
		for (int k = 0; k < i; k++) {
			EXPECT(ana_picture_words[i].letter != ana_picture_words[k].letter);
			EXPECT(strcmp(ana_picture_words[i].name, ana_picture_words[k].name) != 0);
		}
}

int main(void)
{
	return RUN(test_pick, test_ranks_that_meet, test_near, test_layers, test_eighths,
		   test_usual, test_usual_looked_at, test_sums, test_words);
}
