// SPDX-License-Identifier: Apache-2.0
#include "lib/net/ca-file.h"

#include <stdlib.h>

#include "lib/base/mem.h"

const char *ca_file_choose(const char *given)
{
	static const char *const names[] = {"CURL_CA_BUNDLE", "SSL_CERT_FILE", "PIP_CERT"};
	for (size_t i = 0; !given && i < ARRAY_SIZE(names); i++) {
		const char *value = getenv(names[i]);
		given = value && *value ? value : NULL;
	}
	return given;
}
