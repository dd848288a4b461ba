// SPDX-License-Identifier: Apache-2.0
// The keys with which requests to a bucket are signed, from where AWS's own clients look, in botocore's order and under
// its names: the environment (AWS_ACCESS_KEY_ID, …), a web identity (AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN, as
// in Kubernetes), the shared credentials file (~/.aws/credentials; AWS_SHARED_CREDENTIALS_FILE, AWS_PROFILE), the
// metadata service of an EC2 machine (IMDSv2). Or only a command that prints the JSON of AWS's credential_process. They
// are in memory alone, and in no message. Any thread.
#pragma once

#include "lib/base/err.h"

struct s3_credentials;

// command: NULL: none. region: of the web identity's service. Both are copied. It asks nobody yet. It is never freed.
struct s3_credentials *s3_credentials_new(const char *command, const char *region);

struct s3_keys {
	char *id, *secret, *token; // token NULL: none
};
void s3_keys_release(struct s3_keys *k); // for CLEANUP; wipes them

// A copy of the keys, which are renewed five minutes before they expire. ERR_USAGE: there are none; ERR_IO,
// ERR_INVALID, ERR_NET: what should give them does not.
int s3_credentials_get(struct s3_credentials *c, struct s3_keys *out, struct err *e) MUST_CHECK;
// The engine says that they have expired: the next one who asks gets new ones.
void s3_credentials_renew(struct s3_credentials *c);
