/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rest of a job: what is told of when it was, as JSON and out of the stored text; spans made
 * fewer; and what of it lies in a stretch.
 */
#include <stdlib.h>
#include <string.h>
#include "fleet/job_rest.h"
#include "fleet/lines.h"
#include "harness.h"

#define S INT64_C(1000000000)
#define AT (INT64_C(1700000000) * S)

static struct fleet_digest *made(size_t lines)
{
	struct fleet_digest *d = calloc(1, sizeof(*d));

	snprintf(d->run, sizeof(d->run), "slurm-c1-9");
	snprintf(d->job, sizeof(d->job), "9");
	snprintf(d->verdict, sizeof(d->verdict), FLEET_NO_PROCESS);
	d->revision = d->rules = 1;
	d->start_unix_ns = AT;
	d->wall_ns = 1000 * S;
	d->rest.job_ns = 4000 * S;
	for (d->lines = 0; d->lines < lines; d->lines++) {
		struct fleet_line *l = &d->line[d->lines];

		snprintf(l->gpu, sizeof(l->gpu), "GPU %zu", d->lines);
		l->gpus = 1;
	}
	return d;
}

static void add(struct fleet_digest *d, size_t line, int64_t from, int64_t wall, int64_t gpus)
{
	d->rest.span[d->rest.spans++] =
		(struct fleet_rest_span){ (uint8_t)line, from, wall, gpus, wall * gpus };
	d->line[line].held_ns += wall * gpus;
}

static void expect_same(const struct fleet_rest_span *a, const struct fleet_rest_span *b)
{
	EXPECT_INT(a->line, b->line);
	EXPECT_INT(a->from_ns, b->from_ns);
	EXPECT_INT(a->wall_ns, b->wall_ns);
	EXPECT_INT(a->gpus, b->gpus);
	EXPECT_INT(a->held_ns, b->held_ns);
}

static void test_text(void)
{
	struct fleet_digest *d = made(2), *got = calloc(1, sizeof(*got));
	struct fleet_rest_span span[FLEET_REST_SPANS_MAX];
	const char *why = NULL;
	size_t n = 0;
	char *text;

	for (size_t i = 0; i < FLEET_REST_SPANS_MAX; i++)
		add(d, i % 2, ((int64_t)i - 12) * (INT64_C(1) << 55), 46116860184273878,
		    (int64_t)i + 1);
	text = fleet_digest_write(d);
	EXPECT_INT(fleet_digest_read(got, text, strlen(text), &why), 0);
	EXPECT_INT(got->rest.job_ns, d->rest.job_ns);
	EXPECT_INT(got->rest.spans, d->rest.spans);
	for (size_t i = 0; i < got->rest.spans; i++)
		expect_same(&got->rest.span[i], &d->rest.span[i]);
	const char *head = strstr(text, FLEET_REST_HEAD);
	EXPECT(head);
	for (size_t line = 0; line < 3; line++) {
		n = fleet_rest_spans_of(head, line, span);
		EXPECT_INT(n, line < 2 ? FLEET_REST_SPANS_MAX / 2 : 0);
		for (size_t i = 0; i < n; i++)
			expect_same(&span[i], &d->rest.span[2 * i + line]);
	}
	/* as much of it as a store hands over */
	const char *end = strstr(head, "]]");
	EXPECT(end && end + 2 - head < atoi(FLEET_REST_ROOM));
	free(text);
	free(got);
	free(d);
}

/* What anybody may have written. */
static void test_hostile(void)
{
	static const char *const bad[] = {
		"\"rest_of_job_ns\": 0",
		"\"rest_of_job_ns\": -1",
		"\"rest_of_job_ns\": \"9\"",
		"\"rest_of_job_ns\": 5, \"rest_spans\": [[6, 0, 1, 1, 1]]",
		"\"rest_of_job_ns\": 5, \"rest_spans\": [[-1, 0, 1, 1, 1]]",
		"\"rest_of_job_ns\": 5, \"rest_spans\": [[0, 0, 0, 1, 1]]",
		"\"rest_of_job_ns\": 5, \"rest_spans\": [[0, 0, 1, 1]]",
		"\"rest_of_job_ns\": 5, \"rest_spans\": [[0, 0, 1, 1, -1]]",
		"\"rest_of_job_ns\": 5, \"rest_spans\": [[0, 9223372036854775807, 1, 1, 1]]",
		"\"rest_of_job_ns\": 5, \"rest_spans\": [[0, 0, 1, 99999999999, 1]]",
		"\"rest_of_job_ns\": 5, \"rest_spans\": [7]",
	};
	static const char *const cut[] = {
		"",
		"x",
		FLEET_REST_HEAD,
		FLEET_REST_HEAD "[0, 1",
		FLEET_REST_HEAD "[0, 1, 2, 3, 4",
		FLEET_REST_HEAD "[0,1,2,3,4]",
		FLEET_REST_HEAD "[300, 1, 2, 3, 4]",
		FLEET_REST_HEAD "[0, 1, 99999999999999999999, 3, 4]",
		FLEET_REST_HEAD "]",
	};
	struct fleet_rest_span span[FLEET_REST_SPANS_MAX];
	struct fleet_digest *d = calloc(1, sizeof(*d));
	const char *why;
	char text[512];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text),
			 "{\"schema\": \"" FLEET_DIGEST_SCHEMA "\", \"run\": \"r\", %s}", bad[i]);
		EXPECT(fleet_digest_read(d, text, strlen(text), &why) < 0);
	}
	for (size_t i = 0; i < sizeof(cut) / sizeof(cut[0]); i++)
		EXPECT_INT(fleet_rest_spans_of(cut[i], 0, span), 0);
	EXPECT_INT(fleet_rest_spans_of(NULL, 0, span), 0);
	EXPECT_INT(fleet_rest_spans_of(FLEET_REST_HEAD "[0, 1, 2, 3, 4], [0, 9, ", 0, span), 1);
	free(d);
}

/* Fewer and fewer, one by one: nothing of what was held is lost, nor is a line's end. */
static void test_fold(void)
{
	struct fleet_digest *d = made(2);
	size_t n;

	for (int i = 0; i < 12; i++) {
		add(d, 0, i * 100 * S, (i % 5 + 1) * S, i % 3 + 1);
		add(d, 1, i * 70 * S, 3 * S, 2);
	}
	for (int i = 0; i < 24; i++) { /* in order by line, as they are made */
		struct fleet_rest_span *s = d->rest.span;

		for (int k = 1; k < 24; k++)
			if (s[k - 1].line > s[k].line) {
				struct fleet_rest_span t = s[k];
				s[k] = s[k - 1];
				s[k - 1] = t;
			}
	}
	for (n = d->rest.spans; fleet_rest_fold(d); n--) {
		int64_t held[2] = { 0 };

		EXPECT_INT(d->rest.spans, n - 1);
		for (size_t i = 0; i < d->rest.spans; i++) {
			const struct fleet_rest_span *s = &d->rest.span[i];

			held[s->line] += s->held_ns;
			EXPECT(s->held_ns <= s->gpus * s->wall_ns);
		}
		EXPECT_INT(held[0], d->line[0].held_ns);
		EXPECT_INT(held[1], d->line[1].held_ns);
	}
	EXPECT_INT(d->rest.spans, 2);
	EXPECT_INT(d->rest.span[0].from_ns, 0);
	EXPECT_INT(d->rest.span[0].wall_ns, 1102 * S);
	EXPECT_INT(d->rest.span[1].wall_ns, 773 * S);
	fleet_rest_fold_line(d, 0, 1);
	EXPECT_INT(d->rest.span[1].line, 0);
	free(d);
}

/* Parts that adjoin sum to the line, each with what its spans have there. */
static void test_cut(void)
{
	static const struct fleet_rest_span span[] = { { 0, 10 * S, 10 * S, 2, 20 * S },
						       { 0, 50 * S, 20 * S, 1, 20 * S } };
	struct fleet_line_row l = { .start_ns = AT, .wall_ns = 100 * S, .span = span, .spans = 2 };
	struct fleet_sums part;

	l.sums.m[FLEET_HELD_NS] = 40 * S;
	l.sums.m[FLEET_USD] = 7; /* does not divide */
	static const int64_t want[] = { 0, 20, 20, 20, 20, 30, 40, 40, 40, 40 };
	for (int a = 0; a < 10; a++) {
		for (int b = a; b < 10; b++) {
			fleet_line_cut(&part, &l, AT + a * 10 * S + (a > 0) * 10 * S,
				       AT + (b + 1) * 10 * S);
			if (a == 0)
				EXPECT_INT((int64_t)part.m[FLEET_HELD_NS], b ? want[b] * S : 0);
		}
	}
	base_wide usd = 0, ns = 0;
	for (int a = -20; a < 120; a++) {
		fleet_line_cut(&part, &l, AT + a * S, AT + (a + 1) * S);
		usd += part.m[FLEET_USD];
		ns += part.m[FLEET_HELD_NS];
		EXPECT(part.m[FLEET_HELD_NS] == (a >= 10 && a < 20   ? 2 * S
						 : a >= 50 && a < 70 ? S
								     : 0));
	}
	EXPECT_INT((int64_t)usd, 7);
	EXPECT_INT((int64_t)ns, 40 * S);
	l.start_ns = INT64_MAX - 5; /* nothing overflows */
	fleet_line_cut(&part, &l, INT64_MIN, INT64_MAX);
}

/* Which lines lie in several months, and of which rests some span is outside of their time. */
static void test_over(void)
{
	static const int64_t april = INT64_C(1775001600) * S, leap = INT64_C(1709164800) * S,
			     day = 86400 * S;
	static const struct {
		int64_t start, wall;
		bool over;
	} run[] = {
		{ april - 5, 5, false },
		{ april - 5, 6, true },
		{ april - 1, 0, false },
		{ april, 30 * day, false },
		{ april, 30 * day + 1, true },
		{ april, 365 * day, true },
		{ leap, day, false },
		{ leap, day + 1, true },
		{ FLEET_MONTHS_TO - 9, 8, false },
		{ FLEET_MONTHS_TO - 9, 9, true },
		{ FLEET_MONTHS_TO, 0, true },
		{ april, INT64_MAX, true },
		{ -1, 1, true },
	};
	char name[16];

	for (size_t i = 0; i < sizeof(run) / sizeof(run[0]); i++) {
		const struct fleet_line_row l = { .start_ns = run[i].start,
						  .wall_ns = run[i].wall };

		EXPECT_INT(fleet_line_is_over(&l), run[i].over);
	}
	EXPECT(fleet_line_is_over(&(struct fleet_line_row){ .start_ns = april, .astray = true }));
	EXPECT(!fleet_rest_is_astray(FLEET_REST_HEAD "[0, 0, 9, 1, 9], [1, 5, 95, 1, 95]", 100));
	EXPECT(fleet_rest_is_astray(FLEET_REST_HEAD "[0, 0, 9, 1, 9], [1, 5, 96, 1, 96]", 100));
	EXPECT(fleet_rest_is_astray(FLEET_REST_HEAD "[0, -1, 9, 1, 9]", 100));
	EXPECT(!fleet_rest_is_astray("", 0));
	fleet_month_name(name, 0);
	EXPECT_STR(name, "1970-01");
	fleet_month_name(name, 56 * 12 + 11);
	EXPECT_STR(name, "2026-12");
}

int main(void)
{
	return RUN(test_text, test_hostile, test_fold, test_cut, test_over);
}
