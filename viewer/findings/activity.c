/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What well-known code does, in words that name no function: "decoding images". By the innermost
 * Python frame, or by the native module below it; only where that function does nothing else.
 */
#include <string.h>
#include "wire/evidence.h"
#include "words.h"

static const struct {
	const char *file; /* what the frame's path ends with */
	const char *function; /* its end; NULL: any of them */
	const char *words;
} frames[] = {
	{ "PIL/ImageFile.py", "load", "decoding images" },
	{ "PIL/Image.py", "resize", "resizing images" },
	{ "PIL/Image.py", "transform", "transforming images" },
	{ "PIL/Image.py", "rotate", "rotating images" },
	{ "torchvision/io/image.py", NULL, "decoding images" },
	{ "torchvision/io/video.py", NULL, "decoding videos" },
	{ "librosa/core/audio.py", "resample", "resampling audio" },
	{ "json/decoder.py", NULL, "parsing JSON" },
	{ "/gzip.py", "read", "decompressing" },
	{ "/lzma.py", "read", "decompressing" },
	{ "/bz2.py", "read", "decompressing" },
};

#define BACKWARD "running the backward pass"

/* Of the thread that trains alone: a worker's transforms are modules of torch, too. */
static const struct {
	const char *file; /* what the frame's path has in it */
	const char *words;
} training[] = {
	{ "/torch/autograd/graph.py", BACKWARD },
	{ "/torch/autograd/__init__.py", BACKWARD },
	{ "/torch/nn/modules/", "running the forward pass" },
	{ "/torch/nn/functional.py", "running the forward pass" },
	{ "/torch/optim/lr_scheduler.py", "setting the learning rate" },
	{ "/torch/optim/", "running the optimizer's step" },
};

static const struct {
	const char *module; /* what its file's name begins with */
	const char *words;
} modules[] = {
	{ "libjpeg", "decoding JPEGs" },
	{ "libturbojpeg", "decoding JPEGs" },
	{ "libpng", "decoding PNGs" },
	{ "libwebp", "decoding WebP images" },
};

static bool ends_with(const char *text, size_t len, const char *end)
{
	size_t n = strlen(end);

	return n <= len && !memcmp(text + len - n, end, n);
}

/* "ImageFile.load" ends in "load", "download" does not. */
static bool is_function(const char *name, size_t len, const char *function)
{
	size_t n = strlen(function);

	return ends_with(name, len, function) && (len == n || name[len - n - 1] == '.');
}

static const char *of_frame(const char *leaf)
{
	const char *tab = leaf ? strchr(leaf, '\t') : NULL;

	for (size_t i = 0; tab && i < sizeof(frames) / sizeof(frames[0]); i++)
		if (ends_with(tab + 1, strlen(tab + 1), frames[i].file) &&
		    (!frames[i].function ||
		     is_function(leaf, (size_t)(tab - leaf), frames[i].function)))
			return frames[i].words;
	return NULL;
}

static const char *of_module(const char *native)
{
	size_t path = native ? strcspn(native, "\t") : 0;
	const char *name = native ? native + path : NULL;

	while (name && name > native && name[-1] != '/')
		name--;
	for (size_t i = 0; name && i < sizeof(modules) / sizeof(modules[0]); i++)
		if (!strncmp(name, modules[i].module, strlen(modules[i].module)))
			return modules[i].words;
	return NULL;
}

const char *view_words_training(const struct view_hotspot *p)
{
	/* The trainer waits for its thread (autograd's) as for who makes something for it. */
	bool trains = p->role == WIRE_ROLE_SUBMITTER, helps = p->role == WIRE_ROLE_PRODUCER;
	const char *tab = (trains || helps) && p->leaf ? strchr(p->leaf, '\t') : NULL,
		   *words = NULL;

	for (size_t i = 0; tab && !words && i < sizeof(training) / sizeof(training[0]); i++)
		if (strstr(tab + 1, training[i].file))
			words = training[i].words;
	return words && (trains || !strcmp(words, BACKWARD)) ? words : NULL;
}

const char *view_words_activity(const struct view_hotspot *p)
{
	const char *words;

	if (p->runnable || p->wait != WIRE_WAIT_NONE)
		return NULL;
	words = of_module(p->native);
	words = words ? words : of_frame(p->leaf);
	return words ? words : view_words_training(p);
}
