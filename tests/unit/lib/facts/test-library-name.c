// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/facts/library-name.h"
#include "lib/base/mem.h"

static void project_of_many_names(void **state UNUSED)
{
	static const char *const rows[][2] = {{"libssl.so.3", "openssl"}, {"libcrypto.so.1.1", "openssl"},
		{"openssl", "openssl"}, {"openssl-libs", "openssl"}, {"OpenSSL", "openssl"}, {"libssl3", "openssl"},
		{"libssl1.1", "openssl"}, {"krb5-libs", "krb5"}, {"libk5crypto.so.3", "krb5"}, {"libgcc_s.so.1", "gcc"},
		{"libstdc++", "gcc"}, {"libstdc++.so.6", "gcc"}, {"libgcc", "gcc"}, {"cyrus-sasl-lib", "cyrus-sasl"},
		{"libsasl2.so.3", "cyrus-sasl"}, {"libpng16.so.16", "png"}, {"libpng", "png"}, {"libz.so.1", "zlib"},
		{"zlib", "zlib"}, {"libopenblas64_p-r0.3.23.dev.so", "openblas"},
		{"libopenblasp-r0-f650aae0.3.3.so", "openblas"}, {"libscipy_openblas64_-ff651d7f.so", "openblas"},
		{"libssl_3.so", "openssl"}, {"libzmq.so.5", "zeromq"}, {"lib", "lib"}, {"7", "7"}, {"", ""}};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct str project = library_name_project(str_from(rows[i][0]));
		if (!str_eq(project, str_from(rows[i][1])))
			fail_msg("%s: " STR_FMT, rows[i][0], STR_ARG(project));
	}
}

static void name_matches_what_people_call_it(void **state UNUSED)
{
	static const struct {
		const char *name, *glob;
		bool matches;
	} rows[] = {
		{"libssl.so.3", "openssl", true},
		{"libssl.so.3", "OpenSSL", true},
		{"libssl.so.3", "libssl", true},
		{"libssl.so.3", "ssl", true},
		{"libssl.so.3", "libssl.so.3", true},
		{"libssl.so.3", "libssl.so.1*", false},
		{"openssl-libs", "openssl", true},
		{"libpng16.so.16", "libpng", true},
		{"libpng16.so.16", "png", true},
		{"libpng16.so.16", "libpng16", true},
		{"libxml2.so.2", "libxml2", true},
		{"libxml2.so.2", "lib*", true},
		{"libopenblas64_p-r0.3.23.dev.so", "openblas", true},
		{"libopenblas64_p-r0.3.23.dev.so", "libopenblas", true},
		{"libopenblas64_p-r0.3.23.dev.so", "libopenblas64_p-r0", true},
		{"libquux64_p-r0.1.2.so", "quux", true},
		{"libquux_mt.so.4", "libquux", true},
		{"libboost_system-mt.so", "boost", true},
		{"libzmq.so.5", "z", false},
		{"libz-ng.so.2", "z", true},
		{"libsslow.so.1", "openssl", false},
		{"libcurl.so.4", "openssl", false},
		{"libbrotlidec.so.1", "brotli", true},
		{"libopenjp2.so.7", "openjpeg", true},
		{"libmysqlclient.so.21", "mysql", true},
		{"libcares.so.2", "c-ares", true},
		{"libodbc.so.2", "unixODBC", true},
		{"libmbedcrypto.so.7", "mbedtls", true},
		{"libnuma.so.1", "numactl", true},
		{"libsybdb.so.5", "freetds", true},
		{"libhogweed.so.6", "nettle", true},
		{"libcudart.so.12", "cuda", true},
		{"libtbbmalloc.so.2", "tbb", true},
		{"libQt5Core.so.5", "qt", true},
		{"libcommon_of_none.so.1", "common", true},
		{"libcommon.so.1", "libcomm", true},
		{"libcommon.so.1", "co", false},
		{"libcommon.so.1", "lib", false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if ((library_name_match(str_from(rows[i].name), rows[i].glob).ptr != NULL) != rows[i].matches)
			fail_msg("%s and %s", rows[i].name, rows[i].glob);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(project_of_many_names),
		cmocka_unit_test(name_matches_what_people_call_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
