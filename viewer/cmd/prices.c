/* SPDX-License-Identifier: Apache-2.0 */
/* gpustarve prices: what prices are known, which one a GPU would get, and adding more. */
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/values.h"
#include "base/options.h"
#include "cmd.h"
#include "core/log.h"
#include "cost/price_list.h"
#include "cost/rates.h"
#include "base/files.h"
#include "report/text/text.h"
#include "base/amounts.h"

struct opts {
	const char *out, *provider, *date, *model;
};

static void list_rows(const struct view_prices *p, const char *from)
{
	for (size_t i = 0; i < p->rows; i++) {
		const struct view_price *r = &p->row[i];
		base_unit price;
		printf("%-24s %10s  %-9s %-10s %-22s %s  %s%s (%s)\n", r->gpu,
		       base_price_text(price, r->nano_usd_per_hour), r->price_model, r->provider,
		       r->instance_type, r->date, r->source,
		       view_price_is_guide(r) ? ", an order of magnitude" : "", from);
	}
}

static int list(void)
{
	struct view_prices site = { 0 }, builtin = { 0 };
	const char *why = NULL;
	int err = view_prices_read(&site, view_prices_site(), &why), status = VIEW_EXIT_OK;

	if (err && err != -ENOENT) {
		view_error("%s: %s; correct the file", view_prices_site(),
			   why ? why : strerror(-err));
		status = VIEW_EXIT_ERROR;
	}
	view_prices_builtin(&builtin);
	printf("%-24s %10s  %-9s %-10s %-22s %-10s  %s\n", "GPU", "USD/GPU-h", "model", "provider",
	       "instance", "date", "source");
	list_rows(&site, view_prices_site());
	list_rows(&builtin, "built-in");
	view_prices_fini(&site);
	view_prices_fini(&builtin);
	return status;
}

/* The very look-up of a report, for one GPU on this host. False: there is no price. */
static bool show_gpu(const char *name, const struct opts *o)
{
	struct view_rate_options ro = { .model = o->model, .price_from = "--price" };
	char host[256] = "", *gpu = strdup(name);
	struct ana_gpu g = { .host = host, .name = gpu };
	struct ana_result r = { .gpu = &g, .gpus = 1 };
	struct base_arena mem = { 0 };
	struct view_rate *rate = NULL;
	bool known = false;

	gethostname(host, sizeof(host) - 1);
	if (gpu && !view_rates_find(&r, NULL, &ro, &rate) && rate[0].known) {
		printf("%s: %s\nsource: %s\n", name, view_text_rate(&rate[0], &mem),
		       rate[0].source);
		if (rate[0].assumed)
			puts("assumed: the provider of this machine is not known, so the "
			     "cheapest price known is taken");
		known = true;
	}
	base_arena_fini(&mem);
	free(rate);
	free(gpu);
	return known;
}

/* The GPUs of a list whose names have these words, each once. Returns how many have a price. */
static int show_like(const struct view_prices *p, const char *words, const struct opts *o)
{
	int shown = 0;

	for (size_t i = 0; i < p->rows; i++) {
		bool again = !view_gpu_has_words(p->row[i].gpu, words);
		for (size_t k = 0; k < i && !again; k++)
			again = !strcasecmp(p->row[k].gpu, p->row[i].gpu);
		if (!again)
			shown += show_gpu(p->row[i].gpu, o);
	}
	return shown;
}

/* By the driver's name, else by a short one: "H100" is several GPUs. */
static int show(const char *name, const struct opts *o)
{
	struct view_prices all = { 0 };
	const char *why = NULL;
	bool known = show_gpu(name, o);

	if (!known) {
		view_prices_read(&all, view_prices_site(), &why);
		view_prices_builtin(&all);
		known = show_like(&all, name, o) > 0;
		view_prices_fini(&all);
	}
	if (known)
		return VIEW_EXIT_OK;
	view_error(
		"%s: no %s price is known; set one with --price, GPUSTARVE_USD_PER_GPU_HOUR or a "
		"row in %s",
		name, o->model ? o->model : "on-demand", view_prices_site());
	return VIEW_EXIT_ERROR;
}

/* SkyPilot keeps each cloud in a folder of its name. */
static const char *provider_of(const char *file, char *room)
{
	static const char *const known[] = { "aws",    "azure",	    "gcp",  "lambda",
					     "runpod", "oci",	    "ibm",  "fluidstack",
					     "vast",   "nebius",    "cudo", "paperspace",
					     "do",     "hyperbolic" };
	char copy[4096];

	snprintf(copy, sizeof(copy), "%s", file);
	snprintf(room, 64, "%.63s", basename(dirname(copy)));
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(room, known[i]))
			return room;
	return NULL;
}

static const char *date_of(const char *file, char *room)
{
	struct stat st;

	if (stat(file, &st))
		return NULL;
	return base_day(room, (int64_t)st.st_mtim.tv_sec * 1000000000);
}

static int parse_skypilot(struct view_prices *p, const char *file, const char *text, size_t len,
			  const struct opts *o)
{
	char folder[64], source[256], copy[4096];
	const char *provider = o->provider ? o->provider : provider_of(file, folder);
	const char *why = NULL;
	base_unit day;
	const char *date = o->date ? o->date : date_of(file, day);

	if (!provider) {
		view_error("%s: it does not say whose prices these are; add --provider NAME", file);
		return -ECANCELED;
	}
	snprintf(copy, sizeof(copy), "%s", file);
	snprintf(source, sizeof(source), "SkyPilot catalogue %.100s/%.100s", provider,
		 basename(copy));
	return view_prices_parse_skypilot(p, text, len, base_arena_text(&p->mem, provider),
					  base_arena_text(&p->mem, source),
					  base_arena_text(&p->mem, date), &why);
}

static int read_import(struct view_prices *p, const char *file, const struct opts *o)
{
	const char *why = NULL;
	char *text;
	size_t len;
	int err = base_file_read(file, &text, &len);

	if (!err) {
		if (view_prices_is_skypilot(text, len))
			err = parse_skypilot(p, file, text, len, o);
		else
			err = view_prices_parse(p, text, len, &why);
		free(text);
	}
	if (err && err != -ECANCELED) /* that one has been said */
		view_error("%s: %s; give a file of gpustarve's columns (see gpustarve-prices(1)) "
			   "or of SkyPilot's",
			   file, why ? why : strerror(-err));
	for (size_t i = 0; i < p->bads && i < 5; i++)
		view_note("%s: %s; the row is left out", file, p->bad[i]);
	if (p->bads > 5)
		view_note("%s: %zu more rows are left out", file, p->bads - 5);
	return err;
}

static int save(const struct view_prices *p, const char *path)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int err = -ENOMEM;

	if (!f)
		return err;
	view_prices_write(p, f);
	if (!fclose(f))
		err = base_file_write(path, text, len);
	free(text);
	return err;
}

static int import(const char *file, const struct opts *o)
{
	struct view_prices more = { 0 }, site = { 0 };
	const char *out = o->out ? o->out : view_prices_site(), *why = NULL;
	int err = read_import(&more, file, o);

	if (err)
		goto out;
	err = view_prices_read(&site, out, &why);
	if (err && err != -ENOENT) {
		view_error("%s: %s; move it away or name another file with -o", out,
			   why ? why : strerror(-err));
		goto out;
	}
	for (size_t i = 0; i < more.rows; i++)
		view_prices_put(&site, &more.row[i]);
	err = save(&site, out);
	if (err)
		view_error("%s: %s; name a file you may write with -o, and point "
			   "GPUSTARVE_PRICES to it",
			   out, strerror(-err));
	else
		printf("%zu prices into %s, which now has %zu\n", more.rows, out, site.rows);
out:
	view_prices_fini(&more);
	view_prices_fini(&site);
	return err ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
}

static bool good_date(const char *text)
{
	if (view_prices_is_day(text))
		return true;
	view_error("--date %s: not a date; write YYYY-MM-DD", text);
	return false;
}

static const char usage[] =
	"usage: gpustarve prices [list]\n"
	"       gpustarve prices show GPU [--price-model M]\n"
	"       gpustarve prices import FILE [-o FILE] [--provider NAME] [--date YYYY-MM-DD]\n"
	"\n"
	"list     every price known: the site file's, then the built-in catalogue's\n"
	"show     the price a GPU of that name would get on this machine, and why\n"
	"import   adds prices to the site file: gpustarve's own columns, or a catalogue of\n"
	"         SkyPilot\n"
	"\n";

static const struct base_opt opt[] = {
	{ "output", 'o', "FILE",
	  "the site file to add to; default: GPUSTARVE_PRICES, else\n" VIEW_PRICES_SITE_FILE,
	  BASE_TEXT(struct opts, out), .words = BASE_WORDS_FILE },
	{ "provider", 0, "NAME",
	  "whose prices SkyPilot's catalogue holds, unless its folder says so",
	  BASE_TEXT(struct opts, provider) },
	{ "date", 0, "YYYY-MM-DD",
	  "when they were taken; default: the day the file was last written",
	  BASE_TEXT(struct opts, date), .good = good_date },
	{ "price-model", 0, "M", "on-demand (default), spot, reserved or owned",
	  BASE_TEXT(struct opts, model), .good = view_option_price_model,
	  .words = VIEW_PRICE_MODELS },
	{ BASE_HELP },
	{ 0 },
};

const struct base_options view_prices_options = {
	.command = "prices",
	.usage = usage,
	.column = 21,
	.opt = opt,
	.tail = "\n"
		"  gpustarve prices show \"NVIDIA H100 80GB HBM3\"\n"
		"  gpustarve prices import aws/vms.csv -o prices.csv\n",
	.error = view_error,
};

int view_cmd_prices(int argc, char **argv)
{
	struct opts o = { 0 };
	int go = base_options_parse(&view_prices_options, argc, argv, &o);

	if (go <= 0)
		return go ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
	int words = argc - optind;
	char **word = argv + optind;
	if (!words || (words == 1 && !strcmp(word[0], "list")))
		return list();
	if (words == 2 && !strcmp(word[0], "show"))
		return show(word[1], &o);
	if (words == 2 && !strcmp(word[0], "import"))
		return import(word[1], &o);
	view_error("prices: list, show GPU or import FILE; see gpustarve prices --help");
	return VIEW_EXIT_ERROR;
}
