/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lengths against figures computed by hand: bytes over 0.9 x 3.35e12 = 3015 per ns, FLOPs
 * over 0.8 x the peak, cut to whole ns. The names are those of torch 2.13's kernels.
 */
#include "../lengths.h"

#include "harness.h"

static void test_matmul(void)
{
	/* 2 x 25089 x 3072 x 768 = 118384754688 FLOP over 791520 per ns (H100: 164 us) */
	EXPECT_UINT(gpusim_length_matmul(25089, 3072, 768, 1, GPUSIM_F16), 149566);
	/* 2 x 1024^3 = 2147483648 FLOP over 395760, 53520, 1583120 per ns */
	EXPECT_UINT(gpusim_length_matmul(1024, 1024, 1024, 1, GPUSIM_TF32), 5426);
	EXPECT_UINT(gpusim_length_matmul(1024, 1024, 1024, 1, GPUSIM_F32), 40124);
	EXPECT_UINT(gpusim_length_matmul(1024, 1024, 1024, 1, GPUSIM_F64), 40124);
	EXPECT_UINT(gpusim_length_matmul(4096, 4096, 4096, 1, GPUSIM_F8), 86815);
	EXPECT_UINT(gpusim_length_matmul(4096, 4096, 4096, 1, GPUSIM_I8), 86815);
}

static void test_matmul_of_memory(void)
{
	/* (4096 + 4096^2 + 4096) x 2 = 33570816 bytes */
	EXPECT_UINT(gpusim_length_matmul(1, 4096, 4096, 1, GPUSIM_F16), 11134);
	/* 37632 x (8x8 + 8x64 + 8x64) x 2 = 81887232 bytes */
	EXPECT_UINT(gpusim_length_matmul(8, 64, 8, 37632, GPUSIM_F16), 27159);
}

static void test_floor(void)
{
	EXPECT_UINT(gpusim_length_matmul(5, 768, 64, 1, GPUSIM_F16), SIM_LENGTH_FLOOR_NS);
	EXPECT_UINT(gpusim_length_matmul(0, 0, 0, 1, GPUSIM_F32), SIM_LENGTH_FLOOR_NS);
	EXPECT_UINT(gpusim_length_work(0, 0, GPUSIM_F64), SIM_LENGTH_FLOOR_NS);
}

/* The longer of the two: 10^9 FLOP over 53520 per ns, 10^9 bytes over 3015. */
static void test_roof(void)
{
	EXPECT_UINT(gpusim_length_work(1e9, 0, GPUSIM_F32), 18684);
	EXPECT_UINT(gpusim_length_work(1e9, 1e9, GPUSIM_F32), 331674);
}

static uint64_t of(const char *name, unsigned blocks, unsigned threads)
{
	unsigned grid[3] = { blocks, 1, 1 }, block[3] = { threads, 1, 1 };

	return gpusim_length_kernel(name, grid, block);
}

#define ADD_BF16                                                                                \
	"_ZN2at6native29vectorized_elementwise_kernelILi8ENS0_15CUDAFunctor_addIN3c108BFloat16" \
	"EEESt5arrayIPcLm3EEEEviT0_T1_"
#define FILL_BOOL                                                                              \
	"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIbEESt5arrayIPcLm1" \
	"EEEEviT0_T1_"
#define GELU_FLOAT                                                                                 \
	"_ZN2at6native29vectorized_elementwise_kernelILi4EZZZNS0_18GeluCUDAKernelImplERNS_18Tenso" \
	"rIteratorBaseENS0_8GeluTypeEENKUlvE0_clEvENKUlvE0_clEvEUlfE_St5arrayIPcLm2EEEEviT0_T1_"
#define CAST_HALF                                                                                  \
	"_ZN2at6native27unrolled_elementwise_kernelIZZZNS0_23direct_copy_kernel_cudaERNS_18Tensor" \
	"IteratorBaseEENKUlvE1_clEvENKUlvE10_clEvEUlN3c104HalfEE_St5arrayIPcLm2EELi4E23TrivialOff" \
	"setCalculatorILi1EjESD_NS0_6memory12LoadWithCastILi1EEENSE_13StoreWithCastILi1EEEEEviT_T" \
	"0_T2_T3_T4_T5_"
#define STRIDED_COPY                                                                               \
	"_ZN2at6native18elementwise_kernelILi128ELi4EZNS0_22gpu_kernel_impl_nocastIZZZNS0_23direc" \
	"t_copy_kernel_cudaERNS_18TensorIteratorBaseEENKUlvE1_clEvENKUlvE10_clEvEUlN3c108BFloat16" \
	"EE_EEvS4_RKT_EUliE_EEviT1_"
#define STRIDED_ADD                                                                                \
	"_ZN2at6native18elementwise_kernelILi128ELi2EZNS0_22gpu_kernel_impl_nocastINS0_15CUDAFunc" \
	"tor_addIfEEEEvRNS_18TensorIteratorBaseERKT_EUliE_EEviT1_"

static void test_elementwise(void)
{
	/* 37634 x 128 x 8 elements, three arrays of two bytes: 231223296 bytes */
	EXPECT_UINT(of(ADD_BF16, 37634, 128), 76690);
	/* 100000 x 128 x 16, one array of one byte: 204800000 */
	EXPECT_UINT(of(FILL_BOOL, 100000, 128), 67927);
	/* 10000 x 128 x 8, two arrays of four bytes: 81920000 */
	EXPECT_UINT(of(GELU_FLOAT, 10000, 128), 27170);
	/* 10000 x 128 x 4, two arrays counted as of two bytes: 20480000 */
	EXPECT_UINT(of(CAST_HALF, 10000, 128), 6792);
}

static void test_strided(void)
{
	/* 37632 x 128 x 4, two arrays of two bytes, at 0.45: 77070336 / 0.45 (H100: 57 us) */
	EXPECT_UINT(of(STRIDED_COPY, 37632, 128), 56805);
	/* 10000 x 128 x 2, three arrays of four bytes, at 0.45 */
	EXPECT_UINT(of(STRIDED_ADD, 10000, 128), 22642);
}

#define SUM_FLOAT                                                                                  \
	"_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_14func_wrapper_tIfZNS0_11sum_f" \
	"unctorIfffEclERNS_14TensorIteratorEEUlffE_EEjfLi4ELi4EEEEEvT1_"
#define ANY_BOOL                                                                                   \
	"_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIbNS0_14func_wrapper_tIbZZZNS0_14or_" \
	"kernel_cudaERNS_14TensorIteratorEENKUlvE_clEvENKUlvE10_clEvEUlbbE_EEjbLi4ELi4EEEEEvT1_"
#define FUSED_ADAMW                                                                                \
	"_ZN2at6native52_GLOBAL__N__b7f847be_19_fused_adamw_impl_cu_454205f325multi_tensor_apply_" \
	"kernelINS1_32FusedOptimizerTensorListMetadataILi4EEENS1_20FusedAdamMathFunctorIfLi4ELNS0" \
	"_9ADAM_MODEE1ELb0EEEJPKfdddddbSB_SB_EEEvT_T0_DpT1_"
#define FOREACH_MUL                                                                                \
	"_ZN2at6native55_GLOBAL__N__832b9cb6_28_ForeachBinaryOpScalarList_cu_ddaa_25multi_tensor_" \
	"apply_kernelINS1_18TensorListMetadataILi1EEENS1_25BinaryOpScalarListFunctorIN3c104HalfEL" \
	"i1ELi1ELi0EEEJSt10multipliesIfEEEEvT_T0_DpT1_"

static void test_reductions(void)
{
	/* 1024 x 512 x 16 elements of four bytes: 33554432; 8192 x 512 x 16 of one: 67108864 */
	EXPECT_UINT(of(SUM_FLOAT, 1024, 512), 11129);
	EXPECT_UINT(of(ANY_BOOL, 8192, 512), 22258);
	/* 320 chunks of 65536, seven arrays of four bytes, at 0.8: 587202560 / 0.8 */
	EXPECT_UINT(of(FUSED_ADAMW, 320, 512), 243450);
	/* 320 x 65536, read and written, of two bytes, at 0.8: 83886080 / 0.8 */
	EXPECT_UINT(of(FOREACH_MUL, 320, 512), 34778);
}

#define SOFTMAX_WARP                                                                               \
	"_ZN43_GLOBAL__N__f71e7945_10_SoftMax_cu_9f978f6320softmax_warp_forwardIN3c104HalfES2_fLi" \
	"7ELb0ELb0ELi32EEEvPT0_PKT_iiiPKbib"
#define SOFTMAX_ROWS                                                                               \
	"_ZN2at6native43_GLOBAL__N__f71e7945_10_SoftMax_cu_9f978f6319cunn_SoftMaxForwardILi8EN3c1" \
	"08BFloat16EfS4_NS1_22SoftMaxForwardEpilogueEEEvPT2_PKT0_i"
#define LAYER_NORM                                                                                 \
	"_ZN2at6native53_GLOBAL__N__4da244e1_20_layer_norm_kernel_cu_9c5ada8a28vectorized_layer_n" \
	"orm_kernelIN3c108BFloat16EfLb0EEEviT0_PKT_S8_S8_PS5_S9_PS6_"

static void test_rows(void)
{
	unsigned grid[3] = { 9408, 1, 1 }, block[3] = { 32, 4, 1 };

	/* 9408 x 4 warps x 2 rows of 128, two arrays of two bytes: 38535168 */
	EXPECT_UINT(gpusim_length_kernel(SOFTMAX_WARP, grid, block), 12781);
	/* 25089 x 128 x 8, two arrays of two bytes, at 0.6: 102764544 / 0.6 (H100: 60 us) */
	grid[0] = 25089;
	EXPECT_UINT(gpusim_length_kernel(LAYER_NORM, grid, block), 56807);
	/* 82960 x 1024 x 8, three times two bytes, at 0.5: 4077649920 / 0.5 (H100: 2171 us) */
	EXPECT_UINT(of(SOFTMAX_ROWS, 82960, 1024), 2704908);
}

#define FLASH(causal)                                                                              \
	"_ZN13pytorch_flash16flash_fwd_kernelI23Flash_fwd_kernel_traitsILi64ELi128ELi128ELi4ELb0E" \
	"Lb0EN7cutlass10bfloat16_tE19Flash_kernel_traitsILi64ELi128ELi128ELi4ES3_EELb0ELb" causal  \
	"ELb0ELb0ELb1ELb1ELb0ELb0EEEvNS_16Flash_fwd_paramsE"
#define FLASH_BACKWARD                                                                             \
	"_ZN13pytorch_flash44flash_bwd_dq_dk_dv_loop_seqk_parallel_kernelI23Flash_bwd_kernel_trai" \
	"tsILi64ELi128ELi128ELi8ELi4ELi4ELi4ELb0ELb0EN7cutlass10bfloat16_tE19Flash_kernel_traitsI" \
	"Li64ELi128ELi128ELi8ES3_EELb0ELb1ELb0ELb0ELb0ELb1ELb0EEEvNS_16Flash_bwd_paramsE"

static void test_attention(void)
{
	unsigned grid[3] = { 16, 8, 12 }, block[3] = { 128, 1, 1 };

	/* 4 x 2048^2 x 64 x 96 = 103079215104 FLOP over 791520 x 0.45 per ns */
	EXPECT_UINT(gpusim_length_kernel(FLASH("0"), grid, block), 289398);
	EXPECT_UINT(gpusim_length_kernel(FLASH("1"), grid, block), 144699);
	EXPECT_UINT(gpusim_length_kernel(FLASH_BACKWARD, grid, block), 361748);
}

static void test_plain_names(void)
{
	/* 1000 x 128 x 8, three arrays of four bytes, at 0.9: 12288000 / 0.9 */
	EXPECT_UINT(of("triton_poi_fused_add_gelu_0", 1000, 128), 4528);
	EXPECT_UINT(of("gemm", 1000, 128), SIM_LENGTH_UNKNOWN_NS);
	EXPECT_UINT(of("", 1, 1), SIM_LENGTH_UNKNOWN_NS);
}

/* The kernel's own name counts, not a part of another's, nor what stands among its parameters. */
static void test_unknown(void)
{
	EXPECT_UINT(of("_Z12reduce_kernel", 1, 1), SIM_LENGTH_UNKNOWN_NS);
	EXPECT_UINT(of("_Z16my_reduce_kernelPf", 1000, 512), SIM_LENGTH_UNKNOWN_NS);
	EXPECT_UINT(of("_Z14reduce_kernel2Pf", 1000, 512), SIM_LENGTH_UNKNOWN_NS);
}

/* Every beginning of a name, as a cut or foreign one may be: no reading beyond its end. */
static void test_cut(void)
{
	static const char *const names[] = { ADD_BF16,	   CAST_HALF,  FUSED_ADAMW,
					     SOFTMAX_WARP, FLASH("1"), "_Z99999999999999999999x" };
	size_t i, n;

	for (i = 0; i < sizeof names / sizeof *names; i++)
		for (n = 0; n <= strlen(names[i]); n++) {
			char *cut = strndup(names[i], n);

			EXPECT(of(cut, 100, 128) >= SIM_LENGTH_FLOOR_NS);
			free(cut);
		}
}

/* Another text at the same address is another name. */
static void test_reused_address(void)
{
	char name[256] = ADD_BF16;

	EXPECT_UINT(of(name, 37634, 128), 76690);
	strcpy(name, "gemm");
	EXPECT_UINT(of(name, 37634, 128), SIM_LENGTH_UNKNOWN_NS);
}

int main(void)
{
	return RUN(test_matmul, test_matmul_of_memory, test_floor, test_roof, test_elementwise,
		   test_strided, test_reductions, test_rows, test_attention, test_plain_names,
		   test_unknown, test_cut, test_reused_address);
}
