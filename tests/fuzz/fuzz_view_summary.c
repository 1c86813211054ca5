/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A summary from any bytes: what is accepted goes through every page, and beside a sound one, in
 * both orders, and itself through every page of the comparison. And any bytes as a price list, in
 * its own columns and in SkyPilot's.
 */
#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>
#include "compare/compare.h"
#include "report/html/html.h"
#include "cost/price_list.h"
#include "report/text/text.h"
#include "unit/viewer/view_made.h"

static const struct view_text_style narrow = { true, true, true, 20 };

static void write_all(const struct view_summary *s, FILE *f)
{
	view_summary_write(s, f);
	view_text_verdict(s, f, &narrow, "report.html");
	view_text_report(s, f, &narrow);
	view_text_report(s, f, &view_text_style_plain);
	view_html_write(s, f);
}

static void compare_as(const struct view_summary *a, const struct view_summary *b, int64_t month)
{
	const struct view_summary *s[] = { a, b, a };
	static const char *const path[] = { "a", "b", "c" };
	struct view_comparison c;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	view_compare(&c, s, path, 3, month);
	view_compare_text(&c, f, &view_text_style_plain);
	view_compare_text(&c, f, &narrow);
	view_compare_json(&c, f);
	view_compare_html(&c, f);
	for (size_t i = 0; i < c.pair[0].promises; i++)
		if (c.pair[0].promise[i].step_ns < 0 || c.pair[0].promise[i].run_ns < 0)
			abort();
	view_comparison_fini(&c);
	fclose(f);
	free(text);
}

static void as_comparison(const struct view_summary *s)
{
	struct view_summary *sound = made_summary_of(made_starved(NULL), "x", 6880000000LL);

	compare_as(s, sound, -1);
	compare_as(sound, s, VIEW_COMPARE_MONTH_MAX);
	view_summary_free(sound);
}

static void as_summary(const uint8_t *data, size_t len)
{
	int fd = memfd_create("summary", MFD_CLOEXEC);
	struct view_summary *s;
	const char *why;
	char path[64];

	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!view_summary_read(&s, path, &why)) {
		free(made_page(s, write_all));
		as_comparison(s);
		view_summary_free(s);
	}
	close(fd);
}

static void as_prices(const uint8_t *data, size_t len)
{
	struct view_price_query q = { "NVIDIA H100 80GB HBM3", "", "", "on-demand" };
	struct view_prices p = { 0 };
	const char *why;
	bool assumed;

	view_prices_parse(&p, (const char *)data, len, &why);
	view_prices_parse_skypilot(&p, (const char *)data, len, "aws", "x", "2026-01-01", &why);
	view_prices_find(&p, &q, &assumed);
	view_prices_fini(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	as_summary(data, len);
	as_prices(data, len);
	return 0;
}

static const char *const lists[] = {
	"gpu,provider,instance_type,gpu_count,usd_per_gpu_hour,price_model,region,source,date\n"
	"NVIDIA H100*,aws,p5.48xlarge,8,6.88,on-demand,us-east-1,\"a \"\"list\"\"\",2026-01-01\n",
	"InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,"
	"Region,AvailabilityZone\np5,H100,8,192,2048,\"{'x'}\",98.32,39.3,us-east-1,us-east-1a\n",
};

size_t fuzz_seed(unsigned int number, uint8_t **data)
{
	struct view_summary *s;
	char *text;

	if (number >= 8)
		return 0;
	if (number >= 6) {
		s = made_summary_of(made_starved(number == 7 ? MADE_EVIL : NULL), "x", 1);
		text = made_page(s, view_summary_write);
		view_summary_free(s);
	} else if (number >= 4) {
		text = strdup(lists[number - 4]);
	} else {
		s = made_summary(1 + number, number % 2 ? MADE_EVIL : "NVIDIA H100 80GB HBM3",
				 number == 3 ? 0 : 6880000000LL, 3);
		text = made_page(s, view_summary_write);
		view_summary_free(s);
	}
	*data = (uint8_t *)text;
	return strlen(text);
}
