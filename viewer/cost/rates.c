/* SPDX-License-Identifier: Apache-2.0 */
/* The look-up order, one step after the other, for each GPU. */
#include "rates.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "core/log.h"
#include "machine.h"
#include "price_list.h"
#include "share.h"
#include "base/units.h"
#include "wire/session.pb-c.h"

struct lookup {
	const struct view_rate_options *o;
	const struct view_trace *t;
	struct view_prices site, builtin;
	const char *site_path;
	bool has_option, has_env, quiet;
	int64_t option, env;
	base_unit today; /* of the run, else of now */
	char host[256];
	struct view_machine here;
};

static void copy(char *out, size_t room, const char *text)
{
	snprintf(out, room, "%s", text);
}

/* A price that is given holds for the run, so its date is the run's. */
static void set_given(struct lookup *l, struct view_rate *r, int64_t nano, const char *from)
{
	r->known = true;
	r->list_nano_usd_per_hour = nano;
	copy(r->label, sizeof(r->label), from);
	copy(r->source, sizeof(r->source), "given by the user");
	snprintf(r->date, sizeof(r->date), "%.10s", l->today);
	copy(r->price_model, sizeof(r->price_model), l->o->model ? l->o->model : "given");
}

static void set_row(struct view_rate *r, const struct view_price *row, bool assumed,
		    const char *list)
{
	r->known = true;
	r->assumed = assumed;
	r->guide = view_price_is_guide(row);
	r->list_nano_usd_per_hour = row->nano_usd_per_hour;
	snprintf(r->label, sizeof(r->label), "%s%s%s%s%s", row->provider,
		 row->provider[0] && row->instance_type[0] ? " " : "", row->instance_type,
		 row->region[0] && (row->provider[0] || row->instance_type[0]) ? " " : "",
		 row->region);
	if (!r->label[0])
		copy(r->label, sizeof(r->label), list);
	snprintf(r->source, sizeof(r->source), "%.120s (%.36s)", row->source, list);
	copy(r->date, sizeof(r->date), row->date);
	copy(r->price_model, sizeof(r->price_model), row->price_model);
}

/* What the trace says of the machine of a GPU, else what this machine says if it is the same. */
static struct view_machine place_of(const struct lookup *l, const struct ana_gpu *gpu)
{
	struct view_machine p;

	if (view_machine_of(l->t, gpu->host, &p))
		return p;
	return !strcmp(gpu->host, l->host) ? l->here : p;
}

static bool find_in(const struct view_prices *list, const char *name,
		    const struct view_price_query *q, struct view_rate *r)
{
	bool assumed;
	const struct view_price *row = view_prices_find(list, q, &assumed);

	if (row)
		set_row(r, row, assumed, name);
	return row != NULL;
}

static void find_rate(struct lookup *l, const struct ana_gpu *gpu, struct view_rate *r)
{
	struct view_machine place = place_of(l, gpu);
	struct view_price_query q = { .gpu = gpu->name,
				      .provider = place.provider,
				      .instance_type = place.instance_type,
				      .price_model = l->o->model ? l->o->model : "on-demand" };

	copy(r->price_model, sizeof(r->price_model), l->o->model ? l->o->model : "");
	if (l->has_option)
		set_given(l, r, l->option, l->o->price_from);
	else if (l->has_env)
		set_given(l, r, l->env, "GPUSTARVE_USD_PER_GPU_HOUR");
	else if (!find_in(&l->site, "site file", &q, r))
		find_in(&l->builtin, "built-in catalogue", &q, r);
}

int64_t view_rate_fraction(int64_t list_nano_usd, uint32_t num, uint32_t den)
{
	return base_div_even((__int128)list_nano_usd * num, den ? den : 1);
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
	return b ? gcd(b, a % b) : a;
}

static void set_fraction(const struct lookup *l, const struct ana_gpu *gpu, struct view_rate *r)
{
	uint32_t num, den;

	view_share_of(gpu, l->t, &num, &den);
	uint64_t n = num, d = den;
	if (gpu->mig_slices && gpu->mig_slices <= gpu->mig_slices_total) {
		n *= gpu->mig_slices;
		d *= gpu->mig_slices_total;
	}
	uint64_t g = gcd(n, d);
	r->fraction_num = (uint32_t)(g ? n / g : 1);
	r->fraction_den = (uint32_t)(g ? d / g : 1);
	r->nano_usd_per_hour =
		view_rate_fraction(r->list_nano_usd_per_hour, r->fraction_num, r->fraction_den);
}

static int parse_given(const char *text, const char *what, int64_t *nano)
{
	int err = view_cost_parse(text, nano);

	if (err)
		view_error("%s %s: %s; give dollars per GPU-hour such as 6.88", what, text,
			   err == -ERANGE ? "out of range or more than 9 decimals" : "not a price");
	return err ? -EINVAL : 0;
}

static int read_given(struct lookup *l)
{
	const char *env = getenv("GPUSTARVE_USD_PER_GPU_HOUR");
	int err = 0;

	l->has_option = l->o->price != NULL;
	if (l->has_option)
		err = parse_given(l->o->price, l->o->price_from, &l->option);
	l->has_env = !l->has_option && env && env[0];
	if (l->has_env)
		err = parse_given(env, "GPUSTARVE_USD_PER_GPU_HOUR", &l->env);
	return err;
}

/* A site file that is broken must not be passed over in silence: the catalogue would answer. */
static void read_site(struct lookup *l)
{
	const char *why = NULL;
	const char *env = getenv("GPUSTARVE_PRICES");

	l->site_path = view_prices_site();
	int err = view_prices_read(&l->site, l->site_path, &why);
	if (l->quiet)
		return; /* it was said */
	if (err && (err != -ENOENT || (env && env[0])))
		view_note("%s: %s; no price is taken from it", l->site_path,
			  why ? why : strerror(-err));
	for (size_t i = 0; i < l->site.bads && i < 3; i++)
		view_note("%s: %s; the row is left out", l->site_path, l->site.bad[i]);
}

static void open_lookup(struct lookup *l)
{
	int64_t start = l->t ? l->t->run.start_unix_ns : 0;

	base_day(l->today, start > 0 ? start : (int64_t)time(NULL) * 1000000000);
	if (gethostname(l->host, sizeof(l->host) - 1))
		l->host[0] = '\0';
	view_machine_here(&l->here);
	if (!l->has_option && !l->has_env) {
		read_site(l);
		view_prices_builtin(&l->builtin);
	}
}

int view_rates_find(const struct ana_result *r, const struct view_trace *t,
		    const struct view_rate_options *o, struct view_rate **rate)
{
	struct lookup l = { .o = o, .t = t };
	int err = read_given(&l);

	if (err)
		return err;
	*rate = calloc(r->gpus ? r->gpus : 1, sizeof(**rate));
	if (!*rate)
		return -ENOMEM;
	open_lookup(&l);
	for (size_t g = 0; g < r->gpus; g++) {
		struct view_rate *one = &(*rate)[g];
		copy(one->gpu, sizeof(one->gpu), r->gpu[g].name);
		find_rate(&l, &r->gpu[g], one);
		set_fraction(&l, &r->gpu[g], one);
	}
	view_prices_fini(&l.site);
	view_prices_fini(&l.builtin);
	return 0;
}

bool view_rates_spot(const struct view_rate *held, struct view_rate *spot)
{
	struct view_rate_options o = { .model = "spot" };
	struct lookup l = { .o = &o, .quiet = true };
	struct view_price_query q = { held->gpu, "", "", "spot" };

	*spot = *held;
	spot->known = false;
	read_site(&l);
	view_prices_builtin(&l.builtin);
	if (!find_in(&l.site, "site file", &q, spot))
		find_in(&l.builtin, "built-in catalogue", &q, spot);
	spot->nano_usd_per_hour = view_rate_fraction(spot->list_nano_usd_per_hour,
						     held->fraction_num, held->fraction_den);
	view_prices_fini(&l.site);
	view_prices_fini(&l.builtin);
	return spot->known;
}
