/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One small JSON file.
 */
#include "process_end.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include "base/escape.h"
#include "core/files.h"

int coll_process_end_write(const char *run_dir, const char *stream_hex,
			   const struct coll_hello *who, int64_t end_ns)
{
	char name[64], host[6 * COLL_HOST_BYTES + 8], text[2048];
	int n;

	if (snprintf(name, sizeof(name), "exit-coll-%s.json", stream_hex) >= (int)sizeof(name))
		return -ENAMETOOLONG;
	base_escape_text(host, sizeof(host), BASE_AS_JSON_ANYWHERE, who->host);
	n = snprintf(text, sizeof(text),
		     "{\"exits\":[{\"host\":\"%s\",\"pid\":%" PRId64 ",\"start_ns\":%" PRId64
		     ",\"end_ns\":%" PRId64 ",\"status\":null}]}\n",
		     host, who->pid, who->start_ns, end_ns);
	if (n < 0 || (size_t)n >= sizeof(text))
		return -EINVAL;
	return coll_file_replace(run_dir, name, text, (size_t)n);
}
