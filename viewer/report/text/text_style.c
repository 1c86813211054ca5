/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "core/wrap.h"
#include "text.h"

#define COLUMNS_MIN 20

const struct view_text_style view_text_style_plain = { .columns = VIEW_COLUMNS };

static bool is_terminal(FILE *f)
{
	const char *term = getenv("TERM");

	return isatty(fileno(f)) && term && term[0] && strcmp(term, "dumb") != 0;
}

bool view_text_colour(FILE *f)
{
	const char *no = getenv("NO_COLOR");

	return is_terminal(f) && !(no && no[0]);
}

/* The first of these that is set decides, as in setlocale(3). */
static bool utf8_locale(void)
{
	static const char *const variable[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < 3; i++) {
		const char *v = getenv(variable[i]);
		const char *dot = v ? strchr(v, '.') : NULL;
		if (v && v[0])
			return dot &&
			       (!strncasecmp(dot, ".utf-8", 6) || !strncasecmp(dot, ".utf8", 5));
	}
	return false;
}

static int columns_of(FILE *f)
{
	struct winsize w;

	if (ioctl(fileno(f), TIOCGWINSZ, &w) || !w.ws_col)
		return VIEW_COLUMNS;
	if (w.ws_col < COLUMNS_MIN)
		return COLUMNS_MIN;
	return w.ws_col < VIEW_COLUMNS ? w.ws_col : VIEW_COLUMNS; /* longer lines read badly */
}

struct view_text_style view_text_style_of(FILE *f)
{
	if (!is_terminal(f))
		return view_text_style_plain;
	return (struct view_text_style){ .colour = view_text_colour(f),
					 .box = true,
					 .utf8 = utf8_locale(),
					 .columns = columns_of(f) };
}

void view_text_fresh_line(FILE *f)
{
	struct winsize w;

	if (is_terminal(f) && !ioctl(fileno(f), TIOCGWINSZ, &w) && w.ws_col)
		fprintf(f, "%*s\r", w.ws_col, "");
}
