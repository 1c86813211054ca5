/* SPDX-License-Identifier: Apache-2.0 */
#include "envtable.h"

#include <stddef.h>

const struct view_env_entry view_env_table[] = {
	{ "GPUSTARVE", "1", "0 turns the recording off" },
	{ "GPUSTARVE_OUT", "./gpustarve-runs", "folder of the run directories" },
	{ "GPUSTARVE_RUN_ID", "from the scheduler, else made up", "id that all processes share" },
	{ "GPUSTARVE_SOCKET", "none: spool files", "Unix socket of the node's collector" },
	{ "GPUSTARVE_COLLECTOR", "one per run", "collector that `run` sends to (unix:PATH)" },
	{ "GPUSTARVE_LIB", "found from the program", "path of libprof.so" },
	{ "GPUSTARVE_LEVEL", "1", "how much is recorded: 0, 1 or 2" },
	{ "GPUSTARVE_GRAPHS", "by CUPTI's version", "CUDA graphs: graph, node or off" },
	{ "GPUSTARVE_MAX_OVERHEAD", "1", "percent of the job's time; 0: no limit" },
	{ "GPUSTARVE_MAX_TRACE", "0", "bytes of trace (K, M, G, T); 0: no limit" },
	{ "GPUSTARVE_LABELS", "none", "labels of the run, k=v,k=v" },
	{ "GPUSTARVE_NVTX", "1", "0: do not record NVTX ranges" },
	{ "GPUSTARVE_TORCH", "1", "0: do not hook torch's loader ranges" },
	{ "GPUSTARVE_SHIM", "1", "0: no shim in Python: batches, gc and checkpoints go unseen" },
	{ "GPUSTARVE_SAMPLER", "1", "0: do not look at threads: causes stay unknown" },
	{ "GPUSTARVE_CUPTI", "found", "path of the libcupti to use" },
	{ "GPUSTARVE_SHARED", "set by libprof",
	  "where spawned loader workers find the trainer's memory" },
	{ "GPUSTARVE_DEBUG", "0", "1: libprof says what it does, on stderr" },
	{ "GPUSTARVE_QUIET_ERRORS", "0",
	  "1: somebody else says that the trace cannot be written; set by `run`" },
	{ "GPUSTARVE_USD_PER_GPU_HOUR", "none", "price of every GPU" },
	{ "GPUSTARVE_PRICES", "/etc/gpustarve/prices.csv", "site file of prices" },
	{ "GPUSTARVE_REARM_SECONDS", "60",
	  "seconds to yield to another CUPTI client before registering again" },
	{ "GPUSTARVE_DMI", "/sys/class/dmi/id", "where the machine says what it is" },
	{ "NO_COLOR", "none", "set: no colours" },
	{ NULL, NULL, NULL },
};
