/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Untrusted text on its way to where it must be nothing but text: a JSON string, an HTML page, a
 * terminal. What each way does to which character is one table (escape.c). A byte that begins no
 * character becomes U+FFFD, or what stands for it there; all other text stays valid UTF-8. Any
 * thread; errors of a stream are the caller's to check (ferror).
 */
#ifndef BASE_ESCAPE_H
#define BASE_ESCAPE_H

#include <stddef.h>
#include <stdio.h>

enum base_escape {
	BASE_AS_JSON, /* the inside of a JSON string */
	BASE_AS_JSON_PAGE, /* the same in a page's script element: ends none, turns no writing */
	BASE_AS_JSON_ANYWHERE, /* the same even inside a quoted attribute */
	BASE_AS_HTML, /* content of an element or of a quoted attribute; one line */
	BASE_AS_XML, /* the same in XML 1.0, which knows no control but tab and line ends */
	BASE_AS_MARKDOWN, /* a line of GitHub's Markdown, and of the HTML that it lets through */
	BASE_AS_GITHUB, /* the message of a workflow command of GitHub */
	BASE_AS_GITHUB_PROPERTY, /* file, title and so on of one */
	BASE_AS_LABEL, /* the inside of a label's value in Prometheus' text format */
	BASE_AS_CSV, /* the inside of a quoted field; base_csv_put knows when to quote */
	BASE_AS_TERMINAL, /* printable, in the writing direction it has */
	BASE_ESCAPES
};

#define BASE_ESCAPED_MAX 8 /* bytes that a character becomes at most, and a NUL */

/*
 * The first character of these @len bytes (at least one) as it is written there: bytes in @out, as
 * many as are returned. *took: those of the text.
 */
size_t base_escape(char out[BASE_ESCAPED_MAX], enum base_escape how, const char *text, size_t len,
		   size_t *took);

/* How many bytes of plain ASCII come first that stay as they are. */
size_t base_escape_plain(enum base_escape how, const char *text, size_t len);

/*
 * All of it into @out[room], ended by a NUL: characters that do not fit as a whole are left out
 * with all behind them. Returns the length.
 */
size_t base_escape_text(char *out, size_t room, enum base_escape how, const char *text);

/* All of it, to a stream. */
void base_put_part(FILE *f, enum base_escape how, const char *text, size_t len);
void base_put(FILE *f, enum base_escape how, const char *text);
void base_put_quoted(FILE *f, enum base_escape how, const char *text); /* "..." */

#endif
