// The messages of grpc.health.v1.Health/Check, by hand: one string, one number.
#pragma once

#include <string>
#include <string_view>

namespace edge::runtime {

inline constexpr std::string_view kGrpcCheckPath = "/grpc.health.v1.Health/Check";

/// HealthCheckRequest with gRPC's frame. An empty `service` asks about the whole server.
std::string grpc_check_request(std::string_view service);
/// What is wrong with an answer: its body (frames), and the value of `grpc-status`, from trailers or, where there is no
/// body, from the head. Empty when it says SERVING.
std::string grpc_check_fault(std::string_view body, std::string_view grpc_status);

}  // namespace edge::runtime
