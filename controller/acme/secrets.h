// The Secrets of ACME: certificates, orders and accounts, as JSON of the API and read from it.
#pragma once

#include <cstdint>
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
  /// Of the controllers that wrote it last (rule D8); empty: an account, or by controllers of before.
  std::string controller_class{};
  /// Of a certificate: when one before it was last found to be revoked and replaced for it, seconds since 1970; 0:
  /// none.
  std::int64_t replaced_revoked = 0;
  std::string fault{};  ///< of names on demand: write_fault() (name_faults.h)
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
  std::string controller_class{};
  std::int64_t replaced_revoked = 0;
  std::string listener{};  ///< of names on demand, for people: `gateway/listener`
  std::string fault{};
  std::map<std::string, std::string> data{};
};
/// A whole object; with `resource_version` for an update that fails where another came first.
std::string write_secret(const SecretText& secret, std::string_view resource_version = {});

/// Of a certificate's Secret: that it was found to be revoked, seconds since 1970.
inline constexpr std::string_view kRevokedKey = "revoked";
/// When a certificate of this name was last found to be revoked, by the Secret of the one that is there now, or by the
/// one that has replaced it; 0: never. A time to come, as of a clock that was set back, is `now`.
std::int64_t last_revoked(const SecretView& certificate, std::int64_t now);

/// Of an order's Secret: the answers to its challenge, as a JSON object by the keys of program::kChallengeName.
inline constexpr std::string_view kAnswersKey = "answers.json";
std::string write_answers(const std::map<std::string, std::string>& answers);
/// At most 16, and those for the host alone; none where it cannot be read.
std::map<std::string, std::string> read_answers(std::string_view json, std::string_view host);

std::string order_secret_of(std::string_view host);
/// By what tells accounts apart.
std::string account_secret_of(std::string_view directory, std::string_view email, std::string_view key_id);

}  // namespace edge::controller::acme
