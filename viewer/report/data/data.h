/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data block of the page: what its charts draw, as one JSON document in
 *
 *	<script type="application/json" id="gpustarve-data">...</script>
 *
 * It is a pure function of the trace and the window: no price, no path, no clock of the machine
 * that wrote it. `gpustarve verify` makes it once more and compares every byte. All numbers are
 * integers, times are ns; a moment is relative to axis_start_ns. In strings `<`, `>`, `&`, U+2028,
 * U+2029 and controls are \u escapes, broken UTF-8 and marks that turn the writing direction are
 * U+FFFD, and what is longer than VIEW_DATA_TEXT_MAX bytes ends with an ellipsis (of paths the tail
 * is kept).
 *
 * {
 *  "schema": "gpustarve.page/1", "version": "0.1.0", "window": "job" or "device",
 *  "series": true,	false: made from a summary alone; then no member below but checksum is there
 *  "axis_start_ns": "1760000000000000000",	a string: a double would not hold it
 *  "axis_ns": N,				length of the axis
 *  "classes": ["compute", ...],		names by index, in the order of display
 *  "gpus": [{
 *	"gpu": I,			index in summary.json's gpus
 *	"label": "...",			"GPU 0 on host"
 *	"start_ns": N, "end_ns": N,	held
 *	"timeline": STRIP or null,
 *	"fine": [STRIP, ...],		closer windows around its longest gaps, by time
 *	"gaps": [{"start_ns", "end_ns", "empty_ns", "class": I, "class_ns"}, ...]	exact, longest first;
 *					class_ns: how much of it is of that class, the largest
 *  }, ...],
 *  "gpus_left_out": N,
 *  "processes": [{"process": I, "label": "rank 0" or "pid 7 on host", "rank": N or null}, ...],
 *					those named below, where "process" is an index of this
 *					list; here it is the number in the trace
 *  "steps": {				null: none was seen
 *	"count": N, "skipped": N, "median_ns": N, "p95_ns": N,	the summary's; -1: not known
 *	"series": [{"process": I, "each": N, "start_ns": DELTAS, "end_ns": [], "min_ns": [],
 *		    "max_ns": [], "sum_ns": [], "input_ns": [], "count": []}, ...],
 *					`each` consecutive steps per bucket; end_ns is a moment less
 *					the bucket's own start; input_ns: what the process's GPUs
					waited for input within them, all input.* of the ledger
 *	"series_left_out": N,
 *	"histogram": {"edges_ns": [n + 1], "count": [n]},	from the first to the last bin in use
 *	"outliers": [{"process": I, "start_ns", "end_ns", "input_ns"}, ...]	slowest first
 *  },
 *  "loader": {				null: none was seen
 *	"cell_ns": N, "cells": N,	cell i is [i * cell_ns, (i + 1) * cell_ns) of the axis
 *	"states": {"io": [], "cpu": [], "runnable": [], "idle": [], "lock": [], "other": []}
 *					ns of workers' threads per cell; or null: no samples
 *	"batch": SPREAD,		making a batch, by its start
 *	"take": SPREAD,			calls of next()
 *	"depth": [] or null		batches ready and not taken at the cell's end
 *  },
 *  "copies": [{"direction": "h2d", "count", "bytes", "ns", "exposed_ns"}, ...],
 *  "flame": {				null: no sample
 *	"total_ns": N,			input.* and host.* of all GPUs
 *	"sampled_ns": N,		of it with a sample: the sum of all graphs, left out or not
 *	"graphs": [{"process": I, "role": "submitter" | "worker" | "pin" | "other" | "worker_other" |
 *		    "producer" | "feeder",
 *		    "ns": N, "folded_ns": N,
 *		    "parent": [], "frame": [], "ns_below": []}, ...],
 *					nodes in preorder; node 0 is the root, its children classes,
 *					then Python frames from the outermost to the innermost;
 *					parent is how many nodes back the parent is (of the root 0);
 *					ns_below includes all nodes below; "(other)" is what was folded
 *	"graphs_left_out": N, "left_out_ns": N,
 *	"frames": ["all", "(other)", "function path/file.py:line" or a class, ...]
 *  },
 *  "reduced": ["timeline", "processes", "steps", "loader", "flame"],	those that had to be made
 *					coarser to fit; usually empty
 *  "checksum": "..."			FNV-1a 64 of all bytes before this member, in hexadecimal
 * }
 *
 * STRIP: {"start_ns": N, "width_ns": N, "end_ns": N,	equal buckets, the last one ends at end_ns
 *	   "parts": [[class, ns, class, ns, ...], ...],	one array per bucket
 *	   "longest_ns": [] or null}			longest stretch of one gap within each bucket;
 *					of the finer ones it was made of where it had to be coarser
 * SPREAD: {"count": [], "min_ns": [], "max_ns": [], "sum_ns": []}	per cell
 * DELTAS: the first as it is, then each as the difference to the one before it.
 */
#ifndef VIEW_DATA_H
#define VIEW_DATA_H

#include <stdio.h>
#include "summary/summary.h"

#define VIEW_DATA_SCHEMA "gpustarve.page/1"
#define VIEW_DATA_ID "gpustarve-data"
#define VIEW_DATA_OPEN "<script type=\"application/json\" id=\"" VIEW_DATA_ID "\">"
/* What is larger is made coarser: of many GPUs each has less, for their tables take room, too. */
#define VIEW_DATA_BYTES_MAX 330000u /* whatever the run is */
#define VIEW_DATA_BYTES_MANY 140000u /* of a run with many GPUs */

/* The document, without the element around it. */
void view_data_write(const struct view_summary *s, FILE *f);

/* Of what stands before the member "checksum". */
uint64_t view_data_checksum(const char *text, size_t len);

/* The same in its element, for the page. */
void view_data_element(const struct view_summary *s, FILE *f);

#endif
