// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/mem.h"
#include "lib/net/url.h"

struct row {
	const char *reference, *url; // NULL: refused
};

static void resolves(const char *base, const struct row *row)
{
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 4096);
	buf_puts(&out, "=");
	bool is_good = url_resolve(str_from(base), str_from(row->reference), &out);
	if (is_good != (row->url != NULL) || strcmp(out.data + 1, row->url ? row->url : "") != 0)
		fail_msg("\"%s\" at %s is %s \"%s\"", row->reference, base, is_good ? "good" : "bad", out.data);
}

// RFC 3986, section 5.4, except that fragments are removed and other schemes refused.
static void examples_of_the_rfc(void **state UNUSED)
{
	static const struct row table[] = {
		{"g:h", NULL},
		{"g", "http://a/b/c/g"},
		{"./g", "http://a/b/c/g"},
		{"g/", "http://a/b/c/g/"},
		{"/g", "http://a/g"},
		{"//g", "http://g/"},
		{"?y", "http://a/b/c/d;p?y"},
		{"g?y", "http://a/b/c/g?y"},
		{"#s", "http://a/b/c/d;p?q"},
		{"g#s", "http://a/b/c/g"},
		{"g?y#s", "http://a/b/c/g?y"},
		{";x", "http://a/b/c/;x"},
		{"g;x", "http://a/b/c/g;x"},
		{"", "http://a/b/c/d;p?q"},
		{".", "http://a/b/c/"},
		{"./", "http://a/b/c/"},
		{"..", "http://a/b/"},
		{"../", "http://a/b/"},
		{"../g", "http://a/b/g"},
		{"../..", "http://a/"},
		{"../../", "http://a/"},
		{"../../g", "http://a/g"},
		{"../../../g", "http://a/g"},
		{"/./g", "http://a/g"},
		{"/../g", "http://a/g"},
		{"g.", "http://a/b/c/g."},
		{".g", "http://a/b/c/.g"},
		{"g..", "http://a/b/c/g.."},
		{"..g", "http://a/b/c/..g"},
		{"./../g", "http://a/b/g"},
		{"./g/.", "http://a/b/c/g/"},
		{"g/./h", "http://a/b/c/g/h"},
		{"g/../h", "http://a/b/c/h"},
		{"g;x=1/../y", "http://a/b/c/y"},
		{"g?y/../x", "http://a/b/c/g?y/../x"},
		{"http:g", NULL},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		resolves("http://a/b/c/d;p?q", &table[i]);
}

static void what_pages_hold(void **state UNUSED)
{
	static const struct row table[] = {
		{" ../../packages/a b.whl\n", "https://h:8443/root/packages/a%20b.whl"},
		{"HTTPS://Files.example/x%2By.whl?a=b&c#sha256=1", "https://Files.example/x%2By.whl?a=b&c"},
		{"//u:p@files.example/x", "https://files.example/x"},
		{"http://u@evil@files.example/x", "http://files.example/x"},
		{"a//b/./../c", "https://h:8443/root/simple/foo/a//c"},
		{"/\xc3\xa9\"<>\\^`{|}\x7f", "https://h:8443/%C3%A9%22%3C%3E%5C%5E%60%7B%7C%7D%7F"},
		{"foo-1!2.0.whl", "https://h:8443/root/simple/foo/foo-1!2.0.whl"},
		{"http://", NULL},
		{"http:///x", NULL},
		{"http://u@/x", NULL},
		{"file:///x", NULL},
		{"javascript:x", NULL},
		{"data:,x", NULL},
		{"1:2", "https://h:8443/root/simple/foo/1:2"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		resolves("https://me:secret@h:8443/root/simple/foo/", &table[i]);
	resolves("https://h", &(struct row){"a/../../b", "https://h/b"});
	resolves("relative/base", &(struct row){"a", NULL});
}

static void file_names(void **state UNUSED)
{
	static const struct row table[] = {
		{"https://h/a/b-1%2Bx.whl?q=/x#/y", "b-1+x.whl"},
		{"b.whl", "b.whl"},
		{"/a/b%2fc", "b/c"},
		{"/a/", NULL},
		{"", NULL},
		{"/a%", NULL},
		{"/a%4", NULL},
		{"/a%zz", NULL},
		{"/a%41", "aA"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(buf_release) struct buf out;
		buf_init(&out, 4096);
		bool is_good = url_filename(str_from(table[i].reference), &out);
		if (is_good != (table[i].url != NULL) || (is_good && strcmp(out.data, table[i].url) != 0))
			fail_msg("%s: %s", table[i].reference, out.data);
	}
}

static void bases(void **state UNUSED)
{
	static const struct row table[] = {
		{"https://h", "https://h/"},
		{"http://h:80/a/", "http://h:80/a/"},
		{"https://[::1]:8/%41+b", "https://[::1]:8/%41+b/"},
		{"", NULL},
		{"https://", NULL},
		{"https:///", NULL},
		{"ftp://h/", NULL},
		{"h/", NULL},
		{"https://h/?a", NULL},
		{"https://h/#", NULL},
		{"https://h/a b", NULL},
		{"https://h/\"", NULL},
		{"https://h/&", NULL},
		{"https://h/\xc3\xa9", NULL},
		{"https://h//", NULL},
		{"https:///x", NULL},
		{"https://u:p@h/", NULL},
		{"https://:80/", NULL},
		{"https:h/", NULL},
		{"https://h:65535", "https://h:65535/"},
		{"https://h:65536/", NULL},
		{"https://h:99999/", NULL},
		{"https://h:x/", NULL},
		{"https://h:8x/", NULL},
		{"https://h:-1/", NULL},
		{"https://h:0/", NULL},
		{"https://h:00/", NULL},
		{"https://h:99999999999999999999/", NULL},
		{"https://[::1/", NULL},
		{"https://[::1]x/", NULL},
		{"https://[]/", NULL},
		{"https://[h]/", NULL},
		{"https://h]/", NULL},
		{"https://h[/", NULL},
		{"https://[::1]:99999/", NULL},
		{"https://h:1:2/", NULL},
		{"https://%zz/", NULL},
		{"https://h%00/", NULL},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(mem_free) char *base = url_base(str_from(table[i].reference));
		if ((base != NULL) != (table[i].url != NULL) || (base && strcmp(base, table[i].url) != 0))
			fail_msg("%s: %s", table[i].reference, base ? base : "none");
	}
	assert_null(url_base((struct str){"https://h\0x", 11}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(examples_of_the_rfc),
		cmocka_unit_test(what_pages_hold),
		cmocka_unit_test(file_names),
		cmocka_unit_test(bases),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
