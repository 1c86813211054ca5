/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Hello frame: who this process is and what is traced how. Written first, and again whenever
 * one of these facts becomes known. Sender thread.
 */
#ifndef PROF_HELLO_H
#define PROF_HELLO_H

#include <stdint.h>
#include "core/procinfo.h"

struct prof_hello {
	const struct prof_process *process;
	const char *run_id;
	const char *level; /* "0", "1", "2" */
	const char *graphs; /* graph, node, off */
	const char *torch_version;
	uint32_t cupti_version; /* 0: none */
	int64_t armed_ns;
};

void prof_hello_write(const struct prof_hello *h);

#endif
