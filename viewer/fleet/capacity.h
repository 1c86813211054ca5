/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What GPUs should have been rented: how many of each kind were held at once, and the count that
 * would have been cheapest to reserve or to own, everything above it being on demand.
 *
 * Of a line of a run its GPUs are taken as held from the run's start, all equally long, so that
 * they sum to what the line held; those are as many as it names, or so many more as its time needs
 * within the run. Where they were held for clearly less than the run took that is a guess: how much
 * time of how many runs it is, and how many GPUs may have been held at once whenever they were, is
 * told. Reserved and owned ones are paid for all of the stretch. Exact: times are whole
 * nanoseconds, prices fractions of nano-dollars, and amounts are rounded once, half to even.
 */
#ifndef FLEET_PLAN_H
#define FLEET_PLAN_H

#include "base/arena.h"
#include "store.h"

#define FLEET_PLAN_GIVEN_MAX 16
#define FLEET_PLAN_YEAR_HOURS 8760

/* What people know and no list does: by words of a GPU's name, as `prices show` takes them. */
struct fleet_plan_own {
	const char *gpu;
	int64_t nano_usd; /* what one costs to buy, */
	int64_t years; /* over how many it is paid, */
	int64_t running; /* and what it costs an hour then: nano-dollars */
};

struct fleet_plan_reserved {
	const char *gpu;
	int64_t gpus; /* that are reserved now */
};

struct fleet_plan_given { /* texts are the caller's */
	struct fleet_plan_own own[FLEET_PLAN_GIVEN_MAX];
	size_t owns;
	struct fleet_plan_reserved reserved[FLEET_PLAN_GIVEN_MAX];
	size_t reserveds;
	const char *prices; /* a list that comes before the site's; NULL: none */
};

/* capacity_given.c: "H100=31000,4,0.35", "H100=16". @text is kept and written to. False: it was said. */
bool fleet_plan_add_own(struct fleet_plan_given *g, char *text);
bool fleet_plan_add_reserved(struct fleet_plan_given *g, char *text);

struct fleet_plan_step { /* so many were held at once, for so long in all */
	base_wide gpus;
	int64_t ns;
};

struct fleet_plan_price { /* num / den nano-dollars an hour */
	bool known;
	bool assumed; /* the provider is not known: the cheapest of any */
	base_wide num, den;
	const char *what, *source, *date;
};

struct fleet_plan_choice { /* so many of them paid all the time, the rest on demand */
	bool known;
	struct fleet_plan_price price;
	base_wide gpus;
	base_wide usd; /* all of it; nano-dollars */
	base_wide unused_ns, unused_usd; /* paid and not held */
};

struct fleet_plan_type {
	const char *gpu, *provider; /* provider "": not known */
	base_wide runs; /* with GPUs of it; a run of two prices counts twice */
	base_wide held_ns;
	struct fleet_plan_step *step; /* fewest first; none of 0 */
	size_t steps;
	base_wide most; /* at once */
	/* runs whose GPUs were held for less than 99 % of the run, and what of them lies in it */
	base_wide unsure_runs, unsure_ns;
	base_wide bound; /* no more were held at once, whenever in their runs they were */
	struct fleet_plan_price on_demand;
	base_wide on_demand_usd; /* of all of it */
	struct fleet_plan_choice reserved; /* the cheapest count; the fewest of equals */
	struct fleet_plan_choice own;
	struct fleet_plan_choice given; /* those that are reserved now */
	base_wide given_gpus; /* ... which are so many; 0: none, or it was not said */
	const struct fleet_plan_own *owned; /* what own was made of */
};

struct fleet_plan {
	struct base_arena mem;
	int64_t since_ns, until_ns; /* the stretch; without --since and --until what runs span */
	struct fleet_plan_type *type; /* most time first */
	size_t types;
};

/* 0 or negative errno, said: -EOVERFLOW where an amount is above BASE_WIDE_MAX. */
int fleet_plan_collect(struct fleet_plan *p, struct fleet_store *s, const struct fleet_query *q,
		       const struct fleet_plan_given *given);
void fleet_plan_fini(struct fleet_plan *p);

/* For how long @gpus of it or more were held at once. */
base_wide fleet_plan_at_least(const struct fleet_plan_type *t, base_wide gpus);

/* capacity_levels.c: what was held, as it is read; then steps by type. Zero-initialise. */
struct fleet_plan_events {
	struct fleet_plan_event *event;
	size_t n, room;
	int64_t first, last; /* that anything was held; first > last: nothing was */
};

/* @gpus of @type are held for @held_ns of a run; what lies outside of [@since, @until) is cut. */
struct fleet_plan_spread {
	uint32_t type;
	int64_t start_ns, wall_ns, gpus, held_ns;
};
void fleet_plan_hold(struct fleet_plan_events *e, const struct fleet_plan_spread *l, int64_t since,
		     int64_t until);
/* The same GPUs, held for all of the run. */
void fleet_plan_hold_all(struct fleet_plan_events *e, const struct fleet_plan_spread *l,
			 int64_t since, int64_t until);
bool fleet_plan_is_unsure(const struct fleet_plan_spread *l);
/* Held in all, as it is read: what was taken less what was given back. */
base_wide fleet_plan_held(const struct fleet_plan_events *e, size_t from);
/* The most that were held at once, of each of the @types. */
void fleet_plan_most(struct fleet_plan_events *e, base_wide *most, size_t types);
void fleet_plan_steps(struct fleet_plan_events *e, struct fleet_plan_type *type, size_t types,
		      struct base_arena *mem);
void fleet_plan_events_fini(struct fleet_plan_events *e);

/* capacity_prices.c: the lists by which GPUs are priced, as long as it is open. */
struct fleet_plan_lists;
struct fleet_plan_lists *fleet_plan_lists_open(const char *file);
/* Texts lie in @mem. */
struct fleet_plan_price fleet_plan_price_of(const struct fleet_plan_lists *l,
					    const struct fleet_plan_type *t, const char *model,
					    struct base_arena *mem);
void fleet_plan_lists_close(struct fleet_plan_lists *l);
struct fleet_plan_price fleet_plan_own_price(const struct fleet_plan_own *own,
					     struct base_arena *mem);

/* capacity_out.c */
struct fleet;
struct base_jsonout;
void fleet_plan_text(const struct fleet *f, FILE *out);
void fleet_plan_json(const struct fleet_plan *p, struct base_jsonout *j);
void fleet_plan_csv(const struct fleet_plan *p, FILE *out);

#endif
