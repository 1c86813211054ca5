/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of kernels from any bytes, cut into identifiers and told: what is found is whole, and the
 * same each time.
 */
#include "fuzz.h"

#include <stdlib.h>
#include "facts/kernel_kind.h"
#include "facts/kernel_name.h"

static void check_text(const char *text, size_t len, size_t room)
{
	if (len >= room || strlen(text) != len)
		abort();
	if (len && (text[0] != ' ' || text[len - 1] != ' '))
		abort();
}

static void read_name(const char *name)
{
	struct facts_kernel_kind k = facts_kernel_kind(name), again = facts_kernel_kind(name);
	struct facts_kernel_words n;

	facts_kernel_name_read(&n, name);
	check_text(n.own, n.own_len, sizeof(n.own));
	check_text(n.of, n.of_len, sizeof(n.of));
	if (k.kind >= FACTS_KINDS || k.kind == FACTS_KIND_GRAPH ||
	    k.precision >= FACTS_PRECISIONS || k.kind != again.kind ||
	    k.precision != again.precision)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *name = malloc(len + 3);

	if (!name)
		abort();
	memcpy(name, "_Z", 2);
	if (len)
		memcpy(name + 2, data, len);
	name[len + 2] = '\0';
	read_name(name);
	read_name(name + 2);
	free(name);
	return 0;
}

size_t fuzz_seed(unsigned int number, uint8_t **data)
{
	static const char *const seed[] = {
		("N2at6native18elementwise_kernelILi128ELi4EZNS0_22gpu_kernel_impl_nocastIZZZNS0_23direct_"
		 "copy_kernel_cudaERNS_18TensorIteratorBaseEENKUlvE1_clEvENKUlvE8_clEvEUlN3c108BFloat16EE_"
		 "EEvS4_RKT_EUliE_EEviT1_"),
		("N2at6native12_GLOBAL__N_125multi_tensor_apply_kernelINS1_18TensorListMetadataILi4EEENS1_"
		 "20FusedAdamMathFunctorIN3c104HalfELi4ELNS0_9ADAM_MODEE0ELb0EEEJEEEvT_T0_DpT1_"),
		("void at::native::(anonymous namespace)::f<4, g<c10::BFloat16>, {lambda(float)#1}::"
		 "operator()() const>(int, unsigned char*)"),
		"sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize64x64x128_cublas",
		"cutlass_80_tensorop_s1688tf32gemm_128x128_16x4_nn_align4",
		"nvjet_sm90_hss_320x128_64x3_2x1_v_bz_NTN",
		"9mykernelPDF16bA5_fM1aFvvEu6__bf16",
	};

	if (number >= sizeof(seed) / sizeof(seed[0]))
		return 0;
	size_t len = strlen(seed[number]);
	*data = malloc(len);
	if (!*data)
		abort();
	memcpy(*data, seed[number], len);
	return len;
}
