// SPDX-License-Identifier: Apache-2.0
#include "builder/step/build-statement.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/wheel/provenance.h"

#define BUILD_TYPE "urn:wheelcache:build:1"

// --- passwords ---

// The length of the part of a URL that may have a user and password: up to the path, or the end of the word.
static size_t authority_length(struct str text)
{
	size_t len = 0;
	while (len < text.len && !strchr("/?#\"'", text.ptr[len]) && (unsigned char)text.ptr[len] > ' ')
		len++;
	return len;
}

void build_statement_hide_passwords(struct str text, struct buf *out)
{
	while (text.len) {
		const char *at = memmem(text.ptr, text.len, "://", 3);
		size_t before = at ? (size_t)(at - text.ptr) + 3 : text.len;
		buf_str(out, str_slice(text, 0, before));
		text = str_slice(text, before, text.len);
		struct str authority = str_slice(text, 0, authority_length(text));
		long host = at ? str_rfind(authority, '@') : -1;
		if (host >= 0) {
			buf_puts(out, "***");
			text = str_slice(text, (size_t)host, text.len);
		}
	}
}

static void put_hidden(struct jsondoc *out, const char *key, const char *text)
{
	CLEANUP(buf_release) struct buf hidden = buf_up_to(SIZE_MAX / 2);
	if (!text || !*text)
		return;
	build_statement_hide_passwords(str_from(text), &hidden);
	jsondoc_put_str(out, key, hidden.data);
}

// --- parts ---

static struct jsondoc *digest_doc(const char *hex)
{
	struct jsondoc *digest = jsondoc_object();
	jsondoc_put_str(digest, "sha256", hex);
	return digest;
}

static struct jsondoc *subjects_doc(const struct build_statement *s)
{
	struct jsondoc *all = jsondoc_array(), *one = jsondoc_object();
	jsondoc_put_str(one, "name", s->wheel->filename);
	jsondoc_put(one, "digest", digest_doc(s->wheel->sha256));
	jsondoc_add(all, one);
	return all;
}

static struct jsondoc *words_doc(const char *words)
{
	struct jsondoc *all = jsondoc_array();
	for (struct str rest = str_from(words ? words : ""); rest.len;) {
		struct str word = str_cut(&rest, ' ');
		CLEANUP(mem_free) char *text = xstrndup(word.ptr, word.len);
		if (*text)
			jsondoc_add_str(all, text);
	}
	return all;
}

static struct jsondoc *commands_doc(const struct config *c)
{
	struct jsondoc *out = jsondoc_object();
	put_hidden(out, "build", c->build_command);
	put_hidden(out, "repair", c->build_repair);
	put_hidden(out, "extra", c->build_extra);
	put_hidden(out, "test", c->build_test);
	put_hidden(out, "wrap", c->build_wrap);
	return out;
}

static struct jsondoc *external_doc(const struct build_statement *s)
{
	struct jsondoc *out = jsondoc_object(), *branches = jsondoc_array();
	for (size_t i = 0; i < s->row->branches; i++)
		jsondoc_add_str(branches, s->row->branch[i]);
	jsondoc_put_str(out, "project", s->row->project);
	jsondoc_put_str(out, "version", s->row->version);
	jsondoc_put_str(out, "platform", s->row->platform);
	jsondoc_put_str(out, "python", s->row->python);
	jsondoc_put(out, "branches", branches);
	put_hidden(out, "index", jsondoc_get_str(s->facts, "index"));
	jsondoc_put(out, "commands", commands_doc(s->config));
	jsondoc_put(out, "environment", words_doc(s->config->build_environment)); // names alone
	return out;
}

static struct jsondoc *internal_doc(const struct build_statement *s)
{
	static const char *const tools[] = {"interpreter", "compiler"}, *const machine[] = {"cpu_baseline", "libc",
										"host_libc", "system", "host", "note"};
	struct jsondoc *out = jsondoc_object(), *toolchain = jsondoc_object();
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
		put_hidden(toolchain, tools[i], jsondoc_get_str(s->facts, tools[i]));
	jsondoc_put(out, "toolchain", toolchain);
	for (size_t i = 0; i < ARRAY_SIZE(machine); i++)
		put_hidden(out, machine[i], jsondoc_get_str(s->facts, machine[i]));
	return out;
}

// A requirement that pip installed for the build (build-facts.h).
static struct jsondoc *requirement_doc(const struct jsondoc *installed)
{
	const char *name = jsondoc_get_str(installed, "name"), *version = jsondoc_get_str(installed, "version");
	const char *sha256 = jsondoc_get_str(installed, "sha256");
	struct jsondoc *out = jsondoc_object(), *annotations = jsondoc_object();
	CLEANUP(mem_free) char *purl = xasprintf("pkg:pypi/%s@%s", name ? name : "", version ? version : "");
	jsondoc_put_str(out, "name", name);
	jsondoc_put_str(out, "uri", purl);
	if (sha256)
		jsondoc_put(out, "digest", digest_doc(sha256));
	jsondoc_put_str(annotations, "version", version);
	jsondoc_put_str(annotations, "how", "package");
	jsondoc_put(out, "annotations", annotations);
	return out;
}

static struct jsondoc *branch_file_doc(const char *branch, const struct missing_file *file)
{
	struct jsondoc *out = jsondoc_object(), *annotations = jsondoc_object();
	CLEANUP(mem_free) char *name = xasprintf("%s/%s", branch, file->name);
	jsondoc_put_str(out, "name", name);
	jsondoc_put(out, "digest", digest_doc(file->sha256));
	jsondoc_put_str(annotations, "how", file->kind);
	jsondoc_put(out, "annotations", annotations);
	return out;
}

static bool wants_row(const struct missing_row *row, const char *branch)
{
	for (size_t i = 0; i < row->branches; i++)
		if (strcmp(row->branch[i], branch) == 0)
			return true;
	return false;
}

static struct jsondoc *dependencies_doc(const struct build_statement *s, bool is_whole)
{
	const struct jsondoc *installed = jsondoc_get(s->facts, "requirements");
	struct jsondoc *all = jsondoc_array(), *sdist = jsondoc_object(), *annotations = jsondoc_object();
	jsondoc_put_str(sdist, "name", "sdist");
	put_hidden(sdist, "uri", s->row->sdist.url);
	jsondoc_put(sdist, "digest", digest_doc(s->sdist_sha256));
	jsondoc_put_str(annotations, "version", s->row->version);
	jsondoc_put_str(annotations, "how", "source");
	jsondoc_put(sdist, "annotations", annotations);
	jsondoc_add(all, sdist);
	// The files of the branches that want the wheel.
	if (is_whole)
		for (size_t i = 0; s->listed && i < s->listed->branches; i++) {
			const struct missing_branch *b = &s->listed->branch[i];
			for (size_t k = 0; k < b->files && wants_row(s->row, b->name); k++)
				jsondoc_add(all, branch_file_doc(b->name, &b->file[k]));
		}
	for (size_t i = 0; is_whole && installed && i < jsondoc_count(installed); i++)
		jsondoc_add(all, requirement_doc(jsondoc_at(installed, i)));
	return all;
}

static struct jsondoc *log_doc(const struct build_statement *s)
{
	char hex[SHA256_HEX + 1] = "";
	uint8_t sha256[SHA256_SIZE];
	struct err ignored = ERR_INIT;
	struct jsondoc *all = jsondoc_array(), *log = jsondoc_object();
	CLEANUP(buf_release) struct buf text = buf_up_to(s->config->build_log_size + LIMIT_PATH);
	if (run_log_text(s->log, &text, &ignored) < 0)
		return all;
	digest_sha256(buf_view(&text), sha256);
	hex_encode(sha256, SHA256_SIZE, hex);
	jsondoc_put_str(log, "name", "log");
	jsondoc_put(log, "digest", digest_doc(hex));
	jsondoc_add(all, log);
	return all;
}

static struct jsondoc *run_doc(const struct build_statement *s)
{
	const char *host = jsondoc_get_str(s->facts, "host");
	CLEANUP(mem_free) char *id = xasprintf("urn:wheelcache:builder:%s", host ? host : "");
	struct jsondoc *out = jsondoc_object(), *builder = jsondoc_object(), *version = jsondoc_object();
	struct jsondoc *metadata = jsondoc_object();
	jsondoc_put_str(version, "wheelcache", PACKAGE_VERSION);
	jsondoc_put_str(builder, "id", id);
	jsondoc_put(builder, "version", version);
	jsondoc_put_str(metadata, "invocationId", s->id);
	jsondoc_put_time(metadata, "startedOn", s->begun);
	jsondoc_put_time(metadata, "finishedOn", s->ended);
	jsondoc_put(out, "builder", builder);
	jsondoc_put(out, "metadata", metadata);
	jsondoc_put(out, "byproducts", log_doc(s));
	return out;
}

// --- the statement ---

static void write_statement(const struct build_statement *s, bool is_whole, struct buf *out)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *statement = jsondoc_object();
	struct jsondoc *predicate = jsondoc_object(), *definition = jsondoc_object();
	jsondoc_put_str(definition, "buildType", BUILD_TYPE);
	jsondoc_put(definition, "externalParameters", external_doc(s));
	jsondoc_put(definition, "internalParameters", internal_doc(s));
	jsondoc_put(definition, "resolvedDependencies", dependencies_doc(s, is_whole));
	jsondoc_put(predicate, "buildDefinition", definition);
	jsondoc_put(predicate, "runDetails", run_doc(s));
	jsondoc_put_str(statement, "_type", PROVENANCE_STATEMENT);
	jsondoc_put(statement, "subject", subjects_doc(s));
	jsondoc_put_str(statement, "predicateType", PROVENANCE_SLSA);
	jsondoc_put(statement, "predicate", predicate);
	jsondoc_write(statement, 1, out);
}

void build_statement_write(const struct build_statement *s, struct buf *out)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_STATEMENT);
	write_statement(s, true, &text);
	if (text.failed) {
		buf_clear(&text);
		write_statement(s, false, &text);
	}
	buf_str(out, buf_view(&text));
}
