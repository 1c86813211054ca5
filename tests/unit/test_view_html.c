/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page: one file, nothing fetched, nothing run, foreign strings harmless, small enough.
 */
#include "harness.h"
#include "report/html.h"
#include "view_made.h"

#define DATA_BLOCK "<script type=\"application/json\" id=\"gpustarve-data\">"

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

static void test_self_contained(void)
{
	struct view_summary *s = made_summary(4, "NVIDIA H100 80GB HBM3", 6880000000LL, 240);
	char *page = made_page(s, view_html_write);

	EXPECT(!strncmp(page, "<!doctype html>", 15));
	EXPECT(strstr(page, "default-src 'none'") != NULL);
	EXPECT_UINT(count(page, "<script"), count(page, DATA_BLOCK));
	EXPECT_UINT(count(page, DATA_BLOCK), 1);
	EXPECT_UINT(count(page, "<link"), 0);
	EXPECT_UINT(count(page, "<img"), 0);
	EXPECT_UINT(count(page, "http://"), 0);
	EXPECT_UINT(count(page, "https://"), 0);
	EXPECT_UINT(count(page, "url("), 0);
	EXPECT_UINT(count(page, "@import"), 0);
	EXPECT_UINT(count(page, "<svg "), 4);
	EXPECT_UINT(count(page, "<div"), count(page, "</div>"));
	EXPECT_UINT(count(page, "<table"), count(page, "</table>"));
	EXPECT_UINT(count(page, "<td"), count(page, "</td>"));
	EXPECT_UINT(count(page, "<span"), count(page, "</span>"));
	EXPECT_UINT(count(page, "<p"), count(page, "</p>") + count(page, "<path"));
	EXPECT(strstr(page, "$27.52") != NULL);
	EXPECT(strstr(page, "2026-11-09") != NULL);
	free(page);
	view_summary_free(s);
}

static void test_evil_names(void)
{
	struct view_summary *s = made_summary(2, MADE_EVIL, 1000000000, 10);
	char *page = made_page(s, view_html_write);

	EXPECT_UINT(count(page, "<script"), count(page, DATA_BLOCK));
	EXPECT_UINT(count(page, DATA_BLOCK), 1);
	EXPECT_UINT(count(page, "</title>"), 1);
	EXPECT_UINT(count(page, "\x1b"), 0);
	EXPECT_UINT(count(page, "\xff"), 0);
	EXPECT_UINT(count(page, "\xe2\x80\xae"), 0);
	EXPECT(strstr(page, "&lt;script&gt;") != NULL);
	free(page);
	view_summary_free(s);
}

/* Findings, loader and advice of a run whose every string is hostile. */
static void test_evil_places(void)
{
	struct view_summary *s = made_summary_of(made_starved(MADE_EVIL), "x", 1000000000);
	char *page = made_page(s, view_html_write);

	EXPECT_UINT(count(page, "<script"), count(page, DATA_BLOCK));
	EXPECT_UINT(count(page, DATA_BLOCK), 1);
	EXPECT_UINT(count(page, "\x1b"), 0);
	EXPECT_UINT(count(page, "\xff"), 0);
	EXPECT_UINT(count(page, "\xe2\x80\xae"), 0);
	EXPECT_UINT(count(page, "<td"), count(page, "</td>"));
	EXPECT_UINT(count(page, "<dd"), count(page, "</dd>"));
	EXPECT_UINT(count(page, "<bdi"), count(page, "</bdi>"));
	free(page);
	view_summary_free(s);
}

static void test_places(void)
{
	struct view_summary *s = made_summary_of(made_starved(NULL), "x", 1000000000);
	char *page = made_page(s, view_html_write);

	EXPECT(strstr(page, "id=\"why\"") != NULL);
	EXPECT(strstr(page, ">dataset.py:88</bdi>") != NULL);
	EXPECT(strstr(page, ">__getitem__</bdi>") != NULL);
	EXPECT(strstr(page, ">/home/someone/project/data/dataset.py</bdi>") != NULL);
	EXPECT(strstr(page, "4 of 4 workers <bdi>blocked reading "
			    "/data/imagenet/train/shard-0017.bin and 1 more (nfs4)</bdi>") != NULL);
	EXPECT(strstr(page, "libc.so.6+0x1b2f3") != NULL);
	EXPECT(strstr(page, "high: 1,514 samples of 4 threads") != NULL);
	EXPECT(strstr(page, "<dt>Workers needed</dt><dd>6 to keep up") != NULL);
	free(page);
	view_summary_free(s);
}

static void test_no_price(void)
{
	struct view_summary *s = made_summary(2, "NVIDIA RTX 9999", 0, 10);
	char *page = made_page(s, view_html_write);

	EXPECT(!strchr(page, '$'));
	EXPECT(strstr(page, "GPU-hours") != NULL);
	free(page);
	view_summary_free(s);
}

static void test_small(void)
{
	static const size_t gpus[] = { 1, 8, 64, 1024 };

	for (size_t i = 0; i < sizeof(gpus) / sizeof(gpus[0]); i++) {
		struct view_summary *s = made_summary(gpus[i], "NVIDIA H100 80GB HBM3", 1, 240);
		char *page = made_page(s, view_html_write);
		printf("%zu GPUs: %zu bytes\n", gpus[i], strlen(page));
		EXPECT(strlen(page) <= 1000000);
		free(page);
		view_summary_free(s);
	}
}

/* The page needs the summary only: made from the file it is the same, byte by byte. */
static void from_file(struct view_summary *s)
{
	struct view_summary *again;
	char *json = made_page(s, view_summary_write), *page = made_page(s, view_html_write), *copy;
	char path[] = "/tmp/gpustarve-page-XXXXXX";
	const char *why = NULL;
	int fd = mkstemp(path);

	REQUIRE(fd >= 0 && write(fd, json, strlen(json)) == (ssize_t)strlen(json));
	close(fd);
	EXPECT_INT(view_summary_read(&again, path, &why), 0);
	copy = made_page(again, view_html_write);
	EXPECT(!strcmp(copy, page));
	unlink(path);
	free(json);
	free(page);
	free(copy);
	view_summary_free(s);
	view_summary_free(again);
}

static void test_from_file(void)
{
	from_file(made_summary(3, "NVIDIA H100 80GB HBM3", 6880000000LL, 50));
	from_file(made_summary_of(made_starved(NULL), "NVIDIA H100 80GB HBM3", 6880000000LL));
}

int main(void)
{
	return RUN(test_self_contained, test_evil_names, test_evil_places, test_places,
		   test_no_price, test_small, test_from_file);
}
