/* SPDX-License-Identifier: Apache-2.0 */
#include "browser.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "log.h"

#define WORDS 16
#define TEXT 1024

struct browser {
	char text[TEXT]; /* the words' */
	char *argv[WORDS + 2];
	char page[PATH_MAX + TEXT]; /* the word that the page stands in */
};

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && value[0];
}

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* Whether execvp would find it. */
static bool found(const char *name)
{
	const char *path = getenv("PATH");
	char file[PATH_MAX];

	if (strchr(name, '/'))
		return is_program(name);
	for (const char *p = path ? path : "/usr/bin:/bin"; *p; p += *p == ':') {
		int len = (int)strcspn(p, ":");

		snprintf(file, sizeof(file), "%.*s%s%s", len, p, len ? "/" : "", name);
		if (is_program(file))
			return true;
		p += len;
	}
	return false;
}

/* The words of one of $BROWSER's programs, with the page in the place of %s or behind them. */
static bool set_words(struct browser *b, const char *from, size_t len, const char *path)
{
	char *save = NULL, *at;
	bool placed = false;
	int n = 0;

	if (!len || len >= sizeof(b->text))
		return false;
	memcpy(b->text, from, len);
	b->text[len] = '\0';
	for (char *word = strtok_r(b->text, " ", &save); word && n < WORDS;
	     word = strtok_r(NULL, " ", &save)) {
		at = placed ? NULL : strstr(word, "%s");
		if (at) {
			snprintf(b->page, sizeof(b->page), "%.*s%s%s", (int)(at - word), word, path,
				 at + 2);
			word = b->page;
			placed = true;
		}
		b->argv[n++] = word;
	}
	if (n && !placed) {
		snprintf(b->page, sizeof(b->page), "%s", path);
		b->argv[n++] = b->page;
	}
	b->argv[n] = NULL;
	return n && found(b->argv[0]);
}

static bool choose(struct browser *b, const char *path)
{
	const char *given = getenv("BROWSER");

	for (const char *p = given ? given : ""; *p; p += *p == ':') {
		size_t len = strcspn(p, ":");

		if (set_words(b, p, len, path))
			return true;
		p += len;
	}
	/* Without a screen xdg-open starts a browser in the terminal. */
	return (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")) &&
	       set_words(b, "xdg-open", strlen("xdg-open"), path);
}

/* In a session of its own: a Ctrl-C for us is none for the browser. */
static _Noreturn void become(const struct browser *b)
{
	int null = open("/dev/null", O_RDWR);
	sigset_t none;

	sigemptyset(&none);
	if (null < 0 || sigprocmask(SIG_SETMASK, &none, NULL))
		_exit(1);
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	if (null > STDERR_FILENO)
		close(null);
	execvp(b->argv[0], b->argv);
	_exit(1);
}

/* A child of a child, so that it is nobody's to wait for. */
static void start(const struct browser *b)
{
	pid_t pid = fork();

	if (pid > 0)
		waitpid(pid, NULL, 0);
	if (pid)
		return;
	if (setsid() < 0 || fork())
		_exit(0);
	become(b);
}

void view_browser_open(const char *path, const char *shown)
{
	struct browser b;
	char *real;

	if (!isatty(STDERR_FILENO))
		return;
	real = realpath(path, NULL);
	if (choose(&b, real ? real : path))
		start(&b);
	else
		view_note("%s: no browser is known here; set BROWSER, or open it by hand", shown);
	free(real);
}
