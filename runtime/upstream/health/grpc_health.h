// The messages of grpc.health.v1.Health/Check, encoded by hand: one string, one number.
#pragma once

#include <string>
#include <string_view>

namespace edge::runtime {

inline constexpr std::string_view kGrpcCheckPath = "/grpc.health.v1.Health/Check";

/// Returns a HealthCheckRequest in gRPC framing. An empty `service` checks the whole server.
std::string grpc_check_request(std::string_view service);
/// Returns what is wrong with a response: its body (frames), and `grpc-status` from the trailers or, without a body,
/// from the head. Empty when the status is SERVING.
std::string grpc_check_fault(std::string_view body, std::string_view grpc_status);

}  // namespace edge::runtime
