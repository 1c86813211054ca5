/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/files.h"

static int move_out(struct view_answer *a)
{
	int fd = base_temp_file(NULL);

	if (fd < 0)
		return fd;
	int err = base_write_all(fd, a->text, a->len);
	if (err) {
		close(fd);
		return err;
	}
	free(a->text);
	a->text = NULL;
	a->room = 0;
	a->fd = fd;
	a->filed = true;
	return 0;
}

static int keep(struct view_answer *a, const char *bytes, size_t len)
{
	if (a->len + len + 1 > a->room) {
		size_t room = (a->len + len + 1) * 2;
		char *more = realloc(a->text, room);

		if (!more)
			return -ENOMEM;
		a->text = more;
		a->room = room;
	}
	memcpy(a->text + a->len, bytes, len);
	a->text[a->len + len] = '\0';
	return 0;
}

int view_answer_add(struct view_answer *a, const char *bytes, size_t len)
{
	int err = 0;

	if (len > a->most - a->len)
		return -EFBIG;
	if (a->in_memory && !a->filed && a->len + len > a->in_memory)
		err = move_out(a);
	if (!err)
		err = a->filed ? base_write_all(a->fd, bytes, len) : keep(a, bytes, len);
	if (!err)
		a->len += len;
	return err;
}

int view_answer_end(struct view_answer *a)
{
	if (!a->filed || a->text)
		return 0;
	if (ftruncate(a->fd, (off_t)a->len + 1))
		return -errno;
	void *text = mmap(NULL, a->len + 1, PROT_READ | PROT_WRITE, MAP_SHARED, a->fd, 0);
	if (text == MAP_FAILED)
		return -errno;
	a->text = text;
	return 0;
}

void view_answer_free(struct view_answer *a)
{
	if (!a->filed)
		free(a->text);
	else if (a->text)
		munmap(a->text, a->len + 1);
	if (a->filed)
		close(a->fd);
	*a = (struct view_answer){ .most = a->most, .in_memory = a->in_memory };
}
