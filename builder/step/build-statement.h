// SPDX-License-Identifier: Apache-2.0
// The statement of provenance of a built wheel (lib/domain/wheel/provenance.h): from which sdist, with which build
// requirements, tools and commands, for which branches it was built. Values of environment variables are never in it,
// and no password of a URL. Any thread.
#pragma once

#include <stdint.h>

#include "builder/run/run-log.h"
#include "builder/step/built-wheel.h"
#include "lib/base/buf.h"
#include "lib/format/jsondoc.h"
#include "builder/missing/missing.h"
#include "lib/state/config/config.h"

// Borrowed.
struct build_statement {
	const struct built_wheel *wheel;
	const struct missing_row *row;
	const char *sdist_sha256; // hexadecimal
	const struct config *config;
	const char *id;              // of the attempt
	const struct jsondoc *facts; // the provenance of the attempt (build-facts.h, attempt.c)
	const struct run_log *log;
	int64_t begun, ended;         // seconds since 1970
	const struct missing *listed; // the document that has the row, for the files of its branches; NULL: none
};

// Appends the statement, at most LIMIT_STATEMENT bytes: if it is longer, without the build requirements and the files
// of the branches.
void build_statement_write(const struct build_statement *s, struct buf *out);
// Appends the text with "***" in place of the user and password of each URL in it.
void build_statement_hide_passwords(struct str text, struct buf *out);
