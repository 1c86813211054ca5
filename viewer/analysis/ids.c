/* SPDX-License-Identifier: Apache-2.0 */
#include "ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int ana_ids_put(struct ana_ids *m, uint32_t id, uint32_t number)
{
	if (id >= m->room) {
		uint32_t room = id < UINT32_MAX / 2 ? 2 * id + 16 : UINT32_MAX;
		uint32_t *n = reallocarray(m->number, room, sizeof(*n));

		if (!n)
			return -ENOMEM;
		memset(n + m->room, 0, (size_t)(room - m->room) * sizeof(*n));
		m->number = n;
		m->room = room;
	}
	m->number[id] = number + 1;
	return 0;
}

void ana_ids_fini(struct ana_ids *m)
{
	free(m->number);
	*m = (struct ana_ids){ 0 };
}
