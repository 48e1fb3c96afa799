// The order of one certificate (RFC 8555 §7.4) as a state machine without I/O: it says what is to be done next, and
// takes what came of it. Whoever performs it may be replaced at any time: another begins with the stored state, and
// goes on from what the CA says of the order.
//
//   create -> look -> authorization -> present -> answer -> poll -> look -> finalize -> look -> download -> done
//
// Everything that a CA says is untrusted: its URLs must be of the scheme of the directory, its answers for the host
// that was asked for, and the number of requests for one order is bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "controller/acme/order_state.h"

namespace edge::controller::acme {

/// A CA's answer, or why there was none.
struct CaReply {
  int status = 0;  ///< 0: none
  std::string location{};
  std::int64_t retry_after = 0;  ///< seconds; 0: not said
  std::string body{};
  std::vector<std::string> alternates{};  ///< Link with rel="alternate"
  std::string fault{};                    ///< where there was no answer
};

/// A problem document (RFC 7807, RFC 8555 §6.7).
struct Problem {
  std::string type{};    ///< after `urn:ietf:params:acme:error:`, or the whole; empty: none
  std::string detail{};  ///< at most 300 bytes, printable
};
Problem problem_of(const CaReply& reply);
/// Returns printable ASCII of at most 300 bytes.
std::string printable(std::string_view text);

struct Action {
  enum class Kind : std::uint8_t {
    kPost,     ///< a signed request to `url`; an empty payload reads it
    kPresent,  ///< let all agents answer the challenge, and say so by presented()
    kWait,     ///< for `seconds`, then waited()
    kDone,     ///< chain() is there
    kFailed,   ///< fault()
  };
  Kind kind = Kind::kFailed;
  std::string url{};
  std::string payload{};
  std::int64_t seconds = 0;
};

struct Challenge {
  compiler::ChallengeKind kind{};
  std::string url{};
  std::string token{};
};

enum class FailureKind : std::uint8_t {
  kValidation,     ///< the CA did not find the answer to its challenge
  kLimited,        ///< rates of the CA
  kUnreachable,    ///< no answer, or one that is too large or late
  kRefused,        ///< the CA's problem documents, but for those above
  kProtocol,       ///< the CA's answers are none of RFC 8555, or the certificate is not what was asked for
  kConfiguration,  ///< a Secret of the issuer is not there, or is none
};
inline constexpr std::size_t kFailureKinds = 6;
/// As in metrics: `validation`, `rate-limited`.
std::string_view to_string(FailureKind kind);

/// Of a request that did not lead to what was asked for.
FailureKind failure_kind_of(const CaReply& reply);

struct OrderFault {
  std::string text{};  ///< for people, one line
  FailureKind kind = FailureKind::kProtocol;
  std::int64_t retry_after = 0;                                   ///< as the CA asked, seconds
  bool account_gone = false;                                      ///< the CA does not know the account any more
  bool limited() const { return kind == FailureKind::kLimited; }  ///< which is no failure of ours
};

class Order {
 public:
  struct Settings {
    std::vector<compiler::ChallengeKind> challenges{};  ///< in order of preference
    std::string new_order{};                            ///< URL, of the directory
    std::string preferred_chain{};
    std::string replaces{};  ///< RFC 9773 §5; empty: none, or the CA does not know it
  };

  Order(OrderState state, Settings settings);

  Action next() const;
  /// Takes the answer to the request of next().
  void take(const CaReply& reply, std::int64_t now);
  void presented();
  void waited();

  /// To be stored before the next action whenever it has changed.
  const OrderState& state() const { return state_; }
  /// The challenge that is answered now, from kPresent until the authorization is through.
  const Challenge& challenge() const { return challenge_; }
  bool is_presenting() const;
  const std::string& chain() const { return chain_; }
  const OrderFault& fault() const { return fault_; }

 private:
  enum class Step : std::uint8_t {
    kCreate,
    kLook,
    kAuthorization,
    kPresent,
    kAnswer,
    kPoll,
    kFinalize,
    kProcess,
    kDownload,
    kAlternate,
    kDone,
    kFailed
  };
  void fail(const CaReply& reply, std::string_view doing);
  void fail_text(std::string text);
  bool usable(const std::string& url) const;
  void created(const CaReply& reply, std::int64_t now);
  void looked(const CaReply& reply);
  void authorization(const CaReply& reply);
  void choose(std::string_view authorization);
  void invalid(std::string text);
  void downloaded(const CaReply& reply, std::int64_t now);

  OrderState state_;
  Settings settings_;
  Step step_ = Step::kCreate;
  Challenge challenge_;
  std::string authorization_;
  std::string finalize_;
  std::string certificate_;
  std::vector<std::string> alternates_;
  std::string chain_;
  std::int64_t wait_ = 0;
  std::uint32_t requests_ = 0;
  bool created_anew_ = false;
  OrderFault fault_;
};

}  // namespace edge::controller::acme
