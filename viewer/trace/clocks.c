/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock-*.json: how far each node's clock was from the central collector's (docs/FORMAT.md). From
 * these alone no stamp is moved; they bound how far apart the nodes' clocks can have been.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/jsondoc.h"
#include "base/units.h"
#include "trace_priv.h"

#define NODES_MAX 4096
#define FAR_NS (INT64_MAX / 8) /* no clock is so far off; sums of four fit */

struct bound { /* of all nodes: centre's clock minus node's lies within */
	int64_t low_ns, high_ns;
	size_t nodes;
	const char *to; /* which centre; of another one nothing can be said */
};

static bool is_clock_file(const char *name)
{
	size_t n = strlen(name);

	return !strncmp(name, "clock-", 6) && n > 11 && !strcmp(name + n - 5, ".json");
}

static void take_reading(const struct base_json *r, struct bound *b)
{
	int64_t offset = base_json_get_int(r, "offset_ns", INT64_MIN);
	int64_t error = base_json_get_int(r, "error_ns", INT64_MIN);

	if (offset <= -FAR_NS || offset >= FAR_NS || error < 0 || error >= FAR_NS)
		return;
	if (!b->nodes || offset - error < b->low_ns)
		b->low_ns = offset - error;
	if (!b->nodes || offset + error > b->high_ns)
		b->high_ns = offset + error;
	b->nodes = 1;
}

/* What one file says joins @all. */
static void take_node(const struct base_json *root, struct bound *all)
{
	const struct base_json *list = base_json_get(root, "readings"), *r;
	const char *to = base_json_get_text(root, "to", "");
	struct bound one = { .nodes = 0 };

	for (r = list && list->type == BASE_JSON_ARRAY ? list->child : NULL; r; r = r->next)
		take_reading(r, &one);
	if (!one.nodes || (all->to && strcmp(all->to, to)))
		return;
	if (!all->nodes || one.low_ns < all->low_ns)
		all->low_ns = one.low_ns;
	if (!all->nodes || one.high_ns > all->high_ns)
		all->high_ns = one.high_ns;
	all->nodes++;
	all->to = to;
}

static void read_node(struct view_trace *t, struct base_arena *arena, const char *dir,
		      const char *name, struct bound *all)
{
	struct base_json_error bad = { NULL, 0 };
	struct base_json *root = NULL;
	char *path;
	int err;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return;
	err = base_json_read(arena, path, &root, &bad);
	free(path);
	if (!err)
		take_node(root, all);
	else if (err != -ENOENT && err != -ENOMEM)
		view_trace_note(t, "%s: cannot be used: %s (byte %zu)", name,
				bad.why ? bad.why : strerror(-err), bad.offset);
}

void view_trace_clocks(struct view_trace *t, const char *path)
{
	struct base_arena arena = { NULL };
	struct bound all = { .nodes = 0 };
	char apart[BASE_UNIT_BYTES];
	struct dirent *e;
	DIR *dir = opendir(path);

	while (dir && all.nodes < NODES_MAX && (e = readdir(dir)))
		if (is_clock_file(e->d_name))
			read_node(t, &arena, path, e->d_name, &all);
	if (dir)
		closedir(dir);
	if (all.nodes > 1)
		view_trace_note(t,
				"clocks of %zu nodes were at most %s apart, by the answers of the "
				"central collector",
				all.nodes, base_duration(apart, all.high_ns - all.low_ns));
	base_arena_fini(&arena);
}
