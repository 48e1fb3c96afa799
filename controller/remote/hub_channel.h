// The channel that a spoke or a relay opens to its hub: mutual TLS, on a connection of its own.
#pragma once

#include <memory>

#include "base/result.h"
#include "controller/authority/remote_identity.h"

namespace grpc {
class Channel;
class Status;
}  // namespace grpc

namespace edge::controller::remote {

/// Connects when it is first used, to `identity.hub`; it shows `identity`'s certificate, and goes when the channel
/// does. `most_bytes`: of a message that the hub sends.
std::shared_ptr<grpc::Channel> open_hub_channel(const RemoteIdentity& identity, int most_bytes);

/// Why a call at the hub has ended. One that ended well is kUnavailable: the hub has closed it.
Error hub_error(const grpc::Status& status);

}  // namespace edge::controller::remote
