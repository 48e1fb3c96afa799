// Orders the certificates that a configuration needs from CAs, and renews them: as the leader alone. Everything that
// matters is in Secrets, so that another leader goes on with the same orders.
//
//   OrderedCertificate -> [due] -> Order -> Ca -> Secret (kubernetes.io/tls) -> values of agents
//                                    |
//                                    +-> answers to challenges -> values of agents
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "compiler/link/ordered_certificates.h"
#include "controller/acme/ca.h"
#include "controller/acme/certificate_crypto.h"
#include "controller/acme/dns.h"
#include "controller/acme/order.h"
#include "controller/acme/secrets.h"
#include "controller/kube/client.h"
#include "program/values/secrets.h"

namespace edge::controller::acme {

struct CertificateCounts {
  std::uint64_t wanted = 0;
  std::uint64_t valid = 0;    ///< of them
  std::uint64_t waiting = 0;  ///< of them, those that wait after a failure
  std::uint64_t issued = 0;   ///< since the start, likewise below
  std::uint64_t renewed = 0;  ///< of those issued
  std::uint64_t failed = 0;   ///< rounds
};

/// Called on the client's loop.
struct CertificateEvents {
  /// Takes all answers to challenges that agents need now, as values of program::kChallengeName; null: none. Returns
  /// the version of agents' values with them.
  std::function<std::uint64_t(std::shared_ptr<const program::NamedSecret>)> challenges;
  /// Whether all connected agents have reported that they run with values of this version or a later one.
  std::function<bool(std::uint64_t version)> acknowledged;
};

struct CertificatesOptions {
  std::string identity;    ///< of this controller
  bool several = false;    ///< agents may be connected to other controllers
  std::string dns_hook{};  ///< program for CertificateIssuers with `dns.provider: Hook`; empty: none
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
  void serve(const kube::Resource& secrets) { secrets_ = secrets; }
  void set_wanted(std::vector<compiler::OrderedCertificate> wanted);
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
  net::Task<std::int64_t> order(Worker& worker, Round& round);
  net::Task<bool> perform(Worker& worker, Round& round, Order& order);
  net::Task<std::string> present(Worker& worker, Round& round, Challenge challenge);
  net::Task<std::string> change_record(Worker& worker, const Round& round, std::string value, DnsChange change);
  net::Task<bool> clear(Worker& worker, Round& round);
  net::Task<Ca*> ca_for(Worker& worker, const Round& round, const std::string& directory, std::string& fault);
  net::Task<std::string> account_key(Worker& worker, const std::string& name_space, const std::string& name,
                                     std::string& fault);
  net::Task<bool> save(Worker& worker, Round& round);
  net::Task<std::int64_t> finish(Worker& worker, Round& round, const std::string& chain);
  net::Task<std::int64_t> next_renewal(Worker& worker, const Round& round, const CertificateView& view);
  net::Task<bool> sweep(Worker& worker);
  net::Task<SecretView> read(Worker& worker, std::string name_space, std::string name, kube::Failure& failure);

  Entry* choose(std::int64_t now);
  std::int64_t next_due() const;
  bool is_wanted(const Round& round) const;
  void withdraw(Round& round);
  std::uint64_t give_challenges();
  void note(const Round& round, std::string_view state, std::string fault);
  void count();
  void wake();
  void finish_when_idle();
  std::int64_t now() const;

  kube::Client& client_;
  CertificatesOptions options_;
  CertificateEvents events_;
  kube::Resource secrets_;
  net::client::Resolver resolver_;
  net::tls::RecordRoom records_;
  net::client::HttpClient http_;
  std::map<Name, Entry> entries_;
  std::map<std::string, std::unique_ptr<Ca>> cas_;
  std::map<std::string, std::string> challenges_;  ///< by key of program::kChallengeName
  /// Likewise, in orders as the API has them, by `namespace/name` of their Secrets.
  std::map<std::string, std::map<std::string, std::string>> seen_challenges_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::size_t running_ = 0;
  std::int64_t next_sweep_ = 0;  ///< 0: what is wanted is not known yet
  bool leads_ = false;
  bool stopping_ = false;
  std::function<void()> done_;
  mutable std::mutex mutex_;
  CertificateCounts counts_;  ///< guarded by mutex_
};

}  // namespace edge::controller::acme
