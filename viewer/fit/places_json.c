/* SPDX-License-Identifier: Apache-2.0 */
/* gpustarve.fit/1 (docs/gpustarve-fit.md). */
#include "places.h"

#include "base/jsonout.h"

static void put_range(struct base_jsonout *j, const char *key, struct fit_range r, bool known)
{
	if (!known) {
		base_json_null(j, key);
		return;
	}
	base_json_flat_object(j, key);
	base_json_int(j, "low", r.low);
	base_json_int(j, "high", r.high);
	base_json_end(j);
}

static void put_usd(struct base_jsonout *j, const char *key, struct fit_range r, bool known)
{
	if (!known) {
		base_json_null(j, key);
		return;
	}
	base_json_flat_object(j, key);
	base_json_usd(j, "low", r.low, true);
	base_json_usd(j, "high", r.high, true);
	base_json_end(j);
}

static void put_price(struct base_jsonout *j, const struct view_price *p)
{
	base_json_object(j, "price");
	base_json_usd(j, "usd_per_gpu_hour", p->nano_usd_per_hour, true);
	base_json_string(j, "provider", p->provider);
	base_json_string(j, "instance_type", p->instance_type);
	base_json_string(j, "price_model", p->price_model);
	base_json_string(j, "region", p->region);
	base_json_string(j, "source", p->source);
	base_json_string(j, "date", p->date);
	base_json_bool(j, "guide", view_price_is_guide(p));
	base_json_end(j);
}

static void put_place(struct base_jsonout *j, const struct fit *f, const struct fit_place *p)
{
	static const char *const memory[] = { "unknown", "fits", "too_small" };
	bool known = !p->why;

	base_json_object(j, NULL);
	base_json_string(j, "gpu", p->price ? p->price->gpu : f->own_name);
	base_json_bool(j, "as_it_was", p->own);
	base_json_bool(j, "cheapest", p == f->cheapest);
	base_json_string(j, "memory", memory[p->memory]);
	base_json_string(j, "not_known", p->why);
	put_range(j, "training_ns", p->train_ns, known);
	put_range(j, "step_ns", p->step_ns, known && f->steps);
	put_usd(j, "usd", p->nano_usd, known && p->has_usd);
	put_usd(j, "usd_per_1k_steps", p->nano_usd_per_1k_steps, known && p->has_usd && f->steps);
	if (p->price)
		put_price(j, p->price);
	else
		base_json_null(j, "price");
	if (p->gpu && !p->own) {
		base_json_object(j, "peaks");
		base_json_string(j, "source", p->gpu->source);
		base_json_string(j, "date", p->gpu->date);
		base_json_end(j);
	}
	base_json_end(j);
}

/* Millionths as a decimal: 2400000 is 2.4. */
static void put_times(struct base_jsonout *j, const char *key, int64_t ppm)
{
	base_unit text;

	if (ppm)
		base_json_number(j, key, base_percent_exact(text, ppm / 100));
	else
		base_json_null(j, key);
}

void fit_json(const struct fit *f, const struct view_summary *s, FILE *out)
{
	struct base_jsonout j = { .f = out };

	base_json_object(&j, NULL);
	base_json_string(&j, "schema", "gpustarve.fit/1");
	base_json_string(&j, "run", s->id);
	base_json_string(&j, "gpu", f->own_name);
	base_json_int(&j, "gpus", f->gpus);
	base_json_uint(&j, "steps", f->steps);
	base_json_int(&j, "training_ns", f->train_ns);
	base_json_int(&j, "work_ns", f->work_ns);
	base_json_int(&j, "requests_ns", f->requests_ns);
	base_json_int(&j, "outside_ns", f->outside_ns);
	base_json_uint(&j, "memory_peak_bytes", f->memory_peak_bytes);
	put_times(&j, "faster_at_most", f->faster_most_ppm);
	put_times(&j, "slower_for_nothing", f->slower_free_ppm);
	base_json_string(&j, "price_model", f->model);
	base_json_array(&j, "places");
	for (size_t i = 0; i < f->places; i++)
		put_place(&j, f, &f->place[i]);
	base_json_end(&j);
	base_json_end(&j);
}
