/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What names of kernels tell: written from the grammars by which libraries make them, as their
 * sources and documents have these, with what such a name must tell; mangled and readable forms of
 * one name tell the same; what is no name tells nothing.
 */
#include "facts/kernel_kind.h"

#include "facts/kernel_name.h"
#include "harness.h"

struct told {
	const char *kind, *precision, *name;
};

static void expect_told(const struct told *t)
{
	struct facts_kernel_kind k = facts_kernel_kind(t->name);
	const char *kind = facts_kinds[k.kind].name;
	const char *precision = facts_precisions[k.precision].name;

	if (strcmp(kind, t->kind) || strcmp(precision, t->precision))
		T_FAIL("%s %s, not %s %s: %s", kind, precision, t->kind, t->precision, t->name);
}

#define EXPECT_TOLD(list)                                                 \
	do {                                                              \
		for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++) \
			expect_told(&(list)[i]);                          \
	} while (0)

/* <chip>_[<types>_]<letter>[<shape>]gemm_[<types>_]<tile>..., and what came after it. */
static void test_cublas(void)
{
	static const struct told list[] = {
		{ "matmul", "fp32", "maxwell_sgemm_128x64_raggedMn_nn_splitK" },
		{ "matmul", "fp64", "ampere_dgemm_64x64_tn" },
		{ "matmul", "fp16", "maxwell_hgemm_256x128_nt" },
		{ "matmul", "fp16", "volta_fp16_sgemm_fp16_64x64_nn" },
		{ "matmul", "fp16", "turing_h1688gemm_128x128_ldg8_stages_32x1_tn" },
		{ "matmul", "bf16", "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_nt" },
		{ "matmul", "int8", "turing_int8_i8816gemm_int8_256x128_ldg16_stages_64x1_tn" },
		{ "matmul", "int8", "ampere_i16832gemm_256x128_ldg16_stages_64x3_tn" },
		{ "matmul", "fp64", "ampere_d884gemm_64x32_tn" },
		{ "matmul", "fp32", "volta_cgemm_32x64_tn" },
		{ "matmul", "bf16", "nvjet_tst_128x192_64x5_1x2_h_bz_coopB_bias_TNN" },
		{ "matmul", "fp16", "nvjet_sm90_hss_320x128_64x3_2x1_v_bz_NTN" },
		{ "matmul", "fp8", "nvjet_qqtst_128x256_128x4_2x1_v_bz_coopA_TNT" },
		{ "matmul", "unknown", "nvjet_sm100_64x16_64x16_2x4_2cta_h_bz_splitK" },
		{ "matmul", "fp32",
		  "void gemv2T_kernel_val<int, int, float, float, float, float, 128>(int)" },
		{ "matmul", "fp64",
		  "void dot_kernel<double, 128, 0, cublasDotParams<double>>(T4)" },
		{ "matmul", "bf16",
		  "void cublasLt::splitKreduce_kernel<32, 16, int, __nv_bfloat16>(int)" },
	};

	EXPECT_TOLD(list);
}

/* sm<chip>_xmma_<operation>_<A><C>_<B><C>_<D>_...; TensorRT's have trt_ before. */
static void test_xmma(void)
{
	static const struct told list[] = {
		{ "matmul", "tf32",
		  "sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x32_cublas" },
		{ "matmul", "fp16",
		  "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize64x64x64_cublas" },
		{ "matmul", "fp8",
		  "sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize64x64x128_cublas" },
		{ "matmul", "int8", "sm80_xmma_gemm_i8i32_i8i32_i32_tn_n_tilesize96x32x64_cublas" },
		{ "matmul", "fp64",
		  "sm90_xmma_gemm_f64f64_f64f64_f64_tn_n_tilesize64x64x16_cublas" },
		{ "convolution", "tf32",
		  "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16" },
		{ "convolution", "fp16",
		  "sm86_xmma_dgrad_implicit_gemm_indexed_f16f16_f16f32_f32_nhwckrsc_nhwc_execute" },
		{ "convolution", "bf16",
		  "sm90_xmma_wgrad_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc" },
		{ "convolution", "int8",
		  "trt_sm80_xmma_fprop_implicit_gemm_interleaved_i8i8_i8i32_f32_nchw_vect_c_32" },
	};

	EXPECT_TOLD(list);
}

static void test_cudnn(void)
{
	static const struct told list[] = {
		{ "convolution", "fp32", "ampere_scudnn_128x64_relu_medium_nn_v1" },
		{ "convolution", "fp16",
		  "volta_fp16_s884cudnn_fp16_256x64_ldg8_relu_f2f_exp_small_nhwc2nchw_tn_v1" },
		{ "convolution", "fp16",
		  "trt_turing_h1688cudnn_128x128_ldg8_relu_exp_large_nhwc_tn_v1" },
		{ "convolution", "int8",
		  "trt_volta_int8x4_icudnn_int8x4_128x64_relu_medium_nn_v1" },
		{ "convolution", "fp32",
		  "void implicit_convolve_sgemm<float, float, 128, 5, 5>(int)" },
		{ "convolution", "fp16", "void explicit_convolve_sgemm<__half, int, 128, 5>(int)" },
		{ "convolution", "fp32", "void fft2d_c2r_32x32<float, false, 0>(float*, float2*)" },
		{ "convolution", "fp32",
		  "void cudnn::winograd_nonfused::winogradForwardData4x4<float>()" },
		{ "convolution", "fp16",
		  "void cudnn::cnn::wgrad2d_grouped_direct_kernel<__half, float>()" },
		{ "convolution", "fp64",
		  "void conv2d_grouped_direct_kernel<false, true, double>(T1)" },
		{ "normalisation", "fp16",
		  "void cudnn::bn_fw_tr_1C11_kernel_NCHW<__half, float, 512, true, 1>(T1)" },
		{ "normalisation", "fp32",
		  "void cudnn::ops::softmax_fw_kernel<2, float, float, 256>()" },
		{ "other", "fp32", "void cudnn::pooling_fw_4d_kernel<float, float, 0, false>(T1)" },
		{ "attention", "fp16",
		  "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7" },
		{ "other", "fp32", "void RNN_blockPersist_fp_LSTM<float, float, float, 256>()" },
	};

	EXPECT_TOLD(list);
}

/* cutlass_<chip>_<class>_[<types>_]<instruction>_[<types>_]<tile>, a Kernel of it. */
static void test_cutlass(void)
{
	static const struct told list[] = {
		{ "matmul", "tf32",
		  "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x256_16x3_nn_align4>(T1)" },
		{ "matmul", "tf32", "cutlass_80_tensorop_s1688tf32gemm_128x128_16x4_nn_align4" },
		{ "matmul", "fp16", "cutlass_75_tensorop_s1688gemm_f16_256x128_32x2_tn_align8" },
		{ "matmul", "fp16", "cutlass_80_tensorop_s16816f16gemm_128x128_32x5_nn_align8" },
		{ "matmul", "fp32",
		  "void cutlass::Kernel<cutlass_80_simt_sgemm_128x64_8x5_nn_align1>(T1)" },
		{ "matmul", "int8", "cutlass_80_tensorop_i16832gemm_s8_256x128_64x3_tn_align16" },
		{ "matmul", "bf16",
		  "cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_bf16_bf16_128x128x64" },
		{ "convolution", "tf32",
		  "void cutlass__5x_cudnn::Kernel<cutlass_tensorop_s1688fprop_optimized_tf32_128x128>(T1)" },
		{ "convolution", "fp16",
		  "void cutlass::Kernel<cutlass::conv::kernel::ImplicitGemmConvolution<cutlass::half_t>>()" },
		{ "matmul", "fp8",
		  "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int>, "
		  "cutlass::float_e4m3_t, cutlass::bfloat16_t>>(T1::Params)" },
	};

	EXPECT_TOLD(list);
}

static void test_attention(void)
{
	static const struct told list[] = {
		{ "attention", "bf16",
		  "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, "
		  "cutlass::bfloat16_t>, false, true>(pytorch_flash::Flash_fwd_params)" },
		{ "attention", "fp16",
		  "void flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd<cutlass::half_t>>()" },
		{ "attention", "fp8",
		  "void cutlass::device_kernel<flash::FlashAttnFwdSm90<128, cutlass::float_e4m3_t, float>>()" },
		{ "attention", "fp32", "fmha_cutlassF_f32_aligned_64x64_rf_sm80(Params)" },
		{ "attention", "fp16",
		  "fmha_v2_flash_attention_fp16_fp32_64_64_S_128_causal_sm80_kernel" },
		{ "attention", "bf16",
		  "void paged_attention_v2_kernel<__nv_bfloat16, 128, 16>(float*)" },
		/* what is kept is narrower than what is computed */
		{ "attention", "fp16",
		  "_ZN4vllm25paged_attention_v1_kernelI6__half13__nv_fp8_e4m3Li128EEEvPT_PT0_" },
		{ "attention", "unknown",
		  "void vllm::paged_attention_v1_kernel<unsigned short, unsigned char, 128>(int)" },
		{ "attention", "fp16",
		  "void BatchDecodeWithPagedKVCacheKernel<128, __half, __half>(T1)" },
		{ "attention", "fp16", "void flash_attn_ext_f16<128, 4, false>(char const*)" },
		{ "attention", "unknown", "_attn_fwd_0d1d2d3d4" },
		{ "attention", "unknown", "triton_tem_fused_flex_attention_4" },
		{ "elementwise", "bf16",
		  "void rotary_embedding_kernel<c10::BFloat16, true>(long const*)" },
	};

	EXPECT_TOLD(list);
}

static void test_torch(void)
{
	static const struct told list[] = {
		{ "elementwise", "fp16",
		  "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::Half>, "
		  "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::Half>)" },
		{ "elementwise", "bf16",
		  "void at::native::vectorized_elementwise_kernel<8, at::native::BinaryFunctor<c10::BFloat16, "
		  "c10::BFloat16, c10::BFloat16, at::native::binary_internal::MulFunctor<float> > >(int)" },
		{ "elementwise", "unknown",
		  "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<long>, "
		  "at::detail::Array<char*, 1> >(int, at::native::FillFunctor<long>)" },
		{ "elementwise", "int8",
		  "void at::native::unrolled_elementwise_kernel<at::native::FillFunctor<unsigned char>, "
		  "std::array<char*, 1ul>, 4>(int)" },
		{ "elementwise", "fp8",
		  "void at::native::unrolled_elementwise_kernel<at::native::float8_copy_kernel_cuda("
		  "at::TensorIteratorBase&)::{lambda(c10::Float8_e4m3fn)#1}, 4>(int)" },
		{ "reduction", "fp32",
		  "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
		  "at::native::NormTwoOps<float, float, float>, unsigned int, float, 4> >(int)" },
		{ "normalisation", "bf16",
		  "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, "
		  "float>(int, float)" },
		{ "normalisation", "fp32",
		  "void (anonymous namespace)::softmax_warp_forward<float, float>()" },
		{ "normalisation", "fp16",
		  "void at::native::batch_norm_collect_statistics_kernel<at::native::InvStd, c10::Half>()" },
		{ "optimizer", "fp32",
		  "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<"
		  "at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>, "
		  "at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4> >()" },
		/* what clipping asks for: lists of tensors that are read alone */
		{ "reduction", "bf16",
		  "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<"
		  "at::native::(anonymous namespace)::TensorListMetadata<1>, "
		  "at::native::(anonymous namespace)::LpNormFunctor<c10::BFloat16, 1>, float*>()" },
		{ "reduction", "bf16",
		  "_ZN2at6native25multi_tensor_apply_kernelINS0_18TensorListMetadataILi1EEENS0_13"
		  "LpNormFunctorIN3c108BFloat16ELi1EEEJPfEEEvT_T0_DpT1_" },
		{ "optimizer", "fp32",
		  "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<"
		  "at::native::(anonymous namespace)::TensorListMetadata<2>, "
		  "at::native::(anonymous namespace)::BinaryOpScalarFunctor<float, 2, 1, 1>, float>()" },
		{ "embedding", "fp32",
		  "void at::native::(anonymous namespace)::embedding_backward_feature_kernel<float, float>()" },
		{ "other", "unknown",
		  "void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::(anonymous "
		  "namespace)::OpaqueType<2u>, unsigned int, 3, 64, 64>(unsigned int)" },
		{ "other", "unknown",
		  "void at::native::vectorized_gather_kernel<16, long>(char*, char*)" },
		{ "other", "unknown",
		  "void at::native::index_elementwise_kernel<128, 4, T>(long, T)" },
		{ "other", "fp32",
		  "void at::native::(anonymous namespace)::max_pool_forward_nchw<float>()" },
		{ "convolution", "fp16",
		  "void at::native::(anonymous namespace)::conv_depthwise2d_forward_kernel<3, c10::Half>()" },
		{ "convolution", "fp32",
		  "void at::native::im2col_kernel<float>(long, float const*)" },
	};

	EXPECT_TOLD(list);
}

static void test_others(void)
{
	static const struct told list[] = {
		/* Inductor and Triton */
		{ "elementwise", "unknown",
		  "triton_poi_fused__scaled_dot_product_attention_convolution_3" },
		{ "reduction", "unknown", "triton_red_fused_sum_12" },
		{ "normalisation", "unknown", "triton_per_fused__softmax_1" },
		{ "normalisation", "unknown", "triton_red_fused_native_layer_norm_0" },
		{ "matmul", "unknown", "triton_tem_fused_addmm_2" },
		{ "convolution", "unknown", "triton_tem_fused_convolution_2" },
		{ "matmul", "unknown", "matmul_kernel_0d1d2d3de4de5de" },
		{ "unknown", "unknown", "triton__0d1d2d3d" },
		{ "unknown", "unknown", "_fwd_kernel" },
		/* XLA */
		{ "elementwise", "unknown", "loop_multiply_add_fusion_7" },
		{ "elementwise", "unknown", "loop_convert_fusion" },
		{ "reduction", "unknown", "input_add_reduce_fusion.3" },
		{ "other", "unknown", "input_scatter_fusion" },
		{ "other", "unknown", "input_transpose_fusion_1" },
		{ "matmul", "unknown", "gemm_fusion_dot_12" },
		{ "unknown", "unknown", "fusion_12" },
		/* apex, Transformer Engine, bitsandbytes, fbgemm, DeepSpeed */
		{ "normalisation", "fp16",
		  "void (anonymous namespace)::cuApplyLayerNorm<c10::Half, float>()" },
		{ "normalisation", "bf16",
		  "void transformer_engine::normalization::rmsnorm_fwd_tuned_kernel<__nv_bfloat16>()" },
		{ "reduction", "fp16",
		  "void multi_tensor_apply_kernel<TensorListMetadata<1>, L2NormFunctor<__half>, "
		  "float*>()" },
		{ "other", "bf16",
		  "void transformer_engine::cast_transpose_kernel<__nv_bfloat16, __nv_fp8_e4m3>()" },
		{ "optimizer", "fp32",
		  "void multi_tensor_apply_kernel<TensorListMetadata<4>, "
		  "AdamFunctor<float, float, int>, float>()" },
		{ "optimizer", "fp32",
		  "void kOptimizerStatic8bit2State<float, 0>(float*, float*)" },
		{ "embedding", "fp32",
		  "void split_embedding_backward_codegen_rowwise_adagrad_unweighted_kernel<float>()" },
		{ "other", "fp32",
		  "void fbgemm_gpu::permute_2D_data_kernel<true, int, int, float>(int)" },
		/* CUB, Thrust, Eigen */
		{ "other", "unknown",
		  "void cub::DeviceRadixSortOnesweepKernel<cub::Policy800, int>()" },
		{ "reduction", "fp32",
		  "void cub::DeviceReduceKernel<cub::Policy600, float*, float*>()" },
		/* work on input */
		{ "decode", "unknown", "void nvjpeg::ycbcr_to_rgb_kernel(unsigned int)" },
		{ "decode", "fp32", "void dali::kernels::ResampleHorz<float>(int)" },
	};

	EXPECT_TOLD(list);
}

/* As the linker has them: the same as they are read. */
static void test_mangled(void)
{
	static const struct told list[] = {
		{ "elementwise", "fp32",
		  "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EE"
		  "EEviT0_T1_" },
		{ "elementwise", "unknown",
		  "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIlEESt5arrayIPcLm1EEEEv"
		  "iT0_T1_" },
		{ "elementwise", "int8",
		  "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIhEESt5arrayIPcLm1EEEEv"
		  "iT0_T1_" },
		{ "reduction", "bf16",
		  "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIN3c108BFloat16ENS0_7MeanOpsIS4_fS4_f"
		  "EEjS4_Li4ELi4EEEEEvT1_" },
		{ "elementwise", "bf16",
		  "_ZN2at6native18elementwise_kernelILi128ELi4EZNS0_22gpu_kernel_impl_nocastIZZZNS0_23direct_"
		  "copy_kernel_cudaERNS_18TensorIteratorBaseEENKUlvE1_clEvENKUlvE8_clEvEUlN3c108BFloat16EE_E"
		  "EvS4_RKT_EUliE_EEviT1_" },
		{ "optimizer", "fp16",
		  "_ZN2at6native53_GLOBAL__N__2b1d7d9f_22_FusedSgdKernel_cu_adf58b35_2125multi_tensor_apply_"
		  "kernelINS1_18TensorListMetadataILi4EEENS1_20FusedAdamMathFunctorIN3c104HalfELi4ELNS0_9ADA"
		  "M_MODEE0ELb0EEEJEEEvT_T0_DpT1_" },
		{ "other", "unknown", /* the file's name is no part of it */
		  "_ZN2at6native47_GLOBAL__N__5a3b7c9d_14_SoftMaxGemm_cu_1a2b3c4d19CatArrayBatchedCopyINS1_10"
		  "OpaqueTypeILj4EEEjLi2EEEvPT_" },
		{ "matmul", "tf32",
		  "_ZN7cutlass7Kernel2I50cutlass_80_tensorop_s1688gemm_64x64_16x6_tn_align4EEvNT_6ParamsE" },
		{ "normalisation", "fp32", "_ZL12my_norm_fwdPfi" },
		{ "unknown", "fp16", "_Z9mykernelP6__half" },
		{ "unknown", "bf16", "_Z9mykernelPDF16b" },
		{ "unknown", "fp16", "_Z9mykernelPDF16_i" },
		{ "unknown", "fp64", "_ZN3foo3barIdLN3baz4kindE2EEEvv" },
		{ "other", "fp32",
		  "_ZN5cudnn3ops16nchwToNhwcKernelIffELb0EL21cudnnKernelDataType_t0EEEvv" },
		{ "attention", "bf16",
		  "_ZN5flash16flash_fwd_kernelI23Flash_fwd_kernel_traitsILi64ELi128ELb0EN7cutlass10bfloat16_"
		  "tEEEEvNS_16Flash_fwd_paramsE" },
	};

	EXPECT_TOLD(list);
}

static void test_nsys(void)
{
	static const struct told list[] = {
		{ "elementwise", "unknown",
		  "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda("
		  "at::TensorIteratorBase &)::[lambda() (instance 3)]::operator ()() const::[lambda(long) "
		  "(instance 1)], std::array<char *, (unsigned long)2>, (int)4>(int, T1, T2)" },
		{ "normalisation", "fp32",
		  "void <unnamed>::softmax_warp_forward<float, float, float, (int)6, (bool)0>(T2 *)" },
		{ "matmul", "fp32",
		  "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, float, (bool)1>(T8)" },
	};

	EXPECT_TOLD(list);
}

/* Words that only look like it. */
static void test_no_such_thing(void)
{
	static const struct told list[] = {
		{ "unknown", "unknown", "" },
		{ "unknown", "unknown", "_Z" },
		{ "unknown", "unknown", "_ZN" },
		{ "matmul", "unknown", "_ZN9999999999999999999999999gemm" }, /* cut off */
		{ "unknown", "unknown", "_ZN3abc" },
		{ "unknown", "unknown", "_ZZZZZZZZNNNNIIIIXXXX" },
		{ "unknown", "unknown", "<<<<((((" },
		{ "unknown", "unknown", ">>>>))))::" },
		{ "unknown", "unknown", "operator()" },
		{ "unknown", "unknown", "\xff\xfe\x80 \x01" },
		{ "unknown", "unknown", "madam_lambda_converter" },
		{ "unknown", "unknown", "halftime_float_charm" },
		{ "unknown", "unknown", "void solve_normal_equations_banner(int)" },
		{ "unknown", "unknown", "void relaxation<int>(halfway)" },
	};

	EXPECT_TOLD(list);
}

/* Longer than there is room for, and nested deeper. */
static void test_long(void)
{
	static char name[3 * FACTS_NAME_OF];
	struct facts_kernel_words n;

	memset(name, 'x', sizeof(name) - 1);
	expect_told(&(struct told){ "unknown", "unknown", name });
	for (size_t i = 0; i + 1 < sizeof(name); i++)
		name[i] = "ab_"[i % 3];
	expect_told(&(struct told){ "unknown", "unknown", name });
	for (size_t i = 0; i + 1 < sizeof(name); i++)
		name[i] = "a::"[i % 3];
	facts_kernel_name_read(&n, name);
	EXPECT(n.own_len < sizeof(n.own) && strlen(n.own) == n.own_len);
	memcpy(name, "_Z", 2);
	memset(name + 2, 'N', sizeof(name) - 3);
	expect_told(&(struct told){ "unknown", "unknown", name });
	memset(name + 2, 'I', sizeof(name) - 3);
	expect_told(&(struct told){ "unknown", "unknown", name });
}

static void test_identifiers(void)
{
	struct facts_kernel_words n;

	facts_kernel_name_read(&n, "void a::(anonymous namespace)::b<c, 4>(d const*)");
	EXPECT_STR(n.own, " a b ");
	EXPECT_STR(n.of, " c 4 d const ");
	facts_kernel_name_read(&n, "_ZN1a12_GLOBAL__N_11bI1cLi4EEEvPK1d");
	EXPECT_STR(n.own, " a b ");
	EXPECT_STR(n.of, " c d ");
	facts_kernel_name_read(&n, "plain_name.kd");
	EXPECT_STR(n.own, " plain_name kd ");
	EXPECT_STR(n.of, "");
}

static void test_passes(void)
{
	static const char *const backward[] = {
		"void at::native::(anonymous namespace)::softmax_warp_backward<float, float, float, 10, false, false>(float*, float const*, float const*, int, int, int, bool const*)",
		"void cunn_SoftMaxBackward<8, float, float, float, at::native::SoftMaxBackwardEpilogue>(float*, float const*, float const*, long)",
		"void flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<64, 128, 128>>(Flash_bwd_params)",
		"sm80_xmma_wgrad_implicit_gemm_indexed_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x64x64",
	};
	static const char *const forward[] = {
		/* a transposed convolution, forward */
		"void cudnn::detail::dgrad_engine<float, 128, 6, 7, 3, 3, 5, true>(int, int, int)",
		"void at::native::(anonymous namespace)::softmax_warp_forward<float, float, float, 10, false, false>(float*, float const*, int, int, int)",
		"ampere_sgemm_128x64_tn",
	};
	static const char *const cache[] = {
		"void vllm::reshape_and_cache_kernel<unsigned short, unsigned short, 0>(unsigned short const*)",
		"void vllm::paged_attention_v1_kernel<unsigned short, unsigned short, 128, 16, 128>(float*)",
	};

	for (size_t i = 0; i < sizeof(backward) / sizeof(*backward); i++)
		EXPECT(facts_kernel_kind(backward[i]).backward);
	for (size_t i = 0; i < sizeof(forward) / sizeof(*forward); i++) {
		EXPECT(!facts_kernel_kind(forward[i]).backward);
		EXPECT(!facts_kernel_kind(forward[i]).generates);
	}
	for (size_t i = 0; i < sizeof(cache) / sizeof(*cache); i++)
		EXPECT(facts_kernel_kind(cache[i]).generates);
}

int main(void)
{
	return RUN(test_cublas, test_xmma, test_cudnn, test_cutlass, test_attention, test_torch,
		   test_others, test_mangled, test_nsys, test_no_such_thing, test_long,
		   test_identifiers, test_passes);
}
