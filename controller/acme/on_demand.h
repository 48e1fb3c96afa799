// Names that clients ask for at listeners that get certificates on demand: which of them may have one is decided here,
// by the listener's allow-list or its ask-URL, and kept in a Secret of each listener, which all controllers follow.
//
//   WantedName -> [allow-list | ask-URL] -> Secret acme-names-... -> OrderedCertificate (controller/endpoints)
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "compiler/link/ordered_certificates.h"
#include "controller/acme/name_faults.h"
#include "controller/acme/questions.h"
#include "controller/kube/client.h"
#include "controller/kube/recorder.h"
#include "net/client/http_client.h"
#include "net/tls/certificate.h"

namespace edge::controller::acme {

struct SecretView;

enum class NameDecision : std::uint8_t {
  kAdded,       ///< and written
  kRefused,     ///< neither listed nor allowed by the ask-URL
  kUnanswered,  ///< the ask-URL gave no answer
  kLimited,     ///< more names, or questions, than may be
};
inline constexpr std::size_t kNameDecisions = 4;
std::string_view to_string(NameDecision decision);

struct NameCounts {
  bool any = false;                                     ///< a listener gets certificates on demand
  std::uint64_t names = 0;                              ///< kept now
  std::array<std::uint64_t, kNameDecisions> decided{};  ///< since the start
};

struct OnDemandOptions {
  std::string identity{};  ///< of this controller
  std::string controller_class{};
  Logger log;
  std::function<std::int64_t()> wall{};  ///< seconds since 1970; null: the system's clock
};

/// Runs on the client's loop.
class OnDemand {
 public:
  /// Answers are remembered for so long: no, and none.
  static constexpr auto kRefusedTime = std::chrono::seconds(300);
  static constexpr auto kUnansweredTime = std::chrono::seconds(30);
  static constexpr std::size_t kMostRemembered = 4096;
  /// The names of a listener that is gone are kept for so long after the last use of any, in seconds: it may come back.
  static constexpr std::int64_t kKeepWithoutListener = 30 * 24 * 3600;

  OnDemand(kube::Client& client, net::client::HttpClient& http, OnDemandOptions options);
  ~OnDemand();
  OnDemand(const OnDemand&) = delete;
  OnDemand& operator=(const OnDemand&) = delete;

  void serve(const kube::Resource& secrets) { secrets_ = secrets; }
  void set_listeners(const std::vector<compiler::OrderedBundle>& bundles);
  void want(const std::vector<WantedName>& names);
  /// The leader gives up names that are not used any more.
  void lead(bool leads) { leads_ = leads; }
  /// Whether the Secret, of this namespace and name, has names of a listener that is gone and was long not used.
  bool is_left_over(const std::string& name_space, const std::string& name, const SecretView& secret) const;
  void stop(std::function<void()> done);
  bool stopped() const { return stopping_ && running_ == 0; }
  /// Any thread.
  NameCounts counts() const;

 private:
  using Name = std::pair<std::string, std::string>;  ///< namespace and name of a listener's secret
  struct Listener {
    compiler::OrderedBundle bundle;
    std::map<std::string, std::int64_t> names{};    ///< with the last use, as last read or written
    std::map<std::string, std::int64_t> changes{};  ///< to be written
    net::Time next_look{};                          ///< for names that are not used any more
    std::string fault{};                            ///< that was told
    NameFaults faults{};
    net::Time next_fault{};   ///< then another fault may be written by itself
    std::string announced{};  ///< by the last event; empty: that it works, or none
    net::Time next_event{};
    net::Duration pause{};  ///< after a fault
    net::Time try_again{};
  };
  struct Worker {
    explicit Worker(net::Loop& loop) : waiter(loop), pause(loop) {}
    net::Waiter waiter;  ///< of calls
    net::Waiter pause;   ///< between them
  };

  net::Detached ask_all(Worker& worker);
  net::Detached write_all();
  net::Task<bool> keep(Name name);
  net::Task<std::string> write(Name name);
  void tell(const Name& name, Listener& listener, const std::string& fault);
  void meet(Listener& listener, NameFaults::Kind kind);
  net::Task<bool> announce(Name name, std::string fault);
  void take_written(Listener& listener, std::map<std::string, std::int64_t> names,
                    const std::map<std::string, std::int64_t>& before,
                    const std::map<std::string, std::int64_t>& written);
  net::Task<bool> decide(Worker& worker, WantedName wanted);
  net::Task<NameDecision> ask(Worker& worker, std::string url, std::string host);
  void add(Listener& listener, const std::string& host);
  void decided(NameDecision decision, const std::string& host);
  void wake(Worker& worker);
  void count();
  void ended();
  std::int64_t now() const;

  kube::Client& client_;
  net::client::HttpClient& http_;
  OnDemandOptions options_;
  kube::Resource secrets_;
  std::map<Name, Listener> listeners_;
  std::set<std::pair<std::string, std::string>> kept_;  ///< namespaces and names of the listeners' Secrets of names
  Questions questions_;
  struct Remembered {
    net::Time until{};
  };
  std::map<std::pair<std::string, std::string>, Remembered> refused_;  ///< by ask-URL and host
  std::shared_ptr<const net::tls::Authorities> system_;                ///< for https; null: not read yet
  kube::Recorder recorder_;  ///< apart from that of orders: strangers use up nothing of it
  std::vector<std::unique_ptr<Worker>> askers_;
  Worker writer_;
  std::size_t running_ = 0;
  LogLimit lines_{10, std::chrono::seconds(60)};
  bool leads_ = false;
  bool stopping_ = false;
  std::function<void()> done_;
  mutable std::mutex mutex_;
  NameCounts counts_;  ///< guarded by mutex_
};

}  // namespace edge::controller::acme
