/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What code is at work, by the package that a frame's file belongs to. A user's own functions are
 * no evidence by their names: they count by what they call or wait for.
 */
#include "stacks.h"

#include <string.h>

struct rule { /* file: beginning of its path within where packages are, '/' between parts */
	const char *file, *functions; /* functions: NULL: all, else "|name|name|" */
	uint8_t code;
	bool weak;
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* Of installed packages, the first that fits decides. */
static const struct rule packages[] = {
	/* torch's loader */
	{ "torch/utils/data/dataloader.py",
	  "|__next__|_next_data|_get_data|_try_get_data|_process_data|", ANA_CODE_NEXT, false },
	{ "torch/utils/data/dataloader.py", "|__iter__|_get_iterator|__init__|_reset|",
	  ANA_CODE_EPOCH, false },
	{ "torch/utils/data/dataloader.py", "|__del__|_shutdown_workers|", ANA_CODE_EPOCH, false },
	{ "torch/utils/data/_utils/pin_memory.py", NULL, ANA_CODE_HANDOFF, false },
	{ "torch/multiprocessing/reductions.py", NULL, ANA_CODE_HANDOFF, false },
	{ "torch/multiprocessing/queue.py", NULL, ANA_CODE_HANDOFF, false },
	{ "torch/utils/data/", NULL, ANA_CODE_DATA, false },
	/* readers, decoders, transforms */
	{ "PIL/", NULL, ANA_CODE_DATA, false },
	{ "cv2/", NULL, ANA_CODE_DATA, false },
	{ "av/", NULL, ANA_CODE_DATA, false },
	{ "decord/", NULL, ANA_CODE_DATA, false },
	{ "torchcodec/", NULL, ANA_CODE_DATA, false },
	{ "torchvision/transforms/", NULL, ANA_CODE_DATA, false },
	{ "torchvision/datasets/", NULL, ANA_CODE_DATA, false },
	{ "torchvision/io/", NULL, ANA_CODE_DATA, false },
	{ "torchaudio/", NULL, ANA_CODE_DATA, false },
	{ "torchdata/", NULL, ANA_CODE_DATA, false },
	{ "torchtext/", NULL, ANA_CODE_DATA, false },
	{ "webdataset/", NULL, ANA_CODE_DATA, false },
	{ "wids/", NULL, ANA_CODE_DATA, false },
	{ "litdata/", NULL, ANA_CODE_DATA, false },
	{ "streaming/base/", NULL, ANA_CODE_DATA, false },
	{ "ffcv/", NULL, ANA_CODE_DATA, false },
	{ "datasets/", NULL, ANA_CODE_DATA, false },
	{ "tokenizers/", NULL, ANA_CODE_DATA, false },
	{ "sentencepiece/", NULL, ANA_CODE_DATA, false },
	{ "tiktoken/", NULL, ANA_CODE_DATA, false },
	{ "transformers/tokenization", NULL, ANA_CODE_DATA, false },
	{ "transformers/image_", NULL, ANA_CODE_DATA, false },
	{ "transformers/video_", NULL, ANA_CODE_DATA, false },
	{ "transformers/audio_utils", NULL, ANA_CODE_DATA, false },
	{ "transformers/feature_extraction", NULL, ANA_CODE_DATA, false },
	{ "transformers/processing_utils", NULL, ANA_CODE_DATA, false },
	{ "tensorflow/python/data/", NULL, ANA_CODE_DATA, false },
	{ "tensorflow_datasets/", NULL, ANA_CODE_DATA, false },
	{ "grain/", NULL, ANA_CODE_DATA, false },
	{ "nvidia/dali/", NULL, ANA_CODE_DATA, false },
	{ "ray/data/", NULL, ANA_CODE_DATA, false },
	{ "petastorm/", NULL, ANA_CODE_DATA, false },
	{ "albumentations/", NULL, ANA_CODE_DATA, false },
	{ "imgaug/", NULL, ANA_CODE_DATA, false },
	{ "imageio/", NULL, ANA_CODE_DATA, false },
	{ "skimage/", NULL, ANA_CODE_DATA, false },
	{ "scipy/io/", NULL, ANA_CODE_DATA, false },
	{ "scipy/ndimage/", NULL, ANA_CODE_DATA, false },
	{ "monai/transforms/", NULL, ANA_CODE_DATA, false },
	{ "monai/data/", NULL, ANA_CODE_DATA, false },
	{ "nibabel/", NULL, ANA_CODE_DATA, false },
	{ "pydicom/", NULL, ANA_CODE_DATA, false },
	{ "tifffile", NULL, ANA_CODE_DATA, false },
	{ "librosa/", NULL, ANA_CODE_DATA, false },
	{ "soundfile.py", NULL, ANA_CODE_DATA, false },
	{ "audioread/", NULL, ANA_CODE_DATA, false },
	{ "h5py/", NULL, ANA_CODE_DATA, false },
	{ "zarr/", NULL, ANA_CODE_DATA, false },
	{ "numcodecs/", NULL, ANA_CODE_DATA, false },
	{ "lmdb/", NULL, ANA_CODE_DATA, false },
	{ "pyarrow/", NULL, ANA_CODE_DATA, false },
	{ "pandas/", NULL, ANA_CODE_DATA, false },
	{ "polars/", NULL, ANA_CODE_DATA, false },
	{ "numpy/lib/npyio.py", NULL, ANA_CODE_DATA, false },
	{ "numpy/lib/_npyio_impl.py", NULL, ANA_CODE_DATA, false },
	{ "numpy/lib/format.py", NULL, ANA_CODE_DATA, false },
	{ "numpy/lib/_format_impl.py", NULL, ANA_CODE_DATA, false },
	{ "numpy/core/memmap.py", NULL, ANA_CODE_DATA, false },
	{ "numpy/_core/memmap.py", NULL, ANA_CODE_DATA, false },
	{ "fsspec/", NULL, ANA_CODE_DATA, true },
	{ "s3fs/", NULL, ANA_CODE_DATA, true },
	{ "gcsfs/", NULL, ANA_CODE_DATA, true },
	{ "smart_open/", NULL, ANA_CODE_DATA, true },
	/* checkpoints */
	{ "torch/serialization.py", "|save|_save|_legacy_save|persistent_id|__exit__|",
	  ANA_CODE_CHECKPOINT, false },
	{ "torch/serialization.py", NULL, ANA_CODE_PLAIN, false },
	{ "torch/distributed/checkpoint/", NULL, ANA_CODE_CHECKPOINT, false },
	{ "safetensors/", "|save_file|save|save_model|", ANA_CODE_CHECKPOINT, false },
	{ "orbax/checkpoint/", NULL, ANA_CODE_CHECKPOINT, false },
	/* compilers */
	{ "torch/_dynamo/convert_frame.py", NULL, ANA_CODE_LOAD, false },
	{ "torch/_dynamo/symbolic_convert.py", NULL, ANA_CODE_LOAD, false },
	{ "torch/_inductor/codegen/", NULL, ANA_CODE_LOAD, false },
	{ "torch/_inductor/scheduler.py", NULL, ANA_CODE_LOAD, false },
	{ "torch/_inductor/lowering.py", NULL, ANA_CODE_LOAD, false },
	{ "torch/_inductor/graph.py", NULL, ANA_CODE_LOAD, false },
	{ "torch/utils/cpp_extension.py", NULL, ANA_CODE_LOAD, false },
	{ "triton/compiler/", NULL, ANA_CODE_LOAD, false },
	{ "jax/_src/compiler.py", NULL, ANA_CODE_LOAD, false },
	/* what transforms of tensors are made of, as models are */
	{ "torch/nn/functional.py", NULL, ANA_CODE_PLAIN, false },
	{ "torch/nn/modules/module.py", NULL, ANA_CODE_PLAIN, false },
	{ "torch/nn/modules/container.py", NULL, ANA_CODE_PLAIN, false },
	{ "torch/functional.py", NULL, ANA_CODE_PLAIN, false },
	{ "torch/_tensor", NULL, ANA_CODE_PLAIN, false },
	{ "torch/_utils.py", NULL, ANA_CODE_PLAIN, false },
	{ "torch/storage.py", NULL, ANA_CODE_PLAIN, false },
	{ "torch/utils/_contextlib.py", NULL, ANA_CODE_PLAIN, false },
	{ "torch/autograd/grad_mode.py", NULL, ANA_CODE_PLAIN, false },
	{ "torch/autograd/profiler.py", NULL, ANA_CODE_PLAIN, false },
	/* frameworks */
	{ "torch/", NULL, ANA_CODE_MODEL, false },
	{ "torchvision/", NULL, ANA_CODE_MODEL, false },
	{ "tensorflow/", NULL, ANA_CODE_MODEL, false },
	{ "keras/", NULL, ANA_CODE_MODEL, false },
	{ "jax/", NULL, ANA_CODE_MODEL, false },
	{ "flax/", NULL, ANA_CODE_MODEL, false },
	{ "optax/", NULL, ANA_CODE_MODEL, false },
	{ "cupy/", NULL, ANA_CODE_MODEL, false },
	{ "triton/", NULL, ANA_CODE_MODEL, false },
	{ "transformers/", NULL, ANA_CODE_MODEL, false },
	{ "diffusers/", NULL, ANA_CODE_MODEL, false },
	{ "timm/data/", NULL, ANA_CODE_DATA, false },
	{ "timm/", NULL, ANA_CODE_MODEL, false },
	{ "accelerate/", NULL, ANA_CODE_MODEL, false },
	{ "deepspeed/", NULL, ANA_CODE_MODEL, false },
	{ "pytorch_lightning/", NULL, ANA_CODE_MODEL, false },
	{ "lightning/", NULL, ANA_CODE_MODEL, false },
	{ "apex/", NULL, ANA_CODE_MODEL, false },
	{ "xformers/", NULL, ANA_CODE_MODEL, false },
	{ "flash_attn/", NULL, ANA_CODE_MODEL, false },
	{ "bitsandbytes/", NULL, ANA_CODE_MODEL, false },
	{ "peft/", NULL, ANA_CODE_MODEL, false },
};

/* Of the standard library. Readers have other uses too: whoever called them decides first. */
static const struct rule standard[] = {
	{ "importlib/", NULL, ANA_CODE_LOAD, false },
	{ "json/decoder.py", NULL, ANA_CODE_DATA, true },
	{ "json/scanner.py", NULL, ANA_CODE_DATA, true },
	{ "json/__init__.py", "|load|loads|", ANA_CODE_DATA, true },
	{ "pickle.py", "|load|_load|loads|", ANA_CODE_DATA, true },
	{ "gzip.py", "|read|readinto|_read|read1|decompress|readline|", ANA_CODE_DATA, true },
	{ "_compression.py", NULL, ANA_CODE_DATA, true },
	{ "compression/", "|read|readinto|_read|read1|decompress|readline|", ANA_CODE_DATA, true },
	{ "bz2.py", "|read|readinto|decompress|readline|", ANA_CODE_DATA, true },
	{ "lzma.py", "|read|readinto|decompress|readline|", ANA_CODE_DATA, true },
	{ "zipfile.py", "|read|_read1|_read2|readinto|read1|", ANA_CODE_DATA, true },
	{ "zipfile/", "|read|_read1|_read2|readinto|read1|", ANA_CODE_DATA, true },
	{ "tarfile.py", "|read|_read|__read|readinto|next|extractfile|fromtarfile|", ANA_CODE_DATA,
	  true },
	{ "csv.py", "|__next__|", ANA_CODE_DATA, true },
	{ "wave.py", NULL, ANA_CODE_DATA, true },
	{ "xml/", NULL, ANA_CODE_DATA, true },
};

static bool begins(struct ana_text t, const char *with)
{
	size_t n = strlen(with);

	return t.len >= n && !memcmp(t.at, with, n);
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

enum ana_place ana_module_place(struct ana_text file)
{
	struct ana_text rest;

	if (begins(file, "<gpustarve"))
		return ANA_PLACE_OURS;
	if (!file.len || begins(file, "<frozen") || begins(file, "<__array"))
		return ANA_PLACE_LIBRARY;
	return in_packages(file, &rest) || in_standard(file, &rest) ? ANA_PLACE_LIBRARY
								    : ANA_PLACE_USER;
}

static bool among(const char *functions, struct ana_text f)
{
	struct ana_text all = { functions, (uint32_t)strlen(functions) };
	const char *at;

	while (f.len && (at = memmem(all.at, all.len, f.at, f.len))) {
		if (at > functions && at[-1] == '|' && at[f.len] == '|')
			return true;
		all = from(all, at + 1);
	}
	return false;
}

static const struct rule *first_of(const struct rule *list, size_t n, struct ana_text file,
				   struct ana_text function)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (begins(file, list[i].file) &&
		    (!list[i].functions || among(list[i].functions, function)))
			return &list[i];
	return NULL;
}

/* transformers/models/NAME/image_processing_NAME.py and its kin. */
static bool prepares(struct ana_text file)
{
	static const char *const part[] = { "/tokenization_", "/image_processing_",
					    "/feature_extraction_", "/processing_",
					    "/video_processing_" };
	size_t i;

	if (!begins(file, "transformers/models/"))
		return false;
	for (i = 0; i < COUNT(part); i++)
		if (find(file, part[i]))
			return true;
	return false;
}

enum ana_code ana_module_code(struct ana_text file, struct ana_text function, bool *weak)
{
	const struct rule *r = NULL;
	struct ana_text rest;

	*weak = false;
	if (begins(file, "<frozen importlib"))
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
	*weak = r->weak;
	return (enum ana_code)r->code;
}
