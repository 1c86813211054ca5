/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 200 Hz, 100 Hz, 20 Hz by the age of what starves; a budget by windows of a second.
 */
#include "pace.h"

#include <string.h>

#define MS 1000000ll
#define OPEN_NS MS /* a loader wait that is shorter is none */
#define FRESH_NS (100 * MS)
#define RECENT_NS (1000 * MS)
#define ALERT_NS (10000 * MS) /* so long waits are watched for closely after one was seen */
#define CLOSE_NS (5 * MS)
#define LOOSE_NS (20 * MS)
#define WINDOW_NS (1000 * MS)
#define STARVING_SHARE 50 /* one in so many: 2 % of a core */
#define BUSY_SHARE 1000 /* 0.1 % */
#define DIVIDER_MAX 16u
#define CHEAP_WINDOWS 10u

void prof_pace_init(struct prof_pace *p, int64_t now_ns, uint32_t seed)
{
	memset(p, 0, sizeof(*p));
	p->divider = 1;
	p->next_look_ns = p->next_census_ns = p->window_ns = p->fed_ns = now_ns;
	p->random = seed | 1;
}

/* For how long something has been starving; -1: nothing does. */
static int64_t starved_for(const struct prof_pace_input *in)
{
	int64_t age = -1;

	if (in->waited_ns >= OPEN_NS)
		age = in->waited_ns - OPEN_NS;
	if (in->drained_ns > 0 && (age < 0 || in->drained_ns < age))
		age = in->drained_ns;
	return age;
}

static int64_t interval(int64_t age)
{
	if (age < 0)
		return PROF_PACE_LOOK_NS;
	if (age < FRESH_NS)
		return CLOSE_NS;
	return age < RECENT_NS ? 2 * CLOSE_NS : PROF_PACE_LOOK_NS;
}

/* Programs have rhythms of their own: no step of ours is quite like the one before. */
static int64_t jitter(struct prof_pace *p, int64_t ns)
{
	p->random ^= p->random << 13;
	p->random ^= p->random >> 17;
	p->random ^= p->random << 5;
	return ns - ns / 8 + ns / 4 * (int64_t)(p->random & 1023) / 1024;
}

/* The window is over: was it too dear? */
static void judge(struct prof_pace *p, const struct prof_pace_input *in)
{
	int64_t wall = in->now_ns - p->window_ns;
	int64_t spent = (int64_t)(in->cpu_ns - p->window_cpu_ns);
	int64_t allowed = p->starved_ns / STARVING_SHARE + (wall - p->starved_ns) / BUSY_SHARE;

	p->cheap = spent < allowed / 3 ? p->cheap + 1 : 0;
	if (spent > allowed && p->divider < DIVIDER_MAX) {
		p->divider *= 2;
		p->halvings++;
	} else if (p->cheap >= CHEAP_WINDOWS && p->divider > 1) {
		p->divider /= 2;
		p->cheap = 0;
	}
	p->window_ns = in->now_ns;
	p->window_cpu_ns = in->cpu_ns;
	p->starved_ns = 0;
}

static void account(struct prof_pace *p, const struct prof_pace_input *in, bool starving)
{
	if (starving) {
		p->starved_ns += in->now_ns - p->fed_ns;
		p->alert_ns = in->now_ns;
	}
	p->fed_ns = in->now_ns;
	if (in->now_ns - p->window_ns >= WINDOW_NS)
		judge(p, in);
}

void prof_pace_turn(struct prof_pace *p, const struct prof_pace_input *in,
		    struct prof_pace_turn *out)
{
	int64_t age = starved_for(in);
	int64_t step = interval(age) * p->divider, watch;

	memset(out, 0, sizeof(*out));
	out->starving = age >= 0;
	account(p, in, out->starving);
	/* What was planned while all was well is too late now. */
	if (p->next_look_ns > in->now_ns + step)
		p->next_look_ns = in->now_ns;
	if (in->now_ns >= p->next_look_ns) {
		out->look = true;
		step = jitter(p, step);
		out->period_ns = (uint32_t)step;
		p->next_look_ns = in->now_ns + step;
	}
	if (in->now_ns >= p->next_census_ns) {
		out->census = true;
		p->next_census_ns = in->now_ns + PROF_PACE_CENSUS_NS * p->divider;
	}
	watch = p->alert_ns && in->now_ns - p->alert_ns < ALERT_NS ? CLOSE_NS : LOOSE_NS;
	out->next_ns = in->now_ns + jitter(p, watch * p->divider);
	if (p->next_look_ns < out->next_ns)
		out->next_ns = p->next_look_ns;
}
