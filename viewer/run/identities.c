/* SPDX-License-Identifier: Apache-2.0 */
#include "identities.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES 4096
#define REFS_BYTES (1 << 20) /* of packed-refs */
#define LEVELS 40 /* of folders above */
#define VALUE_BYTES 200
#define COMMIT_DIGITS 12
#define WORDS_MAX 256

static bool has(const struct view_run *r, const char *key)
{
	const char *have = getenv("GPUSTARVE_LABELS");
	size_t n = strlen(key);

	for (size_t i = 0; i < r->labels; i++)
		if (!strcmp(r->label[i].key, key))
			return true;
	while (have && *have) {
		if (!strncmp(have, key, n) && have[n] == '=')
			return true;
		have = strchr(have, ',');
		have = have ? have + 1 : NULL;
	}
	return false;
}

/* A comma ends a label. */
static void add(struct view_run *r, const char *key, const char *value)
{
	size_t len = value ? strlen(value) : 0;
	char *to = r->found + r->found_used;

	len = len < VALUE_BYTES ? len : VALUE_BYTES;
	if (!len || r->labels == VIEW_RUN_LABELS || r->found_used + len >= sizeof(r->found) ||
	    has(r, key))
		return;
	memcpy(to, value, len);
	to[len] = '\0';
	for (char *p = to; *p; p++)
		if (*p == ',' || (unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '_';
	r->found_used += len + 1;
	r->label[r->labels++] = (struct view_run_label){ key, to };
}

/* --- the environment and the command --- */

/* Of one label the first that is set holds. */
static const struct {
	const char *key, *variable;
} told[] = {
	{ "wandb_run", "WANDB_RUN_ID" },
	{ "wandb_project", "WANDB_PROJECT" },
	{ "wandb_sweep", "WANDB_SWEEP_ID" },
	{ "mlflow_run", "MLFLOW_RUN_ID" },
	{ "mlflow_experiment", "MLFLOW_EXPERIMENT_NAME" },
	{ "mlflow_experiment", "MLFLOW_EXPERIMENT_ID" },
	{ "image", "APPTAINER_CONTAINER" },
	{ "image", "SINGULARITY_CONTAINER" },
};

static void from_environment(struct view_run *r)
{
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		add(r, told[i].key, getenv(told[i].variable));
}

/* "--config-name=large", "-cn large"; NULL: it is none of these. */
static const char *config_name(const char *word, const char *next)
{
	static const char long_form[] = "--config-name";
	size_t n = sizeof(long_form) - 1;

	if (!strncmp(word, long_form, n) && word[n] == '=')
		return word + n + 1;
	return !strcmp(word, long_form) || !strcmp(word, "-cn") ? next : NULL;
}

static void from_command(struct view_run *r)
{
	static const char job[] = "hydra.job.name=";

	for (int i = 0; i < WORDS_MAX && r->command[i]; i++) {
		add(r, "hydra_config", config_name(r->command[i], r->command[i + 1]));
		if (!strncmp(r->command[i], job, sizeof(job) - 1))
			add(r, "hydra_job", r->command[i] + sizeof(job) - 1);
	}
}

/* --- files --- */

/* The first @room - 1 bytes of a regular file; 0: there is none, or nothing in it. */
static size_t read_some(const char *path, char *out, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	size_t len = 0;
	ssize_t n = 1;

	out[0] = '\0';
	if (fd < 0)
		return 0;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		while (len + 1 < room && (n = read(fd, out + len, room - 1 - len)) > 0)
			len += (size_t)n;
	close(fd);
	out[len] = '\0';
	return len;
}

static bool read_line(char *out, size_t room, const char *folder, const char *name)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path) ||
	    !read_some(path, out, room))
		return false;
	out[strcspn(out, "\r\n")] = '\0';
	return out[0] != '\0';
}

static bool is_commit(const char *text)
{
	size_t n = strspn(text, "0123456789abcdef");

	return (n == 40 || n == 64) && (!text[n] || text[n] == ' ' || text[n] == '\n');
}

/* @path as it is seen from @from. */
static bool join(char out[PATH_MAX], const char *from, const char *path)
{
	bool whole = path[0] == '/';
	int n = snprintf(out, PATH_MAX, "%s%s%s", whole ? "" : from, whole ? "" : "/", path);

	return n < PATH_MAX;
}

/* Of the folder @at or one above: a .git folder, or the one that a .git file names. */
static bool find_git(char git[PATH_MAX], char at[PATH_MAX])
{
	char line[FILE_BYTES];
	struct stat st;

	for (int i = 0; i < LEVELS; i++) {
		if (join(git, at, ".git") && !stat(git, &st)) {
			if (S_ISDIR(st.st_mode))
				return true;
			return read_line(line, sizeof(line), at, ".git") &&
			       !strncmp(line, "gitdir: ", 8) && join(git, at, line + 8);
		}
		char *slash = strrchr(at, '/');
		if (!slash || !at[1])
			return false;
		slash[slash == at] = '\0';
	}
	return false;
}

/* "<commit> refs/heads/main" */
static bool find_packed(char commit[FILE_BYTES], const char *folder, const char *ref)
{
	char path[PATH_MAX], *text = malloc(REFS_BYTES);
	size_t n = strlen(ref);
	bool found = false;

	if (text && join(path, folder, "packed-refs") && read_some(path, text, REFS_BYTES))
		for (char *p = text; p && !found; p = strchr(p, '\n')) {
			p += *p == '\n';
			size_t digits = strspn(p, "0123456789abcdef");

			found = is_commit(p) && p[digits] == ' ' &&
				!strncmp(p + digits + 1, ref, n) &&
				strchr("\r\n", p[digits + 1 + n]);
			if (found)
				snprintf(commit, FILE_BYTES, "%.*s", (int)digits, p);
		}
	free(text);
	return found;
}

static bool find_commit(char commit[FILE_BYTES], const char *git, const char *ref)
{
	char common[PATH_MAX], line[FILE_BYTES];

	if (strncmp(ref, "refs/", 5) != 0 || strstr(ref, ".."))
		return false;
	if (read_line(commit, FILE_BYTES, git, ref) && is_commit(commit))
		return true;
	if (!read_line(line, sizeof(line), git, "commondir") || !join(common, git, line))
		snprintf(common, sizeof(common), "%s", git);
	return (read_line(commit, FILE_BYTES, common, ref) && is_commit(commit)) ||
	       find_packed(commit, common, ref);
}

/* Whether files differ from the commit only git itself could tell. */
static void from_git(struct view_run *r)
{
	char at[PATH_MAX], git[PATH_MAX], head[FILE_BYTES], commit[FILE_BYTES];

	if (!getcwd(at, sizeof(at)) || !find_git(git, at) ||
	    !read_line(head, sizeof(head), git, "HEAD"))
		return;
	if (strncmp(head, "ref: ", 5) != 0)
		snprintf(commit, sizeof(commit), "%s", head);
	else if (!find_commit(commit, git, head + 5))
		return;
	if (!is_commit(commit))
		return;
	commit[COMMIT_DIGITS] = '\0';
	add(r, "git", commit);
	if (!strncmp(head, "ref: refs/heads/", 16))
		add(r, "git_branch", head + 16);
}

/* Podman's; Docker tells a container nothing of its image. */
static void from_container(struct view_run *r)
{
	char text[FILE_BYTES];
	char *image;

	read_some("/run/.containerenv", text, sizeof(text));
	image = strstr(text, "\nimage=\"");
	if (!image)
		return;
	image += 8;
	image[strcspn(image, "\"\n")] = '\0';
	add(r, "image", image);
}

void view_run_identities(struct view_run *r)
{
	if (r->no_identities)
		return;
	from_environment(r);
	from_command(r);
	from_container(r);
	from_git(r);
}

/* wandb/latest-run leads to run-20261129_093000-abcd1234, or offline-run-... */
void view_run_identities_end(struct view_run *r)
{
	const char *folder = getenv("WANDB_DIR");
	char path[PATH_MAX], to[256];
	struct stat st;
	ssize_t n;

	if (r->no_identities ||
	    !join(path, folder && folder[0] ? folder : ".", "wandb/latest-run") ||
	    lstat(path, &st) || st.st_mtim.tv_sec < r->began_ns / 1000000000)
		return;
	n = readlink(path, to, sizeof(to) - 1);
	if (n <= 0)
		return;
	to[n] = '\0';
	const char *id = strrchr(to, '-');
	if (id && strstr(to, "run-"))
		add(r, "wandb_run", id + 1);
	r->about.labels = r->labels;
}
