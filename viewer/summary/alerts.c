/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The alerts that fired, out of the run directory's alerts.jsonl and of what nodes sent of theirs.
 * Every byte of them is hostile.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/files.h"
#include "live/fired.h"
#include "summary.h"
#include "summary_priv.h"

#define ALERTS_MAX 64 /* that a summary has: two watchers with all they may watch */

/*
 * The end of a command belongs to the last alert of its condition and watcher, in its file: from
 * @first on.
 */
static void take_end(struct view_summary *s, size_t first, const struct live_fired *f)
{
	for (size_t i = s->alerts; i-- > first;) {
		struct view_alert *a = &s->alert[i];
		if (strcmp(a->condition, f->condition) || strcmp(a->by, f->by))
			continue;
		a->exec_status = f->status;
		return;
	}
}

static void take_line(struct view_summary *s, size_t first, const char *line, size_t len)
{
	char words[LIVE_WORDS_BYTES];
	struct live_fired f;

	if (live_fired_get(&f, line, len))
		return;
	if (f.ended) {
		take_end(s, first, &f);
		return;
	}
	if (s->alerts == ALERTS_MAX)
		return;
	s->alert[s->alerts++] =
		(struct view_alert){ .by = base_arena_text(&s->mem, f.by),
				     .condition = base_arena_text(&s->mem, f.condition),
				     .text = base_arena_text(&s->mem, live_fired_words(words, &f)),
				     .metric = live_metrics[f.metric].name,
				     .unit = live_unit_names[live_metrics[f.metric].unit],
				     .t_unix_ns = f.t_unix_ns,
				     .since_unix_ns = f.since_unix_ns,
				     .value = f.value,
				     .budget_pct = f.budget_pct,
				     .exec = f.exec[0] ? base_arena_text(&s->mem, f.exec) : NULL,
				     .exec_status = -1 };
}

static void take_file(struct view_summary *s, const char *run, const char *name)
{
	size_t first = s->alerts, len, lines = 0;
	char *path = NULL, *text = NULL;

	if (asprintf(&path, "%s/%s", run, name) < 0)
		return;
	if (base_file_read(path, &text, &len))
		goto out;
	if (!s->alert)
		s->alert = base_arena_array(&s->mem, ALERTS_MAX, sizeof(*s->alert));
	for (char *line = text, *end; lines < LIVE_FIRED_LINES; lines++, line = end + 1) {
		end = memchr(line, '\n', len - (size_t)(line - text));
		if (!end)
			break;
		take_line(s, first, line, (size_t)(end - line));
	}
	free(text);
out:
	free(path);
}

static void take_run(struct view_summary *s, const char *run)
{
	struct dirent **name = NULL;
	int n;

	take_file(s, run, LIVE_FIRED_FILE);
	n = scandir(run, &name, live_fired_is_of_node, alphasort);
	for (int i = 0; i < n; i++) {
		if (s->alerts < ALERTS_MAX)
			take_file(s, run, name[i]->d_name);
		free(name[i]);
	}
	free(name);
}

static int by_time(const void *a, const void *b)
{
	const struct view_alert *x = a, *y = b;

	return x->t_unix_ns < y->t_unix_ns ? -1 : x->t_unix_ns > y->t_unix_ns;
}

/* Of a job those of all its runs, in the order in which they fired. */
void summary_make_alerts(struct view_summary *s, const struct view_trace *t)
{
	for (size_t i = 0; t && i < t->parts; i++)
		take_run(s, t->part[i].path);
	if (s->alerts)
		qsort(s->alert, s->alerts, sizeof(*s->alert), by_time);
}

void summary_put_alerts(struct base_jsonout *j, const struct view_summary *s)
{
	if (!s->alerts)
		return;
	base_json_array(j, "alerts");
	for (size_t i = 0; i < s->alerts; i++) {
		const struct view_alert *a = &s->alert[i];
		base_json_object(j, NULL);
		base_json_string(j, "by", a->by);
		base_json_string(j, "condition", a->condition);
		base_json_string(j, "text", a->text);
		base_json_int(j, "t_unix_ns", a->t_unix_ns);
		base_json_int(j, "since_unix_ns", a->since_unix_ns);
		base_json_string(j, "metric", a->metric);
		base_json_string(j, "unit", a->unit);
		base_json_int(j, "value", a->value);
		if (a->budget_pct)
			base_json_int(j, "budget_pct", a->budget_pct);
		if (a->exec)
			base_json_string(j, "exec", a->exec);
		if (a->exec_status >= 0)
			base_json_int(j, "exec_status", a->exec_status);
		base_json_end(j);
	}
	base_json_end(j);
}

void summary_read_alerts(struct view_summary *s, const struct base_json *alerts)
{
	s->alert = base_arena_array(&s->mem, ALERTS_MAX, sizeof(*s->alert));
	BASE_JSON_EACH(n, alerts) {
		if (s->alerts == ALERTS_MAX)
			return;
		s->alert[s->alerts++] = (struct view_alert){
			.by = summary_text_or_empty(s, n, "by"),
			.condition = summary_text_or_empty(s, n, "condition"),
			.text = summary_text_or_empty(s, n, "text"),
			.metric = summary_text_or_empty(s, n, "metric"),
			.unit = summary_text_or_empty(s, n, "unit"),
			.t_unix_ns = summary_stamp(n, "t_unix_ns"),
			.since_unix_ns = summary_stamp(n, "since_unix_ns"),
			.value = base_json_get_int(n, "value", 0),
			.budget_pct = (int)summary_within(n, "budget_pct", 0, 0, 100),
			.exec = summary_text(s, n, "exec"),
			.exec_status = (int)summary_within(n, "exec_status", -1, -1, 255)
		};
	}
}
