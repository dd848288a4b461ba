// SPDX-License-Identifier: Apache-2.0
// Which certificates a command trusts. Any thread, while nobody changes the environment.
#pragma once

// Those that are given, else those of $CURL_CA_BUNDLE or $SSL_CERT_FILE, as curl takes them, or $PIP_CERT; NULL: the
// system's. For struct fetch_options. Borrowed, perhaps from the environment.
const char *ca_file_choose(const char *given);
