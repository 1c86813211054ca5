/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A few places, by process and address.
 */
#include "shmap.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/clockpoll.h"

#define PLACES 32u
#define KEEP_NS 10000000000ll
#define PAUSE_NS 500000000ll
#define FILE_BYTES (2u << 20)

static struct place {
	pid_t pid;
	uint64_t address; /* 0: free */
	struct prof_shmap_range private; /* what else is known by this: the mapping, not shared */
	int64_t known_ns;
	char id[PROF_LINK_ID];
} place[PLACES];
static unsigned int next_place;
static int64_t pause_ns; /* not read before then */

bool prof_shmap_line(const char *line, uint64_t address, char id[PROF_LINK_ID],
		     struct prof_shmap_range *all)
{
	unsigned long long begin, end, offset, inode;
	unsigned int major, minor;
	char flags[5];

	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu", &begin, &end, flags, &offset, &major,
		   &minor, &inode) != 7 ||
	    address < begin || address >= end)
		return false;
	*id = 0;
	*all = (struct prof_shmap_range){ 0, 0 };
	if (flags[3] == 'p')
		*all = (struct prof_shmap_range){ begin, end };
	if (flags[3] == 's' && inode)
		prof_link_shared(id, major, minor, inode, offset + (address - begin));
	return true;
}

/* Looks at the whole lines and leaves the rest at the beginning; how long that is. */
static size_t take_lines(char *text, size_t len, struct place *p, bool *found)
{
	char *line = text, *end;

	while (!*found && (end = memchr(line, '\n', len - (size_t)(line - text)))) {
		*end = 0;
		*found = prof_shmap_line(line, p->address, p->id, &p->private);
		line = end + 1;
	}
	len -= (size_t)(line - text);
	memmove(text, line, len);
	return len;
}

static void read_maps(struct place *p)
{
	char path[40] = "/proc/self/maps", text[8192];
	size_t kept = 0, all = 0;
	bool found = false;
	long fd, n;

	if (p->pid)
		snprintf(path, sizeof(path), "/proc/%d/maps", (int)p->pid);
	fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	do {
		n = syscall(SYS_read, (int)fd, text + kept, sizeof(text) - kept);
		if (n <= 0)
			break;
		all += (size_t)n;
		kept = take_lines(text, kept + (size_t)n, p, &found);
	} while (!found && kept < sizeof(text) && all < FILE_BYTES);
	syscall(SYS_close, (int)fd);
}

static bool is_within(const struct prof_shmap_range *r, uint64_t address)
{
	return address >= r->begin && address < r->end;
}

static struct place *place_of(pid_t pid, uint64_t address, int64_t now_ns)
{
	unsigned int i;

	for (i = 0; i < PLACES; i++)
		if (place[i].pid == pid && now_ns - place[i].known_ns < KEEP_NS &&
		    (place[i].address == address || is_within(&place[i].private, address)))
			return &place[i];
	return NULL;
}

bool prof_shmap_link(pid_t pid, uint64_t address, char id[PROF_LINK_ID])
{
	int64_t now = prof_mono_ns();
	struct place *p = place_of(pid, address, now);

	*id = 0;
	if (!address || (!p && now < pause_ns))
		return false;
	if (!p) {
		pause_ns = now + PAUSE_NS;
		p = &place[next_place++ % PLACES];
		*p = (struct place){ .pid = pid, .address = address, .known_ns = now };
		read_maps(p);
	}
	memcpy(id, p->id, sizeof(p->id));
	return is_within(&p->private, address);
}
