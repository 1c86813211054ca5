/* SPDX-License-Identifier: Apache-2.0 */
/* Exact dollars: 128-bit products, one rounding per (GPU, class), sums of these. */
#include "cost.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/evidence/cause.h"
#include "base/units.h"
#include "waste.h"

#define NS_PER_HOUR ((__int128)3600 * 1000000000)
#define USD_MAX 1000000000LL

int64_t view_cost_amount(int64_t nano_usd_per_hour, int64_t ns)
{
	return base_div_even((__int128)nano_usd_per_hour * ns, NS_PER_HOUR);
}

static int whole_part(const char **p, int64_t *usd)
{
	if (**p < '0' || **p > '9')
		return -EINVAL;
	for (*usd = 0; **p >= '0' && **p <= '9'; (*p)++) {
		*usd = *usd * 10 + (**p - '0');
		if (*usd > USD_MAX)
			return -ERANGE;
	}
	return 0;
}

/* The digits behind the point; zeros beyond the ninth say nothing and are let through. */
static int decimal_part(const char **p, int64_t *nano)
{
	int64_t digit = VIEW_NANO_USD / 10;

	*nano = 0;
	if (**p == '\0')
		return 0;
	if (**p != '.' || (*p)[1] < '0' || (*p)[1] > '9')
		return -EINVAL;
	for ((*p)++; **p >= '0' && **p <= '9'; (*p)++, digit /= 10) {
		if (!digit && **p != '0')
			return -ERANGE;
		*nano += (**p - '0') * digit;
	}
	return **p == '\0' ? 0 : -EINVAL;
}

int view_cost_parse(const char *text, int64_t *nano_usd)
{
	int64_t usd, nano;
	int err = whole_part(&text, &usd);

	if (!err)
		err = decimal_part(&text, &nano);
	if (err)
		return err;
	if (usd == USD_MAX && nano)
		return -ERANGE;
	*nano_usd = usd * VIEW_NANO_USD + nano;
	return 0;
}

void view_cost_add(int64_t *sum, int64_t usd)
{
	if (__builtin_add_overflow(*sum, usd, sum))
		*sum = INT64_MAX;
}

/* Time in comm.skew is paid once; by cause it is split as the waits were. */
static void price_skew(struct view_cost *c, size_t g, const struct ana_gpu *gpu)
{
	int64_t *usd = c->gpu_skew[g];

	if (!gpu->classes[ANA_COMM_SKEW])
		return;
	ana_split(c->gpu_class[g][ANA_COMM_SKEW], gpu->skew_causes, ANA_CLASSES, usd);
	for (int k = 0; k < ANA_CLASSES; k++)
		view_cost_add(&c->skew[k], usd[k]);
}

static void price_gpu(struct view_cost *c, size_t g, const struct ana_gpu *gpu,
		      const bool waste[ANA_CLASSES])
{
	bool starved[ANA_CLASSES];

	for (int k = 0; k < ANA_CLASSES; k++) {
		int64_t usd = view_cost_amount(c->rate[g].nano_usd_per_hour, gpu->classes[k]);

		c->gpu_class[g][k] = usd;
		view_cost_add(&c->classes[k], usd);
		view_cost_add(&c->total, usd);
	}
	price_skew(c, g, gpu);
	view_starved_set(starved);
	view_cost_add(&c->wasted, view_set_sum(waste, c->gpu_class[g], c->gpu_skew[g]));
	view_cost_add(&c->starved, view_set_sum(starved, c->gpu_class[g], c->gpu_skew[g]));
}

int view_cost_compute(struct view_cost *c, const struct ana_result *r, struct view_rate *rate,
		      const bool waste[ANA_CLASSES])
{
	*c = (struct view_cost){ .rate = rate, .gpus = r->gpus, .known = r->gpus > 0 };
	c->gpu_class = calloc(r->gpus ? r->gpus : 1, sizeof(*c->gpu_class));
	c->gpu_skew = calloc(r->gpus ? r->gpus : 1, sizeof(*c->gpu_skew));
	if (!c->gpu_class || !c->gpu_skew)
		return -ENOMEM;
	for (size_t g = 0; g < r->gpus; g++)
		c->known &= rate[g].known;
	for (size_t g = 0; g < r->gpus && c->known; g++)
		price_gpu(c, g, &r->gpu[g], waste);
	return 0;
}

void view_cost_fini(struct view_cost *c)
{
	free(c->rate);
	free(c->gpu_class);
	free(c->gpu_skew);
	*c = (struct view_cost){ 0 };
}

bool view_rate_same(const struct view_rate *a, const struct view_rate *b)
{
	return a->known == b->known && a->list_nano_usd_per_hour == b->list_nano_usd_per_hour &&
	       a->fraction_num == b->fraction_num && a->fraction_den == b->fraction_den &&
	       a->assumed == b->assumed && a->guide == b->guide && !strcmp(a->gpu, b->gpu) &&
	       !strcmp(a->price_model, b->price_model) && !strcmp(a->label, b->label) &&
	       !strcmp(a->source, b->source) && !strcmp(a->date, b->date);
}
