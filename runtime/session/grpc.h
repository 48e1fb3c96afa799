// What is particular about calls of gRPC: what our own answers say to them, and the time that a caller gives.
// https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
#pragma once

#include <optional>
#include <string_view>

#include "net/clock.h"
#include "net/http1/head.h"

namespace edge::runtime {

/// By Content-Type: `application/grpc`, alone or with a `+` and the name of a coding. Not gRPC-Web.
bool is_grpc(const net::http1::HeadFields& fields);

/// The code that stands for a status of HTTP. Decision 32.
int grpc_status(int http_status);

/// The field `grpc-timeout`; nullopt when there is none, or none that can be read.
std::optional<net::Duration> grpc_timeout(const net::http1::HeadFields& fields);

}  // namespace edge::runtime
