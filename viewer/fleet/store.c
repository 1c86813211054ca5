/* SPDX-License-Identifier: Apache-2.0 */
/* Which engine a URL names, and the tables that both go by. */
#include "store_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "core/log.h"

const char *const fleet_dim_columns[FLEET_DIMS] = {
#define NAME(symbol, name, column, title, told) #column,
#include "facts/fleet_names.def"
#define X(symbol, column, name, title) column,
	FLEET_MORE_DIM_LIST(X)
#undef X
};

const char *const fleet_dim_names[FLEET_DIMS] = {
#define NAME(symbol, name, column, title, told) #name,
#include "facts/fleet_names.def"
#define X(symbol, column, name, title) name,
	FLEET_MORE_DIM_LIST(X)
#undef X
};

const char *const fleet_dim_titles[FLEET_DIMS] = {
#define NAME(symbol, name, column, title, told) title,
#include "facts/fleet_names.def"
#define X(symbol, column, name, title) title,
	FLEET_MORE_DIM_LIST(X)
#undef X
};

const enum fleet_dim fleet_bill_dims[FLEET_BILL_DIMS] = { FLEET_DIM_TEAM, FLEET_DIM_PROJECT,
							  FLEET_DIM_USER, FLEET_DIM_GPU,
							  FLEET_DIM_MODEL };

const char *const fleet_measure_columns[FLEET_MEASURES] = {
#define MEASURE(symbol, column) #column,
#include "facts/fleet_lines.def"
};

const char *const fleet_view_columns[FLEET_VIEWS] = {
	[FLEET_VIEW_FACTS] =
#define NAME(symbol, name, column, title, told) "n"
#include "facts/fleet_names.def"
#define X(symbol, column, name, title) "n"
		FLEET_MORE_DIM_LIST(X)
#undef X
#define MEASURE(symbol, column) "s"
#include "facts/fleet_lines.def"
		,
	[FLEET_VIEW_CLASSES] = "tsss",
	[FLEET_VIEW_HOTSPOTS] = "ttsss",
	[FLEET_VIEW_FIXES] = "tttttsss",
	[FLEET_VIEW_RATES] = "ttttttss",
	[FLEET_VIEW_WEEKS] = "ttss",
	[FLEET_VIEW_FAILED] = "tttttttiiii",
	[FLEET_VIEW_UNLABELLED] = "tttttttiiii",
	[FLEET_VIEW_COSTLY] = "tttttttiiii",
	[FLEET_VIEW_RULES] = "isss",
	[FLEET_VIEW_DIGESTS] = "t",
	[FLEET_VIEW_LINES... FLEET_VIEW_CROSSING] = "tttttttttttttt"
#define NAME(symbol, name, column, title, told) "t"
#include "facts/fleet_names.def"
						    "iiiiiiiii"
#define MEASURE(symbol, column) "s"
#include "facts/fleet_lines.def"
	,
	[FLEET_VIEW_UNITS] = "ttssssss",
	[FLEET_VIEW_MONTHS] = "i"
#define MEASURE(symbol, column) "s"
#include "facts/fleet_lines.def"
	,
	[FLEET_VIEW_OVER_MONTH] = "tiii"
#define MEASURE(symbol, column) "s"
#include "facts/fleet_lines.def"
	,
};

const char *fleet_column_of(const char *name)
{
	for (int d = 0; d < FLEET_RUN_DIMS; d++)
		if (!strcmp(fleet_dim_names[d], name))
			return fleet_dim_columns[d];
	return NULL;
}

int fleet_store_open(struct fleet_store **s, const char *url, bool write)
{
	*s = NULL;
	if (!strncmp(url, "sqlite:", 7) && url[7])
		return fleet_sqlite_open(s, url + 7, write);
	if (!strncmp(url, "clickhouse://", 13))
		return fleet_clickhouse_open(s, url, write);
	view_error(
		"--store: no such kind of store; sqlite:FILE or clickhouse://HOST:PORT/DATABASE");
	return -EINVAL;
}

void fleet_store_close(struct fleet_store *s)
{
	if (s)
		s->ops->close(s);
}

int fleet_store_put(struct fleet_store *s, const struct fleet_digest *d, size_t n, size_t *waiting)
{
	return s->ops->put(s, d, n, waiting);
}

int fleet_store_find(struct fleet_store *s, const char *run, const char *tenant,
		     struct fleet_stored *stored)
{
	return s->ops->find(s, run, tenant, stored);
}

int fleet_store_flush(struct fleet_store *s, size_t *waiting)
{
	*waiting = 0;
	return s->ops->flush ? s->ops->flush(s, waiting) : 0;
}

int fleet_store_prepare(struct fleet_store *s, const enum fleet_view *view, size_t n,
			const struct fleet_query *q)
{
	return s->ops->prepare ? s->ops->prepare(s, view, n, q) : 0;
}

int fleet_store_read(struct fleet_store *s, enum fleet_view view, const struct fleet_query *q,
		     void (*on_row)(void *arg, const struct fleet_cell *cell), void *arg)
{
	return s->ops->read(s, view, q, on_row, arg);
}

int fleet_store_note(struct fleet_store *s, const char *name, int64_t at_ns)
{
	return s->ops->note(s, name, at_ns);
}

int fleet_store_put_pulses(struct fleet_store *s, const struct fleet_pulses *p)
{
	return p->rows ? s->ops->put_pulses(s, p) : 0;
}

int fleet_store_read_pulses(struct fleet_store *s, const struct fleet_pulses_query *q,
			    struct fleet_pulses *p)
{
	int err = s->ops->read_pulses(s, q, p);

	if (!err && p->rows)
		qsort(p->row, p->rows, sizeof(*p->row), live_row_order);
	return err;
}
