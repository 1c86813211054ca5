/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line of two numbers and a word.
 */
#include "sweep_clock.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/clock.h"
#include "core/files.h"

#define BOOT_ID_FILE "/proc/sys/kernel/random/boot_id"
#define TEXT_MAX 200
#define TIME_MAX (INT64_MAX / 4)

void coll_sweep_clock_now(struct coll_sweep_clock *c)
{
	FILE *f = fopen(BOOT_ID_FILE, "re");

	*c = (struct coll_sweep_clock){ .real_ns = coll_clock_ns(CLOCK_REALTIME),
					.boot_ns = coll_clock_ns(CLOCK_BOOTTIME) };
	if (!f)
		return;
	if (fscanf(f, "%39s", c->boot_id) != 1)
		c->boot_id[0] = '\0';
	fclose(f);
}

static bool in_bounds(int64_t ns)
{
	return ns >= 0 && ns < TIME_MAX;
}

void coll_sweep_clock_read(struct coll_sweep_clock *c, const char *base)
{
	struct coll_sweep_clock got = { .real_ns = 0 };
	char path[PATH_MAX];
	uint8_t *text;
	size_t len;

	*c = got;
	if (snprintf(path, sizeof(path), "%s/" COLL_SWEEP_CLOCK, base) >= (int)sizeof(path) ||
	    coll_file_read(path, TEXT_MAX, &text, &len))
		return;
	if (sscanf((char *)text, "real %" SCNd64 " boot %" SCNd64 " of %39s", &got.real_ns,
		   &got.boot_ns, got.boot_id) == 3 &&
	    in_bounds(got.real_ns) && in_bounds(got.boot_ns))
		*c = got;
	free(text);
}

int coll_sweep_clock_write(const struct coll_sweep_clock *c, const char *base)
{
	char text[TEXT_MAX];
	int len = snprintf(text, sizeof(text), "real %" PRId64 " boot %" PRId64 " of %s\n",
			   c->real_ns, c->boot_ns, *c->boot_id ? c->boot_id : "-");

	return coll_file_replace(base, COLL_SWEEP_CLOCK, text, (size_t)len);
}

int64_t coll_sweep_clock_jump(const struct coll_sweep_clock *last,
			      const struct coll_sweep_clock *now)
{
	int64_t by = now->real_ns - last->real_ns, most = COLL_CLOCK_AWAY_S * COLL_SECOND_NS;

	if (!last->real_ns || by <= 0)
		return 0;
	if (*now->boot_id && !strcmp(last->boot_id, now->boot_id) &&
	    now->boot_ns >= last->boot_ns) {
		by -= now->boot_ns - last->boot_ns;
		most = COLL_CLOCK_STEP_S * COLL_SECOND_NS;
	}
	return by > most ? by : 0;
}
