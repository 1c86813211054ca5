/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.c - one call of cuDNN as one kernel.
 */
#include "work.h"

#include <stdio.h>

#define BLOCK 256
#define TILE (128 * 128)

double dnn_data_bytes(enum dnn_data data)
{
	switch (data) {
	case DNN_COMPLEX128:
		return 16;
	case DNN_DOUBLE:
	case DNN_INT64:
	case DNN_COMPLEX64:
		return 8;
	case DNN_FLOAT:
	case DNN_INT32:
	case DNN_UINT32:
		return 4;
	case DNN_HALF:
	case DNN_BFLOAT16:
		return 2;
	case DNN_FP4_E2M1:
	case DNN_INT4:
	case DNN_UINT4:
		return 0.5;
	default:
		return 1;
	}
}

enum gpusim_type dnn_data_type(enum dnn_data data, bool tensor)
{
	switch (data) {
	case DNN_DOUBLE:
	case DNN_COMPLEX128:
		return GPUSIM_F64;
	case DNN_HALF:
	case DNN_BFLOAT16:
		return GPUSIM_F16;
	case DNN_FP8_E4M3:
	case DNN_FP8_E5M2:
	case DNN_FP8_E8M0:
	case DNN_FP4_E2M1:
		return GPUSIM_F8;
	case DNN_INT8:
	case DNN_INT8X4:
	case DNN_UINT8:
	case DNN_UINT8X4:
	case DNN_INT8X32:
	case DNN_INT4:
	case DNN_UINT4:
		return GPUSIM_I8;
	default:
		return tensor ? GPUSIM_TF32 : GPUSIM_F32;
	}
}

/* Operands, accumulator and results, as NVIDIA's names have them. */
static const char *types_text(enum dnn_data data, enum gpusim_type type)
{
	switch (type) {
	case GPUSIM_F64:
		return "f64f64_f64f64_f64";
	case GPUSIM_F16:
		return data == DNN_BFLOAT16 ? "bf16bf16_bf16f32_f32" : "f16f16_f16f32_f32";
	case GPUSIM_F8:
		return "e4m3e4m3_e4m3f32_f32";
	case GPUSIM_I8:
		return "i8i8_i8i32_f32";
	case GPUSIM_TF32:
		return "tf32f32_tf32f32_f32";
	default:
		return "f32f32_f32f32_f32";
	}
}

void dnn_work_convolution(struct dnn_work *work, enum dnn_direction direction, double y,
			  double taps, enum dnn_data data, bool tensor, bool channels_last)
{
	static const char *const verbs[] = { "fprop", "dgrad", "wgrad" };

	work->type = dnn_data_type(data, tensor);
	work->flops = 2 * y * taps;
	work->outputs = y;
	snprintf(work->name, sizeof work->name, "sm90_xmma_%s_implicit_gemm_%s_%s_cudnn_simulated",
		 verbs[direction], types_text(data, work->type),
		 channels_last ? "nhwckrsc_nhwc" : "nchwkcrs_nchw");
}

static unsigned blocks(double outputs)
{
	double n = outputs / TILE + 1;

	return n < 65535 ? (unsigned)n : 65535;
}

enum dnn_status dnn_work_launch(struct dnn_handle *handle, const struct dnn_work *work)
{
	struct gpusim_launch launch = {
		.grid = { blocks(work->outputs), 1, 1 },
		.block = { BLOCK, 1, 1 },
		.stream = handle->stream,
		.length_ns = gpusim_length_work(work->flops, work->bytes, work->type),
	};

	launch.kernel = work->kernel ? work->kernel : gpusim_kernel(work->name);
	if (!launch.kernel)
		return dnn_fail(DNN_INTERNAL_ERROR_HOST_ALLOCATION_FAILED,
				"no memory for a kernel's name");
	/* As CUPTI shows the launches of a library that has the runtime in it. */
	return dnn_driver(gpusim_launch(&launch, SIM_CBID_cudaLaunchKernelExC));
}
