/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text in lines of 80 columns, or as many as there are. Foreign control characters are made
 * visible, never sent.
 */
#ifndef VIEW_WRAP_H
#define VIEW_WRAP_H

#include <stdbool.h>
#include <stdio.h>

#define VIEW_COLUMNS 80

/*
 * Writes @text broken at spaces: the first line begins in column @at (what stands before it is
 * already written), the others after @hang spaces. Ends with a newline.
 */
void view_wrap(FILE *f, int at, int hang, const char *text);

/*
 * The same in lines of @columns; words that are longer than a line are cut if @cut, else they stick
 * out. @columns above @hang.
 */
void view_wrap_in(FILE *f, int columns, bool cut, int at, int hang, const char *text);

/* Columns of one line, control sequences of colour ("\033[1m") taking none. */
int view_line_columns(const char *text, size_t len);

/* Writes @text with controls, marks that turn the writing direction and broken UTF-8 as '?'. */
void view_put_tame(FILE *f, const char *text);
void view_put_tame_part(FILE *f, const char *text, size_t len);

#endif
