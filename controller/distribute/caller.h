// Who calls, by the certificate that TLS has verified. Included only where gRPC's header is.
#pragma once

#include <string>

#include "controller/authority/authority.h"

namespace grpc {
class CallbackServerContext;
}  // namespace grpc

namespace edge::controller {

/// Returns the caller's certificate in PEM. kUnauthenticated: none was shown.
Result<std::string> shown_certificate(const grpc::CallbackServerContext& context);
/// Returns the facts of it. kUnauthenticated: there is none that holds; kPermissionDenied: another role.
Result<CertificateFacts> caller(const grpc::CallbackServerContext& context, Authority& authority, Role role);
/// Returns the peer's address for the log: `10.0.0.7:51234`.
std::string peer_address(const grpc::CallbackServerContext& context);

}  // namespace edge::controller
