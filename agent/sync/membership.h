// Who this agent is at its controller, and whom it believes: joins with a token, renews its certificate, joins anew
// where a join file of another authority is given, and takes the key that programs are verified with.
//
//   join file --> Membership <--> AgentStore (identity on disk)
//                  |      ^
//   Service::trust <      +-- the session: renewals, whom to believe from now on
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "agent/service.h"
#include "agent/sync/agent_store.h"
#include "agent/sync/session.h"
#include "base/result.h"
#include "program/sign.h"

namespace edge::agent {

struct SyncOptions;

/// Of one thread, but for `hear_trust`.
class Membership {
 public:
  /// All of them must outlive this object. `tell` logs a warning, once for one that is repeated.
  Membership(const SyncOptions& options, AgentStore& store, Service& service,
             std::function<void(const std::string&)> tell);
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  /// What is on disk.
  void restore(Identity identity) { identity_ = std::move(identity); }
  /// The key of the options, else that of the identity.
  void begin();
  /// Of the options from now on.
  void trust(program::VerifyKey key);

  /// nullopt: it has not joined yet.
  const std::optional<Identity>& identity() const { return identity_; }
  /// Whether there is a key that programs must be signed with.
  bool verifies() const { return verifies_; }

  /// Joins where no certificate holds.
  Status have_identity();
  /// A controller that our certificate is of no use with may be another one, which a new join file is for; or the
  /// certificate was issued by a clock that was ahead, and is replaced by the join file that there is.
  /// kNotFound: there is no such file, or it is of no use either.
  Status join_again();
  /// At two thirds of its time, and not too soon after a try.
  bool is_renewal_due() const;
  /// After it the session is to be opened again, with the new certificate.
  Status renew(SyncSession& session);

  /// Whom to believe may change while a session lasts; any thread.
  void hear_trust(std::string authorities, std::string key);
  /// Takes what was heard; the next session begins with it.
  void take_trust();

 private:
  Status first_identity();
  bool is_old() const;
  void put_off_vain_renewal();
  Status ask_renewal(SyncSession& session);
  void trust_pem(const std::string& pem);
  std::chrono::system_clock::time_point now() const;

  const SyncOptions& options_;
  AgentStore& store_;
  Service& service_;
  const std::function<void(const std::string&)> tell_;
  std::optional<Identity> identity_;
  bool verifies_ = false;
  std::chrono::steady_clock::time_point next_renewal_{};  ///< not before
  std::chrono::seconds vain_pause_;                       ///< until the renewal after one that was of no use

  std::mutex trust_mutex_;
  std::optional<std::pair<std::string, std::string>> trusted_;  ///< guarded by trust_mutex_
};

}  // namespace edge::agent
