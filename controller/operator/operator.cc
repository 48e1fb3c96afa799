#include "controller/operator/operator.h"

#include <algorithm>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/kube/client.h"
#include "controller/kube/discovery.h"
#include "controller/kube/elector.h"
#include "controller/kube/farewell.h"
#include "controller/operator/definitions.h"
#include "controller/operator/followed.h"
#include "controller/operator/reconcile.h"

namespace edge::cluster_operator {
namespace {

using namespace std::chrono_literals;

/// How soon kinds that were not served are looked for again: the CRDs are installed in a moment.
constexpr net::Duration kLookAgain = 2s;
/// How soon definitions that the API refused are tried again: whoever gives the right does not tell of it.
constexpr net::Duration kDefinitionsAgain = 10min;
/// Of calls that fail and may pass, before installations are looked at all the same.
constexpr unsigned kDefinitionsTries = 8;
/// For the Lease to be given back.
constexpr net::Duration kFarewell = 2s;

}  // namespace

class Operator::Impl {
 public:
  explicit Impl(OperatorOptions options)
      : options_(std::move(options)),
        wall_(options_.wall ? options_.wall : [] { return std::chrono::system_clock::now(); }) {}

  Status start() {
    net::ignore_sigpipe();
    auto client = kube::Client::make(loop_, options_.config, {.user_agent = "edge-operator/" EDGE_VERSION});
    if (!client) return client.error();
    client_ = std::move(*client);
    discovery_ = std::make_unique<kube::Discovery>(*client_);
    definitions_ = std::make_unique<Definitions>(*client_, options_.log);
    followed_ = std::make_unique<Followed>(
        *client_, options_.name_space, options_.log,
        FollowedEvents{.changed = [this](const std::string& key) { mark(key); }, .synced = [this] { wake(); }});
    reconciler_ = std::make_unique<Reconciler>(*client_, *followed_, options_.ask ? options_.ask : ask_by_controllers(),
                                               wall_, options_.log);
    thread_ = std::thread([this] {
      begin();
      loop_.run();
    });
    return {};
  }

  void stop() {
    loop_.post([this] { end(); });
    thread_.join();
  }

  OperatorCounts counts() const {
    const std::lock_guard lock(mutex_);
    return counts_;
  }

  bool answers(std::chrono::nanoseconds patience) {
    const auto here = std::make_shared<std::promise<void>>();
    auto answered = here->get_future();
    loop_.post([here] { here->set_value(); });
    return answered.wait_for(patience) == std::future_status::ready;
  }

 private:
  struct Due {
    net::Time at{};
    unsigned failures = 0;
  };

  void begin() {
    if (options_.elect) {
      elect();
    } else {
      leads_ = true;
    }
    look();
    work();
  }

  void elect() {
    kube::ElectorOptions options;
    options.name_space = options_.lease_namespace;
    options.name = "edge-operator";
    options.identity = options_.identity;
    elector_ = std::make_unique<kube::Elector>(*client_, std::move(options),
                                               kube::ElectorEvents{.elected = [this] { lead(true); },
                                                                   .deposed = [this] { lead(false); },
                                                                   .leader =
                                                                       [this](const std::string& identity) {
                                                                         if (!identity.empty())
                                                                           options_.log.info(identity + " leads");
                                                                       }});
    elector_->start();
  }

  void lead(bool leads) {
    leads_ = leads;
    definitions_->begin();
    definitions_settled_ = false;
    definitions_due_ = net::Time::min();
    // What is under way must not go on beside what the next one does.
    if (!leads && reconciling_ != nullptr) reconciling_->cancel();
    wake();
  }

  /// Until every kind that is needed is served.
  net::Detached look() {
    looking_ = true;
    std::string missing_before;
    while (!stopping_) {
      const kube::DiscoveryReply reply = co_await discovery_->refresh(looker_);
      if (stopping_) break;
      if (reply.ok()) note_definitions(reply.table);
      std::string missing = reply.ok() ? followed_->follow(reply.table) : reply.failure.text();
      if (missing.empty()) break;
      if (missing != missing_before) options_.log.warn("waits: the API lacks " + missing);
      missing_before = std::move(missing);
      const net::Time again = loop_.now() + kLookAgain;
      co_await looker_.wait(again);
    }
    looking_ = false;
    finish_when_idle();
  }

  /// Those of EdgeCluster may be among them, so this waits for no other kind. An API without them has kinds of its own.
  void note_definitions(const kube::ResourceTable& table) {
    const kube::Resource* const kind = table.find_kind("apiextensions.k8s.io/v1", "CustomResourceDefinition");
    definitions_known_ = true;
    if (options_.upgrade_definitions && kind != nullptr) definitions_kind_ = *kind;
    wake();
  }

  net::Task<void> upgrade_definitions() {
    net::Waiter waiter(loop_);
    reconciling_ = &waiter;
    DefinitionsResult result = co_await definitions_->upgrade(waiter, *definitions_kind_);
    reconciling_ = nullptr;
    if (result.message != definitions_told_ && !result.message.empty()) options_.log.warn(result.message);
    definitions_told_ = result.message;
    if (result.again && definitions_failures_ < kDefinitionsTries) {
      const net::Duration delay = options_.first_delay * (std::int64_t{1} << std::min(definitions_failures_++, 10U));
      definitions_due_ = loop_.now() + std::min(delay, options_.longest_delay);
      co_return;
    }
    definitions_failures_ = 0;
    definitions_settled_ = true;
    definitions_due_ = result.reason.empty() ? net::kNever : loop_.now() + kDefinitionsAgain;
    if (!reconciler_->set_definitions(std::move(result))) co_return;
    for (const ObjectPtr& object : followed_->all(kClusterKind)) {
      const nlohmann::json& metadata = member_in(*object, "metadata");
      mark(text_in(metadata, "namespace") + "/" + text_in(metadata, "name"));
    }
  }

  void mark(const std::string& cluster) {
    Due& due = due_.try_emplace(cluster, Due{.at = net::kNever}).first->second;
    // After a failure its delay holds, whatever changes meanwhile.
    if (due.failures == 0) due.at = net::Time::min();
    // Of what is being looked at now, what it has read may be old.
    if (cluster == current_) changed_ = true;
    wake();
  }

  void wake() {
    if (worker_.waiting()) worker_.wake_later();
  }

  /// One at a time: installations are few, and each waits for pods, not for the operator.
  net::Detached work() {
    working_ = true;
    while (!stopping_) {
      forget_gone();
      count();
      const net::Time definitions = leads_ && definitions_kind_ ? definitions_due_ : net::kNever;
      if (definitions <= loop_.now()) {
        co_await upgrade_definitions();
        continue;
      }
      const auto next = std::ranges::min_element(due_, {}, [](const auto& entry) { return entry.second.at; });
      const bool defined = definitions_known_ && (!definitions_kind_ || definitions_settled_);
      const bool able = leads_ && defined && followed_->synced() && next != due_.end();
      if (!able || next->second.at > loop_.now()) {
        const net::Time until = std::min(able ? next->second.at : net::kNever, definitions);
        co_await worker_.wait(until);
        continue;
      }
      current_ = next->first;
      changed_ = false;
      net::Waiter waiter(loop_);
      reconciling_ = &waiter;
      const Outcome outcome = co_await reconciler_->reconcile(waiter, current_);
      reconciling_ = nullptr;
      put_off(outcome);
    }
    working_ = false;
    finish_when_idle();
  }

  void put_off(const Outcome& outcome) {
    ++reconciliations_;
    Due& due = due_[std::exchange(current_, {})];
    if (!outcome.ok) {
      ++failures_;
      const net::Duration delay = options_.first_delay * (std::int64_t{1} << std::min(due.failures, 10U));
      ++due.failures;
      due.at = loop_.now() + std::min(delay, options_.longest_delay);
      return;
    }
    due.failures = 0;
    due.at = net::kNever;
    if (changed_) due.at = net::Time::min();
    if (outcome.again == WallTime::max() || changed_) return;
    const auto delay = std::clamp<std::chrono::nanoseconds>(outcome.again - wall_(), 0s, 1h);
    due.at = loop_.now() + delay;
  }

  /// Of a cluster that is gone nothing is left to be looked at.
  void forget_gone() {
    std::erase_if(due_, [this](const auto& entry) {
      return entry.second.at == net::kNever && followed_->find("EdgeCluster", entry.first) == nullptr;
    });
  }

  void count() {
    const std::lock_guard lock(mutex_);
    counts_.reconciliations = reconciliations_;
    counts_.failures = failures_;
    counts_.writes = reconciler_->writes() + definitions_->writes();
    counts_.clusters = followed_->all("EdgeCluster").size();
    counts_.waiting = static_cast<std::uint64_t>(
        std::ranges::count_if(due_, [this](const auto& entry) { return entry.second.at <= loop_.now(); }));
    counts_.synced = followed_->synced();
    counts_.connected = followed_->connected();
    counts_.leads = leads_;
  }

  void end() {
    stopping_ = true;
    // First: what is cancelled may end at once, and must find that there is a Lease to be given back.
    farewell_.begin(elector_.get(), [this] { finish_when_idle(); });
    followed_->stop();
    looker_.cancel();
    worker_.cancel();
    if (reconciling_ != nullptr) reconciling_->cancel();
    finish_when_idle();
  }

  void finish_when_idle() {
    if (!stopping_ || looking_ || farewell_.under_way() || working_) return;
    // Not within what has just come to its end.
    loop_.post([this] {
      elector_.reset();
      reconciler_.reset();
      followed_.reset();
      loop_.stop();
    });
  }

  OperatorOptions options_;
  std::function<WallTime()> wall_;
  net::Loop loop_;
  std::unique_ptr<kube::Client> client_;
  std::unique_ptr<kube::Discovery> discovery_;
  std::unique_ptr<Definitions> definitions_;
  bool definitions_known_ = false;                  ///< whether the API has any
  std::optional<kube::Resource> definitions_kind_;  ///< where it has, and they are to be upgraded
  net::Time definitions_due_ = net::Time::min();
  bool definitions_settled_ = false;  ///< since it leads: nothing waits for them any more
  unsigned definitions_failures_ = 0;
  std::string definitions_told_;
  std::unique_ptr<Followed> followed_;
  std::unique_ptr<Reconciler> reconciler_;
  std::unique_ptr<kube::Elector> elector_;
  std::map<std::string, Due> due_;  ///< by `namespace/name` of EdgeClusters
  std::string current_;             ///< that is being looked at
  bool changed_ = false;            ///< since it is
  net::Waiter looker_{loop_};
  net::Waiter worker_{loop_};
  net::Waiter* reconciling_ = nullptr;
  kube::Farewell farewell_{loop_, kFarewell};
  std::uint64_t reconciliations_ = 0;
  std::uint64_t failures_ = 0;
  bool leads_ = false;
  bool looking_ = false;
  bool working_ = false;
  bool stopping_ = false;
  mutable std::mutex mutex_;  ///< guards what follows
  OperatorCounts counts_;
  std::thread thread_;
};

Result<std::unique_ptr<Operator>> Operator::start(OperatorOptions options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  if (Status status = impl->start(); !status) return status.error();
  return std::unique_ptr<Operator>(new Operator(std::move(impl)));
}

Operator::Operator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Operator::~Operator() { impl_->stop(); }
OperatorCounts Operator::counts() const { return impl_->counts(); }
bool Operator::answers(std::chrono::nanoseconds patience) const { return impl_->answers(patience); }

}  // namespace edge::cluster_operator
