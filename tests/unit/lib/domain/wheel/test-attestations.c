// SPDX-License-Identifier: Apache-2.0
// Reads attestations of PEP 740, right and wrong ones, and the names of attachments.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/domain/wheel/attachment.h"
#include "lib/domain/wheel/provenance.h"

static const char wheel[] = "foo_bar-1.0-py3-none-any.whl";
#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"
#define ONES "1111111111111111111111111111111111111111111111111111111111111111"
#define PUBLISH "https://docs.pypi.org/attestations/publish/v1"
#define SUBJECT(digest) "{\"name\":\"foo_bar-1.0-py3-none-any.whl\",\"digest\":{\"sha256\":\"" digest "\"}}"

static void put_base64(struct str bytes, struct buf *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	for (size_t i = 0; i < bytes.len; i += 3) {
		size_t left = bytes.len - i;
		uint32_t n = 0;
		for (size_t k = 0; k < 3; k++)
			n = n << 8 | (k < left ? (uint8_t)bytes.ptr[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			buf_putc(out, k <= left ? digits[n >> (18 - 6 * k) & 63] : '=');
	}
}

static void put_attestation(struct buf *out, const char *type, const char *subjects)
{
	CLEANUP(mem_free)
	char *statement = xasprintf("{\"_type\":\"%s\",\"predicateType\":\"%s\",\"subject\":[%s],\"predicate\":null}",
		PROVENANCE_STATEMENT, type, subjects);
	buf_puts(out,
		"{\"version\":1,\"verification_material\":{\"certificate\":\"eA==\",\"transparency_entries\":[{}]},"
		"\"envelope\":{\"signature\":\"eA==\",\"statement\":\"");
	put_base64(str_from(statement), out);
	buf_puts(out, "\"}}");
}

// Two attestations; words: of the error, NULL: none.
static const struct {
	const char *type, *first, *second, *words;
} pairs[] = {
	{PUBLISH, SUBJECT(ZEROS), SUBJECT(ZEROS), NULL},
	{PROVENANCE_SLSA, SUBJECT(ZEROS), SUBJECT(ZEROS), NULL},
	{"https://example.org/x", SUBJECT(ZEROS), SUBJECT(ZEROS), "predicateType"},
	{PUBLISH, SUBJECT(ZEROS), SUBJECT(ONES), "different bytes"},
	{PUBLISH, SUBJECT(ZEROS), SUBJECT(ZEROS) "," SUBJECT(ONES), "one subject"},
	{PUBLISH, SUBJECT(ZEROS), "{\"digest\":{\"sha256\":\"" ZEROS "\"}}", "one subject"},
	{PUBLISH, SUBJECT(ZEROS), "", "no subject"},
};

static void test_statements(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		struct err e = ERR_INIT;
		size_t count = 0;
		uint8_t sha256[SHA256_SIZE];
		CLEANUP(buf_release) struct buf text;
		buf_init(&text, 10000);
		buf_putc(&text, '[');
		put_attestation(&text, pairs[i].type, pairs[i].first);
		buf_putc(&text, ',');
		put_attestation(&text, pairs[i].type, pairs[i].second);
		buf_putc(&text, ']');
		int rc = attestations_read(buf_view(&text), wheel, sha256, &count, &e);
		if ((rc < 0) != (pairs[i].words != NULL) || (rc < 0 && !strstr(e.msg, pairs[i].words)))
			fail_msg("%zu: %d %s", i, rc, e.msg);
		assert_int_equal(count, rc < 0 ? 0 : 2);
	}
}

#define ENVELOPE "\"envelope\":{\"signature\":\"eA==\",\"statement\":\"eA==\"}"
#define MATERIAL "\"verification_material\":{\"certificate\":\"eA==\",\"transparency_entries\":[1]}"

// Texts that are no array of attestations.
static const struct {
	const char *text, *words;
} broken[] = {
	{"", "attestations: "},
	{"{}", "no list"},
	{"[", "attestations: "},
	{"[]x", "attestations: "},
	{"[1]", "version"},
	{"[{}]", "version"},
	{"[{\"version\":1.0," MATERIAL "," ENVELOPE "}]", "version"},
	{"[{\"version\":2," MATERIAL "," ENVELOPE "}]", "version"},
	{"[{\"version\":1," ENVELOPE "}]", "transparency_entries"},
	{"[{\"version\":1,\"verification_material\":{\"certificate\":\"eA==\",\"transparency_entries\":[]}," ENVELOPE
	 "}]",
		"transparency_entries"},
	{"[{\"version\":1,\"verification_material\":{\"certificate\":\"\",\"transparency_entries\":[1]}," ENVELOPE "}]",
		"certificate is no Base64"},
	{"[{\"version\":1," MATERIAL "}]", "signature is no Base64"},
	{"[{\"version\":1," MATERIAL ",\"envelope\":{\"signature\":\"?\"}}]", "signature is no Base64"},
	{"[{\"version\":1," MATERIAL ",\"envelope\":{\"signature\":\"eA==\"}}]", "statement is no Base64"},
	{"[{\"version\":1," MATERIAL "," ENVELOPE "}]", "provenance: "},
};

static void test_broken(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(broken); i++) {
		struct err e = ERR_INIT;
		size_t count = 0;
		uint8_t sha256[SHA256_SIZE];
		int rc = attestations_read(str_from(broken[i].text), wheel, sha256, &count, &e);
		if (rc == 0 || e.kind != ERR_INVALID || !strstr(e.msg, broken[i].words))
			fail_msg("%s: %d %s", broken[i].text, rc, e.msg);
	}
}

static void test_object(void **state UNUSED)
{
	static const uint8_t zeros[SHA256_SIZE];
	static const char *const wrong[] = {"{}", "[]", "{\"version\":1,\"attestation_bundles\":[]}",
		"{\"version\":1,\"attestation_bundles\":[{\"attestations\":[]}]}",
		"{\"version\":1,\"attestation_bundles\":[{\"publisher\":{\"kind\":\"x\"},\"attestations\":[]}]}"};
	struct err e = ERR_INIT;
	uint8_t sha256[SHA256_SIZE];
	CLEANUP(buf_release) struct buf array, object;
	buf_init(&array, 10000);
	buf_init(&object, 10000);
	buf_puts(&array, " [");
	put_attestation(&array, PUBLISH, SUBJECT(ZEROS));
	buf_puts(&array, "]\n");
	attestations_put_object(buf_view(&array), &object);
	if (attachment_check(ATTACHMENT_PROVENANCE, buf_view(&object), wheel, zeros, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(attachment_check(ATTACHMENT_PROVENANCE, buf_view(&object), "foo_bar-1.0.tar.gz", zeros, &e),
		-1);
	memset(sha256, 1, sizeof(sha256));
	e = (struct err)ERR_INIT;
	assert_int_equal(attachment_check(ATTACHMENT_PROVENANCE, buf_view(&object), wheel, sha256, &e), -1);
	assert_non_null(strstr(e.msg, "about other bytes"));
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(attestations_read_object(str_from(wrong[i]), wheel, sha256, &e), -1);
}

// Exceeds LIMIT_ATTESTATIONS, LIMIT_ATTESTATION_VALUES.
static void test_limits(void **state UNUSED)
{
	static const struct {
		const char *item;
		size_t times;
	} rows[] = {{"[],", LIMIT_ATTESTATION_VALUES}, {" ", LIMIT_STATEMENT}, {"{},", LIMIT_ATTESTATIONS + 1}};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err e = ERR_INIT;
		size_t count;
		uint8_t sha256[SHA256_SIZE];
		CLEANUP(buf_release) struct buf text;
		buf_init(&text, 2 * LIMIT_STATEMENT);
		buf_putc(&text, '[');
		for (size_t n = 0; n < rows[i].times; n++)
			buf_puts(&text, rows[i].item);
		buf_puts(&text, "1]");
		assert_int_equal(attestations_read(buf_view(&text), wheel, sha256, &count, &e), -1);
		if (e.kind != ERR_LIMIT)
			fail_msg("%s: %s", rows[i].item, e.msg);
	}
}

static void test_names(void **state UNUSED)
{
	static const struct {
		const char *name, *filename;
		enum attachment kind;
	} table[] = {
		{"six-1.0-py3-none-any.whl.intoto.json", "six-1.0-py3-none-any.whl", ATTACHMENT_STATEMENT},
		{"six-1.0.tar.gz.provenance", "six-1.0.tar.gz", ATTACHMENT_PROVENANCE},
		{"six-1.0-py3-none-any.whl", NULL, 0},
		{"six-1.0-py3-none-any.whl.json", NULL, 0},
		{"README.provenance", NULL, 0},
		{".intoto.json", NULL, 0},
		{"six-1.0.tar.gz.provenance.intoto.json", NULL, 0},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct str filename;
		enum attachment kind;
		bool is = attachment_is(str_from(table[i].name), &filename, &kind);
		assert_int_equal(is, table[i].filename != NULL);
		assert_true(!is || (str_eq(filename, str_from(table[i].filename)) && kind == table[i].kind));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_statements),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_object),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
