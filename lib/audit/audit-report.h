// SPDX-License-Identifier: Apache-2.0
// What an audit found in a wheel. One thread at a time for each report.
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/base/arena.h"
#include "lib/base/mem.h"
#include "lib/format/jsondoc.h"

// The codes of what an audit finds, with their names and default levels. Constants; any thread.

enum audit_level { AUDIT_OFF, AUDIT_WARN, AUDIT_ERROR, AUDIT_LEVEL_COUNT };

enum audit_code {
	AUDIT_TAG_TOO_LOW,     // a symbol version that the tag in the name does not promise
	AUDIT_MISSING_LIBRARY, // needed, but neither bundled, allowed by tag or policy, found by RPATH, nor offered
	AUDIT_UNHASHED_NAME,   // the plain name is needed while the hashed copy is bundled
	AUDIT_WRONG_MACHINE,
	AUDIT_NATIVE_IN_PURE, // an ELF file in a wheel for any platform
	AUDIT_ABI3,           // a symbol outside the stable ABI of the Python in the tag
	AUDIT_ABSOLUTE_RPATH,
	AUDIT_TOO_COMPLEX,    // the libraries or symbols need too many steps: no real wheel does
	AUDIT_DAMAGED,        // a library that cannot be read
	AUDIT_RULE_REQUIRED,  // a rule's required member or library is absent
	AUDIT_RULE_FORBIDDEN, // a rule's forbidden one is there
	AUDIT_RULE_NAME,      // a name does not match a rule's pattern
	AUDIT_RULE_UNJUDGED,  // the wheel is too large for the rules, or was not read to its end
	// Warnings by default:
	AUDIT_EXECUTABLE_STACK,
	AUDIT_TEXTREL,
	AUDIT_RPATH,         // without $ORIGIN, into another package, or outside of the packages
	AUDIT_LOOSE_LIBRARY, // needed and in the wheel, but no search path leads there
	AUDIT_LIBPYTHON,     // libpython is needed, and nothing says that it is not there
	AUDIT_FOREIGN_FILE,  // a file for another machine that nothing loads by itself
	AUDIT_DAMAGED_DATA,  // an ELF file that cannot be read, and that is no library
	AUDIT_PURELIB,       // an ELF file where pure Python belongs, in a wheel for a platform
	AUDIT_INCOMPLETE,    // the wheel is too large to be read as a whole
	AUDIT_TWIN_SONAME,   // two members with one SONAME
	AUDIT_TWIN_BYTES,    // two ELF members with the same bytes
	AUDIT_JUNK,          // .pyc, tests at top level, names that differ by case only
	AUDIT_WRITABLE,
	AUDIT_SBOM, // an SBOM that cannot be read
	AUDIT_CODE_COUNT,
};

extern const char *const audit_level_name[AUDIT_LEVEL_COUNT]; // "off", "warn", "error"
extern const char *const audit_code_name[AUDIT_CODE_COUNT];   // "tag-too-low", …
// The level of a finding unless a policy says otherwise.
enum audit_level audit_code_level(enum audit_code code);
// Whether rules make the finding, so that its level is the rule's.
bool audit_code_is_of_rule(enum audit_code code);
// By name. AUDIT_LEVEL_COUNT, AUDIT_CODE_COUNT: there is none.
enum audit_level audit_level_find(const char *name);
enum audit_code audit_code_find(const char *name);

enum { AUDIT_TAG_SIZE = 256 };

struct audit_finding {
	enum audit_code code;
	enum audit_level level;
	const char *member; // NULL: of the whole wheel
	const char *rule;   // NULL: built in
	const char *why;    // what it breaks: a sentence without control characters
};

// All zero is an empty report.
struct audit_report {
	struct audit_finding *finding; // errors first, then by code, member and sentence; at most LIMIT_AUDIT_FINDINGS
	size_t count, room;
	bool is_incomplete;        // the wheel was not judged as a whole, and no rule accepts that
	unsigned errors, warnings; // of all, also of those that are not listed
	char tag[AUDIT_TAG_SIZE]; // the lowest platform tags that the wheel keeps, with "." between; "any"; "": unknown
	char symbol_tag[AUDIT_TAG_SIZE]; // the same by symbol versions alone, whatever libraries it needs
	struct arena text;
};

// Adds a finding, unless its level is AUDIT_OFF. The report copies all text; member and rule may be NULL.
void audit_report_add(struct audit_report *r, struct audit_finding finding);
// Sorts the findings, after the last one.
void audit_report_finish(struct audit_report *r);
void audit_report_release(struct audit_report *r); // for CLEANUP; leaves it empty
// {"code", "level", "member", "rule", "why"}. The caller frees it.
struct jsondoc *audit_finding_json(const struct audit_finding *f);
// {"filename", "tag", "symbol_tag", "errors", "warnings", "findings": [{"code", "level", "member", "rule", "why"}]}.
// The caller frees it.
struct jsondoc *audit_report_json(const struct audit_report *r, const char *filename);
