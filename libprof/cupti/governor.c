/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows of ten seconds, judged one by one; those that are too dear, as soon as that is known.
 */
#include "governor.h"

#include <string.h>

#define SECOND_NS 1000000000ll
#define WINDOW_NS PROF_GOVERNOR_WINDOW_NS
#define LEAST_NS SECOND_NS /* before that a cost is no rate */
#define LEARN_NS (5 * SECOND_NS / 2) /* so long a step is kept to see what it brought */
#define LOAN 12 /* windows whose limit may be spent at once at the beginning */
#define RETRY_FIRST_NS (300 * SECOND_NS)
#define RETRY_LAST_NS (3600 * SECOND_NS)
#define SLOTS PROF_GOVERNOR_SLOTS
#define RECENT PROF_GOVERNOR_RECENT

#define SETTLES_NS (SECOND_NS / 4) /* a change is made by another thread */
#define MEASURED_NS SECOND_NS /* a rate's time, at least */
#define BOUND 256u /* of 1024 calls so many exposed launches make a loop that is bound by them */
#define MOST_NS 5000 /* of a launch: more than that is no cost of tracing */
#define KERNEL_COMES_BACK_NS (PROF_COST_KERNEL_NS + PROF_COST_OTHERS_NS)

void prof_governor_init(struct prof_governor *g, uint64_t limit, bool has_api, int64_t now_ns)
{
	memset(g, 0, sizeof(*g));
	g->limit = limit;
	g->has_api = has_api;
	g->since_ns = g->looked_ns = now_ns;
	g->retry_ns = RETRY_FIRST_NS;
	g->slot = now_ns / WINDOW_NS;
	g->saves_ns[PROF_STEP_FULL] = PROF_COST_API_NS;
	g->saves_ns[PROF_STEP_NO_API] = PROF_COST_KERNEL_NS;
	g->saves_ns[PROF_STEP_NO_KERNELS] = PROF_COST_OTHERS_NS;
}

/*
 * ---- steps ------------------------------------------------------------------------------------
 */

static enum prof_step below(const struct prof_governor *g, enum prof_step step)
{
	if (step == PROF_STEP_FULL && !g->has_api)
		return PROF_STEP_NO_KERNELS;
	return step < PROF_STEP_LEAST ? step + 1 : step;
}

static enum prof_step above(const struct prof_governor *g, enum prof_step step)
{
	if (step == PROF_STEP_NO_KERNELS && !g->has_api)
		return PROF_STEP_FULL;
	return step > PROF_STEP_FULL ? step - 1 : step;
}

/* The first saving that is made from @step on: at L0 there is none of API records. */
static enum prof_step first_saving(const struct prof_governor *g, enum prof_step step)
{
	return step == PROF_STEP_FULL && !g->has_api ? PROF_STEP_NO_API : step;
}

/* What going from one step to a deeper one saves at a launch. */
static uint64_t between(const struct prof_governor *g, enum prof_step from, enum prof_step to)
{
	uint64_t ns = 0;
	enum prof_step s;

	for (s = first_saving(g, from); s < to; s++)
		ns += g->saves_ns[s];
	return ns;
}

/*
 * What other work made slow or fast on one step between makes one of its two savings larger and the
 * other smaller. So what is saved from the top of the ladder on has to say the same, until kernels
 * were looked at twice.
 */
static bool agrees_from_the_top(const struct prof_governor *g, uint32_t back)
{
	uint32_t api = g->saves_ns[PROF_STEP_FULL];

	return !g->seen[PROF_STEP_FULL] || g->seen[PROF_STEP_NO_API] > 1 ||
	       api + back < PROF_COST_API_NS + KERNEL_COMES_BACK_NS / 4 * 3;
}

uint32_t prof_governor_left_ns(const struct prof_governor *g)
{
	uint32_t back = g->saves_ns[PROF_STEP_NO_API] + g->saves_ns[PROF_STEP_NO_KERNELS];

	if (!g->seen[PROF_STEP_NO_API] || !g->seen[PROF_STEP_NO_KERNELS] ||
	    back >= KERNEL_COMES_BACK_NS / 4 * 3 || !agrees_from_the_top(g, back))
		return 0;
	return KERNEL_COMES_BACK_NS - back;
}

uint32_t prof_governor_launch_ns(const struct prof_governor *g, enum prof_step step)
{
	return (uint32_t)between(g, step, PROF_STEP_LEAST) + prof_governor_left_ns(g);
}

bool prof_governor_learnt(const struct prof_governor *g, enum prof_step step)
{
	enum prof_step s;

	for (s = first_saving(g, step); s < PROF_STEP_LEAST; s++)
		if (!g->seen[s])
			return false;
	return step < PROF_STEP_LEAST || g->seen[PROF_STEP_NO_KERNELS];
}

/* Has all between two steps been measured here? */
static bool learnt_between(const struct prof_governor *g, enum prof_step from, enum prof_step to)
{
	enum prof_step s;

	for (s = first_saving(g, from); s < to; s++)
		if (!g->seen[s])
			return false;
	return true;
}

/*
 * ---- learning ---------------------------------------------------------------------------------
 */

static const struct prof_governor_calls *recent(const struct prof_governor *g, uint32_t number)
{
	return &g->recent[number % RECENT];
}

/* In 1024ths of ns; 0: there were none. */
static uint64_t a_call(const struct prof_governor_calls *from, const struct prof_governor_calls *to)
{
	if (to->cpu_ns <= from->cpu_ns || to->calls <= from->calls)
		return 0;
	return (uint64_t)(to->cpu_ns - from->cpu_ns) * 1024 / (to->calls - from->calls);
}

/* Within an eighth: the loop does all the time what it did. */
static bool alike(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) * 8 <= a;
}

/*
 * What a call took since @from_ns, 1024ths of ns; 0: in too short a time, or not always. CPU time,
 * for others' work on the cores is not in that.
 */
static uint64_t period(const struct prof_governor *g, int64_t from_ns)
{
	uint32_t last = g->recents - 1, first = g->recents > RECENT ? g->recents - RECENT : 0;
	uint64_t whole;

	if (!g->recents)
		return 0;
	while (first < last && recent(g, first)->at_ns < from_ns)
		first++;
	if (recent(g, last)->at_ns - recent(g, first)->at_ns < MEASURED_NS)
		return 0;
	whole = a_call(recent(g, first), recent(g, last));
	if (!alike(whole, a_call(recent(g, first), recent(g, first + (last - first) / 2))))
		return 0;
	return whole;
}

static void note_calls(struct prof_governor *g, const struct prof_governor_calls *c)
{
	if (!c->at_ns || (g->recents && c->at_ns <= recent(g, g->recents - 1)->at_ns))
		return;
	g->recent[g->recents++ % RECENT] = *c;
}

/* Several savings at once: each has as large a part of the sum as it was thought to have. */
static void take_in(struct prof_governor *g, enum prof_step from, enum prof_step to, uint64_t ns)
{
	uint64_t sum = between(g, from, to), n = to - first_saving(g, from), one;
	enum prof_step s;

	for (s = first_saving(g, from); s < to; s++) {
		one = sum ? ns * g->saves_ns[s] / sum : ns / n;
		one = one < MOST_NS ? one : MOST_NS;
		if (g->seen[s])
			one = (one + g->saves_ns[s]) / 2;
		g->saves_ns[s] = (uint32_t)one;
		g->seen[s]++;
	}
}

static void learn(struct prof_governor *g)
{
	uint64_t after = g->before_period ? period(g, g->settled_ns) : 0, dear, cheap, ns;
	bool down = g->step > g->before;

	if (!after)
		return;
	dear = down ? g->before_period : after;
	cheap = down ? after : g->before_period;
	g->before_period = 0;
	if (g->share < BOUND)
		return;
	ns = dear > cheap ? (dear - cheap) / g->share : 0;
	if (ns <= 2 * MOST_NS)
		take_in(g, down ? g->before : g->step, down ? g->step : g->before, ns);
}

/*
 * ---- what it costs ----------------------------------------------------------------------------
 */

static uint64_t rate_of(uint64_t n, int64_t ns)
{
	return ns > 0 ? (uint64_t)((__int128)n * SECOND_NS / ns) : 0;
}

/* Where launches are not seen, as many are taken to be exposed as ever were. */
static void see_share(struct prof_governor *g, uint64_t share)
{
	g->share = share < 1024 ? share : 1024;
	if (g->share > g->most)
		g->most = g->share;
}

/* Which part of the calls was exposed launches, and how many there were since, a second. */
static void count_calls(struct prof_governor *g, const struct prof_governor_input *in)
{
	const struct prof_governor_calls *now = &in->calls, *last = &g->calls;
	uint64_t calls = now->calls - last->calls;

	if (!now->at_ns || now->at_ns == last->at_ns)
		return;
	if (last->at_ns && now->calls > last->calls && now->at_ns > last->at_ns) {
		if (g->step >= PROF_STEP_NO_KERNELS)
			g->rate = rate_of(calls * g->most / 1024, now->at_ns - last->at_ns);
		else if (in->exposed > g->exposed_then)
			see_share(g, (in->exposed - g->exposed_then) * 1024 / calls);
	} else if (last->at_ns && g->step >= PROF_STEP_NO_KERNELS) {
		g->rate = 0;
	}
	g->calls = *now;
	g->exposed_then = in->exposed;
}

/* Exposed launches since the last look: seen, or by the calls, or as many as before. */
static uint64_t launches(struct prof_governor *g, const struct prof_governor_input *in)
{
	count_calls(g, in);
	if (g->step < PROF_STEP_NO_KERNELS)
		return in->exposed - g->exposed;
	return (uint64_t)((__int128)g->rate * (in->now_ns - g->looked_ns) / SECOND_NS);
}

static void next_slot(struct prof_governor *g, int64_t now_ns)
{
	int64_t slot = now_ns / WINDOW_NS;

	if (slot - g->slot > SLOTS)
		g->slot = slot - SLOTS;
	while (g->slot < slot)
		g->slot_ns[++g->slot % SLOTS] = 0;
}

static void spend(struct prof_governor *g, uint64_t ns)
{
	g->window_ns += ns;
	g->spent_ns += ns;
	g->slot_ns[g->slot % SLOTS] += ns;
}

/*
 * A window of full recording counts against the limit and the five minutes, but the step is not to
 * blame for it, and what its calls take tells nothing of the step.
 */
static void spend_drawn(struct prof_governor *g, int64_t now_ns, uint64_t n)
{
	uint64_t ns = n * between(g, PROF_STEP_FULL, g->step);

	g->drawn_ns += ns;
	g->spent_ns += ns;
	g->window_drawn_ns += ns;
	g->slot_ns[g->slot % SLOTS] += ns;
	g->recents = 0;
	g->quiet_ns = now_ns + SETTLES_NS;
}

static void account(struct prof_governor *g, const struct prof_governor_input *in)
{
	uint64_t n = launches(g, in), left = n * prof_governor_left_ns(g);

	next_slot(g, in->now_ns);
	if (in->drawn && g->step >= PROF_STEP_NO_KERNELS)
		spend_drawn(g, in->now_ns, n);
	spend(g, n * between(g, g->step, PROF_STEP_LEAST));
	g->window_left_ns += left;
	g->spent_ns += left;
	g->launches += n;
	g->exposed = in->exposed;
	g->looked_ns = in->now_ns;
	if (in->calls.at_ns > g->quiet_ns)
		note_calls(g, &in->calls);
}

static uint64_t millionths(uint64_t ns, int64_t wall_ns)
{
	return ns * 1000 / ((uint64_t)wall_ns / 1000);
}

static uint64_t recently_spent(const struct prof_governor *g)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < SLOTS; i++)
		sum += g->slot_ns[i];
	return sum;
}

/* In so many windows. */
static uint64_t allowed(const struct prof_governor *g, uint64_t windows)
{
	return g->limit * (WINDOW_NS / 1000000) * windows;
}

/*
 * ---- changes ----------------------------------------------------------------------------------
 */

static void change(struct prof_governor *g, enum prof_step to, int64_t now_ns)
{
	g->before_period = period(g, now_ns - 4 * SECOND_NS);
	g->before = g->step;
	g->raised = to < g->step;
	g->step = to;
	if (to > g->deepest)
		g->deepest = to;
	g->stepped_ns = now_ns;
	g->settled_ns = now_ns + SETTLES_NS;
	g->recents = 0;
}

/* Would @ns more or less at each launch change nothing that matters? */
static bool is_nothing(const struct prof_governor *g, uint64_t ns)
{
	return g->rate * ns / 1000 <= g->limit / 20;
}

/* Was it seen twice that no step below brings anything? */
static bool in_vain(const struct prof_governor *g)
{
	enum prof_step s;

	for (s = first_saving(g, g->step); s < PROF_STEP_LEAST; s++)
		if (g->seen[s] < 2)
			return false;
	return is_nothing(g, between(g, g->step, PROF_STEP_LEAST));
}

/* Millionths that remain for what can be switched off. */
static uint64_t limit_beside(const struct prof_governor *g, uint64_t left)
{
	return left < g->limit ? g->limit - left : g->limit / 10;
}

/* Would what is on at a step stay below the limit, beside @left that no step takes away? */
static bool fits(const struct prof_governor *g, enum prof_step step, uint64_t left)
{
	return g->rate * between(g, step, PROF_STEP_LEAST) / 1000 <= limit_beside(g, left);
}

/* The first that stays below the limit, by what was learnt here; else the next, to learn it. */
static enum prof_step choose_below(const struct prof_governor *g, uint64_t left)
{
	enum prof_step to = below(g, g->step);

	while (to < PROF_STEP_LEAST && !fits(g, to, left) &&
	       learnt_between(g, g->step, below(g, to)))
		to = below(g, to);
	return to;
}

static bool step_down(struct prof_governor *g, int64_t now_ns, uint64_t left)
{
	enum prof_step to;

	if (g->step == PROF_STEP_LEAST || in_vain(g))
		return false;
	if (g->raised) /* it was tried again, in vain */
		g->retry_ns = g->retry_ns * 2 < RETRY_LAST_NS ? g->retry_ns * 2 : RETRY_LAST_NS;
	to = choose_below(g, left);
	g->passed += to > below(g, g->step);
	change(g, to, now_ns);
	return true;
}

/* As fits, with something to spare. */
static bool has_room(const struct prof_governor *g, enum prof_step step, uint64_t left)
{
	return g->rate * between(g, step, PROF_STEP_LEAST) / 1000 <= limit_beside(g, left) / 10 * 8;
}

/* May the step above be taken: it costs nothing, or fits, or it is time to see. */
static bool may_step_up(const struct prof_governor *g, int64_t now_ns, uint64_t left)
{
	enum prof_step up = above(g, g->step);
	uint64_t more = between(g, up, g->step);
	int64_t rested = now_ns - g->stepped_ns;

	if (rested >= g->retry_ns)
		return true;
	if (g->step >= PROF_STEP_NO_KERNELS && (!g->calls.at_ns || g->most < BOUND))
		return false; /* nobody counts */
	if (g->seen[first_saving(g, up)] && is_nothing(g, more))
		return true;
	return rested >= RETRY_FIRST_NS / 10 && has_room(g, up, left) &&
	       recently_spent(g) <= allowed(g, SLOTS) / 2;
}

/* The one with most that has room, by what was learnt here; else the next one, to see. */
static enum prof_step choose_above(const struct prof_governor *g, uint64_t left)
{
	enum prof_step to = above(g, g->step);

	while (to > PROF_STEP_FULL && has_room(g, to, left) && has_room(g, above(g, to), left) &&
	       learnt_between(g, above(g, to), g->step))
		to = above(g, to);
	return to;
}

uint64_t prof_governor_drawn_ns(const struct prof_governor *g, int64_t now_ns, int64_t long_ns)
{
	uint64_t ns = (uint64_t)((__int128)g->rate * between(g, PROF_STEP_FULL, g->step) * long_ns /
				 SECOND_NS);

	if (g->step < PROF_STEP_NO_KERNELS || !prof_governor_learnt(g, PROF_STEP_FULL) ||
	    prof_governor_left_ns(g) || !g->calls.at_ns || g->most < BOUND)
		return UINT64_MAX;
	if (now_ns - g->stepped_ns < WINDOW_NS / 2 ||
	    g->rate * between(g, g->step, PROF_STEP_LEAST) / 1000 > g->limit / 10 * 6 ||
	    recently_spent(g) + ns > allowed(g, SLOTS) / 10 * 9)
		return UINT64_MAX;
	return ns;
}

static bool step_up(struct prof_governor *g, int64_t now_ns, uint64_t left)
{
	if (g->step == PROF_STEP_FULL || !may_step_up(g, now_ns, left))
		return false;
	change(g, choose_above(g, left), now_ns);
	return true;
}

/* Is there anything to judge: a whole window, or one that has been too dear already? */
static bool is_over(const struct prof_governor *g, const struct prof_governor_input *in)
{
	int64_t wall = in->now_ns - g->since_ns;

	if (wall >= WINDOW_NS)
		return true;
	if (!g->limit || wall < LEAST_NS)
		return false;
	if (recently_spent(g) > allowed(g, SLOTS))
		return true;
	if (g->before_period && wall < LEARN_NS)
		return false;
	return g->window_ns > allowed(g, g->stepped_ns ? 1 : LOAN);
}

static bool judge(struct prof_governor *g, const struct prof_governor_input *in, uint64_t left)
{
	uint64_t avoidable = g->cost - left;

	if (avoidable > limit_beside(g, left) || recently_spent(g) > allowed(g, SLOTS))
		return step_down(g, in->now_ns, left);
	return in->now_ns - g->since_ns >= WINDOW_NS && step_up(g, in->now_ns, left);
}

static void begin_window(struct prof_governor *g, const struct prof_governor_input *in)
{
	g->since_ns = in->now_ns;
	g->cpu_ns = in->cpu_ns;
	g->window_ns = g->window_left_ns = g->window_drawn_ns = g->launches = 0;
}

bool prof_governor_feed(struct prof_governor *g, const struct prof_governor_input *in)
{
	int64_t wall;
	uint64_t left, drawn;
	bool changed;

	account(g, in);
	learn(g);
	if (!is_over(g, in))
		return false;
	wall = in->now_ns - g->since_ns;
	g->rate = rate_of(g->launches, wall);
	if (in->cores_short)
		spend(g, in->cpu_ns - g->cpu_ns);
	left = millionths(g->window_left_ns, wall);
	g->cost = millionths(g->window_ns, wall) + left;
	drawn = millionths(g->window_drawn_ns, wall);
	if (g->cost + drawn > g->worst)
		g->worst = g->cost + drawn;
	changed = g->limit && judge(g, in, left);
	begin_window(g, in);
	return changed;
}
