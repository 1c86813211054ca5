/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a lock in memory that processes share is to all of them: device, inode and offset of the
 * file that is mapped there. From /proc/PID/maps, which is long in a training process: places are
 * kept for ten seconds, and the file is read at most twice a second, each time 2 MiB at most. Of
 * one thread; allocates nothing.
 */
#ifndef PROF_SHMAP_H
#define PROF_SHMAP_H

#include <sys/types.h>
#include "linktext.h"

/*
 * @pid 0: this process. @id: "" where no file is mapped, or that is not known. True: it is known
 * that
 * no other process shares that memory, whatever the lock says of itself (std::future's says
 * nothing).
 */
bool prof_shmap_link(pid_t pid, uint64_t address, char id[PROF_LINK_ID]);

struct prof_shmap_range {
	uint64_t begin, end;
};

/*
 * Does a line of maps have this address in it? @id gets the link's id, "" if memory of no file, or
 * of a private one, is there; @all the mapping, {0, 0} where it is shared, and one look tells of
 * one address alone.
 */
bool prof_shmap_line(const char *line, uint64_t address, char id[PROF_LINK_ID],
		     struct prof_shmap_range *all);

#endif
