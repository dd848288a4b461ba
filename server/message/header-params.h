// SPDX-License-Identifier: Apache-2.0
// Values of MIME headers with parameters: form-data; name="content"; filename="x.whl". Pure.
#pragma once

#include "lib/base/buf.h"
#include "lib/base/err.h"

// Cuts the value off *rest, up to the first parameter, and returns it trimmed.
struct str header_params_value(struct str *rest);
// Takes the next parameter off *rest: its name, and its value without quotes (RFC 9110 section 5.6.4) or
// percent-encoding (name*=utf-8''…, RFC 8187; the name is then without the star). 1: there is one; 0: no more; -1:
// ERR_INVALID.
int header_params_next(struct str *rest, struct str *name, struct buf *value, struct err *e) MUST_CHECK;
