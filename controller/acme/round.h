// Parts of Certificates (certificates.h), shared by its files.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controller/acme/certificates.h"

namespace edge::controller::acme {

/// The API, or another controller, is in the way: seconds until the next look.
inline constexpr std::int64_t kSoon = 5;

/// Of a certificate's Secret.
Result<CertificateView> view_kept(const SecretView& secret);

struct Certificates::Entry {
  compiler::OrderedCertificate wanted;
  std::int64_t due = 0;
  std::int64_t looked = 0;  ///< when `due` was found
  /// A clock that was set back since then leaves no wait of its own.
  std::int64_t due_at(std::int64_t now) const { return looked > now ? 0 : due; }
  bool busy = false;
  bool again = false;  ///< changed meanwhile
  bool valid = false;
  bool waiting = false;
  bool registers_anew = false;     ///< the CA did not know the account in the round before
  std::int64_t replace_since = 0;  ///< seconds since 1970; another CA or type of key is wanted since then; 0: not
  std::string told{};              ///< logged last
  std::string unreached{};         ///< why no listener answered at the last look
  std::int64_t unreached_since = 0;
};

/// What rounds under way keep others from, as long as the entries stay as they are.
class Certificates::UnderWay {
 public:
  explicit UnderWay(const std::map<Name, Entry>& entries);
  /// One host is ordered by one namespace at a time: TLSALPN01 has one answer for it. And of one CA are so many.
  bool holds_back(const Name& name, const Entry& entry) const;

 private:
  static std::string_view authority_of(const Entry& entry);

  std::set<std::string_view> hosts_;
  std::map<std::string_view, std::size_t> of_authority_;
};

struct Certificates::Worker {
  explicit Worker(net::Loop& loop) : waiter(loop) {}
  net::Waiter waiter;
  bool idle = false;
};

/// One look at one certificate, with copies: entries come and go meanwhile.
struct Certificates::Round {
  compiler::OrderedCertificate wanted;
  SecretView kept{};  ///< the certificate's Secret
  bool has_kept = false;
  std::string replaces{};
  std::string why{};  ///< it is renewed; empty: there is none yet
  OrderState state{};
  std::string state_version{};  ///< of the order's Secret; empty: there is none
  OrderState stored{};
  std::vector<std::string> challenges{};         ///< keys, in challenges_
  std::map<std::string, std::string> answers{};  ///< the same, for other controllers' agents
  std::map<std::string, std::string> stored_answers{};
  std::vector<std::string> records{};  ///< values of TXT records that are to be removed
  std::string preferred_chain() const { return wanted.settings.authorities[state.authority].preferred_chain; }
};

}  // namespace edge::controller::acme
