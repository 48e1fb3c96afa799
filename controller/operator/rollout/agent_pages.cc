#include "controller/operator/rollout/agent_pages.h"

#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include "base/os/file.h"
#include "controller/distribute/inspect_client.h"
#include "controller/operator/private_folder.h"

namespace edge::cluster_operator {
namespace {

using controller::AgentAnswer;
using controller::InspectClient;

constexpr std::chrono::milliseconds kTimeout = std::chrono::seconds(3);
/// For all requests of one call of AgentPages::ask; a request that has begun may end later.
constexpr std::chrono::seconds kLongest{10};

/// Connections to the controllers of the installation that was asked for last.
class Clients {
 public:
  Result<AgentAnswer> ask(const Controllers& controllers, const PageRequest& request) {
    if (controllers.addresses.empty()) return Error{ErrorCode::kUnavailable, "no controller is ready"};
    if (controllers != known_) {
      known_ = controllers;
      clients_.clear();
    }
    std::optional<Error> failure;
    for (const std::string& address : controllers.addresses) {
      auto client = open(address);
      if (!client) return client.error();
      auto answer = (*client)->ask(request.agent, request.question);
      if (answer) return answer;
      // Of a controller that an agent is not connected to.
      const ErrorCode code = answer.error().code;
      if (!failure || code != ErrorCode::kNotFound) failure = answer.error();
      // Connected anew the next time, without the pauses of a connection that could not be made.
      if (code == ErrorCode::kUnavailable) clients_.erase(address);
    }
    return *failure;
  }

 private:
  Result<InspectClient*> open(const std::string& address) {
    const auto known = clients_.find(address);
    if (known != clients_.end()) return known->second.get();
    const PrivateFolder folder;
    if (folder.path().empty()) return Error{ErrorCode::kUnavailable, std::string(PrivateFolder::kFailure)};
    const std::string file = folder.path() + "/admin.pem";
    const Status written = write_file(file, std::string_view(known_.administrator), FileAccess::kOwnerOnly);
    if (!written) return written.error();
    auto opened = InspectClient::open({.controller = address, .credentials_file = file, .timeout = kTimeout});
    if (!opened) return opened.error();
    return clients_.emplace(address, std::move(*opened)).first->second.get();
  }

  Controllers known_;
  std::map<std::string, std::unique_ptr<InspectClient>> clients_;
};

}  // namespace

AskAgent ask_by_controllers() {
  return [clients = std::make_shared<Clients>()](const Controllers& controllers, const PageRequest& request) {
    return clients->ask(controllers, request);
  };
}

AgentPages::AgentPages(net::Loop& loop, AskAgent ask) : loop_(loop), ask_(std::move(ask)), thread_([this] { run(); }) {}

AgentPages::~AgentPages() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

net::Task<PageAnswers> AgentPages::ask(net::Waiter& waiter, Controllers controllers,
                                       std::vector<PageRequest> requests) {
  const auto work = std::make_shared<Work>();
  work->controllers = std::move(controllers);
  work->requests = std::move(requests);
  work->waiter = &waiter;
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(work);
  }
  changed_.notify_all();
  while (!work->done) {
    const net::Wake why = co_await waiter.wait(net::kNever);
    if (why == net::Wake::kCancelled) break;
  }
  work->waiter = nullptr;
  // The thread may still write to it.
  if (!work->done) co_return PageAnswers();
  co_return std::move(work->answers);
}

void AgentPages::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (stopping_) return;
    const std::shared_ptr<Work> work = std::move(queue_.front());
    queue_.pop_front();
    const auto end = std::chrono::steady_clock::now() + kLongest;
    for (const PageRequest& request : work->requests) {
      if (stopping_) return;
      if (std::chrono::steady_clock::now() > end) {
        work->answers.push_back(Error{ErrorCode::kDeadlineExceeded, "others took too long"});
        continue;
      }
      lock.unlock();
      auto answer = ask_(work->controllers, request);
      lock.lock();
      work->answers.push_back(std::move(answer));
    }
    loop_.post([work] {
      work->done = true;
      if (work->waiter != nullptr) work->waiter->wake(net::Wake::kReady);
    });
  }
}

}  // namespace edge::cluster_operator
