/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpustarve-collector: start, serve, exit status.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/log.h"
#include "gateway_server.h"
#include "options.h"
#include "relay/gone.h"
#include "retain/sweep.h"
#include "server.h"
#include "work/by_hand.h"

/* With 0, 1 or 2 closed a trace would get that number, and log lines with it. */
static bool hold_stdio(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
		if (fd < 0)
			return false;
	} while (fd <= STDERR_FILENO);
	close(fd);
	return true;
}

static int serve(struct coll_server *sv)
{
	int err = coll_server_listen(sv);

	if (err)
		return err == -EBUSY ? COLL_EXIT_TAKEN : COLL_EXIT_ERROR;
	err = coll_server_run(sv);
	if (err)
		coll_log("cannot wait for events: %s", strerror(-err));
	return err || sv->failed ? COLL_EXIT_ERROR : COLL_EXIT_OK;
}

/* --sweep: what the daemon does every ten minutes, once and for people. */
static int sweep(const struct coll_options *opts)
{
	struct coll_limits limits = opts->limits;
	struct coll_sweep plan = {
		.base = opts->dir,
		.limits = &limits,
		.dry = opts->dry_run,
		.digests = opts->digest.store != NULL,
		.dispensable = coll_gone_lets_go,
		.tidy = true,
	};

	if (opts->limits_file && coll_limits_load(&limits, &opts->limits, opts->limits_file))
		return COLL_EXIT_ERROR;
	return coll_sweep(&plan, STDOUT_FILENO) ? COLL_EXIT_ERROR : COLL_EXIT_OK;
}

int main(int argc, char **argv)
{
	static struct coll_server server;
	struct coll_options opts;
	int status, err;

	if (!hold_stdio())
		return COLL_EXIT_ERROR;
	if (!coll_options_parse(&opts, argc, argv, &status))
		return status;
	coll_log_verbose(opts.verbose);
	if (opts.work.url && (opts.work.dry_run || opts.work.again))
		return coll_work_by_hand(&opts.work, &opts.limits) ? COLL_EXIT_ERROR : COLL_EXIT_OK;
	umask(umask(0) | 022); /* a job's wrapper starts us with the job's, which may be none */
	if (opts.sweep)
		return sweep(&opts);
	if (opts.gateway.url)
		return coll_gateway_serve(&opts);
	err = coll_server_init(&server, &opts);
	if (err) {
		coll_log("cannot store runs in %s: %s; give another --dir", opts.dir,
			 strerror(-err));
		return COLL_EXIT_ERROR;
	}
	/* Traces of others name what files they like: no report that is made here opens them. */
	setenv("GPUSTARVE_LOCAL_FILES", "0", 1);
	status = serve(&server);
	coll_server_fini(&server);
	return status;
}
