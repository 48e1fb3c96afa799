#include "controller/remote/hub_channel.h"

#include <grpcpp/grpcpp.h>

#include "controller/distribute/protocol.h"

namespace edge::controller::remote {
namespace {

/// In the hub's certificate, by whatever address it is reached.
constexpr const char* kHubName = "edge-controller";
constexpr int kKeepaliveMilliseconds = 10'000;
constexpr std::size_t kMaxReason = 300;

}  // namespace

std::shared_ptr<grpc::Channel> open_hub_channel(const RemoteIdentity& identity, int most_bytes) {
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = identity.authorities;
  options.pem_private_key = identity.key;
  options.pem_cert_chain = identity.certificate;
  grpc::ChannelArguments arguments;
  arguments.SetSslTargetNameOverride(kHubName);
  arguments.SetMaxReceiveMessageSize(most_bytes);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMilliseconds);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveMilliseconds);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(identity.hub, grpc::SslCredentials(options), arguments);
}

Error hub_error(const grpc::Status& status) {
  if (status.ok()) return {ErrorCode::kUnavailable, "the hub has ended the connection"};
  const int code = status.error_code();
  const bool known = code > 0 && code <= static_cast<int>(ErrorCode::kUnauthenticated);
  return {known ? static_cast<ErrorCode>(code) : ErrorCode::kUnknown, printable(status.error_message(), kMaxReason)};
}

}  // namespace edge::controller::remote
