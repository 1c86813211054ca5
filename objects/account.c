/* SPDX-License-Identifier: Apache-2.0 */
#include "account.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/files.h"

#define BYTE_ORDER_MARK "\xef\xbb\xbf" /* as some editors begin a file */
#define REGION_OF_OLD "us-east-1" /* what stores that know no regions are signed for */

struct span {
	const char *at;
	size_t len;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct span trimmed(const char *at, size_t len)
{
	while (len && is_blank(*at))
		at++, len--;
	while (len && is_blank(at[len - 1]))
		len--;
	return (struct span){ at, len };
}

static bool is(struct span s, const char *text)
{
	return s.len == strlen(text) && !memcmp(s.at, text, s.len);
}

/* "[name]" is the section looked for: then all up to the next one. */
static bool opens(struct span line, const char *section)
{
	return is(trimmed(line.at + 1, line.len - 1 - (line.at[line.len - 1] == ']')), section);
}

char *objects_ini_value(struct base_arena *mem, const char *text, const char *section,
			const char *name)
{
	struct span value = { NULL, 0 };
	bool inside = false;

	if (!strncmp(text, BYTE_ORDER_MARK, sizeof(BYTE_ORDER_MARK) - 1))
		text += sizeof(BYTE_ORDER_MARK) - 1;

	while (*text) {
		size_t len = strcspn(text, "\n");
		struct span line = trimmed(text, len);
		const char *is_sign = line.len ? memchr(line.at, '=', line.len) : NULL;

		if (line.len && line.at[0] == '[')
			inside = opens(line, section);
		else if (inside && is_sign && line.at[0] != '#' && line.at[0] != ';' &&
			 is(trimmed(line.at, (size_t)(is_sign - line.at)), name))
			value = trimmed(is_sign + 1, line.len - (size_t)(is_sign + 1 - line.at));
		text += len + (text[len] == '\n');
	}
	return value.len ? base_arena_copy(mem, value.at, value.len) : NULL;
}

/* The environment's word, if it is one. */
static const char *said(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* The text of a file that @variable names, or of ~/.aws/@usual; NULL: none that can be read. */
static char *file_text(struct base_arena *mem, const char *variable, const char *usual)
{
	const char *path = said(variable), *home = said("HOME");
	char *text, *kept;
	size_t len;

	if (!path && home)
		path = base_arena_printf(mem, "%s/.aws/%s", home, usual);
	if (!path || base_file_read(path, &text, &len))
		return NULL;
	kept = base_arena_copy(mem, text, len);
	explicit_bzero(text, len);
	free(text);
	return kept;
}

static const char *first_of(const char *a, const char *b)
{
	return a ? a : b;
}

/* What the two files say of a profile. In config, all but the default's section is "profile NAME". */
struct profile {
	const char *credentials, *credentials_section;
	const char *config, *config_section;
};

static struct profile profile_find(struct base_arena *mem)
{
	const char *name = first_of(said("AWS_PROFILE"), "default");

	return (struct profile){
		.credentials = file_text(mem, "AWS_SHARED_CREDENTIALS_FILE", "credentials"),
		.credentials_section = name,
		.config = file_text(mem, "AWS_CONFIG_FILE", "config"),
		.config_section = strcmp(name, "default") != 0
					  ? base_arena_printf(mem, "profile %s", name)
					  : name,
	};
}

static const char *of_config(struct base_arena *mem, const struct profile *p, const char *name)
{
	return p->config ? objects_ini_value(mem, p->config, p->config_section, name) : NULL;
}

static const char *of_credentials(struct base_arena *mem, const struct profile *p, const char *name)
{
	const char *value = p->credentials ? objects_ini_value(mem, p->credentials,
							       p->credentials_section, name)
					   : NULL;

	return first_of(value, of_config(mem, p, name));
}

/* All of them of one place: a key of the environment fits no secret of a file. */
static void identify(struct objects_account *a, struct base_arena *mem, const struct profile *p)
{
	a->key_id = said("AWS_ACCESS_KEY_ID");
	a->secret = said("AWS_SECRET_ACCESS_KEY");
	a->session = said("AWS_SESSION_TOKEN");
	if (a->key_id && a->secret)
		return;
	a->key_id = of_credentials(mem, p, "aws_access_key_id");
	a->secret = of_credentials(mem, p, "aws_secret_access_key");
	a->session = of_credentials(mem, p, "aws_session_token");
}

static const char *kept(struct base_arena *mem, const char *value)
{
	return base_arena_text(mem, value);
}

/* Of one line of printable text: it goes into a header. */
static bool is_text(const char *value)
{
	for (; value && *value; value++)
		if ((unsigned char)*value < ' ' || *value == 127)
			return false;
	return true;
}

int objects_account_find(struct objects_account *a, struct base_arena *mem)
{
	struct profile p = profile_find(mem);

	*a = (struct objects_account){ .key_id = NULL };
	identify(a, mem, &p);
	if (!a->key_id || !a->secret)
		return -ENOKEY;
	a->region = first_of(first_of(said("AWS_REGION"), said("AWS_DEFAULT_REGION")),
			     of_config(mem, &p, "region"));
	a->endpoint = first_of(first_of(said("AWS_ENDPOINT_URL_S3"), said("AWS_ENDPOINT_URL")),
			       of_config(mem, &p, "endpoint_url"));
	a->key_id = kept(mem, a->key_id);
	a->secret = kept(mem, a->secret);
	a->session = kept(mem, a->session);
	a->region = kept(mem, first_of(a->region, REGION_OF_OLD));
	a->endpoint = kept(mem, a->endpoint);
	a->ca_file = kept(mem, said("AWS_CA_BUNDLE"));
	return is_text(a->key_id) && is_text(a->secret) && is_text(a->session) && is_text(a->region)
		       ? 0
		       : -EILSEQ;
}
