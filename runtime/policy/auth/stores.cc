#include "runtime/policy/auth/stores.h"

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

}  // namespace edge::runtime::auth
