// Calls of the compiler's process (edgectl/web/compiler/compile_calls.h), one after the other. Each brings the process
// up to date with the live copy of the objects, and with Secrets and ConfigMaps, which are read for it and not kept
// here.
//
// For the loop's thread; a thread of its own waits for the process.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "controller/kube/client.h"
#include "edgectl/web/api/call_waiters.h"
#include "edgectl/web/api/object_store.h"
#include "edgectl/web/compiler/compiler_process.h"
#include "edgectl/web/server/jobs.h"

namespace edge::edgectl::web {

class CompilerCalls {
 public:
  /// Calls that may wait; further ones are refused.
  static constexpr std::size_t kMost = 16;

  CompilerCalls(kube::Client& client, ObjectStore& store, CallWaiters& waiters, std::string controller_class);

  struct Outcome {
    Result<std::string> json = Error{ErrorCode::kCancelled, "the server is stopping"};
    std::vector<std::string> notes{};  ///< of what cannot be read, and takes no part therefore
  };
  /// `call`: its name. `parameters` must hold nothing that was not checked. kUnavailable: the configuration is not
  /// known, or the process ended; kResourceExhausted: too many wait; else what the call said.
  net::Task<Outcome> ask(std::string call, nlohmann::json parameters);
  /// To be called now and then: ends a process that nobody has needed for a while.
  void rest();
  void stop();

 private:
  class Turn;
  net::Task<bool> wait_for_turn(Turn& turn);
  net::Task<bool> read_unkept(nlohmann::json& changes, std::string& texts);
  net::Task<Outcome> ask_in_turn(std::string call, nlohmann::json parameters);
  net::Detached end_if_idle();

  kube::Client& client_;
  ObjectStore& store_;
  CallWaiters& waiters_;
  const std::string controller_class_;
  CompilerProcess process_;
  std::deque<Turn*> turns_;  ///< the first is in progress
  unsigned known_ = 0;       ///< the process that has the objects; 0: none
  net::Time unkept_until_{};
  std::vector<std::string> notes_;
  bool used_ = false;  ///< the process may run
  Jobs jobs_;          ///< ends before what its jobs use
};

}  // namespace edge::edgectl::web
