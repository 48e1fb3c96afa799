// Orders the certificates that a configuration needs from CAs, and renews them: as the leader alone. Everything that
// matters is in Secrets, so that another leader goes on with the same orders.
//
//   OrderedCertificate -> [due] -> Order -> Ca -> Secret (kubernetes.io/tls) -> values of agents
//                                    |
//                                    +-> answers to challenges -> values of agents
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "compiler/link/defaults.h"
#include "compiler/link/ordered_certificates.h"
#include "controller/acme/ca.h"
#include "controller/acme/certificate_crypto.h"
#include "controller/acme/certificate_events.h"
#include "controller/acme/dns.h"
#include "controller/acme/on_demand.h"
#include "controller/acme/order.h"
#include "controller/acme/secrets.h"
#include "controller/kube/client.h"
#include "controller/kube/recorder.h"

namespace edge::controller::acme {

/// Of one that is there; seconds since 1970.
struct CertificateTimes {
  std::int64_t until = 0;
  std::int64_t renewal = 0;  ///< as far as it is known now; 0: not yet
};

struct CertificateCounts {
  /// Certificates beyond these are not listed in `times`.
  static constexpr std::size_t kMostTimes = 1000;

  std::uint64_t valid = 0;
  std::uint64_t missing = 0;
  std::uint64_t valid_waiting = 0;    ///< valid, and waiting after a failure
  std::uint64_t missing_waiting = 0;  ///< likewise
  std::uint64_t issued = 0;           ///< since the start, likewise below
  std::uint64_t renewed = 0;          ///< others than those issued
  NameCounts names{};
  std::uint64_t revoked = 0;                                                ///< certificates, by their responders
  std::array<std::uint64_t, kFailureKinds> failed{};                        ///< rounds, by FailureKind
  std::map<std::pair<std::string, std::string>, CertificateTimes> times{};  ///< by namespace and host
};

struct CertificatesOptions {
  std::string identity;  ///< of this controller
  /// Whose gateways it serves (rule D8); Secrets of other classes are theirs.
  std::string controller_class{compiler::link::kDefaults.controller_class};
  bool several = false;      ///< agents may be connected to other controllers
  std::string name_space{};  ///< for what controllers tell each other
  std::string dns_hook{};    ///< program for CertificateIssuers with `dns.provider: Hook`; empty: none
  Logger log;
  std::function<std::int64_t()> wall{};  ///< seconds since 1970; null: the system's clock
};

/// Runs on the client's loop.
class Certificates {
 public:
  Certificates(kube::Client& client, CertificatesOptions options, CertificateEvents events);
  ~Certificates();
  Certificates(const Certificates&) = delete;
  Certificates& operator=(const Certificates&) = delete;

  /// Sets the API resource of Secrets.
  void serve(const kube::Resource& secrets) {
    secrets_ = secrets;
    names_.serve(secrets);
  }
  void set_wanted(const compiler::OrderedCertificates& ordered);
  /// Names that clients ask agents for.
  void want(const std::vector<WantedName>& names) { names_.want(names); }
  /// A Secret of the cluster has changed; `text` empty: it is gone. What is kept in it is looked at again, and the
  /// answers in another controller's order are given to the agents that are connected here.
  void observe(const std::string& name_space, const std::string& name, std::string_view text);
  void lead(bool leads);
  /// Cancels what is under way; calls `done` when nothing is left.
  void stop(std::function<void()> done);
  /// Any thread.
  CertificateCounts counts() const;

 private:
  using Name = std::pair<std::string, std::string>;  ///< namespace and host
  struct Entry;
  struct Worker;
  struct Round;

  net::Detached run(Worker& worker);
  net::Task<std::int64_t> look(Worker& worker, Name name);
  net::Task<std::optional<std::int64_t>> judge_kept(Worker& worker, Round& round);
  net::Task<std::optional<std::int64_t>> read_order(Worker& worker, Round& round);
  net::Task<std::int64_t> order(Worker& worker, Round& round);
  net::Task<Ca*> prepare_ca(Worker& worker, const Round& round, OrderFault& fault);
  net::Task<bool> carry_out(Worker& worker, Round& round, const Ca& ca, std::vector<compiler::ChallengeKind> kinds,
                            OrderFault& fault, std::string& chain);
  net::Task<std::int64_t> end_in_failure(Worker& worker, Round& round, const OrderFault& fault);
  net::Task<bool> perform(Worker& worker, Round& round, Order& order);
  net::Task<std::string> present(Worker& worker, Round& round, Challenge challenge);
  net::Task<std::string> change_record(Worker& worker, const Round& round, std::string value, DnsChange change);
  net::Task<bool> clear(Worker& worker, Round& round);
  net::Task<Ca*> ca_for(Worker& worker, const Round& round, const std::string& directory, std::string& fault);
  net::Task<std::string> account_key(Worker& worker, const std::string& name_space, const std::string& name,
                                     std::string& fault);
  net::Task<bool> save(Worker& worker, Round& round);
  net::Task<std::int64_t> finish(Worker& worker, Round& round, const std::string& chain);
  struct Renewal {
    std::int64_t at = 0;
    std::int64_t look_again = 0;  ///< the CA may advise otherwise by then
    bool advised = false;         ///< by the CA
  };
  net::Task<Renewal> next_renewal(Worker& worker, const Round& round, const CertificateView& view);
  struct Condition {
    bool holds = false;
    std::string reason{};
    std::string message{};
  };
  net::Task<bool> report_account(Worker& worker, const Round& round, const OrderFault& fault);
  net::Task<bool> report_round(Worker& worker, const Round& round, const OrderFault& fault);
  net::Task<bool> record(Worker& worker, const Round& round, kube::EventLevel level, std::string reason,
                         std::string message);
  net::Task<bool> write_conditions(Worker& worker, const Round& round, std::string type, Condition condition);
  std::string unreached_by(const compiler::OrderedCertificate& wanted, compiler::ChallengeKind kind) const;
  std::vector<compiler::ChallengeKind> answerable(const compiler::OrderedCertificate& wanted, std::string& why) const;
  net::Task<std::int64_t> wait_for_listener(Worker& worker, Round& round, std::string why);
  std::string unreached_lines() const;
  struct Fetched {
    std::string staple{};  ///< DER; empty: `fault` says why
    std::string fault{};
    bool revoked = false;
  };
  net::Task<Fetched> fetch_staple(Worker& worker, std::string chain, std::string key, std::string responder);
  net::Task<bool> note_revoked(Worker& worker, const Round& round);
  net::Task<std::int64_t> keep_staple(Worker& worker, const Round& round, const CertificateView& view);
  std::int64_t staple_due(const std::string& chain, const std::string& key, const std::string* staple) const;
  static bool keeps_valid(const Round& round, std::int64_t now);
  SecretText certificate_text(const Round& round, const std::string& directory, const std::string& chain,
                              const std::string& key) const;
  std::string_view left_over(const kube::Object& object, const SecretView& secret) const;
  net::Task<bool> sweep(Worker& worker);
  net::Detached follow();
  net::Task<bool> pause_follower(net::Time until);
  net::Task<bool> write_follower(std::string has, std::string unreached);
  std::string reported_answers(bool& all);
  std::string follower_secret() const;
  void observe_follower(const std::string& name_space, const std::string& name, const SecretView& secret);
  bool followers_have(const Round& round) const;
  bool is_stale_follower(const std::string& name, const SecretView& secret) const;
  net::Task<SecretView> read(Worker& worker, std::string name_space, std::string name, kube::Failure& failure);

  class UnderWay;
  Entry* choose(std::int64_t now);
  std::int64_t next_due(std::int64_t now) const;
  bool is_wanted(const Round& round) const;
  void withdraw(Round& round);
  std::uint64_t give_challenges();
  void count_answers();
  void note(const Round& round, std::string_view state, std::string fault);
  void count();
  void note_times(const Name& name, std::int64_t until, std::int64_t renewal);
  std::int64_t replaced_since(const Name& name, bool replaces);
  void wake();
  void wake_follower();
  void finish_when_idle();
  std::int64_t now() const;

  kube::Client& client_;
  CertificatesOptions options_;
  CertificateEvents events_;
  kube::Resource secrets_;
  net::client::Resolver resolver_;
  net::tls::RecordRoom records_;
  net::client::HttpClient http_;
  OnDemand names_;
  std::map<Name, Entry> entries_;
  kube::Recorder recorder_;
  struct Issuer {
    std::map<std::string, Condition> conditions{};  ///< by type, as they were written
    net::Time written{};
  };
  std::map<Name, Issuer> issuers_;  ///< by namespace and name
  std::map<std::string, std::unique_ptr<Ca>> cas_;
  std::map<std::string, std::string> challenges_;  ///< by key of program::kChallengeName
  /// Of an order as the API has it.
  struct SeenChallenges {
    Name of{};
    bool counts = false;  ///< the name is ordered here
    std::map<std::string, std::string> answers{};
    std::uint64_t version = kNotGiven;  ///< of agents' values with them
  };
  std::map<std::string, SeenChallenges> seen_challenges_;  ///< by `namespace/name` of orders' Secrets
  struct Follower {
    std::string version{};  ///< resourceVersion
    net::Time changed{};
    std::set<std::string> has{};  ///< digests of answers
    AgentsReach reach{};
  };
  std::map<std::string, Follower> followers_;  ///< by name of their Secrets
  std::unique_ptr<Worker> follower_;
  std::unique_ptr<net::Waiter> follower_pause_;  ///< apart from follower_, on which calls of the API wait
  bool follower_woken_ = false;                  ///< since it last waited
  std::string follower_fault_{};
  std::uint64_t beats_ = 0;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::size_t running_ = 0;
  net::Time wanted_since_{};     ///< when the first name was ordered, or this controller began to lead
  std::int64_t next_sweep_ = 0;  ///< 0: what is wanted is not known yet
  bool leads_ = false;
  bool stopping_ = false;
  std::function<void()> done_;
  mutable std::mutex mutex_;
  CertificateCounts counts_;  ///< guarded by mutex_
};

}  // namespace edge::controller::acme
