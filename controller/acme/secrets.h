// The Secrets of ACME: certificates, orders and accounts, as JSON of the API and read from it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace edge::controller::acme {

/// Of every Secret that is made here; others are never written.
inline constexpr std::string_view kMadeLabel = EDGE_API_GROUP "/acme";

/// A Secret as far as it matters here.
struct SecretView {
  std::string uid{};
  std::string resource_version{};
  /// Value of kMadeLabel: `certificate`, `order`, `account`, `controller`, `names`; empty: somebody else's.
  std::string role{};
  std::string directory{};  ///< of a certificate: where it was ordered
  std::string host{};       ///< of a certificate and an order
  std::map<std::string, std::string> data{};

  const std::string* value(std::string_view key) const;
};
SecretView read_secret(std::string_view json);

/// Whether it is what a controller says to the leader (followers.cc), renewed every few seconds. `json`: the Secret.
bool is_controllers_own(std::string_view json);

/// Value of kMadeLabel of a controller's own.
inline constexpr std::string_view kControllerRole = "controller";

struct SecretText {
  std::string name_space;
  std::string name;
  std::string role;
  std::string type = "Opaque";
  std::string host{};
  std::string directory{};
  std::map<std::string, std::string> data{};
};
/// A whole object; with `resource_version` for an update that fails where another came first.
std::string write_secret(const SecretText& secret, std::string_view resource_version = {});

/// Of a certificate's Secret: that it was found to be revoked, seconds since 1970.
inline constexpr std::string_view kRevokedKey = "revoked";

/// Of an order's Secret: the answers to its challenge, as a JSON object by the keys of program::kChallengeName.
inline constexpr std::string_view kAnswersKey = "answers.json";
std::string write_answers(const std::map<std::string, std::string>& answers);
/// At most 16; none where it cannot be read.
std::map<std::string, std::string> read_answers(std::string_view json);

std::string order_secret_of(std::string_view host);
/// By what tells accounts apart.
std::string account_secret_of(std::string_view directory, std::string_view email, std::string_view key_id);

}  // namespace edge::controller::acme
