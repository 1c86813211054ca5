/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reviews of pods, as Kubernetes sends them: the answer is JSON that says yes, and its patch
 * only adds to the pod. The first byte says whether the rest is a whole review or the pod of a
 * good one, and how pods are given the library.
 */
#include "fuzz.h"

#include "base/jsondoc.h"
#include "harness.h"
#include "kube/review.h"

#define INPUT_MAX 65536u

static int digit(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Of base64, of malloc. */
static char *decode(const char *text, size_t *len)
{
	char *out = malloc(strlen(text) + 1), *p = out;
	unsigned int held = 0, bits = 0;

	for (; *text && *text != '='; text++) {
		if (digit(*text) < 0)
			abort();
		held = held << 6 | (unsigned int)digit(*text);
		bits += 6;
		if (bits >= 8)
			*p++ = (char)(held >> (bits -= 8));
	}
	*len = (size_t)(p - out);
	return out;
}

static void check_operation(const struct base_json *op)
{
	const char *path = base_json_get_text(op, "path", "");
	const char *what = base_json_get_text(op, "op", "");

	if (strncmp(path, "/spec/", 6) && strncmp(path, "/metadata/annotations", 21))
		abort();
	if (strcmp(what, "add") && (strcmp(what, "replace") || !strstr(path, "/env/")))
		abort();
	if (!base_json_get(op, "value"))
		abort();
}

static void check_patch(struct base_arena *mem, const char *encoded)
{
	struct base_json_error err;
	size_t len;
	char *text = decode(encoded, &len);
	const struct base_json *patch = base_json_parse(mem, text, len, &err);

	if (!patch || patch->type != BASE_JSON_ARRAY || !patch->child)
		abort();
	BASE_JSON_EACH(op, patch)
		check_operation(op);
	free(text);
}

static void check_answer(const char *answer, size_t len, enum coll_review what)
{
	struct base_arena mem = { NULL };
	struct base_json_error err;
	const struct base_json *root = base_json_parse(&mem, answer, len, &err);
	const struct base_json *response = base_json_get(root, "response");
	const char *patch = base_json_get_text(response, "patch", NULL);

	if (!base_json_get_bool(response, "allowed", false) ||
	    (patch != NULL) != (what == COLL_REVIEW_INJECTED))
		abort();
	if (patch)
		check_patch(&mem, patch);
	base_arena_fini(&mem);
}

static void review(const char *text, size_t len, bool image)
{
	struct coll_inject in;
	enum coll_review what;
	char *answer;
	size_t answer_len;

	coll_inject_init(&in);
	in.image = image ? "example/gpustarve:1" : NULL;
	if (coll_review_answer(&answer, &answer_len, &what, text, len, &in))
		return;
	check_answer(answer, answer_len, what);
	free(answer);
}

#define BEFORE                                                                               \
	"{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{" \
	"\"uid\":\"u\",\"kind\":{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Pod\"},"       \
	"\"operation\":\"CREATE\",\"object\":"
#define BEHIND "}}"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text;

	if (!len || len > INPUT_MAX)
		return 0;
	if (data[0] & 1) {
		review((const char *)data + 1, len - 1, data[0] & 2);
		return 0;
	}
	text = malloc(sizeof(BEFORE) + len + sizeof(BEHIND));
	memcpy(text, BEFORE, sizeof(BEFORE) - 1);
	memcpy(text + sizeof(BEFORE) - 1, data + 1, len - 1);
	memcpy(text + sizeof(BEFORE) - 1 + len - 1, BEHIND, sizeof(BEHIND) - 1);
	review(text, sizeof(BEFORE) - 1 + len - 1 + sizeof(BEHIND) - 1, data[0] & 2);
	free(text);
	return 0;
}

size_t fuzz_seed(unsigned int number, uint8_t **data)
{
	static const char *const seeds[] = {
		"\1" BEFORE "{\"metadata\":{},\"spec\":{\"containers\":[{\"name\":\"a\"}]}}" BEHIND,
		"\4{\"metadata\":{\"generateName\":\"a-\",\"labels\":{\"gpustarve.io/record\":\"true\","
		"\"job-name\":\"a\",\"team\":\"t\"},\"annotations\":{\"gpustarve.io/containers\":\"a,b\"},"
		"\"ownerReferences\":[{\"kind\":\"Job\",\"name\":\"a\",\"uid\":\"u\",\"controller\":true}]},"
		"\"spec\":{\"containers\":[{\"name\":\"a\",\"env\":[{\"name\":\"LD_PRELOAD\",\"value\":\"/x\"},"
		"{\"name\":\"GPUSTARVE_LABELS\",\"value\":\"a=b\"}],\"volumeMounts\":[{\"name\":\"v\","
		"\"mountPath\":\"/v\"}],\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"1\"}}}],\"volumes\":[{"
		"\"name\":\"v\",\"emptyDir\":{}}],\"initContainers\":[{\"name\":\"i\"}]}}",
		"\6{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"a\",\"env\":[{\"name\":"
		"\"LD_PRELOAD\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"s\",\"key\":\"k\"}}}]},{\"name\":"
		"\"b\",\"envFrom\":[{\"secretRef\":{\"name\":\"s\"}}]}]}}",
	};

	if (number >= sizeof(seeds) / sizeof(seeds[0]))
		return 0;
	*data = (uint8_t *)strdup(seeds[number]);
	return strlen(seeds[number]);
}
