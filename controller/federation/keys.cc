#include "controller/federation/keys.h"

namespace edge::federation {

Status ClusterKeys::add(const std::string& cluster, std::string_view public_pem) {
  auto key = program::VerifyKey::from_pem(public_pem);
  if (!key) return key.error();
  others_.insert_or_assign(cluster, std::move(*key));
  return {};
}

Signatures ClusterKeys::signatures() const {
  return {
      .sign = [this](std::string_view domain, std::string_view message) { return own_.sign_message(domain, message); },
      .verify =
          [this](const std::string& cluster, std::string_view domain, std::string_view message,
                 std::string_view signature) {
            const auto key = others_.find(cluster);
            return key != others_.end() && key->second.verify_message(domain, message, signature).ok();
          }};
}

}  // namespace edge::federation
