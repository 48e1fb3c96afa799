// BIRD as a child process that ends with its agent, unless another process of the agent takes it over.
//
// A shell starts BIRD and reads a FIFO in its run directory, to which every active process of the agent writes a byte
// twice a second. Without a byte for three seconds, because the agent was killed or hangs, the shell stops BIRD, which
// withdraws its routes.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "net/socket.h"

namespace edge::agent::bgp {

/// For one thread, in which SIGPIPE is blocked.
class Process {
 public:
  /// Starts BIRD in a run directory, given as a descriptor and as a path, with `bird.conf` in it. kNotFound: BIRD is
  /// not installed. `recovers`: peers kept its routes while it was stopped (graceful restart).
  static Result<Process> start(int directory, std::string path, const std::string& program, bool recovers);
  /// Takes over the BIRD that another process of the agent runs there. kNotFound: there is none.
  static Result<Process> adopt(int directory);

  /// Returns whether another or an earlier process of the agent runs one there.
  static bool is_there(int directory);

  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) = delete;
  /// Stops BIRD as `end` does, unless it was let go.
  ~Process();

  /// To be called twice a second. False: BIRD has ended.
  bool beat();
  /// Stops BIRD, which withdraws its routes; waits for two seconds at most.
  void end();
  /// Leaves BIRD running, as long as another process writes to the FIFO.
  void let_go();

 private:
  Process(net::Fd alive, pid_t shell) : alive_(std::move(alive)), shell_(shell) {}

  net::Fd alive_;
  pid_t shell_ = 0;  ///< 0: not a child of this process, or ended
};

/// Returns BIRD's path: `program`, or the program of that name in PATH. Empty: not found.
std::string find_program(const std::string& program);

}  // namespace edge::agent::bgp
