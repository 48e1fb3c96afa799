// The specifics of gRPC calls: the status of the proxy's own answers, and the caller's timeout.
// https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
#pragma once

#include <optional>
#include <string_view>

#include "net/clock.h"
#include "net/http1/head.h"

namespace edge::runtime {

/// Returns whether Content-Type is `application/grpc`, alone or with `+` and the name of a coding. Not gRPC-Web.
bool is_grpc(const net::http1::HeadFields& fields);

/// Returns the gRPC code for an HTTP status (decision 32).
int grpc_status(int http_status);

/// Returns `grpc-timeout`; nullopt when it is absent or invalid.
std::optional<net::Duration> grpc_timeout(const net::http1::HeadFields& fields);

}  // namespace edge::runtime
