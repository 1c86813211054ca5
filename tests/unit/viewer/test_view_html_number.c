/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of the page: the exact value, the place it comes from, and how people read it.
 */
#include "harness.h"
#include <string.h>
#include "report/html/html_priv.h"

static char *text;
static size_t len;
static struct view_summary s;
static struct html h = { .s = &s };

static void begin(void)
{
	h.f = open_memstream(&text, &len);
}

static void ends(const char *want)
{
	fclose(h.f);
	EXPECT_STR(text, want);
	free(text);
}

static void test_units(void)
{
	s.cost.total = 50000000000;
	begin();
	html_ns(&h, 831000001, "/gpus/%d/held_ns", 3);
	ends("<data value=\"831000001\" data-key=\"/gpus/3/held_ns\" data-unit=\"ns\">831 ms</data>");
	begin();
	html_usd(&h, 46860000001, "/cost/usd");
	ends("<data value=\"46.860000001\" data-key=\"/cost/usd\" data-unit=\"usd\">$46.86</data>");
	begin();
	html_usd(&h, 1, "/cost/usd");
	ends("<data value=\"0.000000001\" data-key=\"/cost/usd\" data-unit=\"usd\">&lt;$0.01</data>");
	begin();
	html_price(&h, 6880000000, "/cost/rates/0/usd_per_gpu_hour");
	ends("<data value=\"6.88\" data-key=\"/cost/rates/0/usd_per_gpu_hour\" "
	     "data-unit=\"price\">$6.88</data>");
	begin();
	html_gpu_time(&h, 3600000000000, "/ledger/gpu_ns");
	ends("<data value=\"3600000000000\" data-key=\"/ledger/gpu_ns\" data-unit=\"gpu-time\">"
	     "1.00 GPU-hours</data>");
	begin();
	html_pct(&h, 380951, "/ledger/starved_pct");
	ends("<data value=\"38.0951\" data-key=\"/ledger/starved_pct\" data-unit=\"pct\">38.1 %</data>");
	begin();
	html_bytes(&h, UINT64_MAX, "/copies/h2d/bytes");
	ends("<data value=\"18446744073709551615\" data-key=\"/copies/h2d/bytes\" "
	     "data-unit=\"bytes\">18.4 EB</data>");
	begin();
	html_count(&h, 1234567, "/steps/count");
	ends("<data value=\"1234567\" data-key=\"/steps/count\" data-unit=\"count\">1,234,567</data>");
	begin();
	html_id(&h, -3, "/run/exit_status");
	ends("<data value=\"-3\" data-key=\"/run/exit_status\" data-unit=\"id\">-3</data>");
	begin();
	html_moment(&h, 1794232931000000000, "/run/start_unix_ns");
	ends("<data value=\"1794232931000000000\" data-key=\"/run/start_unix_ns\" "
	     "data-unit=\"moment\">2026-11-09 14:02:11 UTC</data>");
}

/* Sums of a run have the scale of what it cost; rates one of their own. */
static void test_scales(void)
{
	s.cost.total = 5543056;
	begin();
	html_usd(&h, 1396000, "/cost/starved_usd");
	ends("<data value=\"0.001396\" data-key=\"/cost/starved_usd\" data-unit=\"usd\">0.140 \302\242</data>");
	begin();
	html_money(&h, 20231, "/cost/usd_per_step");
	ends("<data value=\"0.000020231\" data-key=\"/cost/usd_per_step\" data-unit=\"money\">"
	     "0.00202 \302\242</data>");
	begin();
	html_about(&h, 1034560000000, "/a");
	ends("<data value=\"1034.56\" data-key=\"/a\" data-unit=\"about\">$1,035</data>");
	begin();
	html_price_of(&h, 4300000, "/a");
	ends("<data value=\"0.0043\" data-key=\"/a\" data-unit=\"dollars\">$0.00430</data>");
	s.cost.total = 50000000000;
}

/* The digit that closes a table is marked: it may differ from the amount's own. */
static void test_closed(void)
{
	begin();
	html_usd_closed(&h, 14999999, 2, "/ledger/classes/%s/usd", "copy");
	ends("<data value=\"0.014999999\" data-key=\"/ledger/classes/copy/usd\" data-unit=\"usd\" "
	     "data-closed=\"\">$0.02</data>");
}

static void test_texts(void)
{
	begin();
	html_text(&h, "bdi class=\"mono\"", "<b>\"&'\x1b", "/run/id");
	ends("<bdi class=\"mono\" data-text=\"/run/id\">&lt;b&gt;&quot;&amp;&#39;\xef\xbf\xbd</bdi>");
	begin();
	html_sentence(&h, "p", "use less", "/advice/%d/action", 0);
	ends("<p data-text=\"/advice/0/action\" data-text-as=\"sentence\">Use less.</p>");
	begin();
	html_text(&h, "b", NULL, "/run/id");
	ends("");
}

int main(void)
{
	return RUN(test_units, test_scales, test_closed, test_texts);
}
