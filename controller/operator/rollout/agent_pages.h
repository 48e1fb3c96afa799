// Requests pages of agents' admin ports through their controller, on a thread of its own, since these calls block.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "controller/distribute/agent_answer.h"
#include "net/loop.h"
#include "net/task.h"

namespace edge::cluster_operator {

/// The controllers of an installation. Each agent is connected to one of them.
struct Controllers {
  std::vector<std::string> addresses;  ///< `HOST:PORT`
  std::string administrator;           ///< the administrator's file, as text
  friend bool operator==(const Controllers&, const Controllers&) = default;
};

struct PageRequest {
  std::string agent;
  controller::AgentQuestion question;
};

/// Blocks, for some seconds at most. kUnavailable: the agent is connected to none of the controllers, or none of them
/// can be reached.
using AskAgent = std::function<Result<controller::AgentAnswer>(const Controllers&, const PageRequest&)>;
/// Over gRPC. For one thread.
AskAgent ask_by_controllers();

using PageAnswers = std::vector<Result<controller::AgentAnswer>>;

/// Every function on the loop.
class AgentPages {
 public:
  AgentPages(net::Loop& loop, AskAgent ask);
  /// Waits for the call that is under way.
  ~AgentPages();
  AgentPages(const AgentPages&) = delete;
  AgentPages& operator=(const AgentPages&) = delete;

  /// One answer per request, in their order; fewer when the waiter is cancelled.
  net::Task<PageAnswers> ask(net::Waiter& waiter, Controllers controllers, std::vector<PageRequest> requests);

 private:
  struct Work {
    Controllers controllers;
    std::vector<PageRequest> requests;
    PageAnswers answers;            // written by the thread until `done` is posted
    net::Waiter* waiter = nullptr;  // of the loop; null: nobody waits any more
    bool done = false;
  };
  void run();

  net::Loop& loop_;
  AskAgent ask_;
  std::mutex mutex_;  ///< guards what follows
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Work>> queue_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace edge::cluster_operator
