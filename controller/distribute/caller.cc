#include "controller/distribute/caller.h"

#include <grpcpp/grpcpp.h>

#include "controller/distribute/protocol.h"

namespace edge::controller {

std::string peer_address(const grpc::CallbackServerContext& context) {
  std::string peer = context.peer();
  if (const std::size_t colon = peer.find(':'); colon != std::string::npos) peer.erase(0, colon + 1);
  return printable(peer, 64);
}

Result<std::string> shown_certificate(const grpc::CallbackServerContext& context) {
  const auto authenticated = context.auth_context();
  const auto shown = authenticated->IsPeerAuthenticated()
                         ? authenticated->FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME)
                         : std::vector<grpc::string_ref>();
  if (shown.empty()) return Error{ErrorCode::kUnauthenticated, "no certificate is shown"};
  return std::string(shown[0].data(), shown[0].size());
}

Result<CertificateFacts> caller(const grpc::CallbackServerContext& context, Authority& authority, Role role) {
  const auto shown = shown_certificate(context);
  if (!shown) return shown.error();
  auto facts = authority.identify(*shown);
  if (facts && facts->subject.role != role) {
    return Error{ErrorCode::kPermissionDenied, "the certificate of " + facts->subject.name + " is not for this call"};
  }
  return facts;
}

}  // namespace edge::controller
