// SPDX-License-Identifier: Apache-2.0
// Version specifiers (PEP 440), as in Requires-Python. Pure functions; any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/str.h"
#include "lib/domain/text/version.h"

// Whether packaging's SpecifierSet accepts the text: specifiers separated by commas, with blanks around them or not.
// The empty set is valid.
bool specifier_set_is_valid(struct str text);
// Of a valid set: whether a specifier of it pins a version: "===", or "==" without ".*"; *version, unless NULL, becomes
// the version as it is written.
bool specifier_set_pins(struct str text, struct str *version);
// Of a valid set: whether a specifier of it, other than "!=", names a pre-release, so that pip takes pre-releases.
bool specifier_set_names_prerelease(struct str text);
// Whether the set contains the version, as SpecifierSet(text).contains(version, prereleases=True) decides. False if the
// text is not a valid set.
bool specifier_set_admits(struct str text, const struct version *version);

// The same for many sets and many versions: each is parsed once. Constant after that, so any thread may use them.
struct specifier_set;
struct specifier_version;
struct specifier_set *specifier_set_new(struct str text); // NULL: it is not valid. The caller frees it.
void specifier_set_free(struct specifier_set *s);         // NULL is allowed
struct specifier_version *specifier_version_new(const char *text); // NULL: it is no version. The caller frees it.
void specifier_version_cleanup(struct specifier_version **v);      // for CLEANUP
bool specifier_set_contains(const struct specifier_set *s, const struct specifier_version *v);

enum { SPECIFIER_MICROS = 64 };
// Which micro releases of a Python, such as 3.11.0 to 3.11.63, a Requires-Python contains: bit n of *mask is 3.11.n.
// False if the text is not a valid set; then *mask is not touched.
bool specifier_micros(struct str text, unsigned major, unsigned minor, uint64_t *mask);
// The same for many texts and one Python: its micro releases are parsed once. The caller frees it; constant, so any
// thread may use it.
struct specifier_minor;
struct specifier_minor *specifier_minor_new(unsigned major, unsigned minor);
void specifier_minor_free(struct specifier_minor *m);     // NULL is allowed
bool specifier_minor_micros(const struct specifier_minor *m, struct str text, uint64_t *mask);
