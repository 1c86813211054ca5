/* SPDX-License-Identifier: Apache-2.0 */
/* What the loader did and needs. */
#include <inttypes.h>
#include "findings/loader.h"
#include "findings/words.h"
#include "html_priv.h"

#define LINE_COLUMNS 40

#define FILES_SHOWN 10

static void put_waits(struct html *h)
{
	const struct ana_result *r = h->s->result;
	int64_t outside = r->loader_wait_ns - r->loader_exposed_ns - r->loader_hidden_ns;

	html_put(h, "<p>");
	if (r->loader_kind)
		html_text(h, "bdi", r->loader_kind, "/loader/kind");
	else
		html_put(h, "The loader");
	html_put(h, " gave ");
	html_count(h, r->batches, "/loader/batches");
	html_put_kind(h, " batches. The training threads waited ");
	html_ns(h, r->loader_wait_ns, "/loader/wait_ns");
	html_put(h, " for them: ");
	html_ns(h, r->loader_exposed_ns, "/loader/exposed_ns");
	html_put(h, " while a GPU was idle, and ");
	html_ns(h, r->loader_hidden_ns, "/loader/hidden_ns");
	html_put(h, " hidden behind queued work, at no cost");
	if (outside > 0) {
		html_put(h, "; ");
		html_ns(h, outside, "/loader/wait_ns - /loader/exposed_ns - /loader/hidden_ns");
		html_put(h, " passed before or after all GPU work");
	}
	html_put(h, ".</p>\n");
}

/* "6 workers would keep up; now there are 4." */
static void put_workers(struct html *h)
{
	const struct view_worker_count *n = &h->s->loader.need;
	const int64_t now = h->s->loader.facts.workers;
	bool enough = n->needed <= now;

	html_put(h, "<b>");
	html_count(h, (uint64_t)n->needed, "/loader/need/workers_needed");
	html_put(h, n->needed == 1 ? " worker</b> " : " workers</b> ");
	if (enough)
		html_put(h, n->needed == 1 ? "is enough; there " : "are enough; there ");
	else
		html_put(h, "would keep up; now there ");
	html_put(h, now == 1 ? "is " : "are ");
	html_count(h, (uint64_t)now, "/loader/need/workers_now");
	if (!enough && n->bound != VIEW_WORKERS_STEP) {
		html_put(h, n->bound == VIEW_WORKERS_CORES ? ", and the cores here carry only "
							   : ", and a sensible limit is ");
		html_count(h, (uint64_t)n->advised, "/loader/need/workers_advised");
	}
	if (!enough) {
		html_put(h, ". A batch then comes at best every ");
		html_ns(h, n->predicted_step_ns, "/loader/need/predicted_step_ns");
		html_put(h, " on average");
	}
	html_put(h, ".");
}

/* What keeps up with the median step is held up by the slow ones: both are told. */
static void put_pace(struct html *h)
{
	const struct view_worker_facts *f = &h->s->loader.facts;
	bool median;

	view_loader_pace_ns(h->s, &median);
	if (median) {
		html_ns(h, f->fed_median_ns, "/loader/need/fed_median_ns");
		html_put(h, ", by the median step without its wait (");
	}
	html_ns(h, f->step_ns - f->wait_ns, "/loader/need/step_ns - /loader/need/wait_ns");
	html_put(h, median ? " on average, slow steps included)" : " on average");
}

/*
 * "The GPU could take a batch every 24 ms on average ... A worker makes a batch in 144 ms: 6
 * workers would keep up."
 */
static void put_need(struct html *h)
{
	const struct view_loader *v = &h->s->loader;

	if (!v->has_need)
		return;
	html_put(
		h,
		"<div class=\"sum\"><h3>How many workers it takes</h3>\n<p>The GPU could take a batch "
		"every ");
	put_pace(h);
	html_put(h, "; now it gets one every ");
	html_ns(h, v->facts.step_ns, "/loader/need/step_ns");
	html_put(h, " on average and waits ");
	html_ns(h, v->facts.wait_ns, "/loader/need/wait_ns");
	html_put(h, v->facts.workers ? " of that. A worker makes a batch in "
				     : " of that. The main process makes a batch in ");
	html_ns(h, v->facts.fetch_ns, "/loader/need/fetch_ns");
	html_put(h, ": ");
	put_workers(h);
	html_put(h, "</p></div>\n");
}

static void put_fact(struct html *h, const char *name, unsigned int known, uint64_t v,
		     const char *member)
{
	if (!known)
		return;
	fprintf(h->f, "<dt>%s</dt><dd>", name);
	html_count(h, v, "/loader/settings/0/%s", member);
	html_put(h, "</dd>\n");
}

static void put_flag(struct html *h, const char *name, unsigned int known, bool v)
{
	if (known)
		fprintf(h->f, "<dt>%s</dt><dd>%s</dd>\n", name, v ? "yes" : "no");
}

void html_made_at(struct html *h, const struct ana_loader_facts *l)
{
	struct view_hotspot at = { .known = true, .file = l->made_file, .line = l->made_line };

	fprintf(h->f, "<bdi class=\"mono\" data-from=\"/loader/settings/0\">");
	html_escape(h->f, view_words_hotspot(&h->mem, &at, LINE_COLUMNS));
	html_put(h, "</bdi>");
}

static void put_settings(struct html *h, const struct ana_loader_facts *l)
{
	if (l->dataset) {
		html_put(h, "<dt>Data set</dt><dd>");
		html_text(h, "bdi class=\"mono\"", l->dataset, "/loader/settings/0/dataset");
		html_put(h, "</dd>\n");
	}
	if (l->known & ANA_LOADER_WORKERS) {
		html_put(h, "<dt>Workers</dt><dd>");
		html_count(h, l->workers, "/loader/settings/0/workers");
		if (l->workers && l->start) {
			html_put(h, ", started by ");
			html_text(h, "bdi", l->start, "/loader/settings/0/start");
		}
		html_put(h, "</dd>\n");
	}
	put_fact(h, "Samples per batch", l->known & ANA_LOADER_BATCH, l->batch_size, "batch_size");
	put_fact(h, "Prefetch per worker", l->known & ANA_LOADER_PREFETCH, l->prefetch, "prefetch");
	put_flag(h, "Pinned memory", l->known & ANA_LOADER_PIN, l->pin);
	put_flag(h, "Persistent workers", l->known & ANA_LOADER_PERSISTENT, l->persistent);
	put_flag(h, "In order", l->known & ANA_LOADER_IN_ORDER, l->in_order);
	if (l->made_file) {
		html_put(h, "<dt>Made at</dt><dd>");
		html_made_at(h, l);
		html_put(h, "</dd>\n");
	}
	put_fact(h, "Iterators", l->iterators > 0, l->iterators, "iterators");
}

static void put_fetches(struct html *h, const struct ana_loader_facts *l)
{
	static const char at[] = "/loader/settings/0";

	if (!l->made)
		return;
	html_put(h, "<dt>Making a batch</dt><dd>");
	html_ns(h, h->s->loader.fetch_ns, "/loader/batch_ns_per_worker");
	html_put(h, " on average, median ");
	html_ns(h, l->fetch_median_ns, "%s/fetch_median_ns", at);
	html_put(h, ", p95 ");
	html_ns(h, l->fetch_p95_ns, "%s/fetch_p95_ns", at);
	html_put(h, "; ");
	html_ns(h, base_div_even(l->fetch_cpu_ns, (__int128)l->made), "%s/fetch_cpu_ns / %s/made",
		at, at);
	html_put(h, " of it on a CPU, ");
	html_ns(h, base_div_even(l->fetch_delay_ns, (__int128)l->made),
		"%s/fetch_delay_ns / %s/made", at, at);
	html_put(h, " waiting for one</dd>\n");
}

static void put_busy(struct html *h)
{
	const struct view_loader *v = &h->s->loader;

	if (!v->has_need || v->busy_ppm < 0)
		return;
	html_put(h, "<dt>Workers made batches</dt><dd>");
	html_pct(h, v->busy_ppm, "/loader/need/workers_busy_pct");
	html_put(h, " of their time</dd>\n");
}

static void put_shares(struct html *h)
{
	bool any = false;

	for (int k = 0; k < ANA_WORKER_STATES; k++) {
		if (!h->s->loader.share_ppm[k])
			continue;
		html_put(h, any ? ", " : "<dt>While GPUs waited</dt><dd>workers were ");
		html_pct(h, h->s->loader.share_ppm[k], "/loader/worker_shares_pct/%s",
			 ana_worker_state_names[k]);
		fprintf(h->f, " %s", ana_worker_state_words[k]);
		any = true;
	}
	html_put(h, any ? "</dd>\n" : "");
}

static void put_bytes(struct html *h)
{
	const struct view_loader *v = &h->s->loader;

	if (v->batch_bytes <= 0 || view_loader_by_socket(h->s))
		return;
	html_put(h, "<dt>Read per batch</dt><dd>");
	html_bytes(h, (uint64_t)v->batch_bytes, "/loader/batch_bytes");
	if (v->needed_bytes_per_s >= 0) {
		html_put(h, ": ");
		html_rate(h, (uint64_t)v->read_bytes_per_s, "/loader/read_bytes_per_s");
		html_put(h, ", where ");
		html_rate(h, (uint64_t)v->needed_bytes_per_s, "/loader/needed_bytes_per_s");
		html_put(h, " would keep up");
	}
	if (v->disk_ppm >= 0) {
		html_put(h, "; ");
		html_pct(h, v->disk_ppm, "/loader/page_cache_miss_pct");
		html_put(h, " of it not in the page cache");
	}
	html_put(h, "</dd>\n");
}

static void put_rate(struct html *h, size_t i)
{
	int64_t bytes = h->s->loader.file[i].bytes_per_s;

	if (bytes < 0)
		return;
	html_bytes(h, (uint64_t)bytes, "/loader/files/%zu/bytes_per_s", i);
	html_put(h, "/s");
}

static bool rate_is_known(const struct view_loader *v)
{
	for (size_t i = 0; i < v->files && i < FILES_SHOWN; i++)
		if (v->file[i].bytes_per_s >= 0)
			return true;
	return false;
}

static void put_files(struct html *h)
{
	const struct view_loader *v = &h->s->loader;

	if (!v->files)
		return;
	bool rate = rate_is_known(v);
	html_table(h, "Files and hosts that were waited for while GPUs waited, slowest first");
	if (rate)
		HTML_HEADS(h, "File or host", "File system", "n:Blocked on it", "n:Samples",
			   "n:Read at");
	else
		HTML_HEADS(h, "File or host", "File system", "n:Blocked on it", "n:Samples");
	for (size_t i = 0; i < v->files && i < FILES_SHOWN; i++) {
		html_put(h, "<tr>");
		HTML_CELL_IN(h, "th scope=\"row\" class=\"wide\"",
			     html_text(h, "bdi class=\"mono\"", v->file[i].path,
				       "/loader/files/%zu/path", i));
		HTML_CELL(h, html_text(h, "bdi", v->file[i].fs, "/loader/files/%zu/filesystem", i));
		HTML_NUMBER(h,
			    html_ns(h, v->file[i].blocked_ns, "/loader/files/%zu/blocked_ns", i));
		HTML_NUMBER(h, html_count(h, v->file[i].samples, "/loader/files/%zu/samples", i));
		if (rate)
			HTML_NUMBER(h, put_rate(h, i));
		html_put(h, "</tr>\n");
	}
	html_table_end(h);
}

void html_loader(struct html *h)
{
	const struct ana_result *r = h->s->result;
	const struct ana_loader_facts *l = view_loader_facts(h->s);

	if (!r->loader_wait_ns && !r->batches && !l) {
		if (h->s->loader.files) {
			html_section(h, "loader", "What batches were read from");
			put_files(h);
			html_section_end(h);
		}
		return;
	}
	html_section(h, "loader", "The loader");
	put_waits(h);
	if (l) {
		put_need(h);
		html_put(h, "<dl class=\"facts\">\n");
		put_settings(h, l);
		put_fetches(h, l);
		put_busy(h);
		put_shares(h);
		put_bytes(h);
		html_put(h, "</dl>\n");
	}
	html_workers(h);
	put_files(h);
	if (r->loaders > 1)
		html_put(h, "<p class=\"soft\">Iterators with other settings are in "
			    "summary.json.</p>\n");
	html_section_end(h);
}
