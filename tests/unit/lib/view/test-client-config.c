// SPDX-License-Identifier: Apache-2.0
#include "lib/view/client-config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/mem.h"

static void assert_written(const struct client_index *x, const char *text, const char *expected)
{
	const struct client_template t = {.client = "c", .path = "a.conf", .marker = "#", .text = text};
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 4096);
	client_config_write(x, &t, &out);
	assert_string_equal(out.data, expected);
}

static void words_are_replaced(void **state UNUSED)
{
	static const char all[] = "<index> <scheme> <rest> <netloc> <host> <else>\n";
	assert_written(&(struct client_index){.base = "https://w.example.org"}, all,
		"# a.conf\nhttps://w.example.org/simple/ https w.example.org/simple/ w.example.org w.example.org <else>\n");
	assert_written(&(struct client_index){.base = "http://[2001:db8::1]:8080/base/", .view = "a view"}, all,
		"# a.conf\nhttp://[2001:db8::1]:8080/base/a%20view/simple/ http "
		"[2001:db8::1]:8080/base/a%20view/simple/ [2001:db8::1]:8080 [2001:db8::1] <else>\n");
	assert_written(&(struct client_index){.base = "nonsense"}, all,
		"# a.conf\nnonsense/simple/  nonsense/simple/ nonsense nonsense <else>\n");
}

static void conditions_choose_lines(void **state UNUSED)
{
	static const char text[] = "a\n?token b\n?open c\n?http d <netloc>\n?other e\n";
	assert_written(&(struct client_index){.base = "https://h"}, text, "# a.conf\na\nc\n?other e\n");
	assert_written(&(struct client_index){.base = "http://h:1", .needs_token = true}, text,
		"# a.conf\na\nb\nd h:1\n?other e\n");
}

static void pip_trusts_plain_http_with_this_machine_only(void **state UNUSED)
{
	static const struct {
		const char *base, *distrusted;
	} row[] = {
		{"http://w.example.org/x", "w.example.org"},
		{"http://w.example.org:8080", "w.example.org:8080"},
		{"http://[2001:db8::1]:80/", "[2001:db8::1]:80"},
		{"https://w.example.org/", ""},
		{"http://localhost:8080/", ""},
		{"http://127.0.0.2/", ""},
		{"http://[::1]:8080/", ""},
		{"http://localhost.example.org/", "localhost.example.org"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		CLEANUP(buf_release) struct buf out;
		buf_init(&out, 4096);
		client_config_distrusted(str_from(row[i].base), &out);
		assert_string_equal(out.len ? out.data : "", row[i].distrusted);
	}
}

// All texts end with a line feed, none has a word that is not replaced, and a client's files follow each other.
static void texts_are_well_formed(void **state UNUSED)
{
	for (size_t i = 0; i < client_template_count; i++) {
		const struct client_template *t = &client_template[i];
		CLEANUP(buf_release) struct buf out;
		buf_init(&out, 1 << 16);
		client_config_write(&(struct client_index){.base = "http://w.example.org", .needs_token = true}, t,
			&out);
		assert_true(str_ends(str_from(t->text), STR("\n")));
		assert_false(out.failed);
		assert_null(strchr(out.data, '<'));
		assert_null(strstr(out.data, "\n?"));
		assert_null(strstr(out.data, "\n\n"));
		if (i > 1 && strcmp(t->client, client_template[i - 1].client) != 0)
			for (size_t j = 0; j + 1 < i; j++)
				assert_string_not_equal(t->client, client_template[j].client);
	}
	assert_true(client_config_has("pip"));
	assert_false(client_config_has("pi"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_replaced),
		cmocka_unit_test(conditions_choose_lines),
		cmocka_unit_test(pip_trusts_plain_http_with_this_machine_only),
		cmocka_unit_test(texts_are_well_formed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
