// The dashboard of `--web-listen`: this executable once more, as a child with the kubeconfig of the data directory.
// What it takes of memory and threads, and its faults, are not the proxy's.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "cli/flags.h"

namespace edge::standalone {

/// `--web-listen`, and each further flag of the dashboard's server with the prefix `web-`.
std::vector<cli::Flag> web_flags();
/// Returns the child's command line; empty without `--web-listen`.
std::vector<std::string> web_command_line(const cli::Arguments& arguments);

/// Starts the child, and again where it ends.
class WebProcess {
 public:
  WebProcess(std::vector<std::string> command_line, Logger log);
  /// Ends the child, and waits for it.
  ~WebProcess();
  WebProcess(const WebProcess&) = delete;
  WebProcess& operator=(const WebProcess&) = delete;

 private:
  void keep();

  const std::vector<std::string> command_line_;
  const Logger log_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  pid_t pid_ = -1;  ///< -1: none runs
  std::thread thread_;
};

}  // namespace edge::standalone
