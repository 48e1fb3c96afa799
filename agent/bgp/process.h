// BIRD as a process that ends when its agent does, and that outlives it only where another process of the agent goes on
// with it.
//
// A shell starts BIRD and reads a FIFO of its run directory, which every process of the agent that is at work writes a
// byte to twice a second. BIRD is asked to end, which withdraws what it announces, when nobody writes for three
// seconds: the agent was killed, or stands still.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "net/socket.h"

namespace edge::agent::bgp {

/// Of one thread, in which SIGPIPE is blocked.
class Process {
 public:
  /// In a run directory, given as a descriptor and as a path, with `bird.conf` in it. kNotFound: there is no BIRD.
  /// `recovers`: peers kept its routes while it was away.
  static Result<Process> start(int directory, std::string path, const std::string& program, bool recovers);
  /// The one that another process of the agent runs there. kNotFound: there is none.
  static Result<Process> adopt(int directory);

  /// Whether another process of the agent, or one before, runs one there.
  static bool is_there(int directory);

  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) = delete;
  /// What is not let go of ends as by `end`.
  ~Process();

  /// To be called twice a second. False: BIRD has ended.
  bool beat();
  /// Has it withdraw what it announces, and end; waits for it, two seconds at most.
  void end();
  /// It goes on, as long as another process writes.
  void let_go();

 private:
  Process(net::Fd alive, pid_t shell) : alive_(std::move(alive)), shell_(shell) {}

  net::Fd alive_;
  pid_t shell_ = 0;  ///< 0: not a child of this process, or gone
};

/// Where BIRD is: `program`, or what is found of that name. Empty: nowhere.
std::string find_program(const std::string& program);

}  // namespace edge::agent::bgp
