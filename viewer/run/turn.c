/* SPDX-License-Identifier: Apache-2.0 */
#include "turn.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "runid.h"

#define TURNS_MAX 99999
#define KEPT_SECONDS (30 * 86400) /* longer than a step has between two of its commands */

/* Digits and nothing else; -1: it is none. */
static long number(const char *name)
{
	const char *text = getenv(name);
	size_t n = text ? strlen(text) : 0;

	return n && n < 10 && strspn(text, "0123456789") == n ? strtol(text, NULL, 10) : -1;
}

static bool is_set(const char *name)
{
	const char *text = getenv(name);

	return text && *text;
}

/* srun's plugin of PMIx names its steps so. */
static bool is_sruns_pmix(void)
{
	const char *space = getenv("PMIX_NAMESPACE");

	return space && !strncmp(space, "slurm.", 6);
}

/*
 * Scripts set RANK to what Slurm says, and srun's own plugins PMI_RANK; where rank and number of
 * ranks are both Slurm's there is one wrapper per rank of the step, whoever set them.
 */
static bool slurm_numbers_ranks(long rank, long ranks)
{
	static const char *const told[][2] = {
		{ "RANK", "WORLD_SIZE" },
		{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
		{ "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE" },
		{ "PMI_RANK", "PMI_SIZE" },
		{ "PALS_RANKID", "PALS_SIZE" },
	};

	if (is_set("TORCHELASTIC_RUN_ID") || (is_set("PMIX_RANK") && !is_sruns_pmix()))
		return false;
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		if (is_set(told[i][0]) &&
		    (number(told[i][0]) != rank || number(told[i][1]) != ranks))
			return false;
	return !is_set("PMIX_RANK") || number("PMIX_RANK") == rank;
}

/* A batch script is one task, however many its job may have: -1, which nobody else says. */
static bool is_counted(const char *id)
{
	bool batch = false;

	if (number("SLURM_PROCID") < 0 || !view_run_id_is_slurms(id, &batch))
		return false;
	return slurm_numbers_ranks(number("SLURM_PROCID"),
				   batch ? -1 : number("SLURM_STEP_NUM_TASKS"));
}

/* Which of its wrappers we are; 0: it cannot be told. */
static long count(const char *file)
{
	int fd =
		open(file,
		     O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		     0644);
	struct stat st;
	off_t end = 0;

	if (fd < 0)
		return 0;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && write(fd, "\n", 1) == 1)
		end = lseek(fd, 0, SEEK_CUR);
	close(fd);
	return end > 0 && end <= TURNS_MAX ? (long)end : 0;
}

/* .slurm-<cluster>-<job>.<step>-<restart>.rank-<number> */
static bool is_count(const char *name)
{
	const char *rank = strrchr(name, '.');

	return !strncmp(name, ".slurm-", 7) && rank && !strncmp(rank, ".rank-", 6) && rank[6] &&
	       strspn(rank + 6, "0123456789") == strlen(rank + 6);
}

/* What shells with a wrapper in them left, of steps that have long ended. */
static void clear_away(const char *base)
{
	DIR *d = opendir(base);
	time_t now = time(NULL);
	struct stat st;

	for (struct dirent *e; d && (e = readdir(d));)
		if (is_count(e->d_name) &&
		    !fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
		    now - st.st_mtim.tv_sec > KEPT_SECONDS)
			unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
}

/* Without a shell around it. */
static bool is_the_task(void)
{
	return number("SLURM_TASK_PID") == (long)getpid();
}

void view_turn_take(struct view_turn *t, const char *base, char *id, size_t room)
{
	long rank = number("SLURM_PROCID"), turn;
	size_t len = strlen(id);

	t->file[0] = '\0';
	if (!is_counted(id) || snprintf(t->file, sizeof(t->file), "%s/.%s.rank-%ld", base, id,
					rank) >= (int)sizeof(t->file)) {
		t->file[0] = '\0';
		return;
	}
	turn = count(t->file);
	if (!turn)
		t->file[0] = '\0';
	if (turn > 1 && len + 8 < room)
		snprintf(id + len, room - len, "-%ld", turn);
	if (turn == 1 && !rank && !is_the_task())
		clear_away(base);
}

void view_turn_end(const struct view_turn *t)
{
	if (t->file[0] && is_the_task())
		unlink(t->file);
}
