/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpustarve demo: three recorded runs that come with the installation, shown as a user's own would
 * be. What is shown is what the commands say, which run as they are typed; the folder that they run
 * in is taken away.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/files.h"
#include "base/options.h"
#include "cmd.h"
#include "core/log.h"
#include "core/wrap.h"
#include "report/text/text.h"
#include "run/install.h"
#include "summary/analyse.h"

#define WORDS 16

struct opts {
	bool open, path;
};

static const struct demo {
	const char *name, *what;
} demos[] = {
	{ "storage",
	  "The one worker of a DataLoader fetches photographs from a store that is 15 ms away." },
	{ "decoding", "The one worker decodes large JPEGs that it has in memory." },
	{ "healthy", "The first program again, with as many workers as its report advises." },
};

#define DEMOS (sizeof(demos) / sizeof(demos[0]))

static const char usage[] =
	"usage: gpustarve demo [storage|decoding|healthy] [--open | --path]\n"
	"\n"
	"Shows three small runs that were recorded on a simulated GPU and come with gpustarve: the\n"
	"diagnosis of each, two of them compared, held against a budget, and as top shows them.\n"
	"With a name: the whole report of that one.\n"
	"\n";

static const struct base_opt opt[] = {
	{ "open", 0, NULL,
	  "show the page in a browser instead: of the named run, else of\n"
	  "storage",
	  BASE_FLAG(struct opts, open) },
	{ "path", 0, NULL, "print the folder in which they lie", BASE_FLAG(struct opts, path) },
	{ BASE_HELP },
	{ 0 },
};

const struct base_options view_demo_options = {
	.command = "demo",
	.usage = usage,
	.column = 12,
	.opt = opt,
	.error = view_error,
};

/*
 * ---- commands as they are typed ----------------------------------------------------------------
 */

/* What comes up to the first empty line. */
static void pass_head(int from)
{
	FILE *f = fdopen(from, "r");
	bool head = true;
	char line[4096];

	if (!f) {
		close(from);
		return;
	}
	while (fgets(line, sizeof(line), f)) {
		if (head && line[0] == '\n')
			fputs("  [...]\n", stdout);
		head = head && line[0] != '\n';
		if (head)
			fputs(line, stdout);
	}
	fclose(f);
}

/*
 * The command in a process of its own, in the folder of the runs; its status, -1: it could not run.
 * @head: its first paragraph is enough.
 */
static int run_here(const char *folder, bool head, const char *const *word)
{
	int pipes[2] = { -1, -1 };
	char *argv[WORDS + 1];
	size_t n = 0;
	int status;
	pid_t pid;

	for (; word[n] && n < WORDS; n++)
		argv[n] = strdup(word[n]); /* the process is a short one */
	argv[n] = NULL;
	fflush(stdout);
	pid = head && pipe2(pipes, O_CLOEXEC) ? -1 : fork();
	if (!pid) {
		if (!chdir(folder) && (!head || dup2(pipes[1], STDOUT_FILENO) >= 0))
			execv("/proc/self/exe", argv);
		_exit(127);
	}
	while (n)
		free(argv[--n]);
	if (pipes[1] >= 0)
		close(pipes[1]);
	if (pipes[0] >= 0)
		pass_head(pipes[0]);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void put_command(const char *const *word)
{
	fputs("\n$", stdout);
	for (size_t i = 0; word[i]; i++)
		printf(strpbrk(word[i], "<>*") ? " '%s'" : " %s", word[i]);
	putchar('\n');
}

/* @want: the status that it is to have. */
static bool show_command(const char *folder, bool head, int want, const char *const *word)
{
	int status;

	put_command(word);
	status = run_here(folder, head, word);
	if (status > 0)
		printf("(exit status %d)\n", status);
	if (status == want)
		return true;
	view_error("demo: %s ended with status %d; reinstall gpustarve", word[1], status);
	return false;
}

/*
 * ---- what gpustarve run ends with ---------------------------------------------------------------
 */

static int copy_file(const char *from, const char *to)
{
	size_t len;
	char *text;
	int err = base_file_read(from, &text, &len);

	if (err)
		return err;
	err = base_file_write(to, text, len);
	free(text);
	return err;
}

/*
 * The run's files and its summary, as gpustarve run leaves them, in a folder that may be written
 * to.
 */
static bool place_run(const char *folder, const char *place, const struct demo *d,
		      const struct view_summary *s, struct base_arena *mem)
{
	const char *from = base_arena_printf(mem, "%s/%s.gst", folder, d->name);
	const char *to = base_arena_printf(mem, "%s/%s.gst", place, d->name);
	DIR *files = opendir(from);
	const struct dirent *e;
	size_t len = 0;
	char *text = NULL;
	FILE *f = open_memstream(&text, &len);
	bool good = files && f && !mkdir(to, 0700);

	while (good && (e = readdir(files)))
		good = e->d_name[0] == '.' ||
		       !copy_file(base_arena_printf(mem, "%s/%s", from, e->d_name),
				  base_arena_printf(mem, "%s/%s", to, e->d_name));
	if (files)
		closedir(files);
	if (f) {
		view_summary_write(s, f);
		good &= !fclose(f);
	}
	good = good && !base_file_write(base_arena_printf(mem, "%s/summary.json", to), text, len);
	free(text);
	if (!good)
		view_error("%s: %s; set TMPDIR to a folder you may write to", to, strerror(errno));
	return good;
}

static bool show_verdict(const char *folder, const char *place, const struct demo *d,
			 struct base_arena *mem)
{
	bool good;
	const char *run = base_arena_printf(mem, "%s/%s.gst", folder, d->name);
	struct view_analysis a = { .window = ANA_WINDOW_JOB };
	struct view_text_style style = view_text_style_of(stdout);
	struct view_summary *s;

	if (view_analyse(run, &a, &s))
		return false;
	printf("\n%s. ", d->name);
	view_wrap(stdout, (int)strlen(d->name) + 2, 0, d->what);
	view_text_verdict(s, stdout, &style, base_arena_printf(mem, "gpustarve demo %s", d->name));
	good = place_run(folder, place, d, s, mem);
	view_summary_free(s);
	return good;
}

static bool show_all(const char *folder, const char *place, struct base_arena *mem)
{
	static const char *const compare[] = { "gpustarve", "report", "storage.gst", "healthy.gst",
					       NULL };
	static const char *const fails[] = { "gpustarve", "check",	     "storage.gst",
					     "--budget",  "starved_pct<=40", NULL };
	static const char *const passes[] = { "gpustarve", "check",	      "healthy.gst",
					      "--budget",  "starved_pct<=40", NULL };
	static const char *const top[] = { "gpustarve", "top", "--once", "decoding.gst", NULL };
	bool good = true;

	view_wrap(
		stdout, 0, 0,
		"Three training runs, recorded on a simulated GPU. What gpustarve run says at the end of each:");
	for (size_t i = 0; i < DEMOS && good; i++)
		good = show_verdict(folder, place, &demos[i], mem);
	return good && show_command(place, true, VIEW_EXIT_OK, compare) &&
	       show_command(place, false, 2, fails) &&
	       show_command(place, false, VIEW_EXIT_OK, passes) &&
	       show_command(place, false, VIEW_EXIT_OK, top);
}

static int tour(const char *folder, struct base_arena *mem)
{
	const char *tmp = getenv("TMPDIR");
	char *place =
		base_arena_printf(mem, "%s/gpustarve-demo-XXXXXX", tmp && tmp[0] ? tmp : "/tmp");
	bool good = mkdtemp(place) != NULL;

	if (!good)
		view_error("%s: %s; set TMPDIR to a folder you may write to", place,
			   strerror(errno));
	good = good && show_all(folder, place, mem);
	for (size_t i = 0; i < DEMOS; i++)
		base_folder_remove(base_arena_printf(mem, "%s/%s.gst", place, demos[i].name));
	base_folder_remove(place);
	if (!good)
		return VIEW_EXIT_ERROR;
	putchar('\n');
	view_wrap(
		stdout, 0, 0,
		"Next: gpustarve demo storage (the whole report), gpustarve demo --open (its page), and gpustarve "
		"run -- python train.py where there is a GPU, gpustarve loader -- python train.py where there is none.");
	return VIEW_EXIT_OK;
}

/*
 * ---- all of it ----------------------------------------------------------------------------------
 */

static int show_one(const struct opts *o, const char *folder, const char *name,
		    struct base_arena *mem)
{
	const char *run = base_arena_printf(mem, "%s.gst", name), *tmp = getenv("TMPDIR");
	const char *page = base_arena_printf(mem, "%s/gpustarve-demo-%s.html",
					     tmp && tmp[0] ? tmp : "/tmp", name);
	const char *const text[] = { "gpustarve", "report", run, NULL };
	const char *const open[] = { "gpustarve", "report", run, "--open", "-o", page, NULL };
	int status = run_here(folder, false, o->open ? open : text);

	if (!status && o->open)
		view_note("the page is %s", page);
	return status < 0 ? VIEW_EXIT_ERROR : status;
}

static bool is_demo(const char *name)
{
	for (size_t i = 0; i < DEMOS; i++)
		if (!strcmp(name, demos[i].name))
			return true;
	view_error("demo: %s: no such run; one of storage, decoding, healthy", name);
	return false;
}

static int demo(const struct opts *o, char **name, int names)
{
	struct base_arena mem = { 0 };
	char folder[4096];
	int status = VIEW_EXIT_ERROR;

	if (!view_find_demo(folder, sizeof(folder)))
		view_error("%s: the recorded runs are not there; reinstall gpustarve", folder);
	else if (o->path)
		status = puts(folder) < 0;
	else if (names || o->open)
		status = show_one(o, folder, names ? name[0] : demos[0].name, &mem);
	else
		status = tour(folder, &mem);
	base_arena_fini(&mem);
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	view_error("standard output: %s; nothing more is written", strerror(errno));
	return VIEW_EXIT_ERROR;
}

int view_cmd_demo(int argc, char **argv)
{
	struct opts o = { 0 };
	int go = base_options_parse(&view_demo_options, argc, argv, &o);

	if (go <= 0)
		return go ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
	if (argc - optind > 1) {
		view_error("demo: name one run; see gpustarve demo --help");
		return VIEW_EXIT_ERROR;
	}
	if (optind < argc && !is_demo(argv[optind]))
		return VIEW_EXIT_ERROR;
	return demo(&o, argv + optind, argc - optind);
}
