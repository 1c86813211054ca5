/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands of gpustarve. Each gets its own argv (argv[0] is the command's name), prints, and
 * returns the exit status.
 */
#ifndef VIEW_CMD_H
#define VIEW_CMD_H

#include "base/options.h"

#define VIEW_EXIT_OK 0
#define VIEW_EXIT_ERROR 1 /* usage, or the tool could not do it */
#define VIEW_EXIT_DIFFERS 2 /* verify: the summary is not what the trace gives */
/* digest: it could be made; the store, or a budget's look at it, failed */
#define VIEW_EXIT_STORE 3
#define VIEW_EXIT_COSTS 2 /* job safe: a stop now loses more than it may */
#define VIEW_EXIT_NOT_COMPARABLE 4 /* classes by different rules (ANA_RULES) */

/* What they take; view_run_options stands in run/run.h. */
extern const struct base_options view_report_options, view_runs_options, view_verify_options,
	view_check_options, view_dump_options, view_export_options, view_import_options,
	view_doctor_options, view_top_options, view_job_options, view_prices_options,
	view_digest_options, view_fleet_options, view_loader_options, view_demo_options,
	view_fit_options, view_node_options, view_put_options, view_pulses_options;

int view_cmd_run(int argc, char **argv);
int view_cmd_report(int argc, char **argv);
int view_cmd_runs(int argc, char **argv);
int view_cmd_verify(int argc, char **argv);
int view_cmd_check(int argc, char **argv);
int view_cmd_dump(int argc, char **argv);
int view_cmd_export(int argc, char **argv);
int view_cmd_import(int argc, char **argv);
int view_cmd_doctor(int argc, char **argv);
int view_cmd_top(int argc, char **argv);
int view_cmd_job(int argc, char **argv);
int view_cmd_prices(int argc, char **argv);
int view_cmd_digest(int argc, char **argv);
int view_cmd_fleet(int argc, char **argv);
int view_cmd_demo(int argc, char **argv);
int view_cmd_loader(int argc, char **argv);
int view_cmd_fit(int argc, char **argv);
int view_cmd_node(int argc, char **argv);
int view_cmd_put(int argc, char **argv);
int view_cmd_pulses(int argc, char **argv);

#endif
