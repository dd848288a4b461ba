// SPDX-License-Identifier: Apache-2.0
// Parses MIME header values with parameters: form-data; name="content"; filename="x.whl". Pure functions; any thread.
#pragma once

#include "lib/base/buf.h"
#include "lib/base/err.h"

// Cuts the value off *rest, up to the first parameter, and returns it trimmed.
struct str header_params_value(struct str *rest);
// Cuts the next parameter off *rest. *name is a part of *rest; value gets the value without quotes (RFC 9110 section
// 5.6.4) and without percent-encoding (name*=utf-8''…, RFC 8187; *name is then without the star). Returns 1; 0 at the
// end; -1 for ERR_INVALID.
int header_params_next(struct str *rest, struct str *name, struct buf *value, struct err *e) MUST_CHECK;
