// SPDX-License-Identifier: Apache-2.0
#include "lib/audit/audit-code.h"

#include <string.h>

const char *const audit_level_name[AUDIT_LEVEL_COUNT] = {
	[AUDIT_OFF] = "off", [AUDIT_WARN] = "warn", [AUDIT_ERROR] = "error"};

const char *const audit_code_name[AUDIT_CODE_COUNT] = {
	[AUDIT_TAG_TOO_LOW] = "tag-too-low",
	[AUDIT_MISSING_LIBRARY] = "missing-library",
	[AUDIT_UNHASHED_NAME] = "unhashed-name",
	[AUDIT_WRONG_MACHINE] = "wrong-machine",
	[AUDIT_NATIVE_IN_PURE] = "native-in-pure",
	[AUDIT_ABI3] = "abi3",
	[AUDIT_ABSOLUTE_RPATH] = "absolute-rpath",
	[AUDIT_TOO_COMPLEX] = "too-complex",
	[AUDIT_DAMAGED] = "damaged",
	[AUDIT_RULE_REQUIRED] = "rule-required",
	[AUDIT_RULE_FORBIDDEN] = "rule-forbidden",
	[AUDIT_RULE_NAME] = "rule-name",
	[AUDIT_RULE_UNJUDGED] = "rule-unjudged",
	[AUDIT_EXECUTABLE_STACK] = "executable-stack",
	[AUDIT_TEXTREL] = "textrel",
	[AUDIT_RPATH] = "rpath",
	[AUDIT_LOOSE_LIBRARY] = "loose-library",
	[AUDIT_LIBPYTHON] = "libpython",
	[AUDIT_FOREIGN_FILE] = "foreign-file",
	[AUDIT_DAMAGED_DATA] = "damaged-data",
	[AUDIT_PURELIB] = "purelib",
	[AUDIT_INCOMPLETE] = "incomplete",
	[AUDIT_TWIN_SONAME] = "twin-soname",
	[AUDIT_TWIN_BYTES] = "twin-bytes",
	[AUDIT_JUNK] = "junk",
	[AUDIT_WRITABLE] = "writable",
	[AUDIT_SBOM] = "sbom",
};

enum audit_level audit_code_level(enum audit_code code)
{
	return code < AUDIT_EXECUTABLE_STACK ? AUDIT_ERROR : AUDIT_WARN;
}

bool audit_code_is_of_rule(enum audit_code code)
{
	return code >= AUDIT_RULE_REQUIRED && code <= AUDIT_RULE_UNJUDGED;
}

enum audit_level audit_level_find(const char *name)
{
	unsigned i = 0;
	while (i < AUDIT_LEVEL_COUNT && strcmp(audit_level_name[i], name) != 0)
		i++;
	return (enum audit_level)i;
}

enum audit_code audit_code_find(const char *name)
{
	unsigned i = 0;
	while (i < AUDIT_CODE_COUNT && strcmp(audit_code_name[i], name) != 0)
		i++;
	return (enum audit_code)i;
}
