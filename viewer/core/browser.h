/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page in the user's browser: what $BROWSER names (programs with words of their own, a colon
 * between them, %s for the page), else xdg-open where there is a screen. Nothing is waited for,
 * nothing of the browser's reaches the terminal, and a browser that fails changes nothing. One
 * thread.
 */
#ifndef VIEW_BROWSER_H
#define VIEW_BROWSER_H

/*
 * Opens the file @path; @shown is its name as the user would write it. A job without a terminal (a
 * batch job's, a pipe's) opens nothing and says nothing; where no browser is known, one line says
 * so.
 */
void view_browser_open(const char *path, const char *shown);

#endif
