// SPDX-License-Identifier: Apache-2.0
// The list of an offer (platform-offer.h), as `wheelcache provides` prints it: text, sorted, the same for the same root.
//
//     wheelcache-provides 1 LIBRARIES LINES
//     library ARCH SONAME PATH
//     unreadable                       if only the names of the library are known
//     name NAME                        for each name by which the loader finds it
//     needed SONAME                    for each library that it needs
//     version VERSION                  for each version that it defines
//      SYMBOL[@VERSION]                for each symbol that it defines, behind a blank
//
// LINES counts all lines behind the first one, so that a list that was cut is refused. Blanks, "%", "@", control bytes
// and bytes above 126 in names are written as "%" and two hexadecimal digits. Any thread.
#pragma once

#include "lib/audit/offer-table.h"
#include "lib/base/buf.h"

// Appends the list of a finished table. ERR_LIMIT: it does not fit in out.
int offer_list_print(const struct offer_table *t, struct buf *out, struct err *e) MUST_CHECK;
// Adds what the list says to an empty table, which the caller finishes. ERR_INVALID with the number of the line;
// ERR_LIMIT.
int offer_list_parse(struct str list, struct offer_table *t, struct err *e) MUST_CHECK;
