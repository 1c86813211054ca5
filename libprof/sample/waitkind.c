/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules, from research on real loaders: which state, call and descriptor means what.
 */
#include "waitkind.h"

#include <string.h>

#define QUEUE_TIMEOUT_NS 5000000000ll /* torch's MP_STATUS_CHECK_INTERVAL */

#define FUTEX_PRIVATE 128u

enum wire_state prof_state_of(char letter)
{
	switch (letter) {
	case 'R':
		return WIRE_STATE_RUNNING;
	case 'S':
	case 'I':
		return WIRE_STATE_SLEEPING;
	case 'D':
		return WIRE_STATE_DISK;
	case 'T':
	case 't':
		return WIRE_STATE_STOPPED;
	case 'Z':
	case 'X':
	case 'x':
		return WIRE_STATE_GONE;
	default:
		return WIRE_STATE_UNKNOWN;
	}
}

static bool is_local(const char *fs)
{
	static const char *const local[] = { "ext2", "ext3", "ext4",	 "xfs",	  "btrfs",
					     "f2fs", "zfs",  "overlay",	 "tmpfs", "ramfs",
					     "vfat", "ntfs", "squashfs", "erofs", "iso9660" };
	size_t i;

	for (i = 0; i < sizeof(local) / sizeof(local[0]); i++)
		if (!strcmp(fs, local[i]))
			return true;
	return false;
}

static enum wire_wait wait_of_file(const char *fs, bool writes, bool disk)
{
	if (!disk && is_local(fs))
		return WIRE_WAIT_PIPE;
	return writes ? WIRE_WAIT_WRITE : WIRE_WAIT_READ;
}

enum wire_wait prof_wait_of_fd(enum prof_fd_kind fd, const char *fs, bool writes, bool disk)
{
	switch (fd) {
	case PROF_FD_FILE:
		return wait_of_file(fs, writes, disk);
	case PROF_FD_PIPE:
		return WIRE_WAIT_PIPE;
	case PROF_FD_SOCKET:
		return WIRE_WAIT_SOCKET;
	case PROF_FD_NVIDIA:
		return WIRE_WAIT_GPU;
	default:
		return WIRE_WAIT_OTHER;
	}
}

enum wire_wait prof_wait_of_path(const char *fs, bool writes, bool disk)
{
	return wait_of_file(fs, writes, disk);
}

enum wire_wait prof_wait_of_ioctl(enum prof_fd_kind fd, const char *fs, bool disk)
{
	enum wire_wait wait = prof_wait_of_fd(fd, fs, false, disk);

	return wait == WIRE_WAIT_GPU || (fd == PROF_FD_FILE && wait == WIRE_WAIT_READ)
		       ? wait
		       : WIRE_WAIT_OTHER;
}

enum wire_wait prof_wait_of_futex(uint64_t op)
{
	return op & FUTEX_PRIVATE ? WIRE_WAIT_LOCK : WIRE_WAIT_LOCK_SHARED;
}

/* A frame is function, tab, file, tab, line. */
static bool frame_in(const char *frame, const char *file)
{
	const char *end = strchr(frame, '\n'), *tab = strchr(frame, '\t'), *last;
	size_t n = strlen(file);

	if (!tab || (end && tab > end))
		return false;
	last = strchr(tab + 1, '\t');
	if (!last || (end && last > end))
		return false;
	return (size_t)(last - tab - 1) >= n && !strncmp(last - n, file, n);
}

static const char *next_frame(const char *frame)
{
	const char *end = strchr(frame, '\n');

	return end ? end + 1 : frame + strlen(frame);
}

static bool in_queue_code(const char *frame)
{
	return frame_in(frame, "multiprocessing/connection.py") ||
	       frame_in(frame, "multiprocessing/queues.py") ||
	       frame_in(frame, "multiprocessing/pool.py");
}

/* Frames that lie between the call and multiprocessing's code. */
static bool in_helper(const char *frame)
{
	return frame_in(frame, "/selectors.py") || frame_in(frame, "/threading.py") ||
	       frame_in(frame, "multiprocessing/synchronize.py");
}

static bool fetches(const char *stack)
{
	return strstr(stack, "torch/utils/data/_utils/fetch.py\t") != NULL;
}

static bool queue_on_top(const char *stack)
{
	while (*stack && in_helper(stack))
		stack = next_frame(stack);
	return *stack && in_queue_code(stack);
}

bool prof_wait_is_queue(int64_t timeout_ns, const char *stack)
{
	if (!*stack)
		return timeout_ns == QUEUE_TIMEOUT_NS;
	return queue_on_top(stack) && !fetches(stack);
}

bool prof_wait_is_queue_lock(const char *stack)
{
	return queue_on_top(stack) && !fetches(stack);
}

/* Python's own code between a blocked call and whoever called it, a line of it at *frame. */
static bool in_library(const char *frame)
{
	return in_helper(frame) || in_queue_code(frame) || frame_in(frame, "/queue.py") ||
	       frame_in(frame, "concurrent/futures/_base.py") ||
	       frame_in(frame, "concurrent/futures/thread.py") ||
	       frame_in(frame, "concurrent/futures/process.py") || frame_in(frame, "/socket.py") ||
	       frame_in(frame, "/subprocess.py");
}

/* Its name alone, without the class before it, which Python tells since 3.11. */
static bool is_function(const char *frame, const char *const *name)
{
	size_t n = strcspn(frame, "\t\n"), len;

	for (; *name; name++) {
		len = strlen(*name);
		if (len <= n && !strncmp(frame + n - len, *name, len) &&
		    (len == n || frame[n - len - 1] == '.'))
			return true;
	}
	return false;
}

static bool goes_through(const char *stack, const char *const *name)
{
	for (; *stack && in_library(stack); stack = next_frame(stack))
		if (is_function(stack, name))
			return true;
	return false;
}

bool prof_wait_takes(const char *stack)
{
	static const char *const name[] = { "get",    "recv", "recv_bytes", "recv_bytes_into",
					    "result", "next", "readinto",   NULL };

	return goes_through(stack, name);
}

bool prof_wait_gives(const char *stack)
{
	static const char *const name[] = { "put", "_put", "send", "send_bytes", NULL };

	return goes_through(stack, name);
}

bool prof_wait_watches(const char *stack)
{
	static const char *const name[] = { "_wait_for_updates", "_handle_workers", NULL };

	return goes_through(stack, name);
}

bool prof_wait_hands_out(const char *stack)
{
	static const char *const name[] = { "_handle_tasks", NULL };

	return goes_through(stack, name);
}

bool prof_wait_in_loader(const char *stack)
{
	return strstr(stack, "torch/utils/data/_utils/worker.py\t") != NULL;
}

bool prof_wait_in_threading(const char *stack)
{
	return frame_in(stack, "/threading.py") || frame_in(stack, "/queue.py") ||
	       frame_in(stack, "/selectors.py") || in_queue_code(stack);
}
