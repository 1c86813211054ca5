/* SPDX-License-Identifier: Apache-2.0 */
/* A collector as a process of its own, and frames to send it, for benches. */
#ifndef TESTS_BENCH_TAKER_H
#define TESTS_BENCH_TAKER_H

#include "cost.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "unit/wire/stream.h"
#include "wire/frame.h"

#define B_OPTIONS_MAX 16

/* The first frame of stream @id. */
static inline void b_put_hello(struct wire_buf *out, const uint8_t *id)
{
	struct wire_encoder *e = wire_encoder_new(id, 3);
	Wire__Hello m = WIRE__HELLO__INIT;
	char run[] = "bench", host[] = "bench";

	m.run_id = run;
	m.host = host;
	REQUIRE(e && !wire_encoder_message(e, WIRE_FRAME_HELLO, &m.base, 1, out));
	wire_encoder_free(e);
}

/* Makes the frame at @bytes number @seq of stream @id. */
static inline void b_renumber(uint8_t *bytes, const uint8_t *id, uint64_t seq)
{
	struct wire_frame f;

	REQUIRE(!wire_frame_header_get(&f, bytes));
	memcpy(f.stream, id, sizeof(f.stream));
	f.seq = seq;
	wire_frame_header_put(&f, bytes);
}

/*
 * Starts it with @dir and @option (NULL behind the last); @line, of 200 bytes, gets what it says
 * when it is ready.
 */
static inline pid_t b_collector(const char *dir, const char *const *option, char *line)
{
	const char *argv[B_OPTIONS_MAX] = { "gpustarve-collector", "--dir", dir, "--ready-fd" };
	size_t n = 4;
	char fd[16];
	int ready[2];
	pid_t pid;

	REQUIRE(!pipe(ready));
	snprintf(fd, sizeof(fd), "%d", ready[1]);
	argv[n++] = fd;
	while (*option && n < B_OPTIONS_MAX - 1)
		argv[n++] = *option++;
	pid = fork();
	REQUIRE(pid >= 0);
	if (!pid) {
		close(ready[0]);
		execv(TESTS_BIN "/gpustarve-collector", (char **)(uintptr_t)argv);
		_exit(127);
	}
	close(ready[1]);
	memset(line, 0, 200);
	REQUIRE(read(ready[0], line, 199) > 0);
	close(ready[0]);
	return pid;
}

/* Ends it, and what it needed. */
static inline void b_collector_end(pid_t pid, struct rusage *use)
{
	int status;

	kill(pid, SIGTERM);
	REQUIRE(wait4(pid, &status, 0, use) == pid && !status);
}

#endif
