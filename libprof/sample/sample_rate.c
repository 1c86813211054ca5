/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 200 Hz, 100 Hz, 20 Hz by the age of what starves; a budget by windows of a second.
 */
#include "sample_rate.h"

#include <string.h>

#define MS 1000000ll
#define OPEN_NS MS /* a loader wait that is shorter is none */
#define FRESH_NS (100 * MS)
#define RECENT_NS (1000 * MS)
#define ALERT_NS (2000 * MS) /* so long, at most, one looks out for the next wait ... */
#define ALERT_TIMES 20 /* ... and so many times as long as the last one lasted */
#define CLOSE_NS (5 * MS)
#define WINDOW_NS (1000 * MS)
#define DIVIDER_MAX 16u
/*
 * CPU time that starving may cost beyond its share, once: whom to look at, behind a library's own
 * threads and processes, is found step by step, each of them a look.
 */
#define SAVED_NS (80 * MS)
/* Windows at less than a third of what is allowed: twice the rate is not over it. */
#define CHEAP_WINDOWS 3u
#define LEAST_WINDOWS 48u /* what the least look leaves out is tried again after that, at last */

static const int64_t allowed[2] = { 1000, 50 }; /* one part of a core in so many: 0.1 %, 2 % */

void prof_sample_rate_init(struct prof_sample_rate *p, int64_t now_ns, uint32_t seed)
{
	memset(p, 0, sizeof(*p));
	p->share[0].divider = p->share[1].divider = 1;
	p->next_look_ns = p->next_census_ns = p->fed_ns = now_ns;
	p->alert_ns = now_ns + ALERT_NS;
	p->saved_ns = SAVED_NS;
	p->random = seed | 1;
}

/* For how long something has been starving; -1: nothing does. */
static int64_t starved_for(const struct prof_sample_rate_input *in)
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
		return PROF_SAMPLE_RATE_LOOK_NS;
	if (age < FRESH_NS)
		return CLOSE_NS;
	return age < RECENT_NS ? 2 * CLOSE_NS : PROF_SAMPLE_RATE_LOOK_NS;
}

/* Programs have rhythms of their own: no step of ours is quite like the one before. */
static int64_t jitter(struct prof_sample_rate *p, int64_t ns)
{
	p->random ^= p->random << 13;
	p->random ^= p->random >> 17;
	p->random ^= p->random << 5;
	return ns - ns / 8 + ns / 4 * (int64_t)(p->random & 1023) / 1024;
}

static int64_t limit(const struct prof_sample_rate *p, const struct prof_sample_rate_share *s)
{
	int64_t time_ns = s->time_ns > WINDOW_NS ? s->time_ns : WINDOW_NS;

	return time_ns / allowed[s == &p->share[1]];
}

static void slow_down(struct prof_sample_rate *p, struct prof_sample_rate_share *s)
{
	if (s->divider < DIVIDER_MAX) {
		s->divider *= 2;
		p->halvings++;
	} else if (!s->least) {
		s->least = true;
		s->patience = s->patience ? s->patience * 2 : CHEAP_WINDOWS;
		if (s->patience > LEAST_WINDOWS)
			s->patience = LEAST_WINDOWS;
		p->leasts++;
	}
}

static void speed_up(struct prof_sample_rate_share *s)
{
	s->cheap = 0;
	if (s->least)
		s->least = false;
	else
		s->divider /= 2;
}

/* What was spent beyond the share of the time that passed is paid for once. */
static bool was_saved(struct prof_sample_rate *p, const struct prof_sample_rate_share *s)
{
	int64_t beyond = s->cpu_ns - s->time_ns / allowed[1];

	if (s != &p->share[1] || !p->starving || beyond > p->saved_ns)
		return false;
	p->saved_ns -= beyond;
	return true;
}

/* The window is over, or all of it is spent: a thousand threads are found out within a second. */
static void judge(struct prof_sample_rate *p, struct prof_sample_rate_share *s)
{
	int64_t most_ns = limit(p, s);

	s->cheap = s->cpu_ns < most_ns / 3 ? s->cheap + 1 : 0;
	if (s->cpu_ns > most_ns && !was_saved(p, s))
		slow_down(p, s);
	else if (s->cheap >= (s->least ? s->patience : CHEAP_WINDOWS) && s->divider > 1)
		speed_up(s);
	s->time_ns = s->cpu_ns = 0;
}

/* The time since the last turn was spent as that turn found things. */
static void account(struct prof_sample_rate *p, const struct prof_sample_rate_input *in)
{
	struct prof_sample_rate_share *s = &p->share[p->alert];

	s->time_ns += in->now_ns - p->fed_ns;
	s->cpu_ns += in->cpu_ns - p->fed_cpu_ns;
	p->passed_ns = in->now_ns - p->fed_ns;
	p->fed_ns = in->now_ns;
	p->fed_cpu_ns = in->cpu_ns;
	if (s->time_ns >= WINDOW_NS || s->cpu_ns > limit(p, s))
		judge(p, s);
}

/* A short wait now and then is no reason to look out for the next one all the time. */
static void stay_alert(struct prof_sample_rate *p, int64_t now_ns)
{
	int64_t lasted = p->passed_ns < CLOSE_NS ? p->passed_ns : CLOSE_NS;

	if (p->alert_ns < now_ns)
		p->alert_ns = now_ns;
	p->alert_ns += lasted * ALERT_TIMES;
	if (p->alert_ns > now_ns + ALERT_NS)
		p->alert_ns = now_ns + ALERT_NS;
}

/* When to look out for the next wait: what has just opened may turn out to be one. */
static int64_t look_out(struct prof_sample_rate *p, const struct prof_sample_rate_input *in)
{
	uint32_t divider = p->share[p->alert].divider;

	if (in->waited_ns > 0 && in->waited_ns < OPEN_NS)
		return in->now_ns + OPEN_NS - in->waited_ns;
	if (in->now_ns < p->alert_ns)
		return in->now_ns + jitter(p, CLOSE_NS * divider);
	return INT64_MAX;
}

void prof_sample_rate_turn(struct prof_sample_rate *p, const struct prof_sample_rate_input *in,
			   struct prof_sample_rate_turn *out)
{
	int64_t age = starved_for(in), step;

	memset(out, 0, sizeof(*out));
	account(p, in);
	p->starving = out->starving = age >= 0;
	if (p->starving)
		stay_alert(p, in->now_ns);
	p->alert = p->starving || in->now_ns < p->alert_ns;
	out->least = p->share[p->alert].least;
	out->divider = p->share[p->alert].divider;
	step = interval(age) * out->divider;
	/* What was planned while all was well is too late now. */
	if (p->next_look_ns > in->now_ns + step + step / 8)
		p->next_look_ns = in->now_ns;
	if (in->now_ns >= p->next_look_ns) {
		out->look = true;
		step = jitter(p, step);
		out->period_ns = (uint32_t)step;
		p->next_look_ns = in->now_ns + step;
		p->left_out += out->divider - 1;
	}
	if (in->now_ns >= p->next_census_ns) {
		out->census = true;
		p->next_census_ns = in->now_ns +
				    PROF_SAMPLE_RATE_CENSUS_NS * (p->share[0].divider > out->divider
									  ? p->share[0].divider
									  : out->divider);
	}
	out->next_ns = look_out(p, in);
	if (p->next_look_ns < out->next_ns)
		out->next_ns = p->next_look_ns;
}
