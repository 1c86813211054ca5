/* SPDX-License-Identifier: Apache-2.0 */
/*
 * questions.c - what is asked, part by part, in the order of worth: the parts of steps 1, 3 and 4
 * decide what takes the place of kernel records where these are too dear. Their limits add up to
 * more than the probe has: a part that needs less leaves the rest to those behind it.
 */
#include "probe.h"

const struct part parts[] = {
	{ "machine", 0, 20, false, false, part_machine },
	{ "launch", 1, 80, true, true, part_launch },
	{ "rights", 3, 15, true, true, part_rights },
	{ "samples", 3, 25, true, true, part_samples },
	{ "clocks", 3, 30, true, true, part_clocks },
	{ "beside", 3, 15, true, true, part_beside },
	{ "shared", 3, 15, true, true, part_shared },
	{ "gpm", 4, 40, true, false, part_gpm },
	{ "meters", 4, 15, true, false, part_meters },
	{ "torch", 2, 110, true, true, part_torch },
	{ "kinds", 7, 10, true, true, part_kinds },
	{ "switches", 7, 15, true, true, part_switches },
	{ "hardware", 5, 15, true, true, part_hardware },
	{ "second", 6, 5, false, false, part_second },
};
const size_t part_count = LENGTH(parts);

const struct question questions[] = {
	{ "machine.gpu", "machine", "which GPU, driver and CUDA version" },
	{ "machine.rights", "machine", "who may read counters here" },
	{ "machine.cupti", "machine", "which libcupti is used, which others lie on the disk" },
	{ "machine.v2", "machine", "can CUPTI's second interface be asked here" },
	{ "machine.clocks", "machine", "clocks before anything runs" },

	{ "launch.off", "launch", "an empty kernel's launch, nothing traced" },
	{ "launch.noise", "launch", "the same played twice: what the noise is" },
	{ "launch.loaded", "launch", "with libcupti loaded and buffers offered, no kind on" },
	{ "launch.kernel", "launch", "with the kernel kind on" },
	{ "launch.all", "launch", "with kernels, copies, memsets, waits and graphs on" },
	{ "launch.light", "launch", "with copies, memsets, waits and graphs on, no kernels" },
	{ "launch.disabled", "launch", "the kernel kind off again after a while on" },
	{ "launch.flushed", "launch", "off again and flushed by force" },
	{ "launch.callbacks", "launch", "no kind, a subscriber with callbacks at launches" },
	{ "launch.stayed", "launch", "the kind off again, the subscriber with callbacks stays" },
	{ "launch.unsubscribed", "launch", "the kind off again, the subscriber gone" },
	{ "launch.finalized", "launch", "off again and cuptiFinalize" },
	{ "launch.stamps", "launch", "CUDA events with device stamps, one in 10 launches" },
	{ "launch.verdict", "launch",
	  "how much of its cost over an idle libcupti stays when it is off" },

	{ "pm.rights", "rights", "PM sampling as this user and as another" },
	{ "pm.passes", "rights", "do the metrics fit one pass, how large are the images" },
	{ "pm.10ms", "samples", "each 10 ms: samples, loss, decoding, truth" },
	{ "pm.1ms", "samples", "each 1 ms: samples, loss, decoding, truth" },
	{ "pm.100us", "samples", "each 100 us: samples, loss, decoding, truth" },
	{ "pm.stamps", "samples", "samples' stamps against CLOCK_REALTIME" },
	{ "pm.clocks", "clocks", "SM clock before, during and after sampling" },
	{ "pm.bound", "clocks", "GPU-bound step while sampling each 1 ms" },
	{ "pm.launch", "clocks", "an empty kernel's launch while sampling each 1 ms" },
	{ "pm.beside", "beside", "sampling beside our kinds, in both orders" },
	{ "pm.process", "shared", "is another process's work seen" },
	{ "pm.twice", "shared", "a second session on the same device" },

	{ "gpm.support", "gpm", "is GPM there" },
	{ "gpm.nothing", "gpm", "its values while nobody has a context" },
	{ "gpm.0", "gpm", "its values with an idle resident context" },
	{ "gpm.5", "gpm", "its values at 5 % duty" },
	{ "gpm.20", "gpm", "its values at 20 % duty" },
	{ "gpm.50", "gpm", "its values at 50 % duty" },
	{ "gpm.90", "gpm", "its values at 90 % duty" },
	{ "gpm.100", "gpm", "its values at 100 % duty" },
	{ "gpm.one", "gpm", "its values at 50 % duty of one block" },
	{ "gpm.id1", "gpm", "what id 1 (GRAPHICS_UTIL) means" },
	{ "gpm.id2", "gpm", "what id 2 (SM_UTIL) means" },
	{ "gpm.cycles", "gpm", "what ids 249 over 248 (SM cycles) mean" },
	{ "gpm.cost", "gpm", "what a call takes" },
	{ "gpm.refresh", "gpm", "how often a sample changes" },
	{ "gpm.intervals", "gpm", "id 1 at 50 % over 100, 200 and 1000 ms" },
	{ "gpm.user", "gpm", "GPM as another user" },
	{ "gpm.traced", "gpm", "GPM while the job's kernels are traced" },
	{ "nvml.samples", "meters", "spacing of nvmlDeviceGetSamples" },
	{ "nvml.processes", "meters", "nvmlDeviceGetProcessesUtilizationInfo" },
	{ "nvml.rates", "meters", "nvmlDeviceGetUtilizationRates at known duty" },

	{ "torch.off", "torch", "a small training step in PyTorch, nothing traced" },
	{ "torch.noise", "torch", "the same played twice: what the noise is" },
	{ "torch.on", "torch", "with kernels, copies, memsets, waits and graphs on" },
	{ "torch.disabled", "torch", "all of them off again after a while on" },
	{ "torch.duty", "torch", "on for 0.25 s in 10 s" },

	{ "kinds.accepted", "kinds", "are kinds 56 to 59 accepted" },
	{ "kinds.host", "kinds", "records of host functions (kind 58)" },
	{ "kinds.one", "switches", "context switches (kind 57) with one process" },
	{ "kinds.two", "switches", "context switches (kind 57) with two processes" },

	{ "hardware.variable", "hardware", "CUPTI_ENABLE_HW_TRACE=1: is it refused cleanly" },
	{ "hardware.call", "hardware", "cuptiActivityEnableHWTrace(1): is it refused cleanly" },

	{ "second.all", "second", "CUPTI's second interface: exclusion, layouts, cost" },
};
const size_t question_count = LENGTH(questions);
