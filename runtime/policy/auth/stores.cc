#include "runtime/policy/auth/stores.h"

#include <algorithm>
#include <optional>

namespace edge::runtime::auth {

std::shared_ptr<const net::tls::Authorities> Trust::authorities() {
  const std::lock_guard lock(mutex_);
  if (read_) return authorities_;
  read_ = true;
  auto made = std::make_shared<net::tls::Authorities>();
  const bool system = made->add_system().ok();
  const bool own = !pem_.empty() && made->add(pem_).ok();
  if (system || own) authorities_ = std::move(made);
  return authorities_;
}

Status Stores::may_call(const net::client::Url& url) const {
  if (denied == nullptr) return {};
  const std::optional<IpAddress> address = parse_ip(url.host);
  if (!address || std::ranges::none_of(*denied, [&](const Cidr& block) { return block.contains(*address); })) return {};
  return Error{ErrorCode::kPermissionDenied, "it calls " + url.host + ", which --deny-calls-to denies"};
}

}  // namespace edge::runtime::auth
