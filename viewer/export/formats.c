/* SPDX-License-Identifier: Apache-2.0 */
/* Which formats there are. */
#include "export.h"

const struct view_export_format view_export_formats[] = {
	{ .name = "perfetto",
	  .what = "a timeline for ui.perfetto.dev (protobuf)",
	  .binary = true,
	  .passes = 2,
	  .write = view_export_perfetto },
	{ .name = "kineto",
	  .what = "what torch.profiler writes (JSON): HTA, TensorBoard, chrome://tracing",
	  .folders = true,
	  .passes = 2,
	  .write = view_export_kineto },
	{ .name = "sqlite",
	  .what = "tables like those of nsys, and our own",
	  .binary = true,
	  .own_file = true,
	  .passes = 2,
	  .write = view_export_sqlite },
	{ .name = "folded",
	  .what = "stacks by time that GPUs did not work: speedscope, flamegraph.pl",
	  .passes = 1,
	  .write = view_export_folded },
	{ .name = "pprof",
	  .what = "the same for pprof (protobuf.gz)",
	  .binary = true,
	  .gzip = true,
	  .passes = 1,
	  .write = view_export_pprof },
	{ .name = "prometheus",
	  .what = "totals of the job for node_exporter's textfile collector",
	  .write = view_export_prometheus },
	{ .name = "focus",
	  .what = "FOCUS 1.2 rows for cost tools (CSV)",
	  .write = view_export_focus },
	{ .name = "csv",
	  .what = "a table: gaps, classes, gpus, steps or outcomes",
	  .passes = 1,
	  .write = view_export_csv },
	{ .name = NULL },
};

const struct view_export_format *view_export_find(const char *name)
{
	const struct view_export_format *f;

	for (f = view_export_formats; f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}
