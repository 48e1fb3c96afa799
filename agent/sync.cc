#include "agent/sync.h"

namespace edge::agent {

struct Sync::Impl {};
Sync::Sync(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Sync::~Sync() = default;
Result<std::unique_ptr<Sync>> Sync::start(SyncOptions, Service&) {
  return Error{ErrorCode::kUnimplemented, "no controller can be followed in this version"};
}

}  // namespace edge::agent
