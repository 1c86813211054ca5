/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary: sums, findings, advice; summary.json written, read back and written again without
 * a difference; the waste set.
 */
#include <errno.h>
#include "harness.h"
#include "base/jsondoc.h"
#include "view_made.h"

#define H100 "NVIDIA H100 80GB HBM3"

static void test_sums(void)
{
	struct view_summary *s = made_summary(4, H100, 6880000000LL, 10);
	int64_t ns = 0, usd = 0;

	REQUIRE(s);
	for (int c = 0; c < ANA_CLASSES; c++) {
		ns += s->result->classes[c];
		usd += s->cost.classes[c];
	}
	EXPECT_INT(ns, s->result->gpu_ns);
	EXPECT_INT(usd, s->cost.total);
	EXPECT_INT(s->starved_ns, MADE_HOUR_NS / 4 + 3 * (MADE_HOUR_NS / 1000));
	EXPECT_INT(s->wasted_ns, s->starved_ns + 4 * (MADE_HOUR_NS / 100));
	EXPECT_INT(view_working_ns(s), s->result->gpu_ns - 4000000000LL);
	EXPECT_INT(s->ranks, 1);
	EXPECT_INT(s->step_nano_usd * 100, s->cost.total);
	view_summary_free(s);
}

static void test_findings(void)
{
	struct view_summary *s = made_summary(4, H100, 6880000000LL, 10);

	REQUIRE(s && s->findings >= 2 && s->advices >= 1);
	EXPECT_INT(s->finding[0].class, ANA_INPUT_UNKNOWN);
	EXPECT_INT(s->finding[0].of_starved_ppm, 1000000);
	EXPECT_INT(s->finding[0].confidence, ANA_HIGH);
	EXPECT_INT(s->finding[1].class, ANA_HOST_SYNC);
	EXPECT_INT(s->finding[1].of_starved_ppm, -1);
	EXPECT_STR(s->advice[0].id, "loader-wait");
	for (size_t i = 0; i < s->advices; i++) {
		EXPECT(s->advice[i].saving_ns <= s->wasted_ns);
		EXPECT(s->advice[i].saving_nano_usd <= s->cost.wasted);
		EXPECT_INT(s->advice[i].saving_ns, s->result->classes[s->advice[i].class]);
		EXPECT(s->advice[i].brief && s->advice[i].brief[0]);
	}
	view_summary_free(s);
}

static struct view_summary *read_text(const char *text)
{
	char path[] = "/tmp/gpustarve-summary-XXXXXX";
	int fd = mkstemp(path);
	struct view_summary *s = NULL;
	const char *why = NULL;

	REQUIRE(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	if (view_summary_read(&s, path, &why))
		s = NULL;
	unlink(path);
	return s;
}

/* What NVML's meters said is there if they said anything, and is read back. */
static void test_metered(void)
{
	struct view_summary *s = made_summary(1, H100, 6880000000LL, 10), *again;
	char *text = made_page(s, view_summary_write);

	EXPECT(!strstr(text, "metered"));
	free(text);
	s->result->quality.metered = (struct ana_metered){ 900, 450, 300 };
	text = made_page(s, view_summary_write);
	again = read_text(text);
	REQUIRE(again);
	EXPECT(strstr(text, "\"metered\"") != NULL);
	EXPECT_INT(again->result->quality.metered.known_ns, 900);
	EXPECT_INT(again->result->quality.metered.busy_ns, 450);
	EXPECT_INT(again->result->quality.metered.gpm_ns, 300);
	free(text);
	view_summary_free(s);
	view_summary_free(again);
}

/* What recording cost is there if some of it was given up, and is read back. */
static void test_recording(void)
{
	struct view_summary *s = made_summary(1, H100, 6880000000LL, 10), *again;
	char *text = made_page(s, view_summary_write);
	const struct ana_recording *r;

	EXPECT(!strstr(text, "recording"));
	free(text);
	s->result->quality.recording = (struct ana_recording){ .time_ns = 900,
							       .spent_ns = 9,
							       .limit_ppm = 10000,
							       .worst_ppm = 350000,
							       .deepest = 3,
							       .full_launch_ns = 2300,
							       .no_api_launch_ns = 1800,
							       .no_kernels_launch_ns = 560,
							       .least_launch_ns = 7,
							       .left_ns = 7,
							       .passed = 2,
							       .learnt = true };
	text = made_page(s, view_summary_write);
	again = read_text(text);
	REQUIRE(again);
	r = &again->result->quality.recording;
	EXPECT(!memcmp(r, &s->result->quality.recording, offsetof(struct ana_recording, learnt)));
	EXPECT(r->learnt);
	free(text);
	view_summary_free(s);
	view_summary_free(again);
}

static void round_trip(const char *name, int64_t nano)
{
	struct view_summary *s = made_summary(3, name, nano, 20), *again;
	char *text = made_page(s, view_summary_write), *copy;

	again = read_text(text);
	REQUIRE(again);
	copy = made_page(again, view_summary_write);
	EXPECT_STR(copy, text);
	free(text);
	free(copy);
	view_summary_free(s);
	view_summary_free(again);
}

static void round_trip_starved(const char *name, int64_t nano)
{
	struct view_summary *s = made_summary_of(made_starved(name), H100, nano), *again;
	char *text = made_page(s, view_summary_write), *copy;

	again = read_text(text);
	REQUIRE(again);
	copy = made_page(again, view_summary_write);
	EXPECT_STR(copy, text);
	EXPECT(strstr(text, "\"workers_needed\": 6") != NULL);
	free(text);
	free(copy);
	view_summary_free(s);
	view_summary_free(again);
}

static void test_round_trip(void)
{
	round_trip_starved(NULL, 6880000001LL);
	round_trip_starved(NULL, 0);
	round_trip_starved("plain", 1);
	round_trip(H100, 6880000001LL);
	round_trip(H100, 0);
	round_trip("plain", 123456789);
}

/* Broken UTF-8 becomes U+FFFD once and stays so. */
static void test_evil_names(void)
{
	struct view_summary *s = made_summary(1, MADE_EVIL, 1, 5), *again;
	char *text = made_page(s, view_summary_write);
	struct base_arena mem = { 0 };
	struct base_json_error error;

	EXPECT(base_json_parse(&mem, text, strlen(text), &error) != NULL);
	again = read_text(text);
	REQUIRE(again);
	EXPECT(strstr(again->id, "</title><script>") != NULL);
	EXPECT(strstr(again->id, "\xef\xbf\xbd") != NULL);
	base_arena_fini(&mem);
	free(text);
	view_summary_free(s);
	view_summary_free(again);
}

static void test_no_price(void)
{
	struct view_summary *s = made_summary(2, H100, 0, 5);
	char *text = made_page(s, view_summary_write);

	EXPECT(strstr(text, "\"usd\": null") != NULL);
	EXPECT(!strchr(text, '$'));
	EXPECT(strstr(text, "\"gpu_hours\": 2") != NULL);
	free(text);
	view_summary_free(s);
}

/* Any digit changed is either refused or gives another document. */
static void test_digest(void)
{
	struct view_summary *s = made_summary(1, H100, 6880000000LL, 3);
	char *text = made_page(s, view_summary_write);
	uint64_t seed = t_seed(3);
	size_t len = strlen(text);

	for (int i = 0; i < 300; i++) {
		size_t at = t_random(&seed) % len;
		while (text[at] < '0' || text[at] > '9')
			at = (at + 1) % len;
		char was = text[at];
		text[at] = (char)('0' + (was - '0' + 1 + t_random(&seed) % 9) % 10);
		struct view_summary *other = read_text(text);
		if (other) {
			char *copy = made_page(other, view_summary_write);
			struct base_arena mem = { 0 };
			struct base_json_error error;
			struct base_json *left = base_json_parse(&mem, text, len, &error);
			struct base_json *right = base_json_parse(&mem, copy, strlen(copy), &error);
			EXPECT(left && right);
			/* The text itself, or the digest in it, is no longer what is made of it. */
			EXPECT(strcmp(copy, text) != 0);
			base_arena_fini(&mem);
			free(copy);
			view_summary_free(other);
		}
		text[at] = was;
	}
	free(text);
	view_summary_free(s);
}

static bool has_note(const struct view_summary *s, const char *what)
{
	for (size_t i = 0; i < s->notes; i++)
		if (strstr(s->note[i], what))
			return true;
	return false;
}

/* What the GPU does for the input, and what a graph launch hides, where it matters. */
static void test_kernels_told(void)
{
	for (size_t gpus = 1; gpus <= 2; gpus++) {
		struct ana_result *r = made_result(gpus, H100, 5);
		struct view_summary *s, *back;
		char *text;

		r->gpu[0].graphs = 41;
		r->gpu[0].input_kernels = 1234;
		r->gpu[0].input_kernel_ns = 2000000000;
		s = made_summary_of(r, H100, 6880000000LL);
		EXPECT(has_note(s, "1,234 kernels that decode or transform input"));
		EXPECT_INT(has_note(s, "41 graph launches"), gpus > 1);
		text = made_page(s, view_summary_write);
		back = read_text(text);
		REQUIRE(back != NULL);
		EXPECT_UINT(back->result->gpu[0].input_kernels, 1234);
		EXPECT_INT(back->result->gpu[0].input_kernel_ns, 2000000000);
		free(text);
		view_summary_free(back);
		view_summary_free(s);
	}
}

/* What compute consists of comes back as it was written, with its dollars; the most time first. */
static void test_compute(void)
{
	const int sgemm = ANA_WORK(FACTS_KIND_MATMUL, FACTS_PRECISION_FP32);
	const int graph = ANA_WORK(FACTS_KIND_GRAPH, FACTS_PRECISION_UNKNOWN);
	const int covered = ANA_WORK(FACTS_KIND_UNKNOWN, FACTS_PRECISION_FP16);
	struct ana_result *r = made_result(2, H100, 5);
	struct view_work rows[ANA_WORKS];
	struct view_summary *s, *back;
	char *text, *again;

	for (size_t g = 0; g < 2; g++)
		r->gpu[g].work.ns[sgemm] = MADE_HOUR_NS / 8;
	r->work.ns[sgemm] = MADE_HOUR_NS / 4;
	r->work.count[sgemm] = 7;
	r->work.ns[graph] = r->gpu[1].work.ns[graph] = MADE_HOUR_NS / 2;
	r->work.count[graph] = 1;
	r->work.count[covered] = 3;
	r->units = (struct ana_units){ MADE_HOUR_NS, MADE_HOUR_NS / 2, MADE_HOUR_NS / 8, 5 };
	r->estimated = (struct ana_estimated){ 100, 90, 3, { 50, 40, 60 }, { { 0, 0, 0 } } };
	r->estimated.classes[ANA_INPUT_UNKNOWN] = (struct ana_estimated_part){ 47, 0, 100 };
	s = made_summary_of(r, H100, 4000000000LL);
	EXPECT_INT(s->cost.work[sgemm], 1000000000LL);
	EXPECT_UINT(view_work_rows(s, rows), 3);
	EXPECT_STR(rows[0].kind, "graph");
	EXPECT_STR(rows[1].precision, "fp32");
	EXPECT(view_work_is_fp32(&rows[1]) && !view_work_is_fp32(&rows[0]));
	EXPECT_UINT(rows[2].count, 3);
	text = made_page(s, view_summary_write);
	back = read_text(text);
	REQUIRE(back != NULL);
	EXPECT(!memcmp(&back->result->work, &s->result->work, sizeof(s->result->work)));
	EXPECT_INT(back->cost.work[sgemm], 1000000000LL);
	EXPECT(!memcmp(&back->result->units, &s->result->units, sizeof(s->result->units)));
	EXPECT(!memcmp(&back->result->estimated, &s->result->estimated,
		       sizeof(s->result->estimated)));
	again = made_page(back, view_summary_write);
	EXPECT_STR(again, text);
	free(text);
	free(again);
	view_summary_free(back);
	view_summary_free(s);
}

static void test_waste(void)
{
	bool waste[ANA_CLASSES];
	char bad[64];

	EXPECT_INT(view_waste_parse("input.*,host.sync", waste, bad), 0);
	EXPECT(waste[ANA_INPUT_FETCH] && waste[ANA_INPUT_UNKNOWN] && waste[ANA_HOST_SYNC]);
	EXPECT(!waste[ANA_HOST_GC] && !waste[ANA_COMPUTE]);
	EXPECT_INT(view_waste_parse("input.*,nonsense", waste, bad), -EINVAL);
	EXPECT_STR(bad, "nonsense");
	EXPECT_INT(view_waste_parse("", waste, bad), -EINVAL);
	view_waste_default(waste);
	EXPECT(waste[ANA_COPY] && waste[ANA_EXCLUDED_NO_PROCESS] && waste[ANA_DEVICE_LAUNCH]);
	EXPECT(!waste[ANA_HOST_UNKNOWN] && !waste[ANA_DEVICE_TURNAROUND] &&
	       !waste[ANA_DEVICE_LOST]);
	EXPECT(!waste[ANA_EXCLUDED_STARTUP] && !waste[ANA_DEVICE_UNKNOWN]);
}

int main(void)
{
	return RUN(test_sums, test_metered, test_recording, test_findings, test_round_trip,
		   test_evil_names, test_no_price, test_digest, test_kernels_told, test_compute,
		   test_waste);
}
