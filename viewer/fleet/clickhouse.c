/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include "base/log.h"
#include "store_priv.h"

int fleet_clickhouse_open(struct fleet_store **s, const char *url, bool write)
{
	(void)s;
	(void)url;
	(void)write;
	view_error("--store: this build has no ClickHouse; use sqlite:FILE");
	return -ENOSYS;
}
