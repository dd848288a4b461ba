// SPDX-License-Identifier: Apache-2.0
// Runs functions of lib/domain, for tests in other languages. Reads lines with a kind, a tab and a text in hex. Prints
// one line for each: "0" if the text is invalid, else "1" and the facts.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/buf.h"
#include "lib/domain/elf/manylinux.h"
#include "lib/domain/machine/marker.h"
#include "lib/domain/machine/profile.h"
#include "lib/domain/text/cvss.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/name.h"
#include "lib/domain/text/requirements-file.h"
#include "lib/domain/text/specifier.h"
#include "lib/domain/text/version.h"
#include "lib/format/digest.h"
#include "lib/format/toml.h"

enum { LINE_MAX_SIZE = 1 << 20 };

static void put_hex(struct buf *out, struct str bytes)
{
	char *hex = buf_reserve(out, 2 * bytes.len);
	hex_encode((const uint8_t *)bytes.ptr, bytes.len, hex);
	out->len += 2 * bytes.len;
}

// <valid> <normal form in hex>
static void answer_name(struct str text, struct buf *out)
{
	CLEANUP(buf_release) struct buf normal;
	buf_init(&normal, text.len);
	name_normalize(text, &normal);
	buf_printf(out, "%d\t", name_is_valid(text));
	put_hex(out, buf_view(&normal));
}

// 1 <normal form> <key in hex> <is prerelease> <is local>
static void answer_version(struct str text, struct buf *out)
{
	CLEANUP(version_release) struct version v = {0};
	struct err e = ERR_INIT;
	if (version_parse(text, &v, &e) < 0) {
		buf_puts(out, "0");
		return;
	}
	buf_printf(out, "1\t%s\t", v.text);
	put_hex(out, v.key);
	buf_printf(out, "\t%d\t%d", v.is_prerelease, v.is_local);
}

// 1 <base score in tenths>
static void answer_cvss(struct str text, struct buf *out)
{
	int score = cvss_base_score(text);
	if (score == CVSS_NONE)
		buf_putc(out, '0');
	else
		buf_printf(out, "1\t%d", score);
}

static void answer_specifier(struct str text, struct buf *out)
{
	buf_puts(out, specifier_set_is_valid(text) ? "1" : "0");
}

// <version> and <set>, separated by a newline: 1 <whether the set admits the version>
static void answer_admits(struct str text, struct buf *out)
{
	CLEANUP(version_release) struct version v = {0};
	struct err e = ERR_INIT;
	if (version_parse(str_cut(&text, '\n'), &v, &e) == 0 && specifier_set_is_valid(text))
		buf_printf(out, "1\t%d", specifier_set_admits(text, &v));
	else
		buf_puts(out, "0");
}

// <python> and <set>, separated by a newline: 1 <the admitted micros as bits in hex>
static void answer_micros(struct str text, struct buf *out)
{
	struct python python;
	struct err e = ERR_INIT;
	uint64_t micros;
	if (python_parse(str_cut(&text, '\n'), &python, &e) < 0 ||
		!specifier_micros(text, python.major, python.minor, &micros)) {
		buf_puts(out, "0");
		return;
	}
	buf_printf(out, "1\t%" PRIx64, micros);
}

static int add_requirement(void *ctx, const struct requirements_line *line, struct err *e)
{
	static const char *const kind[] = {[REQUIREMENTS_LINE_PROJECT] = "project",
		[REQUIREMENTS_LINE_INCLUDE] = "-r",
		[REQUIREMENTS_LINE_CONSTRAINTS] = "-c",
		[REQUIREMENTS_LINE_PRE] = "--pre",
		[REQUIREMENTS_LINE_OPTION] = "option"};
	const struct str part[] = {str_from(line->project ? line->project : ""), line->extras, line->specifier,
		line->marker, line->url, line->argument};
	if (line->kind == REQUIREMENTS_LINE_EDITABLE)
		return err_set(e, ERR_USAGE, REQUIREMENTS_EDITABLE_WORDS);
	buf_printf(ctx, "\t%s", kind[line->kind]);
	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		buf_puts(ctx, " ");
		put_hex(ctx, part[i]);
	}
	for (size_t i = 0; i < line->hashes; i++)
		buf_printf(ctx, " " STR_FMT, STR_ARG(line->hash[i]));
	return 0;
}

// 1, and for each line of the file: its kind, its parts in hex, its hashes
static void answer_requirements(struct str text, struct buf *out)
{
	struct err e = ERR_INIT;
	buf_puts(out, "1");
	if (requirements_file_read(text, "file", add_requirement, out, &e) < 0) {
		buf_clear(out);
		buf_puts(out, "0");
	}
}

// <python>, <arch> and <marker> with newlines between: 1 <the micros for which it holds, as bits in hex>
static void answer_marker(struct str text, struct buf *out)
{
	struct python python;
	struct err e = ERR_INIT;
	uint64_t micros;
	bool is_python = python_parse(str_cut(&text, '\n'), &python, &e) == 0;
	struct str machine = str_cut(&text, '\n');
	CLEANUP(mem_free) char *arch = xstrndup(machine.ptr, machine.len);
	if (!is_python || marker_micros(text, &(struct machine){.arch = arch}, &python, &micros, &e) < 0) {
		buf_puts(out, "0");
		return;
	}
	buf_printf(out, "1\t%" PRIx64, micros);
}

static int add_tag(void *ctx, struct str tag, struct err *e UNUSED)
{
	buf_printf(ctx, "\t" STR_FMT, STR_ARG(tag));
	return 0;
}

// 1 <project> <version> <build> <tag>...
static void answer_filename(struct str text, struct buf *out)
{
	CLEANUP(filename_release) struct filename f = {0};
	struct err e = ERR_INIT;
	if (filename_parse(text, &f, &e) < 0) {
		buf_puts(out, "0");
		return;
	}
	buf_printf(out, "1\t%s\t%s\t" STR_FMT, f.project, f.version.text, STR_ARG(f.build));
	if (f.kind == FILENAME_WHEEL && filename_tags(&f, add_tag, out, &e) < 0)
		buf_printf(out, "\t%s", e.msg);
}

// <python> <arch> <libc>, separated by newlines: 1 <tag>..., in order
static void answer_environment(struct str text, struct buf *out)
{
	CLEANUP(mem_free) char *pythons = NULL, *arch = NULL, *libc = NULL;
	CLEANUP(profile_release) struct profile p = {0};
	struct err e = ERR_INIT;
	char **const key[] = {&pythons, &arch, &libc};
	for (size_t i = 0; i < ARRAY_SIZE(key); i++) {
		struct str value = str_cut(&text, '\n');
		*key[i] = xstrndup(value.ptr, value.len);
	}
	if (profile_init(&p, "", &(struct profile_keys){pythons, arch, libc}, &e) < 0) {
		buf_printf(out, "0\t%s", e.msg);
		return;
	}
	buf_puts(out, "1");
	if (environment_tags(&p.environment[0], add_tag, out, &e) < 0)
		buf_printf(out, "\t%s", e.msg);
}

// <name of a platform>: 1 <its default profile>
static void answer_platform(struct str text, struct buf *out)
{
	CLEANUP(mem_free) char *name = xstrndup(text.ptr, text.len);
	CLEANUP(profile_release) struct profile p = {0};
	struct err e = ERR_INIT;
	if (profile_init(&p, name, &(struct profile_keys){0}, &e) < 0 || !p.environment_count) {
		buf_puts(out, "0");
		return;
	}
	buf_puts(out, "1\t");
	profile_describe(&p, out);
}

// The row of the tag; NULL: there is none.
static const struct manylinux *manylinux_row(const char *arch, struct str glibc)
{
	const struct manylinux *row = NULL;
	while ((row = manylinux_next(arch, row)))
		if (str_eq(glibc, str_from(row->glibc)))
			return row;
	return NULL;
}

// <architecture> <glibc> <symbol version, library, or library:symbol>: 1 <version> <library> <symbol> allowed. The
// glibc "musl" is musllinux.
static void answer_manylinux(struct str text, struct buf *out)
{
	struct str arch = str_cut(&text, ' '), glibc = str_cut(&text, ' '), library = text;
	CLEANUP(mem_free) char *name = xstrndup(arch.ptr, arch.len);
	const struct manylinux *row = manylinux_row(name, glibc);
	bool is_musl = str_eq(glibc, STR("musl"));
	str_cut(&library, ':');
	struct str symbol = library;
	library = str_slice(text, 0, text.len - symbol.len - (symbol.ptr != NULL));
	if (is_musl)
		buf_printf(out, "1\t0\t%d\t%d", musllinux_allows_library(name, library),
			musllinux_allows_symbol(library, symbol));
	else if (row)
		buf_printf(out, "1\t%d\t%d\t%d", manylinux_allows_version(row, text),
			manylinux_allows_library(row, library), manylinux_allows_symbol(row, library, symbol));
	else
		buf_puts(out, "0");
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as LIMIT_TOML_DEPTH
static void put_toml(const struct toml_value *v, struct buf *out)
{
	if (v->kind != TOML_ARRAY && v->kind != TOML_TABLE) {
		buf_printf(out, "\"%c", "sifbt"[v->kind]);
		put_hex(out, toml_text(v));
		buf_puts(out, "\"");
		return;
	}
	bool is_table = v->kind == TOML_TABLE;
	buf_puts(out, is_table ? "{" : "[");
	for (const struct toml_value *in = toml_first(v); in; in = toml_next(in)) {
		buf_puts(out, in == toml_first(v) ? "" : ",");
		if (is_table) {
			buf_puts(out, "\"");
			put_hex(out, (struct str){in->key, in->key_len});
			buf_puts(out, "\":");
		}
		put_toml(in, out);
	}
	buf_puts(out, is_table ? "}" : "]");
}

// 1 <the document as JSON: keys in hex, values as a letter of their kind and their text in hex>
static void answer_toml(struct str text, struct buf *out)
{
	CLEANUP(mem_free) char *copy = xmalloc(text.len + 1);
	CLEANUP(toml_release) struct toml t = {0};
	struct err e = ERR_INIT;
	memcpy(copy, text.ptr, text.len);
	if (toml_read(copy, text.len, &t, &e) < 0) {
		buf_printf(out, "0\t%s", e.msg);
		return;
	}
	buf_puts(out, "1\t");
	put_toml(&t.root, out);
}

static const struct kind {
	const char *name;
	void (*answer)(struct str text, struct buf *out);
} kinds[] = {
	{"name", answer_name},
	{"version", answer_version},
	{"cvss", answer_cvss},
	{"specifier", answer_specifier},
	{"admits", answer_admits},
	{"micros", answer_micros},
	{"marker", answer_marker},
	{"filename", answer_filename},
	{"requirements", answer_requirements},
	{"environment", answer_environment},
	{"platform", answer_platform},
	{"manylinux", answer_manylinux},
	{"toml", answer_toml},
};

static int answer_line(struct str line, struct buf *out)
{
	struct str name = str_cut(&line, '\t');
	size_t len = line.len / 2;
	uint8_t *text CLEANUP(mem_free) = xcalloc(len + 1, 1);
	if (!hex_decode(line, text, len))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!str_eq(name, str_from(kinds[i].name)))
			continue;
		kinds[i].answer((struct str){(const char *)text, len}, out);
		return 0;
	}
	return -1;
}

int main(void)
{
	CLEANUP(mem_free) char *line = NULL;
	size_t room = 0;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, LINE_MAX_SIZE);
	while (getline(&line, &room, stdin) > 0) {
		buf_clear(&out);
		if (answer_line(str_trim(str_from(line)), &out) < 0) {
			fprintf(stderr, "not a kind and hex digits: %s", line);
			return EXIT_FAILURE;
		}
		buf_putc(&out, '\n');
		fwrite(out.data, 1, out.len, stdout);
	}
	return EXIT_SUCCESS;
}
