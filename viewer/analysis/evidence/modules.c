/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What code is at work, by the package that a frame's file belongs to. A user's own functions are
 * no evidence by their names: they count by what they call or wait for.
 */
#include "modules.h"

#include <string.h>
#include "facts/feeder.h"

struct rule { /* file: beginning of its path within where packages are, '/' between parts */
	const char *file, *functions; /* functions: NULL: all, else "|name|name|" */
	uint8_t code;
	uint8_t say; /* enum ana_say */
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* functions of numpy's files, which newer versions keep under other names */
#define NUMPY_SAVES "|save|savez|savez_compressed|_savez|savetxt|"
#define NUMPY_WRITES \
	"|write_array|_write_array_header|write_array_header_1_0|write_array_header_2_0|_wrap_header|_wrap_header_guess_version|header_data_from_array_1_0|dtype_to_descr|_has_metadata|"

/* Of installed packages, the first that fits decides. */
static const struct rule packages[] = {
	/* torch's loader */
	{ "torch/utils/data/dataloader.py",
	  "|__next__|_next_data|_get_data|_try_get_data|_process_data|", ANA_CODE_NEXT,
	  ANA_SAY_DECIDES },
	{ "torch/utils/data/dataloader.py", "|__iter__|_get_iterator|__init__|_reset|",
	  ANA_CODE_EPOCH, ANA_SAY_DECIDES },
	{ "torch/utils/data/dataloader.py", "|__del__|_shutdown_workers|", ANA_CODE_EPOCH,
	  ANA_SAY_DECIDES },
	{ "torch/utils/data/_utils/pin_memory.py", NULL, ANA_CODE_HANDOFF, ANA_SAY_DECIDES },
	{ "torch/multiprocessing/reductions.py", NULL, ANA_CODE_HANDOFF, ANA_SAY_DECIDES },
	{ "torch/multiprocessing/queue.py", NULL, ANA_CODE_HANDOFF, ANA_SAY_DECIDES },
	{ "torch/utils/data/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	/* what readers' packages write is no input; who reads or transforms further out decides */
	{ "PIL/", "|save|_save|_save_all|_save_frame|_encode_tile|_write_multiple_frames|",
	  ANA_CODE_SAVE, ANA_SAY_WEAKLY },
	{ "torchvision/io/", "|write_video|write_jpeg|write_png|write_file|", ANA_CODE_SAVE,
	  ANA_SAY_WEAKLY },
	{ "torchaudio/", "|save|save_with_torchcodec|", ANA_CODE_SAVE, ANA_SAY_WEAKLY },
	{ "imageio/", "|imwrite|imsave|mimwrite|mimsave|volwrite|write|append_data|", ANA_CODE_SAVE,
	  ANA_SAY_WEAKLY },
	{ "skimage/", "|imsave|", ANA_CODE_SAVE, ANA_SAY_WEAKLY },
	{ "scipy/io/", "|savemat|put_variables|write|write_top|", ANA_CODE_SAVE, ANA_SAY_WEAKLY },
	{ "tifffile", "|imwrite|write|", ANA_CODE_SAVE, ANA_SAY_WEAKLY },
	{ "soundfile.py", "|write|_array_io|_cdata_io|", ANA_CODE_SAVE, ANA_SAY_WEAKLY },
	{ "h5py/", "|create_dataset|make_new_dset|__setitem__|write_direct|flush|", ANA_CODE_SAVE,
	  ANA_SAY_WEAKLY },
	{ "zarr/", "|save|save_array|save_group|__setitem__|set_basic_selection|", ANA_CODE_SAVE,
	  ANA_SAY_WEAKLY },
	{ "pyarrow/", "|write_table|write_dataset|write_to_dataset|write_feather|write_csv|",
	  ANA_CODE_SAVE, ANA_SAY_WEAKLY },
	{ "pandas/",
	  "|to_csv|to_parquet|to_pickle|to_json|to_hdf|to_feather|to_excel|to_sql|save|_save|_save_body|_save_chunk|write|",
	  ANA_CODE_SAVE, ANA_SAY_WEAKLY },
	{ "polars/", "|write_csv|write_parquet|write_ipc|write_ndjson|sink_parquet|", ANA_CODE_SAVE,
	  ANA_SAY_WEAKLY },
	{ "numpy/lib/npyio.py", NUMPY_SAVES, ANA_CODE_SAVE, ANA_SAY_WEAKLY },
	{ "numpy/lib/_npyio_impl.py", NUMPY_SAVES, ANA_CODE_SAVE, ANA_SAY_WEAKLY },
	{ "numpy/lib/format.py", NUMPY_WRITES, ANA_CODE_SAVE, ANA_SAY_WEAKLY },
	{ "numpy/lib/_format_impl.py", NUMPY_WRITES, ANA_CODE_SAVE, ANA_SAY_WEAKLY },
	/* readers, decoders, transforms */
	{ "PIL/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "cv2/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "av/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "decord/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "torchcodec/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "torchvision/transforms/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "torchvision/datasets/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "torchvision/io/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "torchaudio/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "torchdata/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "torchtext/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "webdataset/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "wids/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "litdata/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "streaming/base/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "ffcv/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "datasets/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "tokenizers/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "sentencepiece/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "tiktoken/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "transformers/tokenization", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "transformers/image_", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "transformers/video_", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "transformers/audio_utils", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "transformers/feature_extraction", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "transformers/processing_utils", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "tensorflow/python/data/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "tensorflow_datasets/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "grain/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "nvidia/dali/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "ray/data/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "petastorm/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "albumentations/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "imgaug/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "imageio/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "skimage/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "scipy/io/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "scipy/ndimage/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "monai/transforms/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "monai/data/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "nibabel/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "pydicom/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "tifffile", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "librosa/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "soundfile.py", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "audioread/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "h5py/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "zarr/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "numcodecs/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "lmdb/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "pyarrow/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "pandas/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "polars/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "numpy/lib/npyio.py", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "numpy/lib/_npyio_impl.py", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "numpy/lib/format.py", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "numpy/lib/_format_impl.py", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "numpy/core/memmap.py", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "numpy/_core/memmap.py", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "fsspec/", NULL, ANA_CODE_DATA, ANA_SAY_WEAKLY },
	{ "s3fs/", NULL, ANA_CODE_DATA, ANA_SAY_WEAKLY },
	{ "gcsfs/", NULL, ANA_CODE_DATA, ANA_SAY_WEAKLY },
	{ "smart_open/", NULL, ANA_CODE_DATA, ANA_SAY_WEAKLY },
	/* checkpoints */
	{ "torch/serialization.py", "|save|_save|_legacy_save|persistent_id|__exit__|",
	  ANA_CODE_CHECKPOINT, ANA_SAY_DECIDES },
	{ "torch/serialization.py", NULL, ANA_CODE_PLAIN, ANA_SAY_NOTHING },
	{ "torch/distributed/checkpoint/", NULL, ANA_CODE_CHECKPOINT, ANA_SAY_DECIDES },
	{ "safetensors/", "|save_file|save|save_model|", ANA_CODE_CHECKPOINT, ANA_SAY_DECIDES },
	{ "orbax/checkpoint/", NULL, ANA_CODE_CHECKPOINT, ANA_SAY_DECIDES },
	/* optimizers that compute on the CPU, for states that were moved out of the GPU's memory */
	{ "deepspeed/ops/adam/cpu_adam.py", NULL, ANA_CODE_CPU, ANA_SAY_DECIDES },
	{ "deepspeed/ops/adam/zenflow_cpu_adam.py", NULL, ANA_CODE_CPU, ANA_SAY_DECIDES },
	{ "deepspeed/ops/adagrad/cpu_adagrad.py", NULL, ANA_CODE_CPU, ANA_SAY_DECIDES },
	{ "deepspeed/ops/lion/cpu_lion.py", NULL, ANA_CODE_CPU, ANA_SAY_DECIDES },
	{ "colossalai/nn/optimizer/cpu_adam.py", NULL, ANA_CODE_CPU, ANA_SAY_DECIDES },
	{ "torchao/optim/cpu_offload.py", NULL, ANA_CODE_CPU, ANA_SAY_DECIDES },
	{ "torchao/prototype/low_bit_optim/cpu_offload.py", NULL, ANA_CODE_CPU, ANA_SAY_DECIDES },
	/* compilers: their own calls of the framework are part of it */
	{ "torch/_dynamo/convert_frame.py", NULL, ANA_CODE_LOAD, ANA_SAY_WHOLE },
	{ "torch/_dynamo/symbolic_convert.py", NULL, ANA_CODE_LOAD, ANA_SAY_WHOLE },
	{ "torch/_dynamo/output_graph.py", NULL, ANA_CODE_LOAD, ANA_SAY_WHOLE },
	{ "torch/_dynamo/variables/", NULL, ANA_CODE_LOAD, ANA_SAY_WHOLE },
	{ "torch/_dynamo/repro/", NULL, ANA_CODE_LOAD, ANA_SAY_WHOLE },
	{ "torch/_dynamo/guards.py", NULL, ANA_CODE_LOAD, ANA_SAY_WHOLE },
	{ "torch/_functorch/aot_autograd.py",
	  "|aot_module_simplified|create_aot_dispatcher_function|_create_aot_dispatcher_function|",
	  ANA_CODE_LOAD, ANA_SAY_WHOLE },
	{ "torch/_functorch/_aot_autograd/graph_", NULL, ANA_CODE_LOAD, ANA_SAY_WHOLE },
	{ "torch/_functorch/_aot_autograd/collect_metadata_analysis.py", NULL, ANA_CODE_LOAD,
	  ANA_SAY_WHOLE },
	{ "torch/_functorch/partitioners.py", NULL, ANA_CODE_LOAD, ANA_SAY_WHOLE },
	{ "torch/_subclasses/fake_", NULL, ANA_CODE_LOAD, ANA_SAY_WHOLE },
	{ "torch/fx/experimental/", NULL, ANA_CODE_LOAD, ANA_SAY_WHOLE },
	{ "torch/fx/passes/", NULL, ANA_CODE_LOAD, ANA_SAY_WHOLE },
	{ "torch/_inductor/compile_fx.py",
	  "|compile_fx|_compile_fx_main|compile_fx_inner|_compile_fx_inner|fx_codegen_and_compile|codegen_and_compile|compile_fx_forward|compile_fx_backward|fw_compiler_base|",
	  ANA_CODE_LOAD, ANA_SAY_WHOLE },
	{ "torch/_inductor/codegen/", NULL, ANA_CODE_LOAD, ANA_SAY_WHOLE },
	{ "torch/_inductor/scheduler.py", NULL, ANA_CODE_LOAD, ANA_SAY_WHOLE },
	{ "torch/_inductor/lowering.py", NULL, ANA_CODE_LOAD, ANA_SAY_WHOLE },
	{ "torch/_inductor/graph.py", NULL, ANA_CODE_LOAD, ANA_SAY_WHOLE },
	{ "torch/_inductor/ir.py", NULL, ANA_CODE_LOAD, ANA_SAY_WHOLE },
	{ "torch/_inductor/fx_passes/", NULL, ANA_CODE_LOAD, ANA_SAY_WHOLE },
	{ "torch/_inductor/pattern_matcher.py", NULL, ANA_CODE_LOAD, ANA_SAY_WHOLE },
	{ "torch/_inductor/async_compile.py", NULL, ANA_CODE_LOAD, ANA_SAY_WHOLE },
	{ "torch/_inductor/runtime/triton_heuristics.py",
	  "|precompile|_precompile_config|_precompile_worker|_make_launchers|make_launcher|benchmark_all_configs|autotune_to_one_config|coordinate_descent_tuning|",
	  ANA_CODE_LOAD, ANA_SAY_WHOLE },
	{ "torch/utils/cpp_extension.py", NULL, ANA_CODE_LOAD, ANA_SAY_WHOLE },
	{ "triton/compiler/", NULL, ANA_CODE_LOAD, ANA_SAY_WHOLE },
	{ "triton/backends/",
	  "|make_cubin|make_ptx|make_llir|make_ttgir|make_ttir|compile_module_from_src|",
	  ANA_CODE_LOAD, ANA_SAY_WHOLE },
	{ "triton/runtime/build.py", NULL, ANA_CODE_LOAD, ANA_SAY_WHOLE },
	{ "jax/_src/compiler.py", NULL, ANA_CODE_LOAD, ANA_SAY_WHOLE },
	{ "jax/_src/interpreters/partial_eval.py", NULL, ANA_CODE_LOAD, ANA_SAY_WHOLE },
	{ "jax/_src/interpreters/mlir.py", NULL, ANA_CODE_LOAD, ANA_SAY_WHOLE },
	/* what transforms of tensors are made of, as models are */
	{ "torch/nn/functional.py", NULL, ANA_CODE_PLAIN, ANA_SAY_NOTHING },
	{ "torch/nn/modules/module.py", NULL, ANA_CODE_PLAIN, ANA_SAY_NOTHING },
	{ "torch/nn/modules/container.py", NULL, ANA_CODE_PLAIN, ANA_SAY_NOTHING },
	{ "torch/functional.py", NULL, ANA_CODE_PLAIN, ANA_SAY_NOTHING },
	{ "torch/_tensor", NULL, ANA_CODE_PLAIN, ANA_SAY_NOTHING },
	{ "torch/_utils.py", NULL, ANA_CODE_PLAIN, ANA_SAY_NOTHING },
	{ "torch/storage.py", NULL, ANA_CODE_PLAIN, ANA_SAY_NOTHING },
	{ "torch/utils/_contextlib.py", NULL, ANA_CODE_PLAIN, ANA_SAY_NOTHING },
	{ "torch/autograd/grad_mode.py", NULL, ANA_CODE_PLAIN, ANA_SAY_NOTHING },
	{ "torch/autograd/profiler.py", NULL, ANA_CODE_PLAIN, ANA_SAY_NOTHING },
	/* frameworks */
	{ "torch/", NULL, ANA_CODE_MODEL, ANA_SAY_DECIDES },
	{ "torchvision/", NULL, ANA_CODE_MODEL, ANA_SAY_DECIDES },
	{ "tensorflow/", NULL, ANA_CODE_MODEL, ANA_SAY_DECIDES },
	{ "keras/", NULL, ANA_CODE_MODEL, ANA_SAY_DECIDES },
	{ "jax/", NULL, ANA_CODE_MODEL, ANA_SAY_DECIDES },
	{ "flax/", NULL, ANA_CODE_MODEL, ANA_SAY_DECIDES },
	{ "optax/", NULL, ANA_CODE_MODEL, ANA_SAY_DECIDES },
	{ "cupy/", NULL, ANA_CODE_MODEL, ANA_SAY_DECIDES },
	{ "triton/", NULL, ANA_CODE_MODEL, ANA_SAY_DECIDES },
	{ "transformers/", NULL, ANA_CODE_MODEL, ANA_SAY_DECIDES },
	{ "diffusers/", NULL, ANA_CODE_MODEL, ANA_SAY_DECIDES },
	{ "timm/data/", NULL, ANA_CODE_DATA, ANA_SAY_DECIDES },
	{ "timm/", NULL, ANA_CODE_MODEL, ANA_SAY_DECIDES },
	{ "accelerate/", NULL, ANA_CODE_MODEL, ANA_SAY_DECIDES },
	{ "deepspeed/", NULL, ANA_CODE_MODEL, ANA_SAY_DECIDES },
	{ "pytorch_lightning/", NULL, ANA_CODE_MODEL, ANA_SAY_DECIDES },
	{ "lightning/", NULL, ANA_CODE_MODEL, ANA_SAY_DECIDES },
	{ "apex/", NULL, ANA_CODE_MODEL, ANA_SAY_DECIDES },
	{ "xformers/", NULL, ANA_CODE_MODEL, ANA_SAY_DECIDES },
	{ "flash_attn/", NULL, ANA_CODE_MODEL, ANA_SAY_DECIDES },
	{ "bitsandbytes/", NULL, ANA_CODE_MODEL, ANA_SAY_DECIDES },
	{ "peft/", NULL, ANA_CODE_MODEL, ANA_SAY_DECIDES },
};

/* Of the standard library. Readers have other uses too: whoever called them decides first. */
static const struct rule standard[] = {
	{ "importlib/", NULL, ANA_CODE_LOAD, ANA_SAY_DECIDES },
	{ "json/decoder.py", NULL, ANA_CODE_DATA, ANA_SAY_WEAKLY },
	{ "json/scanner.py", NULL, ANA_CODE_DATA, ANA_SAY_WEAKLY },
	{ "json/__init__.py", "|load|loads|", ANA_CODE_DATA, ANA_SAY_WEAKLY },
	{ "pickle.py", "|load|_load|loads|", ANA_CODE_DATA, ANA_SAY_WEAKLY },
	{ "gzip.py", "|read|readinto|_read|read1|decompress|readline|", ANA_CODE_DATA,
	  ANA_SAY_WEAKLY },
	{ "_compression.py", NULL, ANA_CODE_DATA, ANA_SAY_WEAKLY },
	{ "compression/", "|read|readinto|_read|read1|decompress|readline|", ANA_CODE_DATA,
	  ANA_SAY_WEAKLY },
	{ "bz2.py", "|read|readinto|decompress|readline|", ANA_CODE_DATA, ANA_SAY_WEAKLY },
	{ "lzma.py", "|read|readinto|decompress|readline|", ANA_CODE_DATA, ANA_SAY_WEAKLY },
	{ "zipfile.py", "|read|_read1|_read2|readinto|read1|", ANA_CODE_DATA, ANA_SAY_WEAKLY },
	{ "zipfile/", "|read|_read1|_read2|readinto|read1|", ANA_CODE_DATA, ANA_SAY_WEAKLY },
	{ "tarfile.py", "|read|_read|__read|readinto|next|extractfile|fromtarfile|", ANA_CODE_DATA,
	  ANA_SAY_WEAKLY },
	{ "csv.py", "|__next__|", ANA_CODE_DATA, ANA_SAY_WEAKLY },
	{ "wave.py", NULL, ANA_CODE_DATA, ANA_SAY_WEAKLY },
	{ "xml/", NULL, ANA_CODE_DATA, ANA_SAY_WEAKLY },
};

bool ana_text_same(struct ana_text a, struct ana_text b)
{
	return a.len == b.len && !memcmp(a.at, b.at, a.len);
}

bool ana_text_begins(struct ana_text t, const char *with)
{
	size_t n = strlen(with);

	return t.len >= n && !memcmp(t.at, with, n);
}

bool ana_text_ends(struct ana_text t, const char *with)
{
	size_t n = strlen(with);

	return t.len >= n && !memcmp(t.at + t.len - n, with, n);
}

static const char *find(struct ana_text t, const char *what)
{
	return t.len ? memmem(t.at, t.len, what, strlen(what)) : NULL;
}

static struct ana_text from(struct ana_text t, const char *at)
{
	return (struct ana_text){ at, (uint32_t)(t.at + t.len - at) };
}

/* The path within where packages are installed; the last such folder counts. */
static bool in_packages(struct ana_text file, struct ana_text *rest)
{
	static const char *const folder[] = { "site-packages/", "dist-packages/" };
	bool found = false;
	const char *at;
	size_t i;

	*rest = file;
	for (i = 0; i < COUNT(folder); i++) {
		while ((at = find(*rest, folder[i]))) {
			*rest = from(*rest, at + strlen(folder[i]));
			found = true;
		}
	}
	return found;
}

/* The path within the standard library: .../lib/python3.11/..., .../python311.zip/... */
static bool in_standard(struct ana_text file, struct ana_text *rest)
{
	static const char *const folder[] = { "/lib/python3", "/lib64/python3", "/python3" };
	const char *at, *slash;
	size_t i;

	for (i = 0; i < COUNT(folder); i++) {
		at = find(file, folder[i]);
		if (!at)
			continue;
		*rest = from(file, at + strlen(folder[i]));
		slash = find(*rest, "/");
		if (!slash || (i == 2 && (slash - rest->at < 4 || memcmp(slash - 4, ".zip", 4))))
			continue;
		*rest = from(*rest, slash + 1);
		return true;
	}
	return false;
}

enum ana_within ana_module_within(struct ana_text file, struct ana_text *rest)
{
	if (in_packages(file, rest))
		return ANA_WITHIN_PACKAGES;
	if (in_standard(file, rest))
		return ANA_WITHIN_STANDARD;
	*rest = file;
	return ANA_WITHIN_NEITHER;
}

enum ana_place ana_module_place(struct ana_text file)
{
	struct ana_text rest;

	if (ana_text_begins(file, "<gpustarve"))
		return ANA_PLACE_OURS;
	if (!file.len || ana_text_begins(file, "<frozen") || ana_text_begins(file, "<__array"))
		return ANA_PLACE_LIBRARY;
	return in_packages(file, &rest) || in_standard(file, &rest) ? ANA_PLACE_LIBRARY
								    : ANA_PLACE_USER;
}

bool ana_module_is_made(struct ana_text file)
{
	static const char *const typed[] = { "<stdin>", "<input>", "<console>", "<ipython-input" };
	size_t i;

	if (!ana_text_begins(file, "<"))
		return false;
	for (i = 0; i < COUNT(typed); i++)
		if (ana_text_begins(file, typed[i]))
			return false;
	return true;
}

uint8_t ana_module_feeder(struct ana_text file)
{
	struct ana_text rest;

	if (in_packages(file, &rest))
		return (uint8_t)facts_feeder_of(FACTS_FEEDER_PACKAGE, rest.at, rest.len);
	if (in_standard(file, &rest))
		return (uint8_t)facts_feeder_of(FACTS_FEEDER_STANDARD, rest.at, rest.len);
	return FACTS_FEEDER_NONE;
}

/*
 * "Queue.get" is get: from 3.11 on Python tells functions with their classes, before it does not.
 */
static struct ana_text unqualified(struct ana_text f)
{
	const char *dot = f.len ? memrchr(f.at, '.', f.len) : NULL;

	return dot ? from(f, dot + 1) : f;
}

bool ana_text_among(struct ana_text f, const char *functions)
{
	struct ana_text all = { functions, (uint32_t)strlen(functions) };
	const char *at;

	f = unqualified(f);
	while (f.len && (at = memmem(all.at, all.len, f.at, f.len))) {
		if (at > functions && at[-1] == '|' && at[f.len] == '|')
			return true;
		all = from(all, at + 1);
	}
	return false;
}

/*
 * Of a compiler's private parts ("_inductor/...") the name of the package that has them matters
 * not.
 */
static bool same_part(struct ana_text file, const char *rule)
{
	const char *part = strchr(rule, '/'), *at = find(file, "/");

	if (ana_text_begins(file, rule))
		return true;
	return part && at && part[1] == '_' && ana_text_begins(from(file, at), part);
}

static const struct rule *first_of(const struct rule *list, size_t n, struct ana_text file,
				   struct ana_text function)
{
	size_t i;

	for (i = 0; i < n; i++)
		if ((list[i].code == ANA_CODE_LOAD ? same_part(file, list[i].file)
						   : ana_text_begins(file, list[i].file)) &&
		    (!list[i].functions || ana_text_among(function, list[i].functions)))
			return &list[i];
	return NULL;
}

/* transformers/models/NAME/image_processing_NAME.py and the like. */
static bool prepares(struct ana_text file)
{
	static const char *const part[] = { "/tokenization_", "/image_processing_",
					    "/feature_extraction_", "/processing_",
					    "/video_processing_" };
	size_t i;

	if (!ana_text_begins(file, "transformers/models/"))
		return false;
	for (i = 0; i < COUNT(part); i++)
		if (find(file, part[i]))
			return true;
	return false;
}

enum ana_code ana_module_code(struct ana_text file, struct ana_text function, enum ana_say *say)
{
	const struct rule *r = NULL;
	struct ana_text rest;

	*say = ANA_SAY_DECIDES;
	if (ana_text_begins(file, "<frozen importlib"))
		return ANA_CODE_LOAD;
	if (in_packages(file, &rest)) {
		if (prepares(rest))
			return ANA_CODE_DATA;
		r = first_of(packages, COUNT(packages), rest, function);
	} else if (in_standard(file, &rest)) {
		r = first_of(standard, COUNT(standard), rest, function);
	}
	if (!r)
		return ANA_CODE_PLAIN;
	*say = (enum ana_say)r->say;
	return (enum ana_code)r->code;
}
