/* SPDX-License-Identifier: Apache-2.0 */
#include "html_script.h"

#include "base/base64.h"
#include "core/embedded.h"

#define SHA256_BYTES 32

bool view_script_built(void)
{
	return view_embedded_charts_js_len > 0;
}

static void put_source(FILE *f, const unsigned char *sha256)
{
	fputs(" 'sha256-", f);
	base_put_base64(f, sha256, SHA256_BYTES);
	fputc('\'', f);
}

void view_script_policy(FILE *f)
{
	fputs("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src",
	      f);
	put_source(f, view_embedded_report_css_sha256);
	if (view_script_built()) {
		put_source(f, view_embedded_charts_css_sha256);
		fputs("; script-src", f);
		put_source(f, view_embedded_charts_js_sha256);
	}
	fputs("; base-uri 'none'; form-action 'none'\">\n", f);
}

/* Nothing may stand between the tags but the bytes that the policy names. */
static void put_element(FILE *f, const char *tag, const unsigned char *bytes, size_t len)
{
	fprintf(f, "<%s>", tag);
	fwrite(bytes, 1, len, f);
	fprintf(f, "</%s>\n", tag);
}

void view_script_style(FILE *f)
{
	put_element(f, "style", view_embedded_report_css, view_embedded_report_css_len);
	if (view_script_built())
		put_element(f, "style", view_embedded_charts_css, view_embedded_charts_css_len);
}

void view_script_write(FILE *f)
{
	if (view_script_built())
		put_element(f, "script", view_embedded_charts_js, view_embedded_charts_js_len);
}
