/* SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

#include <stddef.h>
#include "cmd.h"
#include "run/run.h"

const struct view_command view_commands[] = {
	{ "run", view_cmd_run, &view_run_options, "run a command and record what its GPUs do",
	  false },
	{ "top", view_cmd_top, &view_top_options, "watch a run while it goes on", false },
	{ "report", view_cmd_report, &view_report_options, "show where the GPU time of a run went",
	  true },
	{ "runs", view_cmd_runs, &view_runs_options, "list the runs of a folder", false },
	{ "verify", view_cmd_verify, &view_verify_options,
	  "recompute a run's summary from its trace", true },
	{ "check", view_cmd_check, &view_check_options, "hold runs against budgets and a baseline",
	  true },
	{ "fit", view_cmd_fit, &view_fit_options,
	  "what a run's training would take and cost on other GPUs", true },
	{ "loader", view_cmd_loader, &view_loader_options,
	  "without a GPU: what a program's loader can feed", false },
	{ "import", view_cmd_import, &view_import_options, "make a run from another tool's trace",
	  false },
	{ "export", view_cmd_export, &view_export_options, "write a run for other tools", true },
	{ "job", view_cmd_job, &view_job_options, "what a scheduler's hooks call, and its jobs",
	  false },
	{ "put", view_cmd_put, &view_put_options, "copy a run into an object store (S3)", true },
	{ "dump", view_cmd_dump, &view_dump_options, "print what a trace holds", true },
	{ "digest", view_cmd_digest, &view_digest_options, "make what the fleet keeps of a run",
	  true },
	{ "fleet", view_cmd_fleet, &view_fleet_options, "sum up the runs of an organisation",
	  false },
	{ "node", view_cmd_node, &view_node_options,
	  "write down who holds GPUs and is not recorded", false },
	{ "pulses", view_cmd_pulses, &view_pulses_options,
	  "what gateways call: runs that go on, into a store and out of it", false },
	{ "prices", view_cmd_prices, &view_prices_options, "list, look up and import prices",
	  false },
	{ "demo", view_cmd_demo, &view_demo_options,
	  "show three recorded runs that come with gpustarve", false },
	{ "doctor", view_cmd_doctor, &view_doctor_options, "say what is here and what is missing",
	  false },
	{ 0 },
};
