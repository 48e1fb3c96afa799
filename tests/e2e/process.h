// A program of ours as a process of its own, as an operator runs it: started, listened to, stopped or killed.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace edge::test {

class Process {
 public:
  /// `words`: the program and its arguments. What it writes, on stdout and stderr, goes to the file `log`.
  Process(std::vector<std::string> words, std::string log);
  /// Kills it.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// What stands behind `mark` in its log, to the end of that line; waits for it. Empty: it did not come in a minute,
  /// or the process ended.
  std::string after(const std::string& mark);
  std::string log() const;
  /// As the system does when the power goes.
  void kill();
  /// SIGTERM, and its exit status; -1: a signal ended it.
  int stop();
  bool running();

 private:
  pid_t pid_ = -1;
  std::string log_;
};

/// One request on a connection of its own: status and body; 0 when nobody answers.
struct Answered {
  int status = 0;
  std::string body{};
};
Answered fetch(int port, const std::string& host, const std::string& path);

}  // namespace edge::test
