/* SPDX-License-Identifier: Apache-2.0 */
#include "holders.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE_NS INT64_C(60000000000)

/* The least percent of each band of a minute. */
static const int band_from[ANA_BANDS] = { 0, 5, 20, 40, 60, 80 };

static struct view_holder *find(struct view_holders *all, const struct view_holder *who)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->list[i].pid == who->pid && all->list[i].start_ticks == who->start_ticks)
			return &all->list[i];
	return NULL;
}

static int make_room(struct view_holders *all)
{
	size_t room = all->room ? 2 * all->room : 16;
	struct view_holder *list;

	if (all->count < all->room)
		return 0;
	list = realloc(all->list, room * sizeof(*list));
	if (!list)
		return -ENOMEM;
	all->list = list;
	all->room = room;
	return 0;
}

/* The process of a look; *h NULL: it is gone, or there is no room. */
static int holder_of(struct view_holders *all, pid_t pid, int64_t unix_ns,
		     const struct view_holder_source *who, struct view_holder **h)
{
	struct view_holder fresh = { .pid = pid, .first_ns = unix_ns, .last_ns = unix_ns };
	int err;

	*h = NULL;
	fresh.start_ticks = who->began(pid);
	if (fresh.start_ticks < 0)
		return 0;
	*h = find(all, &fresh);
	if (*h)
		return 0;
	if (all->count == VIEW_HOLDERS_MAX) {
		all->left_out++;
		return 0;
	}
	err = make_room(all);
	if (err)
		return err;
	who->describe(&fresh);
	*h = &all->list[all->count++];
	**h = fresh;
	return 0;
}

static struct view_held *held_of(struct view_holders *all, struct view_holder *h,
				 const struct view_look_gpu *g)
{
	for (size_t i = 0; i < h->gpus; i++)
		if (!strcmp(h->gpu[i].uuid, g->uuid))
			return &h->gpu[i];
	if (h->gpus == VIEW_HOLDER_GPUS) {
		all->left_out++;
		return NULL;
	}
	struct view_held *held = &h->gpu[h->gpus++];

	*held = (struct view_held){ .held_ns = 0 };
	memcpy(held->uuid, g->uuid, sizeof(held->uuid));
	memcpy(held->name, g->name, sizeof(held->name));
	return held;
}

/* Minutes are whole ones of its own, from when it was first seen with the GPU. */
static void add_minute(struct view_held *held, int64_t ns, int64_t busy_ns)
{
	int band = 0;

	held->minute_ns += ns;
	held->minute_busy_ns += busy_ns;
	if (held->minute_ns < MINUTE_NS)
		return;
	while (band + 1 < ANA_BANDS &&
	       held->minute_busy_ns * 100 >= band_from[band + 1] * held->minute_ns)
		band++;
	held->minutes[band] += held->minute_ns / MINUTE_NS;
	held->minute_busy_ns = 0;
	held->minute_ns %= MINUTE_NS;
}

/* @ns of @parts: what it held of the GPU; minutes are of the whole GPU. */
static void add_time(struct view_holder *h, struct view_held *held, int64_t ns, unsigned int parts,
		     int percent)
{
	int64_t part = ns / parts;

	held->held_ns += part;
	h->changed = true;
	if (percent < 0)
		return;
	held->busy_ns += part * percent / 100;
	add_minute(held, part, part * percent / 100);
}

static int take_gpu(struct view_holders *all, const struct view_look_gpu *g, int64_t ns,
		    int64_t unix_ns, const struct view_holder_source *who)
{
	for (unsigned int i = 0; i < g->holders; i++) {
		struct view_holder *h;
		struct view_held *held;
		int err = holder_of(all, g->holder[i], unix_ns, who, &h);

		if (err)
			return err;
		held = h ? held_of(all, h, g) : NULL;
		if (!held)
			continue;
		if (held->seen && ns > 0)
			add_time(h, held, ns, g->holders, g->percent);
		h->seen = true;
		h->last_ns = unix_ns;
		held->seen = true;
	}
	return 0;
}

static bool is_in(const struct view_look *look, const struct view_held *held, pid_t pid)
{
	for (unsigned int g = 0; g < look->gpus; g++)
		for (unsigned int i = 0;
		     !strcmp(look->gpu[g].uuid, held->uuid) && i < look->gpu[g].holders; i++)
			if (look->gpu[g].holder[i] == pid)
				return true;
	return false;
}

/* Who let go of a GPU begins anew with it when he comes back. */
static void let_go(struct view_holders *all, const struct view_look *look)
{
	for (size_t i = 0; i < all->count; i++) {
		struct view_holder *h = &all->list[i];

		h->seen = false;
		for (size_t g = 0; g < h->gpus; g++)
			h->gpu[g].seen &= is_in(look, &h->gpu[g], h->pid);
	}
}

int view_holders_take(struct view_holders *all, const struct view_look *look, int64_t now_ns,
		      int64_t unix_ns, int64_t most_ns, const struct view_holder_source *who)
{
	int64_t ns = all->looked_ns ? now_ns - all->looked_ns : 0;
	int err = 0;

	all->looked_ns = now_ns;
	if (ns > most_ns)
		ns = 0;
	let_go(all, look);
	for (unsigned int g = 0; g < look->gpus && !err; g++)
		err = take_gpu(all, &look->gpu[g], ns, unix_ns, who);
	return err;
}

void view_holders_forget(struct view_holders *all)
{
	size_t kept = 0;

	for (size_t i = 0; i < all->count; i++)
		if (all->list[i].seen)
			all->list[kept++] = all->list[i];
	all->count = kept;
}

void view_holders_fini(struct view_holders *all)
{
	free(all->list);
	*all = (struct view_holders){ .list = NULL };
}
