/* SPDX-License-Identifier: Apache-2.0 */
/* The page: its sections in order, then what stands around them. */
#include "html.h"

#include <stdlib.h>
#include <string.h>
#include "report/data/data.h"
#include "html_priv.h"

static void put_sections(struct html *h)
{
	html_verdict(h);
	html_step(h);
	html_advice(h);
	html_ledger(h);
	html_findings(h);
	html_timelines(h);
	html_gpus(h);
	html_steps(h);
	html_loader(h);
	html_copies(h);
	html_flame(h);
	html_ranks(h);
	html_saves(h);
	html_cost(h);
	html_quality(h);
	html_run(h);
	html_method(h);
}

bool html_coarse(const struct html *h, const char *part)
{
	static const char member[] = "\"reduced\":[";
	const char *at = NULL, *end = h->block + h->block_len;
	char name[32];

	snprintf(name, sizeof(name), "\"%s\"", part);
	for (const char *p = h->block;
	     (p = memmem(p, (size_t)(end - p), member, sizeof(member) - 1)); p++)
		at = p;
	return !at || memmem(at, (size_t)(end - at), name, strlen(name));
}

size_t html_budget(const struct html *h, size_t n)
{
	return n >> h->thrift ? n >> h->thrift : 1;
}

/* The sections are written first: the list at the top names those that there are. */
static void put_page(struct html *h, FILE *f)
{
	char *text = NULL;
	size_t len = 0;

	h->sections = 0;
	h->f = open_memstream(&text, &len);
	if (!h->f)
		return;
	put_sections(h);
	if (!fclose(h->f)) {
		h->f = f;
		html_head(h);
		fwrite(text, 1, len, f);
		html_foot(h);
	}
	free(text);
}

/* Once more with less of everything while it is too large. */
static void put_fitting(struct html *h, FILE *f)
{
	for (; h->thrift <= HTML_THRIFT_MAX; h->thrift++) {
		char *text = NULL;
		size_t len = 0;
		FILE *mem = open_memstream(&text, &len);
		if (!mem)
			return;
		put_page(h, mem);
		bool fits = !fclose(mem) && (len <= HTML_BYTES_MAX || h->thrift == HTML_THRIFT_MAX);
		if (fits)
			fwrite(text, 1, len, f);
		free(text);
		if (fits)
			return;
	}
}

void view_html_write(const struct view_summary *s, FILE *f)
{
	struct html h = { .s = s };
	char *block = NULL;
	FILE *mem = open_memstream(&block, &h.block_len);

	if (!mem)
		return;
	view_data_element(s, mem);
	if (!fclose(mem)) {
		h.block = block;
		put_fitting(&h, f);
	}
	free(block);
	base_arena_fini(&h.mem);
}
