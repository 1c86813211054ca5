/* SPDX-License-Identifier: Apache-2.0 */
#include "savings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/minmax.h"
#include "rollup.h"

struct piece { /* of advice */
	uint32_t id; /* in ids, in the order in which they came */
	const char *name;
	bool known; /* what it saves is */
	int64_t ns, usd;
	const char *class, *title, *brief, *place;
};

enum name {
	PROGRAM,
	USER,
	TEAM,
	PROJECT,
	NAMES
};

struct run {
	uint32_t training;
	const char *name[NAMES];
	int64_t start_ns;
	const char *id;
	bool within; /* the query */
	bool counts; /* its cost and steps are known */
	int64_t steps, usd;
	struct piece *piece; /* by name: a store gives rows in any order */
	size_t pieces;
};

struct stretch { /* runs of one training with the same advice */
	size_t from, to;
	base_wide steps, usd; /* of those that count */
	base_wide later_runs, later_steps, later_usd; /* within the query: before this stretch */
	size_t made; /* what was adopted when it began, + 1; 0: nothing */
	size_t ended; /* the first of what is told again as it begins, + 1 */
};

struct active { /* what was adopted, while nothing of it is told again */
	size_t at; /* the stretch that began with it */
	size_t ended; /* the next one that ends there, + 1 */
	size_t before, behind; /* adopted, + 1 */
	base_wide from_steps; /* later_steps since when the one behind it is there */
	base_wide realised; /* but for what was not taken off yet */
};

struct savings { /* at work */
	struct fleet_savings *out;
	const struct fleet_query *q;
	struct fleet_digest *d;
	struct fleet_table trainings, ids, texts;
	struct run *run;
	size_t runs, room;
	uint32_t *next; /* of each id, the stretch that has it next */
	uint32_t *stamp; /* and of which training that is, + 1 */
	size_t adopted_room, active_room, open_room;
	struct active *active; /* of each adopted one */
	size_t last; /* of the training's that is active, + 1 */
};

/* --- from digests --- */

static int64_t step_cost(const struct fleet_digest *d)
{
	int64_t usd = fleet_digest_usd(d);

	for (size_t i = 0; i < d->shares; i++)
		if (!strncmp(d->share[i].class, "excluded.", 9))
			usd -= base_min(d->share[i].usd, usd);
	return usd;
}

static int by_piece(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void set_fix(struct savings *v, struct piece *p, const char *id)
{
	for (size_t i = 0; i < v->d->fixes; i++) {
		const struct fleet_fix *f = &v->d->fix[i];
		const char *const key[] = { f->class, f->title, f->brief, f->place };
		const struct fleet_group *g;

		if (strcmp(f->id, id) != 0)
			continue;
		g = fleet_table_at(&v->texts, 4, key);
		*p = (struct piece){ p->id,	p->name,   true,      f->ns,	f->usd,
				     g->key[0], g->key[1], g->key[2], g->key[3] };
		return;
	}
	p->class = p->title = p->brief = p->place = "";
}

static void set_pieces(struct savings *v, struct run *r)
{
	const struct fleet_program *p = &v->d->program;

	r->piece = base_arena_array(&v->out->mem, p->advices, sizeof(*r->piece));
	for (size_t i = 0; i < p->advices; i++) {
		const char *id = p->advice[i];
		struct piece *piece = &r->piece[r->pieces++];

		piece->id = (uint32_t)(fleet_table_at(&v->ids, 1, &id) - v->ids.group);
		piece->name = v->ids.group[piece->id].key[0];
		set_fix(v, piece, id);
	}
	if (r->pieces)
		qsort(r->piece, r->pieces, sizeof(*r->piece), by_piece);
}

static void add_run(struct savings *v)
{
	const struct fleet_digest *d = v->d;
	const char *const key[] = { d->tenant, d->program.fingerprint };
	const char *const name[NAMES] = { d->program.name, d->user, d->team, d->project };
	const struct fleet_group *g = fleet_table_at(&v->trainings, 2, key);
	struct run *r;

	v->run = fleet_widened(v->run, v->runs, &v->room, sizeof(*v->run));
	r = &v->run[v->runs++];
	*r = (struct run){ .training = (uint32_t)(g - v->trainings.group),
			   .start_ns = d->start_unix_ns,
			   .id = base_arena_text(&v->out->mem, d->run),
			   .within = d->start_unix_ns >= v->q->since_ns,
			   .counts = d->program.steps > 0 && fleet_digest_priced(d),
			   .steps = d->program.steps,
			   .usd = step_cost(d) };
	g = fleet_table_at(&v->texts, NAMES, name);
	memcpy(r->name, g->key, sizeof(r->name));
	set_pieces(v, r);
}

static void on_digest(void *arg, const struct fleet_cell *cell)
{
	struct savings *v = arg;
	const struct fleet_program *p = &v->d->program;
	const char *why, *text = cell[0].text;

	if (!text || !strstr(text, "\"fingerprint\":") ||
	    fleet_digest_read(v->d, text, strlen(text), &why) || !p->fingerprint[0])
		return;
	v->out->told += v->d->start_unix_ns >= v->q->since_ns;
	if (!p->steps || p->steps >= FLEET_SAVINGS_STEPS)
		add_run(v);
	else
		v->out->passed_over += v->d->start_unix_ns >= v->q->since_ns;
}

/* --- stretches --- */

static int by_start(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	if (x->training != y->training)
		return x->training < y->training ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return strcmp(x->id, y->id);
}

static bool same_advice(const struct run *a, const struct run *b)
{
	if (a->pieces != b->pieces)
		return false;
	for (size_t i = 0; i < a->pieces; i++)
		if (a->piece[i].id != b->piece[i].id)
			return false;
	return true;
}

static const struct piece *piece_of(const struct run *r, uint32_t id)
{
	for (size_t i = 0; i < r->pieces; i++)
		if (r->piece[i].id == id)
			return &r->piece[i];
	return NULL;
}

/* Stretches of the runs from @from to @to, with how much there was within the query before each. */
static size_t divide(const struct run *run, size_t from, size_t to, struct stretch *s)
{
	base_wide runs = 0, steps = 0, usd = 0;
	size_t n = 0;

	for (size_t i = from; i < to; i++) {
		if (i == from || !same_advice(&run[i - 1], &run[i]))
			s[n++] = (struct stretch){ .from = i,
						   .later_runs = runs,
						   .later_steps = steps,
						   .later_usd = usd };
		s[n - 1].to = i + 1;
		if (!run[i].counts)
			continue;
		s[n - 1].steps += run[i].steps;
		s[n - 1].usd += run[i].usd;
		runs += run[i].within;
		steps += run[i].within ? run[i].steps : 0;
		usd += run[i].within ? run[i].usd : 0;
	}
	s[n] = (struct stretch){
		.from = to, .to = to, .later_runs = runs, .later_steps = steps, .later_usd = usd
	};
	return n;
}

/* --- what was adopted --- */

/* Pieces of @before that @after has not. */
static size_t vanished(const struct run *before, const struct run *after,
		       const struct piece *out[FLEET_ADVICE_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < before->pieces && n < FLEET_ADVICE_MAX; i++)
		if (!piece_of(after, before->piece[i].id))
			out[n++] = &before->piece[i];
	return n;
}

/* Is no other one of the same class that is to save more, or as much and stands before it? */
static bool is_largest(const struct run *r, const struct piece *p,
		       const struct piece *const gone[FLEET_ADVICE_MAX], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct piece *o = piece_of(r, gone[i]->id);

		if (o != p && o->known && !strcmp(o->class, p->class) &&
		    (o->usd > p->usd || (o->usd == p->usd && by_piece(o, p) < 0)))
			return false;
	}
	return true;
}

/* What they would have saved of a run, at most. */
static base_wide promise_of(const struct run *r, const struct piece *const gone[FLEET_ADVICE_MAX],
			    size_t n)
{
	base_wide usd = 0;

	for (size_t i = 0; i < n; i++) {
		const struct piece *p = piece_of(r, gone[i]->id);

		if (p->known && is_largest(r, p, gone, n))
			usd += p->usd;
	}
	return usd < r->usd ? usd : r->usd;
}

/* a x b / c, half to even; false: c is 0, or it is too large. */
static bool ratio(base_wide a, base_wide b, base_wide c, base_wide *out)
{
	base_wide product;

	if (c <= 0 || __builtin_mul_overflow(a, b, &product))
		return false;
	*out = base_div_even_wide(product, c);
	return base_wide_size(*out) <= BASE_WIDE_MAX;
}

static const char *names(struct savings *v, const struct piece *const gone[FLEET_ADVICE_MAX],
			 size_t n)
{
	const char *text = "";

	for (size_t i = 0; i < n; i++)
		text = base_arena_printf(&v->out->mem, "%s%s%s", text, i ? ", " : "",
					 gone[i]->name);
	return text;
}

/* @stop: the first stretch behind @k that was told any of them again, or the one after the last. */
static void adopt(struct savings *v, struct fleet_training *t, struct stretch *s, size_t k,
		  size_t stop, const struct piece *const gone[FLEET_ADVICE_MAX], size_t n,
		  bool again)
{
	const struct stretch *a = &s[k - 1], *b = &s[k];
	struct fleet_adopted *o;
	base_wide steps = s[stop].later_steps - b->later_steps, promised = 0;
	size_t i = v->out->adoptions;

	if (!(s[stop].later_runs - b->later_runs))
		return;
	for (size_t r = a->from; r < a->to; r++)
		promised += v->run[r].counts ? promise_of(&v->run[r], gone, n) : 0;
	v->out->adopted = fleet_widened(v->out->adopted, i, &v->adopted_room, sizeof(*o));
	v->active = fleet_widened(v->active, i, &v->active_room, sizeof(*v->active));
	o = &v->out->adopted[v->out->adoptions++];
	*o = (struct fleet_adopted){ .of = t,
				     .fixes = names(v, gone, n),
				     .since_ns = v->run[b->from].start_ns,
				     .until_ns = again ? v->run[s[stop].from].start_ns : INT64_MAX,
				     .runs = s[stop].later_runs - b->later_runs,
				     .steps = steps };
	v->active[i] = (struct active){ .at = k };
	o->known = ratio(promised, steps, a->steps, &o->promised_usd) &&
		   ratio(a->usd, steps, a->steps, &v->active[i].realised);
	if (!o->known)
		return;
	s[k].made = i + 1;
	v->active[i].ended = s[stop].ended;
	s[stop].ended = i + 1;
}

/* From the last stretch to the first, so that it is known where a piece is told next. */
static void find_adopted(struct savings *v, struct fleet_training *t, struct stretch *s, size_t n)
{
	uint32_t stamp = (uint32_t)(t - v->out->training) + 1;
	const struct piece *gone[FLEET_ADVICE_MAX];

	for (size_t k = n; k-- > 0;) {
		const struct run *r = &v->run[s[k].from];
		size_t count = k ? vanished(&v->run[s[k - 1].from], r, gone) : 0, stop = n;

		for (size_t i = 0; i < count; i++)
			if (v->stamp[gone[i]->id] == stamp && v->next[gone[i]->id] < stop)
				stop = v->next[gone[i]->id];
		if (count)
			adopt(v, t, s, k, stop, gone, count, stop < n);
		for (size_t i = 0; i < r->pieces; i++) {
			v->stamp[r->piece[i].id] = stamp;
			v->next[r->piece[i].id] = (uint32_t)k;
		}
	}
}

/* --- what came of it --- */

/*
 * Of the steps since the last time up to @to: what they cost is taken off, or, where one behind it
 * was adopted, too, what a step cost just before that.
 */
static void take_off(struct savings *v, const struct stretch *s, struct active *a,
		     const struct stretch *to, base_wide usd)
{
	base_wide steps = to->later_steps - a->from_steps, paid = usd;

	if (a->behind) {
		const struct stretch *b = &s[v->active[a->behind - 1].at - 1];

		if (!ratio(b->usd, steps, b->steps, &paid))
			v->out->adopted[a - v->active].known = false;
	}
	a->realised -= paid;
	a->from_steps = to->later_steps;
}

static void begin_active(struct savings *v, const struct stretch *s, size_t k)
{
	size_t i = s[k].made;
	struct active *a = &v->active[i - 1];

	if (v->last)
		v->active[v->last - 1].behind = i;
	a->before = v->last;
	a->behind = 0;
	a->from_steps = s[k].later_steps;
	v->last = i;
}

static void end_active(struct savings *v, const struct stretch *s, size_t k, size_t i)
{
	struct active *a = &v->active[i - 1];

	if (a->behind)
		take_off(v, s, a, &s[k], 0);
	if (a->before) {
		take_off(v, s, &v->active[a->before - 1], &s[k], 0);
		v->active[a->before - 1].behind = a->behind;
	}
	if (a->behind)
		v->active[a->behind - 1].before = a->before;
	else
		v->last = a->before;
}

/* What the runs of each stretch cost is of the last that was adopted and is not told again. */
static void find_realised(struct savings *v, struct stretch *s, size_t n)
{
	v->last = 0;
	for (size_t k = 0; k <= n; k++) {
		for (size_t i = s[k].ended; i; i = v->active[i - 1].ended)
			end_active(v, s, k, i);
		if (s[k].made)
			begin_active(v, s, k);
		if (k < n && v->last)
			take_off(v, s, &v->active[v->last - 1], &s[k + 1],
				 s[k + 1].later_usd - s[k].later_usd);
	}
}

static void sum_adopted(struct savings *v, size_t from)
{
	for (size_t i = from; i < v->out->adoptions; i++) {
		struct fleet_adopted *o = &v->out->adopted[i];

		o->realised_usd = v->active[i].realised;
		if (!o->known)
			o->promised_usd = o->realised_usd = 0;
		v->out->promised_usd += o->promised_usd;
		v->out->realised_usd += o->realised_usd;
	}
}

/* --- what is open --- */

/* All runs up to the last that were told it. */
static void add_open(struct savings *v, struct fleet_training *t, size_t from, size_t to,
		     uint32_t id)
{
	struct fleet_open o = {
		.of = t, .id = v->ids.group[id].key[0], .title = "", .brief = "", .place = ""
	};

	for (size_t i = to; i-- > from;) {
		const struct run *r = &v->run[i];
		const struct piece *p = piece_of(r, id);

		if (!p)
			break;
		o.since_ns = r->start_ns;
		if (!r->within)
			continue;
		o.last_run = o.last_run ? o.last_run : r->id;
		o.runs++;
		o.ns += p->ns;
		o.usd += p->usd;
		if (!o.title[0] && p->known) {
			o.title = base_arena_text(&v->out->mem, p->title);
			o.brief = base_arena_text(&v->out->mem, p->brief);
			o.place = base_arena_text(&v->out->mem, p->place);
		}
	}
	if (!o.runs)
		return;
	o.id = base_arena_text(&v->out->mem, o.id);
	v->out->open = fleet_widened(v->out->open, v->out->opens, &v->open_room, sizeof(o));
	v->out->open[v->out->opens++] = o;
}

/* --- all of it --- */

static void name_training(struct savings *v, struct fleet_training *t, const struct run *last)
{
	const struct fleet_group *g = &v->trainings.group[last->training];
	struct base_arena *mem = &v->out->mem;

	*t = (struct fleet_training){ .tenant = base_arena_text(mem, g->key[0]),
				      .fingerprint = base_arena_text(mem, g->key[1]),
				      .program = base_arena_text(mem, last->name[PROGRAM]),
				      .user = base_arena_text(mem, last->name[USER]),
				      .team = base_arena_text(mem, last->name[TEAM]),
				      .project = base_arena_text(mem, last->name[PROJECT]) };
}

static void judge(struct savings *v, size_t from, size_t to, struct stretch *s)
{
	struct fleet_training *t = &v->out->training[v->out->trainings++];
	const struct run *last = &v->run[to - 1];
	size_t n = divide(v->run, from, to, s), first = v->out->adoptions;

	name_training(v, t, last);
	find_adopted(v, t, s, n);
	find_realised(v, s, n);
	sum_adopted(v, first);
	for (size_t i = 0; i < last->pieces; i++)
		add_open(v, t, from, to, last->piece[i].id);
}

static int judge_all(struct savings *v)
{
	struct stretch *s = calloc(v->runs + 1, sizeof(*s));
	size_t to;

	v->next = calloc(v->ids.groups + 1, sizeof(*v->next));
	v->stamp = calloc(v->ids.groups + 1, sizeof(*v->stamp));
	if (!s || !v->next || !v->stamp) {
		free(s);
		return -ENOMEM;
	}
	v->out->training =
		base_arena_array(&v->out->mem, v->trainings.groups, sizeof(*v->out->training));
	if (v->runs)
		qsort(v->run, v->runs, sizeof(*v->run), by_start);
	for (size_t from = 0; from < v->runs; from = to) {
		for (to = from + 1; to < v->runs && v->run[to].training == v->run[from].training;)
			to++;
		judge(v, from, to, s);
	}
	free(s);
	return 0;
}

static int by_name(const struct fleet_training *x, const struct fleet_training *y)
{
	int order = strcmp(x->tenant, y->tenant);

	return order ? order : strcmp(x->fingerprint, y->fingerprint);
}

static int by_promise(const void *a, const void *b)
{
	const struct fleet_adopted *x = a, *y = b;
	int order = by_name(x->of, y->of);

	if (x->known != y->known)
		return x->known ? -1 : 1;
	if (x->promised_usd != y->promised_usd)
		return x->promised_usd > y->promised_usd ? -1 : 1;
	if (order)
		return order;
	return x->since_ns != y->since_ns ? (x->since_ns < y->since_ns ? -1 : 1)
					  : strcmp(x->fixes, y->fixes);
}

static int by_dollars(const void *a, const void *b)
{
	const struct fleet_open *x = a, *y = b;
	int order = by_name(x->of, y->of);

	if (x->usd != y->usd)
		return x->usd > y->usd ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return order ? order : strcmp(x->id, y->id);
}

int fleet_savings_collect(struct fleet_savings *out, struct fleet_store *s,
			  const struct fleet_query *q)
{
	struct savings v = { .out = out, .q = q, .d = malloc(sizeof(*v.d)) };
	struct fleet_query all = *q;
	int err = v.d ? 0 : -ENOMEM;

	all.since_ns = INT64_MIN;
	if (!err)
		err = fleet_store_read(s, FLEET_VIEW_DIGESTS, &all, on_digest, &v);
	if (!err)
		err = judge_all(&v);
	if (out->adoptions)
		qsort(out->adopted, out->adoptions, sizeof(*out->adopted), by_promise);
	if (out->opens)
		qsort(out->open, out->opens, sizeof(*out->open), by_dollars);
	free(v.d);
	free(v.run);
	free(v.next);
	free(v.stamp);
	free(v.active);
	fleet_table_fini(&v.trainings);
	fleet_table_fini(&v.ids);
	fleet_table_fini(&v.texts);
	return err;
}

void fleet_savings_fini(struct fleet_savings *v)
{
	base_arena_fini(&v->mem);
	free(v->adopted);
	free(v->open);
}
