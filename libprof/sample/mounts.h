/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which file system a file is on, without touching it: the mount's number in fdinfo, and the list
 * of mounts in mountinfo (proc(5)). One list per process; it belongs to one thread at a time. read
 * and free allocate; the others do not.
 */
#ifndef PROF_MOUNTS_H
#define PROF_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROF_MOUNTS_MAX 8192u

struct prof_mount {
	int id;
	const char *point; /* where it is mounted, escapes undone */
	const char *type; /* "ext4", "nfs4", "fuse.sshfs", ... */
	const char *root; /* what of the file system is mounted there */
	const char *options; /* of the superblock */
};

struct prof_mounts {
	struct prof_mount *list;
	size_t count;
	char *text;
	bool stale; /* a mount was asked for that is not in the list */
};

/* Reads the list anew. 0, -ENOMEM, -errno; on error the old list stays. */
int prof_mounts_read(struct prof_mounts *m, const char *path);
void prof_mounts_free(struct prof_mounts *m);

/* Takes @text (changed, kept until free) apart into m->list, which has room for @room. */
size_t prof_mounts_parse(char *text, struct prof_mount *list, size_t room);

/* The mount with that number; NULL: not in the list, which is stale then. */
const struct prof_mount *prof_mounts_id(struct prof_mounts *m, int id);

/* The mount that an absolute path lies on by its text; symbolic links are not followed. */
const struct prof_mount *prof_mounts_path(const struct prof_mounts *m, const char *path);

/* The number of the mount in the text of an fdinfo file; -1: none. */
int prof_fdinfo_mount(const char *text);

#endif
