/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command that is still to be started: what `gpustarve run` would meet. Launchers are looked
 * through as far as a table knows their options; behind another option nothing is claimed.
 */
#include "missed_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "install.h"

#define THROUGH_MAX 8 /* launchers one behind the other */

/* ---- launchers ---- */

/* What they start runs elsewhere, with another environment and other files. */
static bool is_elsewhere(const char *name)
{
	static const char *const names[] = { "docker", "podman",     "nerdctl", "crictl",
					     "ctr",    "kubectl",    "oc",	"ssh",
					     "rsh",    "chroot",     "nsenter", "machinectl",
					     "at",     "systemd-run" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* Those that hand on what they have. */
static const struct launcher {
	const char *name;
	const char *with; /* options of one letter that take a word, which may stand behind it */
	const char *without; /* and those that take none */
	int words; /* before the command */
} launchers[] = {
	{ "nice", "n", "", 0 },	     { "nohup", "", "", 0 },	 { "timeout", "ks", "v", 1 },
	{ "stdbuf", "ioe", "", 0 },  { "setsid", "", "cfw", 0 }, { "ionice", "cn", "t", 0 },
	{ "chrt", "", "bfiorR", 1 }, { "taskset", "", "", 1 },	 { "time", "", "pv", 0 },
};

static const struct launcher *find_launcher(const char *name)
{
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++)
		if (!strcmp(name, launchers[i].name))
			return &launchers[i];
	return NULL;
}

/* How many words the option at @words takes, itself included; 0: it is none that we know. */
static int option_words(const struct launcher *l, char *const *words)
{
	const char *letter = words[0] + 1;

	if (strchr(l->with, *letter))
		return letter[1] ? 1 : words[1] ? 2 : 0;
	for (; *letter && strchr(l->without, *letter); letter++)
		;
	return !*letter;
}

/* The command behind this launcher's options; NULL: that cannot be told. */
static char *const *behind(const struct launcher *l, char *const *words)
{
	for (words++; *words && (*words)[0] == '-' && (*words)[1];) {
		int n = option_words(l, words);

		if (!strcmp(*words, "--")) {
			words++;
			break;
		}
		if (!n)
			return NULL;
		words += n;
	}
	for (int i = 0; i < l->words; i++)
		if (*words)
			words++;
	return *words ? words : NULL;
}

/* ---- env ---- */

static bool is_set(const char *word, const char *name, size_t len)
{
	return !strncmp(word, name, len) && word[len] == '=';
}

/* True: *out is set. Else *words is at the command behind, NULL: that cannot be told. */
static bool tell_env(char *const **words, struct view_missed *out)
{
	char *const *w = *words + 1;

	for (; *w && (*w)[0] == '-'; w++) {
		if (!strcmp(*w, "-") || !strcmp(*w, "-i") || !strcmp(*w, "--ignore-environment")) {
			view_missed_tell(out, VIEW_MISSED_EMPTIED,
					 "env %s throws the environment away", *w);
			return true;
		}
		if (strcmp(*w, "-u") != 0 || !w[1]) {
			*words = NULL;
			return false;
		}
		if (!strcmp(*++w, "LD_PRELOAD")) {
			view_missed_tell(out, VIEW_MISSED_EMPTIED, "env -u drops LD_PRELOAD");
			return true;
		}
	}
	for (; *w && strchr(*w, '='); w++) {
		if (is_set(*w, "GPUSTARVE", 9) && view_missed_off(*w + 10)) {
			view_missed_tell(out, VIEW_MISSED_OPT_OUT, "env sets %s", *w);
			return true;
		}
		if (is_set(*w, "LD_PRELOAD", 10) && !strstr(*w, "libprof.so")) {
			view_missed_tell(out, VIEW_MISSED_EMPTIED,
					 "env sets another LD_PRELOAD: %s", *w);
			return true;
		}
	}
	*words = *w ? w : NULL;
	return false;
}

/* ---- other users ---- */

static bool has_word(char *const *words, const char *const *any)
{
	for (words++; *words && strcmp(*words, "--") != 0; words++)
		for (const char *const *a = any; *a; a++)
			if (!strcmp(*words, *a))
				return true;
	return false;
}

/* su and its like keep it where root asks them, unless a login is made; setpriv always does. */
static bool keeps_preload(const char *name, char *const *words)
{
	static const char *const login[] = { "-", "-l", "--login", NULL };
	static const char *const reset[] = { "--reset-env", NULL };

	if (!strcmp(name, "setpriv"))
		return !has_word(words, reset);
	if (!strcmp(name, "su") || !strcmp(name, "runuser"))
		return !geteuid() && !has_word(words, login);
	return false;
}

/* ---- the program ---- */

/* AT_SECURE, as the kernel sets it for who asks. */
static bool is_privileged(const char *file)
{
	struct statvfs fs;
	struct stat st;

	if (stat(file, &st) || (!statvfs(file, &fs) && (fs.f_flag & ST_NOSUID)))
		return false;
	if ((st.st_mode & S_ISUID) && st.st_uid != getuid())
		return true;
	if ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) && st.st_gid != getgid())
		return true;
	return getuid() && getxattr(file, "security.capability", NULL, 0) > 0;
}

/* Why it is no program that could be started. */
static void tell_no_command(const char *command, const char *file, struct view_missed *out)
{
	struct stat st;

	if (!file[0] || stat(file, &st))
		view_missed_tell(out, VIEW_MISSED_NO_COMMAND, "%s is not a program here%s%s",
				 command,
				 file[0] && strcmp(file, command) != 0 ? ": it needs " : "",
				 file[0] && strcmp(file, command) != 0 ? file : "");
	else
		view_missed_tell(out, VIEW_MISSED_NO_COMMAND, "%s is not a program: %s %s", command,
				 file, S_ISDIR(st.st_mode) ? "is a folder" : "may not be executed");
}

static bool may_execute(const char *command)
{
	return !strchr(command, '/') || !access(command, X_OK);
}

static bool tell_program(char *const *words, struct view_missed *out)
{
	const char *name = view_missed_name(words[0]);
	char file[PATH_MAX] = "", sanitizer[VIEW_NEEDS_NAME];
	bool found = view_needs_program(words[0], getenv("PATH"), file);

	if (!may_execute(words[0]))
		tell_no_command(words[0], words[0], out);
	else if (!found || access(file, X_OK))
		tell_no_command(words[0], file, out);
	else if (view_missed_kind(view_needs_kind(file), name, out))
		return true;
	else if (is_privileged(file))
		view_missed_tell(
			out, VIEW_MISSED_PRIVILEGED,
			"%s is setuid or setgid or has file capabilities: its loader drops "
			"LD_PRELOAD",
			file);
	else if (view_needs_sanitizer(file, NULL, sanitizer))
		view_missed_sanitizer(sanitizer, name, out);
	else
		return false;
	return true;
}

/* ---- here ---- */

/* Folders are made as needed: the first one that is there has to take them. */
static int try_folder(const char *path)
{
	char part[PATH_MAX];
	struct stat st;

	if (snprintf(part, sizeof(part), "%s", path) >= (int)sizeof(part))
		return -ENAMETOOLONG;
	while (stat(part, &st)) {
		char *slash = strrchr(part, '/');

		if (errno != ENOENT)
			return -errno;
		if (!slash)
			snprintf(part, sizeof(part), ".");
		else
			slash[slash == part] = '\0';
	}
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	return access(part, W_OK | X_OK) ? -errno : 0;
}

static bool tell_here(struct view_missed *out)
{
	const char *env = getenv("GPUSTARVE_OUT"), *cupti = getenv("GPUSTARVE_CUPTI");
	const char *base = env && env[0] ? env : "gpustarve-runs";
	char library[PATH_MAX];
	int err = try_folder(base);

	if (!view_find_libprof(library, sizeof(library)))
		view_missed_tell(out, VIEW_MISSED_NO_LIBRARY, "%s: libprof.so is not there",
				 library);
	else if (err)
		view_missed_tell(out, VIEW_MISSED_NO_FOLDER, "%s: no run can be written there: %s",
				 base, strerror(-err));
	else if (cupti && strchr(cupti, '/') && access(cupti, R_OK))
		view_missed_tell(out, VIEW_MISSED_NO_CUPTI, "GPUSTARVE_CUPTI is %s: %s", cupti,
				 strerror(errno));
	else if (view_missed_off(getenv("GPUSTARVE_PRELOAD")))
		view_missed_tell(out, VIEW_MISSED_NO_PRELOAD,
				 "GPUSTARVE_PRELOAD is off: CUDA alone is told of libprof.so");
	else
		return view_missed_tools(getenv("CUDA_INJECTION64_PATH"),
					 getenv("NV_NSIGHT_INJECTION_TRANSPORT_TYPE") ||
						 getenv("NV_SANITIZER_INJECTION_TRANSPORT_TYPE"),
					 out);
	return true;
}

/* ---- all of it ---- */

static void tell_not_looked_at(const char *command, const char *name, struct view_missed *out)
{
	view_missed_tell(
		out, VIEW_MISSED_NOTHING,
		"`gpustarve run -- %s` hands libprof.so on; what %s starts is not looked at",
		command, name);
}

/* The next word that is started; NULL: *out says all that can be told. */
static char *const *through(char *const *words, const char *command, struct view_missed *out)
{
	const char *name = view_missed_name(words[0]);
	const struct launcher *l = find_launcher(name);
	char *const *next = words;

	if (is_elsewhere(name)) {
		view_missed_tell(out, VIEW_MISSED_ELSEWHERE,
				 "what %s starts has neither this environment nor these files",
				 name);
		return NULL;
	}
	if (view_missed_is_sudo(name)) {
		if (keeps_preload(name, words))
			tell_not_looked_at(command, name, out);
		else
			view_missed_tell(out, VIEW_MISSED_SUDO, "%s drops LD_PRELOAD", name);
		return NULL;
	}
	if (tell_program(words, out))
		return NULL;
	if (!l && strcmp(name, "env") != 0) {
		view_missed_tell(out, VIEW_MISSED_NOTHING, "`gpustarve run -- %s` would record it",
				 command);
		return NULL;
	}
	if (l)
		next = behind(l, words);
	else if (tell_env(&next, out))
		return NULL;
	if (!next)
		tell_not_looked_at(command, name, out);
	return next;
}

void view_missed_command(char *const *words, struct view_missed *out)
{
	const char *on = getenv("GPUSTARVE"), *command = words[0];

	if (view_missed_off(on)) {
		view_missed_tell(out, VIEW_MISSED_OPT_OUT, "GPUSTARVE=%s is in the environment",
				 on);
		return;
	}
	for (int i = 0; words && i < THROUGH_MAX; i++)
		words = through(words, command, out);
	if (words)
		tell_not_looked_at(command, words[0], out);
	if (out->link == VIEW_MISSED_NOTHING)
		tell_here(out);
}
