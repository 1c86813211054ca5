/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types in names: as C++ has them, whole identifiers; and as libraries write them into names,
 * pieces between _, several of them joined ("bf16bf16_bf16f32_f32"), or in the name of an
 * instruction ("s1688tf32gemm"). Letters of BLAS (sgemm) say the least and count last.
 */
#include "kernel_kind.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include "kernel_words.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define NONE FACTS_PRECISION_UNKNOWN

struct type {
	const char *name;
	enum facts_precision precision;
};

static const struct type whole[] = {
	{ "float", FACTS_PRECISION_FP32 },	    { "float2", FACTS_PRECISION_FP32 },
	{ "float4", FACTS_PRECISION_FP32 },	    { "cuComplex", FACTS_PRECISION_FP32 },
	{ "cuFloatComplex", FACTS_PRECISION_FP32 }, { "double", FACTS_PRECISION_FP64 },
	{ "double2", FACTS_PRECISION_FP64 },	    { "cuDoubleComplex", FACTS_PRECISION_FP64 },
	{ "half", FACTS_PRECISION_FP16 },	    { "half2", FACTS_PRECISION_FP16 },
	{ "half_t", FACTS_PRECISION_FP16 },	    { "Half", FACTS_PRECISION_FP16 },
	{ "__half", FACTS_PRECISION_FP16 },	    { "__half2", FACTS_PRECISION_FP16 },
	{ "_Float16", FACTS_PRECISION_FP16 },	    { "BFloat16", FACTS_PRECISION_BF16 },
	{ "bfloat16_t", FACTS_PRECISION_BF16 },	    { "__nv_bfloat162", FACTS_PRECISION_BF16 },
	{ "tfloat32_t", FACTS_PRECISION_TF32 },
};

/* Longer ones before those that they begin with. */
static const struct type part[] = {
	{ "bfloat16", FACTS_PRECISION_BF16 },
	{ "float16", FACTS_PRECISION_FP16 },
	{ "tf32", FACTS_PRECISION_TF32 },
	{ "bf16", FACTS_PRECISION_BF16 },
	{ "fp64", FACTS_PRECISION_FP64 },
	{ "fp32", FACTS_PRECISION_FP32 },
	{ "fp16", FACTS_PRECISION_FP16 },
	{ "fp8", FACTS_PRECISION_FP8 },
	{ "fp4", FACTS_PRECISION_FP4 },
	{ "nvfp4", FACTS_PRECISION_FP4 },
	{ "mxfp4", FACTS_PRECISION_FP4 },
	{ "f64", FACTS_PRECISION_FP64 },
	{ "f32", FACTS_PRECISION_FP32 },
	{ "f16", FACTS_PRECISION_FP16 },
	{ "e4m3fnuz", FACTS_PRECISION_FP8 },
	{ "e5m2fnuz", FACTS_PRECISION_FP8 },
	{ "e4m3fn", FACTS_PRECISION_FP8 },
	{ "e4m3", FACTS_PRECISION_FP8 },
	{ "e5m2", FACTS_PRECISION_FP8 },
	{ "e2m1", FACTS_PRECISION_FP4 },
	{ "int8", FACTS_PRECISION_INT8 },
	{ "i8", FACTS_PRECISION_INT8 },
	{ "s8", FACTS_PRECISION_INT8 },
	{ "u8", FACTS_PRECISION_INT8 },
	{ "int32", NONE },
	{ "i32", NONE },
	{ "s32", NONE },
};

/* What an instruction's or a BLAS name ends with, or goes on. */
static const char *const operation[] = { "gemm", "gemv", "cudnn", "trsm", "syrk", "trmm" };

struct found {
	enum facts_precision first; /* of types that are spelt out */
	bool tf32, fp4, fp8;
	enum facts_precision byte; /* of integers in C++ */
	enum facts_precision letter;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void keep_first(enum facts_precision *to, enum facts_precision p)
{
	if (*to == NONE)
		*to = p;
}

static void take(struct found *f, enum facts_precision p)
{
	keep_first(&f->first, p);
	f->tf32 |= p == FACTS_PRECISION_TF32;
	f->fp4 |= p == FACTS_PRECISION_FP4;
	f->fp8 |= p == FACTS_PRECISION_FP8;
}

/* A part that @at begins with, in small letters; NULL: none. */
static const struct type *part_at(const char *at, size_t len)
{
	for (size_t i = 0; i < COUNT(part); i++)
		if (strlen(part[i].name) <= len && !memcmp(at, part[i].name, strlen(part[i].name)))
			return &part[i];
	return NULL;
}

/* "bf16bf16", "int8x4": nothing but types, each with how many of them. False: something else. */
static bool take_types(struct found *f, const char *at, size_t len)
{
	enum facts_precision seen[16];
	size_t n = 0;

	while (len) {
		const struct type *t = part_at(at, len);
		size_t used;

		if (!t || n == COUNT(seen))
			return false;
		used = strlen(t->name);
		if (len >= used + 2 && at[used] == 'x' && is_digit(at[used + 1]))
			used += 2;
		seen[n++] = t->precision;
		at += used;
		len -= used;
	}
	for (size_t i = 0; i < n; i++)
		take(f, seen[i]);
	return n;
}

static bool ends_with_operation(const char *at, size_t len)
{
	for (size_t i = 0; i < COUNT(operation); i++)
		if (len >= strlen(operation[i]) && !memcmp(at, operation[i], strlen(operation[i])))
			return true;
	return false;
}

/* Of tensor cores' instructions those of 8 steps in k take tf32, where no type is told. */
static enum facts_precision of_shape(char letter, const char *shape, size_t len)
{
	switch (letter) {
	case 'd':
	case 'z':
		return FACTS_PRECISION_FP64;
	case 'h':
		return FACTS_PRECISION_FP16;
	case 'i':
		return FACTS_PRECISION_INT8;
	case 's':
	case 'c':
		if (!len)
			return FACTS_PRECISION_FP32;
		return len == 4 && !memcmp(shape, "1688", 4) ? FACTS_PRECISION_TF32 : NONE;
	default:
		return NONE;
	}
}

/* "sgemm", "h884cudnn", "s16816f16gemm", "gemm". */
static void take_instruction(struct found *f, const char *at, size_t len)
{
	char letter = *at;
	const char *shape = at + 1, *end = at + len, *p = shape;

	while (p < end && (is_digit(*p) || (*p == 'x' && p > shape)))
		p++;
	if (p < end && ends_with_operation(p, (size_t)(end - p))) {
		keep_first(&f->letter, of_shape(letter, shape, (size_t)(p - shape)));
		return;
	}
	for (const char *q = p; q < end; q++)
		if (q > p && ends_with_operation(q, (size_t)(end - q))) {
			take_types(f, p, (size_t)(q - p));
			return;
		}
}

/* cuBLAS's nvjet_[sm90_]tst_...: a letter each for the types of A, of the sum and of D. */
static bool take_nvjet(struct found *f, const char *at, size_t len)
{
	static const char letters[] = "htqrd";
	static const enum facts_precision is[] = { FACTS_PRECISION_FP16, FACTS_PRECISION_BF16,
						   FACTS_PRECISION_FP8, FACTS_PRECISION_FP8,
						   FACTS_PRECISION_FP64 };
	const char *letter;

	if (len < 3 || len > 5 || (at[0] == 's' && at[1] == 'm' && is_digit(at[2])))
		return false;
	for (size_t i = 0; i < len; i++)
		if (at[i] < 'a' || at[i] > 'z')
			return true;
	letter = strchr(letters, at[0]);
	if (letter)
		take(f, is[letter - letters]);
	return true;
}

struct word {
	const char *at;
	size_t len;
};

static bool is(const struct word *w, const char *name)
{
	return w->len == strlen(name) && !memcmp(w->at, name, w->len);
}

static void read_pieces(struct found *f, const struct word *w)
{
	char small[FACTS_NAME_OF];
	const char *end = small + w->len;
	bool nvjet = false;

	for (size_t i = 0; i < w->len; i++)
		small[i] = (char)(w->at[i] >= 'A' && w->at[i] <= 'Z' ? w->at[i] | 0x20 : w->at[i]);
	for (const char *p = small; p < end;) {
		size_t len = 0;

		while (p + len < end && p[len] != '_')
			len++;
		if (nvjet)
			nvjet = !take_nvjet(f, p, len);
		else if (len == 5 && !memcmp(p, "nvjet", 5))
			nvjet = true;
		else if (len && !take_types(f, p, len))
			take_instruction(f, p, len);
		p += len + 1;
	}
}

/* float_e4m3_t begins with no float: pieces go before. */
static void read_word(struct found *f, const struct word *w, const struct word *before)
{
	if (is(w, "int8_t") || is(w, "uint8_t") ||
	    (is(w, "char") && (is(before, "signed") || is(before, "unsigned")))) {
		f->byte = FACTS_PRECISION_INT8;
		return;
	}
	for (size_t i = 0; i < COUNT(whole); i++)
		if (is(w, whole[i].name)) {
			take(f, whole[i].precision);
			return;
		}
	read_pieces(f, w);
}

static void read_words(struct found *f, const char *text)
{
	struct word before = { "", 0 };

	while (*text) {
		struct word w = { text, strcspn(text, " ") };

		if (w.len) {
			read_word(f, &w, &before);
			before = w;
		}
		text += w.len + (text[w.len] == ' ');
	}
}

/* Whose names have the types of several operands, the narrowest of which is multiplied. */
static bool multiplies(enum facts_kind kind)
{
	return kind == FACTS_KIND_MATMUL || kind == FACTS_KIND_CONVOLUTION ||
	       kind == FACTS_KIND_UNKNOWN;
}

enum facts_precision facts_kernel_precision(const struct facts_kernel_words *w,
					    enum facts_kind kind)
{
	struct found f = { .first = NONE, .byte = NONE, .letter = NONE };

	read_words(&f, w->own);
	read_words(&f, w->of);
	if (f.tf32)
		return FACTS_PRECISION_TF32;
	if (f.fp4 && multiplies(kind))
		return FACTS_PRECISION_FP4;
	if (f.fp8 && multiplies(kind))
		return FACTS_PRECISION_FP8;
	if (kind == FACTS_KIND_ATTENTION)
		f.byte = NONE; /* so its caches are kept, whatever they hold */
	return f.first != NONE ? f.first : f.byte != NONE ? f.byte : f.letter;
}
