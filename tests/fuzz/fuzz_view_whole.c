/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `sacct` printed, a provider's charges and a program's counts, from any bytes: whatever is
 * taken is within its bounds, and sums of it do not overflow.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "fleet/fleet.h"
#include "trace/counts.h"

static void on_job(void *arg, const struct fleet_sacct_job *j)
{
	if (j->gpus <= 0 || j->gpus > 1000000 || j->elapsed_s <= 0 || !j->id[0])
		abort();
	*(base_wide *)arg += (base_wide)j->gpus * j->elapsed_s;
}

static void on_charge(void *arg, const struct fleet_charge_row *r)
{
	if (base_wide_size(r->pico) > BASE_WIDE_MAX || r->end_ns < r->start_ns ||
	    base_wide_size(r->gpu_ns) > BASE_WIDE_MAX || strlen(r->currency) > 15)
		abort();
	*(size_t *)arg += 1;
}

static void as_counts(const char *text, size_t len)
{
	struct view_counts c = { 0 };

	for (const char *end; len; text = end + 1) {
		end = memchr(text, '\n', len);
		if (!end)
			break;
		view_counts_line(&c, text, (size_t)(end - text));
		len -= (size_t)(end + 1 - text);
	}
	for (size_t i = 0; i < c.units; i++)
		if (c.unit[i].count <= 0 || c.unit[i].count > VIEW_UNIT_COUNT_MAX)
			abort();
}

/* A stored text is ours, but a store may be anybody's. */
static void as_units(const char *text, size_t len)
{
	struct fleet_unit unit[VIEW_OUTCOMES_MAX];
	char *copy = strndup(text, len);
	size_t n = fleet_units_of(copy, unit);

	for (size_t i = 0; i < n; i++)
		if (unit[i].num <= 0 || unit[i].den <= 0 || !unit[i].name[0])
			abort();
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *text = (const char *)data, *why;
	base_wide seconds = 0;
	size_t rows = 0;
	uint64_t bad;

	fleet_sacct_read(text, len, on_job, &seconds, &bad, &why);
	fleet_invoice_read(text, len, on_charge, &rows, &bad, &why);
	as_counts(text, len);
	as_units(text, len);
	return 0;
}

static const char *const seeds[] = {
	"JobIDRaw|Cluster|Account|Start|ElapsedRaw|AllocTRES|AdminComment\n"
	"7|c1|vision|2026-11-01T00:00:00|3600|cpu=4,gres/gpu=4,gres/gpu:h100=4|gpustarve=off\n"
	"7.batch|c1|vision|2026-11-01T00:00:00|3600|cpu=4|\n",
	"BilledCost,BillingCurrency,ChargePeriodStart,ChargePeriodEnd,PricingQuantity,PricingUnit\n"
	"12.3456789012,USD,2026-11-01T00:00:00Z,2026-11-02T00:00:00Z,24.5,GPU-Hours\n"
	"\"-1.2E-3\",USD,2026-11-01,2026-11-02 00:00:00.000,,\"GB \"\"x\"\"\"\n",
	"tokens 4096\nframes=7\n",
	"\"units\": [[\"samples\", 204, 1], [\"epochs\", 5, 2]], \"gpus\": []",
};

size_t fuzz_seed(unsigned int number, uint8_t **data)
{
	const char *text = number < 4 ? seeds[number] : NULL;

	if (!text)
		return 0;
	*data = (uint8_t *)strdup(text);
	return strlen(text);
}
