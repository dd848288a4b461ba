// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/text/cvss.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "lib/base/mem.h"

// Of the examples of version 3.1 and 4.0 (first.org), and others whose scores are published.
static const struct {
	int tenths;
	const char *vector;
} scores[] = {
	{61, "CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N"}, // CVE-2013-1937
	{64, "CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:C/C:L/I:L/A:N"}, // CVE-2013-0375
	{31, "CVSS:3.1/AV:N/AC:H/PR:N/UI:R/S:U/C:L/I:N/A:N"}, // CVE-2014-3566
	{99, "CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:C/C:H/I:H/A:H"}, // CVE-2012-1516
	{75, "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N"}, // CVE-2014-0160
	{68, "CVSS:3.0/AV:P/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"},
	{100, "CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H"},
	{0, "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N"},
	{98, "CVSS:3.1/A:H/I:H/C:H/S:U/UI:N/PR:N/AC:L/AV:N"},             // any order
	{98, "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H/E:U/RL:O"},    // temporal metrics do not count
	{93, "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N"},
	{100, "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:H/SI:H/SA:H"},
	{87, "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:N/VA:N/SC:N/SI:N/SA:N"},
	{73, "CVSS:4.0/AV:L/AC:L/AT:P/PR:L/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N"},
	{0, "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:N/VI:N/VA:N/SC:N/SI:N/SA:N"},
	{93, "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N/E:U"}, // nor do those of the threat
	{CVSS_NONE, "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H"},                     // one is missing
	{CVSS_NONE, "CVSS:3.1/AV:N/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"},            // or there twice
	{CVSS_NONE, "CVSS:3.1/AV:X/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"},
	{CVSS_NONE, "CVSS:3.1/AV:NN/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"},
	{CVSS_NONE, "AV:N/AC:L/Au:N/C:N/I:N/A:C"}, // version 2
	{CVSS_NONE, "CVSS:5.0/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"},
	{CVSS_NONE, "9.8"},
	{CVSS_NONE, ""},
};

static void vectors_have_their_scores(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(scores); i++)
		if (cvss_base_score(str_from(scores[i].vector)) != scores[i].tenths)
			fail_msg("%s is %d", scores[i].vector, cvss_base_score(str_from(scores[i].vector)));
}

static void vector_of_a_nul_is_none(void **state UNUSED)
{
	assert_int_equal(cvss_base_score(STR("CVSS:3.1/AV:\0/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H")), CVSS_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors_have_their_scores),
		cmocka_unit_test(vector_of_a_nul_is_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
