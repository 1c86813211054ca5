/* SPDX-License-Identifier: Apache-2.0 */
#include "claim_object.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include "live/row.h"

bool coll_claim_object_fill(struct coll_claim_object *k, const char *folder,
			    const struct live_fired *f)
{
	struct live_row r;
	uint64_t chance;
	int len = live_fired_put(f, k->body);

	if (len < 0 || getrandom(&chance, sizeof(chance), 0) != sizeof(chance))
		return false;
	live_row_of_alert(&r, f);
	k->len = (size_t)len;
	k->len += (size_t)snprintf(k->body + len, sizeof(k->body) - k->len,
				   "{\"claim\":\"%016" PRIx64 "\"}\n", chance);
	return snprintf(k->key, sizeof(k->key), "%s/%s", folder, r.stream) < (int)sizeof(k->key);
}

void coll_claim_object_put(struct coll_claim_object *k, struct objects *o)
{
	ssize_t got;

	k->err = objects_put(o, k->key, k->body, k->len, true, &k->trouble);
	if (k->err != -EEXIST)
		return;
	got = objects_get(o, k->key, 0, k->there, sizeof(k->there), &k->trouble);
	if (got < 0) {
		k->err = (int)got;
		return;
	}
	k->there_len = (size_t)got;
	if (k->there_len == k->len && !memcmp(k->there, k->body, k->len))
		k->err = 0;
}
