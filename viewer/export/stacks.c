/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classes and sites of the summary as stacks.
 */
#include "stacks.h"

#include "units.h"
#include "wire/evidence.h"

static struct view_frame *push(struct view_stack *s, const char *name)
{
	struct view_frame *f = &s->frame[s->frames];

	if (s->frames == VIEW_STACK_FRAMES)
		return NULL;
	s->frames++;
	view_text_valid(f->name, sizeof(f->name), name, strlen(name));
	f->file[0] = '\0';
	f->line = 0;
	return f;
}

static void push_line(struct view_stack *s, const char *function, const char *file, int64_t line)
{
	struct view_frame *f = push(s, function);

	if (!f)
		return;
	view_text_valid(f->file, sizeof(f->file), file, strlen(file));
	f->line = line;
}

static const char *role_name(uint8_t role)
{
	static const char *const names[] = { "thread of the trainer", "training thread",
					     "loader worker", "pin-memory thread",
					     "thread of a loader worker" };

	return role < sizeof(names) / sizeof(names[0]) ? names[role] : "thread";
}

static const char *wait_name(uint8_t wait)
{
	static const char *const names[] = {
		NULL,
		"reads a file",
		"writes a file",
		"page fault",
		"network",
		"pipe",
		"queue",
		"sleeps",
		"Python's GIL",
		"lock between processes",
		"lock",
		"child process",
		"the driver",
		"stopped",
		"blocked",
		"blocked",
	};

	return wait < sizeof(names) / sizeof(names[0]) ? names[wait] : "blocked";
}

/* "function\tfile" or "module\toffset\tid" of the first line. */
static void push_tabbed(struct view_stack *s, const char *text)
{
	char function[VIEW_FRAME_BYTES], file[VIEW_FRAME_BYTES];
	size_t n = strcspn(text, "\t\n"), m;

	snprintf(function, sizeof(function), "%.*s", (int)(n < 500 ? n : 500), text);
	text += n + (text[n] == '\t');
	m = strcspn(text, "\t\n");
	snprintf(file, sizeof(file), "%.*s", (int)(m < 500 ? m : 500), text);
	push_line(s, function, file, 0);
}

static void push_wait(struct view_stack *s, const struct ana_site *site)
{
	const char *wait = wait_name(site->wait);
	char text[VIEW_FRAME_BYTES];

	if (site->runnable) {
		push(s, "waits for a CPU");
		return;
	}
	if (!wait)
		return;
	snprintf(text, sizeof(text), "waits: %s%s%.300s%s%.60s%s", wait, site->target ? " " : "",
		 site->target ? site->target : "", site->fs ? " (" : "", site->fs ? site->fs : "",
		 site->fs ? ")" : "");
	push(s, text);
}

static void begin(struct view_export *x, struct view_stack *s, int c)
{
	s->frames = 0;
	s->c = c;
	if (x->summary->result->simulated)
		push(s, "simulated GPU (a model)");
	push(s, ana_class_names[c]);
}

static int64_t share(const struct view_summary *s, int c, int64_t ns)
{
	int64_t whole = s->result->classes[c];

	return whole > 0 ? view_div_even((__int128)s->cost.classes[c] * ns, whole) : 0;
}

struct class_walk {
	struct view_export *x;
	struct view_stack *s;
	int (*take)(void *arg, const struct view_stack *s);
	void *arg;
	int64_t left_ns, left_usd;
};

static int take_site(struct class_walk *w, const struct ana_site *site)
{
	struct view_stack *s = w->s;

	s->ns = site->ns < w->left_ns ? site->ns : w->left_ns;
	s->nano_usd = share(w->x->summary, (int)site->class, s->ns);
	if (s->nano_usd > w->left_usd)
		s->nano_usd = w->left_usd;
	if (s->ns <= 0)
		return 0;
	w->left_ns -= s->ns;
	w->left_usd -= s->nano_usd;
	begin(w->x, s, (int)site->class);
	push(s, role_name(site->role));
	if (site->function)
		push_line(s, site->function, site->file ? site->file : "", site->line);
	if (site->leaf)
		push_tabbed(s, site->leaf);
	if (site->native)
		push_tabbed(s, site->native);
	push_wait(s, site);
	return w->take(w->arg, s);
}

static int take_class(struct class_walk *w, int c)
{
	const struct ana_result *r = w->x->summary->result;
	bool sites = false;
	size_t i;
	int err = 0;

	w->left_ns = r->classes[c];
	w->left_usd = w->x->summary->cost.classes[c];
	for (i = 0; i < r->sites && !err; i++)
		if ((int)r->site[i].class == c) {
			err = take_site(w, &r->site[i]);
			sites = true;
		}
	if (err || w->left_ns <= 0)
		return err;
	begin(w->x, w->s, c);
	if (sites)
		push(w->s, "no sample tells");
	w->s->ns = w->left_ns;
	w->s->nano_usd = w->left_usd;
	return w->take(w->arg, w->s);
}

int view_export_stacks(struct view_export *x, int (*take)(void *arg, const struct view_stack *s),
		       void *arg)
{
	static _Thread_local struct view_stack stack;
	struct class_walk w = { .x = x, .s = &stack, .take = take, .arg = arg };
	int c, err = 0;

	for (c = ANA_COPY + 1; c < ANA_CLASSES && !err; c++)
		if (c != ANA_COMM_SKEW)
			err = take_class(&w, c);
	return err;
}
