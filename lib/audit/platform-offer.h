// SPDX-License-Identifier: Apache-2.0
// What a platform offers to wheels: its libraries, by SONAME, with the versions and symbols that they define. From a
// root folder (the folders of ld.so: ld.so.conf, multiarch, lib, usr/lib), or from a list that `wheelcache provides`
// made of one. Never from the machine that runs us, unless its root is named. Any thread may read an offer.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/audit/offer-table.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/str.h"

struct platform_offer;

// path: a root folder, or a list. ERR_USAGE, ERR_IO, ERR_NOT_FOUND: it cannot be read; ERR_INVALID: a root
// without a C library, or a list that is damaged, with its line; ERR_LIMIT, ERR_TIME. The caller frees *out.
int platform_offer_open(const char *path, struct platform_offer **out, struct err *e) MUST_CHECK;
void platform_offer_free(struct platform_offer *o);     // NULL is fine
void platform_offer_cleanup(struct platform_offer **o); // for CLEANUP
// Appends the list (offer-table.h).
int platform_offer_print(const struct platform_offer *o, struct buf *out, struct err *e) MUST_CHECK;

// The number of libraries, and the number of one of them: below that, and different for each.
size_t platform_offer_count(const struct platform_offer *o);
size_t platform_offer_number(const struct platform_offer *o, const struct offer_library *l);
// Whether it has a library for this architecture at all.
bool platform_offer_has_arch(const struct platform_offer *o, const char *arch);
// The library that the loader finds by the name, borrowed; NULL: there is none. arch: as platform tags spell it. The
// loader of musl is itself what libc.so, libm.so, libpthread.so and their like name.
const struct offer_library *platform_offer_find(const struct platform_offer *o, const char *arch, struct str soname);
bool platform_offer_has(const struct platform_offer *o, const char *arch, struct str soname);
// Whether the loader accepts a need for this version of the library: it defines it, or has no versions at all.
bool offer_library_has_version(const struct offer_library *l, const char *version);
// Whether the library has a symbol for a reference to this version; version NULL: any. One without versions has it by
// its name alone.
bool offer_library_has_symbol(const struct offer_library *l, const char *symbol, const char *version);
// The SONAME of a library with the same stem and another number, the highest, borrowed: libre2.so.11 for libre2.so.9,
// libldap.so.2 for libldap-2.5.so.0. NULL: none.
const char *platform_offer_successor(const struct platform_offer *o, const char *arch, struct str soname);

// Reads the libraries of a root folder for an offer (platform-offer.h). The folders are those of the loader: what
// ld.so.conf names, then lib64, lib and their folders for an architecture (Debian's, and those of musl). Links are
// resolved inside the root. Nothing of the root is run or loaded. The root is not trusted: the numbers of folders and
// files, the sizes and the time are limited. Any thread.

// Adds the libraries below the open folder to an empty table, which the caller finishes. ERR_INVALID: there is none;
// ERR_TIME: it takes more than these seconds; ERR_LIMIT, ERR_IO.
int offer_root_read(int root, int seconds, struct offer_table *t, struct err *e) MUST_CHECK;
