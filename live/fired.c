/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of alerts.jsonl, out and in: one flat object of strings, integers and null.
 */
#include "fired.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/escape.h"

#define KEY_BYTES 32

/*
 * ---- out --------------------------------------------------------------------------------------
 */

struct out {
	char *text;
	size_t at;
	bool over;
};

__attribute__((format(printf, 2, 3))) static void put(struct out *o, const char *fmt, ...)
{
	size_t room = LIVE_FIRED_LINE - o->at;
	va_list list;
	int n;

	va_start(list, fmt);
	n = vsnprintf(o->text + o->at, room, fmt, list);
	va_end(list);
	o->over |= n < 0 || (size_t)n >= room;
	if (!o->over)
		o->at += (size_t)n;
}

static void put_string(struct out *o, const char *key, const char *text)
{
	char whole[LIVE_FIRED_LINE];

	base_escape_text(whole, sizeof(whole), BASE_AS_JSON, text);
	put(o, "\"%s\":\"%s\",", key, whole);
}

static void put_int(struct out *o, const char *key, int64_t v)
{
	put(o, "\"%s\":%" PRId64 ",", key, v);
}

static void put_event(struct out *o, const struct live_fired *f)
{
	put_int(o, "t_unix_ns", f->t_unix_ns);
	put_int(o, "since_unix_ns", f->since_unix_ns);
	put_string(o, "metric", live_metrics[f->metric].name);
	put_string(o, "unit", live_unit_names[live_metrics[f->metric].unit]);
	put_int(o, "value", f->value);
	put_int(o, "threshold", f->threshold);
	if (f->budget_pct)
		put_int(o, "budget_pct", f->budget_pct);
	if (f->exec[0])
		put_string(o, "exec", f->exec);
}

int live_fired_put(const struct live_fired *f, char *out)
{
	struct out o = { .text = out };

	put(&o, "{");
	put_string(&o, "schema", LIVE_FIRED_SCHEMA);
	put_string(&o, "by", f->by);
	put_string(&o, "condition", f->condition);
	if (f->ended)
		put_int(&o, "exec_status", f->status);
	else
		put_event(&o, f);
	if (o.over || o.at + 2 >= LIVE_FIRED_LINE)
		return -EMSGSIZE;
	memcpy(out + o.at - 1, "}\n", sizeof("}\n")); /* over the last comma */
	return (int)o.at + 1;
}

/*
 * ---- in ---------------------------------------------------------------------------------------
 */

struct in {
	const char *at, *end;
};

static bool is(struct in *i, char c)
{
	if (i->at == i->end || *i->at != c)
		return false;
	i->at++;
	return true;
}

/* Four hexadecimal digits; -1: they are none. */
static int hex4(struct in *i)
{
	int v = 0;

	for (int n = 0; n < 4; n++, i->at++) {
		char c = i->at < i->end ? *i->at : '\0';
		int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
		if (d < 0)
			return -1;
		v = 16 * v + d;
	}
	return v;
}

/* One character of a string; -1: the string is broken. */
static int get_char(struct in *i)
{
	int c = (unsigned char)*i->at++;

	if (c < 0x20)
		return -1;
	if (c != '\\')
		return c;
	if (is(i, 'u')) {
		c = hex4(i);
		return c > 0 && c < 0x80 ? c : c > 0 ? '?' : -1;
	}
	if (i->at == i->end || !strchr("\"\\/", *i->at))
		return -1;
	return *i->at++;
}

/* What is too long for @room is cut. */
static bool get_string(struct in *i, char *out, size_t room)
{
	size_t n = 0;

	if (!is(i, '"'))
		return false;
	while (i->at < i->end && *i->at != '"') {
		int c = get_char(i);
		if (c <= 0)
			return false;
		if (n + 1 < room)
			out[n++] = (char)c;
	}
	out[n] = '\0';
	return is(i, '"');
}

static bool get_int(struct in *i, int64_t *v)
{
	bool minus = is(i, '-');
	const char *begin = i->at;

	*v = 0;
	for (; i->at < i->end && *i->at >= '0' && *i->at <= '9'; i->at++)
		if (__builtin_mul_overflow(*v, 10, v) ||
		    __builtin_add_overflow(*v, *i->at - '0', v))
			return false;
	*v = minus ? -*v : *v;
	return i->at > begin;
}

struct known { /* what must have been there */
	bool schema, metric;
};

static bool take_text(struct live_fired *f, struct known *k, const char *key, const char *text)
{
#define KEEP(member) \
	snprintf(f->member, sizeof(f->member), "%.*s", (int)sizeof(f->member) - 1, text)
	if (!strcmp(key, "schema"))
		k->schema = !strcmp(text, LIVE_FIRED_SCHEMA);
	else if (!strcmp(key, "by"))
		KEEP(by);
	else if (!strcmp(key, "condition"))
		KEEP(condition);
	else if (!strcmp(key, "exec"))
		KEEP(exec);
	else if (!strcmp(key, "metric"))
		for (int m = 0; m < LIVE_METRICS; m++)
			if (!strcmp(live_metrics[m].name, text)) {
				f->metric = (enum live_metric)m;
				k->metric = true;
			}
#undef KEEP
	return true;
}

static void take_int(struct live_fired *f, const char *key, int64_t v)
{
	if (!strcmp(key, "t_unix_ns"))
		f->t_unix_ns = v;
	else if (!strcmp(key, "since_unix_ns"))
		f->since_unix_ns = v;
	else if (!strcmp(key, "value"))
		f->value = v;
	else if (!strcmp(key, "threshold"))
		f->threshold = v;
	else if (!strcmp(key, "budget_pct") && v > 0 && v <= 100)
		f->budget_pct = (int)v;
	else if (!strcmp(key, "exec_status") && v >= 0 && v < 256) {
		f->status = (int)v;
		f->ended = true;
	}
}

static bool member(struct in *i, struct live_fired *f, struct known *k)
{
	char key[KEY_BYTES], text[LIVE_FIRED_TEXT];
	int64_t v;

	if (!get_string(i, key, sizeof(key)) || !is(i, ':') || i->at == i->end)
		return false;
	if (*i->at == '"')
		return get_string(i, text, sizeof(text)) && take_text(f, k, key, text);
	if (!get_int(i, &v))
		return false;
	take_int(f, key, v);
	return true;
}

int live_fired_get(struct live_fired *f, const char *line, size_t len)
{
	struct in i = { line, line + len };
	struct known k = { 0 };

	*f = (struct live_fired){ 0 };
	if (len >= LIVE_FIRED_LINE || !is(&i, '{'))
		return -EBADMSG;
	do {
		if (!member(&i, f, &k))
			return -EBADMSG;
	} while (is(&i, ','));
	if (!is(&i, '}') || i.at != i.end || !k.schema || !f->by[0] || !f->condition[0] ||
	    !(f->ended || k.metric))
		return -EBADMSG;
	return 0;
}

/*
 * ---- for people -------------------------------------------------------------------------------
 */

const char *live_fired_words(char *out, const struct live_fired *f)
{
	char value[LIVE_VALUE_BYTES], whole[LIVE_VALUE_BYTES];

	live_value_text(value, f->metric, f->value);
	if (f->budget_pct) {
		/* The condition's own value is the part of it. */
		int64_t budget = (int64_t)(((__int128)f->threshold * 100 + f->budget_pct / 2) /
					   f->budget_pct);
		live_value_text(whole, f->metric, budget);
		snprintf(out, LIVE_WORDS_BYTES, "%d %% of the budget of %s is used: %s so far",
			 f->budget_pct, whole, value);
	} else {
		snprintf(out, LIVE_WORDS_BYTES, "%s %s (%s)", live_metrics[f->metric].what, value,
			 f->condition);
	}
	return out;
}

int live_fired_is_of_node(const struct dirent *e)
{
	return !strncmp(e->d_name, LIVE_FIRED_OTHERS, strlen(LIVE_FIRED_OTHERS));
}
