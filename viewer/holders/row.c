/* SPDX-License-Identifier: Apache-2.0 */
#include "row.h"

#include <inttypes.h>
#include <string.h>
#include "fleet/reprice.h"

#define TAME(to, text) fleet_tame(to, sizeof(to), text)

static struct fleet_line *line_of(struct fleet_digest *d, const char *gpu, const char *model)
{
	struct fleet_line *l;

	for (size_t i = 0; i < d->lines; i++)
		if (!strncmp(d->line[i].gpu, gpu, sizeof(d->line[i].gpu) - 1))
			return &d->line[i];
	if (d->lines == FLEET_LINES_MAX)
		return &d->line[FLEET_LINES_MAX - 1];
	l = &d->line[d->lines++];
	TAME(l->gpu, gpu);
	TAME(l->asked, model);
	return l;
}

static void add_label(struct fleet_digest *d, const char *key, const char *value)
{
	struct fleet_label *l = &d->label_of[d->labels];

	if (!*value || d->labels == FLEET_LABELS_MAX)
		return;
	TAME(l->key, key);
	TAME(l->value, value);
	d->labels++;
}

static void set_names(struct fleet_digest *d, const struct view_holder *h,
		      const struct view_row_of *of)
{
	snprintf(d->run, sizeof(d->run), "unwrapped-%.100s-%d-%" PRId64 "-%" PRId64, of->host,
		 (int)h->pid, h->start_ticks, h->first_ns / 1000000000);
	TAME(d->team, of->team);
	TAME(d->tenant, of->team);
	TAME(d->user, h->user);
	TAME(d->account, h->account);
	TAME(d->partition, h->partition);
	TAME(d->cluster, h->cluster);
	TAME(d->kind, FLEET_UNWRAPPED);
	TAME(d->verdict, FLEET_UNWRAPPED);
	add_label(d, "host", of->host);
	add_label(d, "command", h->command);
	add_label(d, "slurm_job", h->job); /* no job of the digest: that would be recorded */
}

static void add_gpu(struct fleet_digest *d, const struct view_held *g, const char *model)
{
	struct fleet_line *l = line_of(d, g->name, model);

	d->simulated |= strstr(g->name, "(simulated)") != NULL;
	l->gpus++;
	l->held_ns += g->held_ns;
	l->busy_ns += g->busy_ns;
	for (int band = 0; band < FLEET_BANDS; band++)
		l->minutes[band] += g->minutes[band];
}

bool view_holder_row(struct fleet_digest *d, const struct view_holder *h,
		     const struct view_row_of *of, int64_t revision)
{
	size_t given = 0; /* nobody gives one */

	*d = (struct fleet_digest){ .revision = revision, .rules = ANA_RULES };
	set_names(d, h, of);
	d->end = FLEET_END_UNKNOWN;
	d->start_unix_ns = h->first_ns;
	d->wall_ns = h->last_ns > h->first_ns ? h->last_ns - h->first_ns : 0;
	for (size_t i = 0; i < h->gpus; i++)
		if (h->gpu[i].held_ns > 0)
			add_gpu(d, &h->gpu[i], of->price_model);
	if (!d->lines)
		return false;
	d->shares = 1;
	TAME(d->share[0].class, FLEET_UNWRAPPED);
	d->share[0].ns = fleet_digest_held_ns(d);
	fleet_reprice(d, of->catalogue, &given);
	fleet_reprice(d, of->site, &given);
	d->share[0].usd = fleet_digest_usd(d);
	return true;
}
