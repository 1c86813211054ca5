/* SPDX-License-Identifier: Apache-2.0 */
#include "screen.h"

#include <curses.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINE_BYTES 512
#define ALERTS_SHOWN 3

enum {
	PLAIN,
	GOOD,
	WARN,
	BAD
};

struct screen {
	struct top_snapshot snapshot;
	enum top_sort sort;
	size_t first; /* row at the top of the table */
	size_t room; /* rows that fit there */
	bool paused, colour;
};

/* Bytes of a line as wide as the screen. */
static size_t width(void)
{
	return COLS + 1 < LINE_BYTES ? (size_t)COLS + 1 : LINE_BYTES;
}

static attr_t shade(const struct screen *s, int what)
{
	if (!s->colour)
		return what == BAD ? A_BOLD : A_NORMAL;
	return what == PLAIN ? A_NORMAL : (attr_t)COLOR_PAIR(what);
}

/* One line at the screen's row, cut at its end; the rest of the row is blank. */
static int put(int y, attr_t attr, const char *text)
{
	if (y < 0 || y >= LINES)
		return y + 1;
	move(y, 0);
	clrtoeol();
	attrset(attr);
	addnstr(text, COLS);
	attrset(A_NORMAL);
	return y + 1;
}

static int row_shade(const struct top_row *r)
{
	if (r->gap == LIVE_GAP_SILENT || r->gap == LIVE_GAP_KILLED)
		return BAD;
	if (!r->share.known)
		return PLAIN;
	if (r->share.starved_ppm >= 200000)
		return BAD;
	return r->share.starved_ppm >= 50000 ? WARN : r->share.busy_ppm >= 900000 ? GOOD : PLAIN;
}

static int draw_top(struct screen *s)
{
	char line[LINE_BYTES];
	int y = 0;

	top_head(&s->snapshot, line, width());
	y = put(y, A_BOLD, line);
	top_sums(&s->snapshot, line, width());
	y = put(y, A_NORMAL, line);
	top_state(&s->snapshot, line, width());
	y = put(y, s->snapshot.trouble[0] ? shade(s, BAD) : A_NORMAL, line);
	for (size_t i = 0; i < s->snapshot.alerts && i < ALERTS_SHOWN && LINES > 12; i++) {
		top_alert_line(&s->snapshot.alert[i], line, width());
		y = put(y, shade(s, BAD), line);
	}
	return y;
}

static int draw_rows(struct screen *s, int y)
{
	char line[LINE_BYTES];

	top_row_line(NULL, COLS, line, width());
	y = put(y, A_REVERSE, line);
	s->room = LINES - y > 1 ? (size_t)(LINES - y - 1) : 0;
	if (s->first + s->room > s->snapshot.rows)
		s->first = s->snapshot.rows > s->room ? s->snapshot.rows - s->room : 0;
	for (size_t i = 0; i < s->room; i++) {
		line[0] = '\0';
		const struct top_row *r =
			s->first + i < s->snapshot.rows ? &s->snapshot.row[s->first + i] : NULL;
		if (r)
			top_row_line(r, COLS, line, width());
		y = put(y, r ? shade(s, row_shade(r)) : A_NORMAL, line);
	}
	return y;
}

static void draw(struct screen *s)
{
	char line[LINE_BYTES];
	size_t last = s->first + s->room;

	top_sort(&s->snapshot, s->sort);
	draw_rows(s, draw_top(s));
	last = s->first + s->room < s->snapshot.rows ? s->first + s->room : s->snapshot.rows;
	snprintf(line, sizeof(line), "q quit  s sort: %s  p %s  rows %zu-%zu of %zu",
		 top_sort_names[s->sort], s->paused ? "go on (paused)" : "pause",
		 s->snapshot.rows ? s->first + 1 : 0, last, s->snapshot.rows);
	put(LINES - 1, A_REVERSE, line);
	refresh();
}

/* False: the user quits. */
static bool take_key(struct screen *s, int key)
{
	size_t page = s->room > 1 ? s->room - 1 : 1;

	switch (key) {
	case 'q':
	case 'Q':
		return false;
	case 's':
		s->sort = (enum top_sort)((s->sort + 1) % TOP_SORTS);
		break;
	case 'p':
		s->paused = !s->paused;
		break;
	case KEY_DOWN:
	case 'j':
		s->first++;
		break;
	case KEY_UP:
	case 'k':
		s->first -= s->first > 0;
		break;
	case KEY_NPAGE:
	case ' ':
		s->first += page;
		break;
	case KEY_PPAGE:
		s->first -= s->first < page ? s->first : page;
		break;
	case KEY_HOME:
		s->first = 0;
		break;
	case KEY_END:
		s->first = s->snapshot.rows;
		break;
	case KEY_RESIZE:
		clearok(stdscr, TRUE); /* what terminals make of the old picture differs */
		break;
	default:
		break;
	}
	return true;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int take_look(struct screen *s, struct top_source *source)
{
	struct top_snapshot l;
	int err = source->fetch(source, &l);

	if (err)
		return err;
	if (l.trouble[0] && s->snapshot.rows) { /* what was known stays, with why it is old */
		memcpy(s->snapshot.trouble, l.trouble, sizeof(l.trouble));
		top_snapshot_fini(&l);
		return 0;
	}
	top_snapshot_fini(&s->snapshot);
	s->snapshot = l;
	return 0;
}

static int loop(struct screen *s, struct top_source *source, int interval_ms)
{
	int64_t due = now_ms() + interval_ms;
	int err = 0, key;

	for (;;) {
		draw(s);
		int64_t left = due - now_ms();
		timeout(left > 0 ? (int)left : 0);
		key = getch();
		if (key != ERR && !take_key(s, key))
			return 0;
		if (now_ms() < due)
			continue;
		due = now_ms() + interval_ms;
		if (!s->paused)
			err = take_look(s, source);
		if (err)
			return err;
		if (key == ERR && !isatty(STDIN_FILENO))
			return 0; /* the terminal is gone */
	}
}

static void set_colours(struct screen *s)
{
	const char *none = getenv("NO_COLOR");

	s->colour = !(none && none[0]) && has_colors() && start_color() != ERR;
	if (!s->colour)
		return;
	use_default_colors();
	init_pair(GOOD, COLOR_GREEN, -1);
	init_pair(WARN, COLOR_YELLOW, -1);
	init_pair(BAD, COLOR_RED, -1);
}

int top_screen_run(struct top_source *source, int interval_ms, enum top_sort sort)
{
	struct screen s = { .sort = sort };
	SCREEN *terminal;
	int err = take_look(&s, source); /* errors are said before the terminal is taken */

	if (err)
		return err;
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal) {
		top_snapshot_fini(&s.snapshot);
		return -ENOTTY;
	}
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	set_colours(&s);
	err = loop(&s, source, interval_ms);
	endwin();
	delscreen(terminal);
	top_snapshot_fini(&s.snapshot);
	return err;
}
