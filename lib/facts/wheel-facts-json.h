// SPDX-License-Identifier: Apache-2.0
// The facts of a wheel as JSON (wheelcache-audit(1) describes it). Any thread.
#pragma once

#include "lib/facts/wheel-facts.h"
#include "lib/format/jsondoc.h"

// The caller frees it.
struct jsondoc *wheel_facts_json(const struct wheel_facts *f);
// "shared", "executable", "object" or "other".
const char *wheel_elf_kind(const struct elf_facts *f);
// "rw", "rwx", or NULL for a file without a mark.
const char *wheel_elf_stack(const struct elf_facts *f);
// Appends the levels of x86-64 that the bits of a note name: "x86-64", "x86-64-v2", … with ", " between.
void wheel_elf_isa(uint32_t bits, struct buf *out);
