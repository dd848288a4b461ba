// SPDX-License-Identifier: Apache-2.0
// The one log: lines on stderr, "<N>" in front where systemd's journal reads them. Thread-safe.
#pragma once

#include "lib/base/mem.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG, LOG_LEVEL_COUNT };

extern const char *const log_level_name[LOG_LEVEL_COUNT];

void log_set_level(enum log_level level);
void log_error(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_warn(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_info(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_debug(const char *fmt, ...) PRINTF_LIKE(1, 2);
