/* SPDX-License-Identifier: Apache-2.0 */
#include "process.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/escape.h"

#define FILE_MAX \
	(4u << 20) /* of environ, cmdline and maps; the kernel bounds the first two by less */
#define AUXV_MAX 128

static int open_file(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* The whole of it, with a NUL behind; the caller frees. NULL: not to be read. */
static char *read_whole(pid_t pid, const char *name, size_t *bytes)
{
	size_t len = 0, room = 8192;
	char *text = NULL, *more;
	ssize_t n = 1;
	int fd = open_file(pid, name);

	if (fd < 0)
		return NULL;
	while (n > 0 && len < FILE_MAX) {
		more = realloc(text, room + 1);
		if (!more)
			break;
		text = more;
		n = read(fd, text + len, room - len);
		if (n > 0)
			len += (size_t)n;
		if (len == room)
			room *= 2;
	}
	close(fd);
	if (n < 0 || !text) {
		free(text);
		return NULL;
	}
	text[len] = '\0';
	*bytes = len;
	return text;
}

/* "1234 (a name) S 1 ...": the name may hold anything, and the last parenthesis ends it. */
static bool read_stat(struct view_process *p, char *state)
{
	size_t bytes;
	char *text = read_whole(p->pid, "stat", &bytes), *begin, *end;
	char name[sizeof(p->name)];
	int parent = 0;

	begin = text ? strchr(text, '(') : NULL;
	end = text ? strrchr(text, ')') : NULL;
	if (begin && end && end > begin && sscanf(end + 1, " %c %d", state, &parent) == 2) {
		snprintf(name, sizeof(name), "%.*s", (int)(end - begin - 1), begin + 1);
		base_escape_text(p->name, sizeof(p->name), BASE_AS_TERMINAL, name);
		p->parent = parent;
	}
	free(text);
	return p->name[0] != '\0';
}

/* Field 22; behind the name, too. */
int64_t view_process_began(pid_t pid)
{
	size_t bytes;
	char *text = read_whole(pid, "stat", &bytes), *at = text ? strrchr(text, ')') : NULL;

	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	int64_t ticks = at ? strtoll(at + 1, NULL, 10) : -1;
	free(text);
	return ticks;
}

static void read_command(struct view_process *p)
{
	size_t bytes;

	p->command = read_whole(p->pid, "cmdline", &bytes);
	for (size_t i = 0; p->command && i + 1 < bytes; i++)
		if (!p->command[i])
			p->command[i] = ' ';
}

static void read_auxv(struct view_process *p)
{
	Elf64_auxv_t v[AUXV_MAX];
	int fd = open_file(p->pid, "auxv");
	ssize_t n = fd < 0 ? 0 : read(fd, v, sizeof(v));

	if (fd >= 0)
		close(fd);
	for (ssize_t i = 0; i < n / (ssize_t)sizeof(v[0]); i++)
		if (v[i].a_type == AT_SECURE)
			p->privileged = v[i].a_un.a_val != 0;
}

static bool maps_name(const char *maps, const char *file)
{
	size_t n = strlen(file);

	for (const char *at = maps; (at = strstr(at, file)); at += n)
		if (at[-1] == '/' && (at[n] == '\n' || at[n] == '.' || at[n] == ' '))
			return true;
	return false;
}

static void read_maps(struct view_process *p)
{
	size_t bytes;
	char *maps = read_whole(p->pid, "maps", &bytes);

	p->maps_read = maps != NULL;
	if (maps && maps[0]) {
		p->has_library = maps_name(maps + 1, "libprof.so");
		p->has_cuda = maps_name(maps + 1, "libcuda.so");
	}
	free(maps);
}

int view_process_read(struct view_process *p, pid_t pid)
{
	char exe[64], state = ' ';

	*p = (struct view_process){ .pid = pid };
	if (!read_stat(p, &state))
		return -ESRCH;
	if (state == 'Z' || state == 'X')
		return -ECHILD;
	p->environ = read_whole(pid, "environ", &p->environ_bytes);
	read_maps(p);
	if (!p->environ || !p->maps_read) {
		view_process_fini(p);
		return -EACCES;
	}
	read_command(p);
	read_auxv(p);
	snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)pid);
	p->kind = view_needs_kind(exe);
	view_needs_sanitizer(exe, NULL, p->sanitizer);
	return 0;
}

int view_process_read_environ(struct view_process *p, pid_t pid)
{
	*p = (struct view_process){ .pid = pid };
	p->environ = read_whole(pid, "environ", &p->environ_bytes);
	return p->environ ? 0 : -EACCES;
}

void view_process_fini(struct view_process *p)
{
	free(p->command);
	free(p->environ);
	p->command = p->environ = NULL;
}

const char *view_process_env(const struct view_process *p, const char *name)
{
	size_t n = strlen(name);
	const char *end = p->environ + p->environ_bytes;

	for (const char *at = p->environ; at && at < end; at += strlen(at) + 1)
		if (!strncmp(at, name, n) && at[n] == '=')
			return at + n + 1;
	return NULL;
}
