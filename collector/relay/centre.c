/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ID-START,PARENT,...
 */
#include "centre.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/files.h"

#define ID_DIGITS (COLL_EPOCH_ID_BYTES - 1)
#define START_DIGITS 16
#define HEX "0123456789abcdef"

void coll_centre_mute(struct coll_centre *c)
{
	*c = (struct coll_centre){ .id = COLL_CENTRE_MUTE };
}

static bool take_id(char out[COLL_EPOCH_ID_BYTES], const char **at)
{
	if (strspn(*at, HEX) != ID_DIGITS)
		return false;
	memcpy(out, *at, ID_DIGITS);
	out[ID_DIGITS] = '\0';
	*at += ID_DIGITS;
	return true;
}

bool coll_centre_read(struct coll_centre *c, const char *text)
{
	struct coll_centre new = { .parents = 0 };
	const char *at = text;

	if (strlen(text) >= sizeof(new.text) || !take_id(new.id, &at) || *at++ != '-' ||
	    strspn(at, HEX) != START_DIGITS)
		return false;
	new.start = strtoull(at, NULL, 16);
	at += START_DIGITS;
	while (*at == ',') {
		at++;
		if (new.parents == COLL_EPOCH_PARENTS || !take_id(new.parent[new.parents++], &at))
			return false;
	}
	if (*at || !new.start)
		return false;
	memcpy(new.text, text, strlen(text) + 1);
	*c = new;
	return true;
}

void coll_centre_load(struct coll_centre *c, int base_fd)
{
	uint8_t *text;
	size_t len;

	coll_centre_mute(c);
	if (coll_file_read_at(base_fd, COLL_CENTRE_FILE, sizeof(c->text), &text, &len))
		return;
	text[strcspn((char *)text, "\n")] = '\0';
	coll_centre_read(c, (char *)text);
	free(text);
}

int coll_centre_save(const struct coll_centre *c, const char *base)
{
	char text[sizeof(c->text) + 1];
	int len = snprintf(text, sizeof(text), "%s\n", coll_centre_is_mute(c) ? c->id : c->text);

	return coll_file_replace(base, COLL_CENTRE_FILE, text, (size_t)len);
}
