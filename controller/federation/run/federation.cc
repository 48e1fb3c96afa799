#include "controller/federation/run/federation.h"

#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "controller/federation/run/engine.h"
#include "net/loop.h"
#include "net/socket.h"

namespace edge::federation {
namespace {

using namespace std::chrono_literals;

/// For an answer of the federation's thread.
constexpr auto kPatience = 5s;

}  // namespace

class Federation::Impl {
 public:
  explicit Impl(FederationOptions options) : options_(std::move(options)) {}

  /// Whoever asks later is told that it is over.
  void stop() {
    std::thread thread;
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      thread = std::move(thread_);
    }
    if (!thread.joinable()) return;
    loop_->post([this] {
      engine_->stop([this] {
        engine_.reset();
        loop_->stop();
      });
    });
    thread.join();
  }

  void set_peers(std::vector<PeerSpec> peers) {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    if (!thread_.joinable()) {
      // Where nothing is federated there is no thread.
      bool any = false;
      for (const PeerSpec& spec : peers) any = any || spec.enabled;
      if (!any) return;
      start();
    }
    loop_->post([this, peers = std::move(peers)]() mutable { engine_->set_peers(std::move(peers)); });
  }

  std::map<std::string, PeerStatus> statuses() const {
    const std::lock_guard lock(mutex_);
    return statuses_;
  }
  std::uint64_t changes() const {
    const std::lock_guard lock(mutex_);
    return changes_;
  }

  /// Asks the federation's thread.
  template <typename Answer>
  Answer ask(std::function<Answer(Engine&)> question) {
    const auto answer = std::make_shared<std::promise<Answer>>();
    auto future = answer->get_future();
    {
      const std::lock_guard lock(mutex_);
      if (stopped_) return Error{ErrorCode::kUnavailable, "the controller ends"};
      if (!thread_.joinable()) {
        return Error{ErrorCode::kFailedPrecondition,
                     "this cluster is not federated: no EdgeRemoteCluster has spec.federation.enabled"};
      }
      loop_->post([this, answer, question = std::move(question)] { answer->set_value(question(*engine_)); });
    }
    if (future.wait_for(kPatience) != std::future_status::ready) {
      return Error{ErrorCode::kUnavailable, "the federation of this cluster does not answer"};
    }
    return future.get();
  }

 private:
  /// Under the lock.
  void start() {
    net::ignore_sigpipe();
    loop_ = std::make_unique<net::Loop>();
    thread_ = std::thread([this] {
      engine_ = std::make_unique<Engine>(*loop_, options_, [this](Engine::Statuses statuses) {
        {
          const std::lock_guard lock(mutex_);
          statuses_ = std::move(statuses);
          ++changes_;
        }
        if (options_.changed) options_.changed();
      });
      loop_->run();
    });
  }

  const FederationOptions options_;
  std::unique_ptr<net::Loop> loop_;
  std::unique_ptr<Engine> engine_;  ///< of the thread
  mutable std::mutex mutex_;        ///< guards what follows
  std::map<std::string, PeerStatus> statuses_;
  std::uint64_t changes_ = 0;
  bool stopped_ = false;
  std::thread thread_;
};

Federation::Federation(FederationOptions options) : impl_(std::make_shared<Impl>(std::move(options))) {}
Federation::~Federation() { impl_->stop(); }
void Federation::stop() { impl_->stop(); }
void Federation::set_peers(std::vector<PeerSpec> peers) { impl_->set_peers(std::move(peers)); }
std::map<std::string, PeerStatus> Federation::statuses() const { return impl_->statuses(); }
std::uint64_t Federation::changes() const { return impl_->changes(); }

View Federation::view() {
  const std::shared_ptr<Impl> impl = impl_;
  View view;
  view.status = [impl] { return impl->ask<Result<StatusView>>([](Engine& engine) { return engine.view_status(); }); };
  view.peers = [impl] {
    return impl->ask<Result<std::vector<PeerView>>>([](Engine& engine) { return engine.view_peers(); });
  };
  view.conflicts = [impl](const ConflictsQuestion& question) {
    return impl->ask<Result<ConflictsView>>([question](Engine& engine) { return engine.view_conflicts(question); });
  };
  view.clock = [impl](const ObjectKey& key) {
    return impl->ask<Result<ClockView>>([key](Engine& engine) { return engine.view_clock(key); });
  };
  view.preview = [impl](const PreviewQuestion& question) {
    return impl->ask<Result<PreviewView>>([question](Engine& engine) { return engine.view_preview(question); });
  };
  view.sync = [impl](const std::string& peer) {
    return impl->ask<Result<std::vector<SyncStarted>>>([peer](Engine& engine) { return engine.sync(peer); });
  };
  view.resolve = [impl](const ObjectKey& key, const Dot& chosen, const std::string& by) {
    return impl->ask<Status>([key, chosen, by](Engine& engine) { return engine.resolve(key, chosen, by); });
  };
  return view;
}

}  // namespace edge::federation
