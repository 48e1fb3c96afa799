// A backend on a port of its own on the loopback: scripted, serving by itself, dead, or never accepting.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/actor.h"

namespace edge::test {

class Upstream : public Actor {
 public:
  enum class Kind {
    kScript,  ///< runs a script
    kServe,   ///< answers every request with its name, on any number of connections
    kFull,    ///< its backlog is full: connecting to it takes forever
    kDead,    ///< refuses connections
  };

  /// Speaks TLS where `tls` is given.
  Upstream(Stage& stage, std::string name, Kind kind, std::shared_ptr<const TlsSide> tls = nullptr);
  ~Upstream() override;

  const std::string& name() const { return name_; }
  std::uint16_t port() const { return port_; }

  /// Runs on a thread of its own; a failure goes to the stage.
  void start(std::vector<Command> commands);
  void join();
  /// What one that serves answers from now on; 0: it closes the connection instead.
  void answer_with(int status) { status_ = status; }
  /// Nobody connected or sent anything but what the script took.
  Status expect_untouched_rest();

 private:
  Status run_own(const Command& command) override;
  Status listen();
  Status accept(const std::string& name);
  void fill_backlog();
  void serve();

  std::string name_;
  Kind kind_;
  std::shared_ptr<const TlsSide> tls_;
  std::atomic<int> status_{200};
  int listener_ = -1;
  std::uint16_t port_ = 0;
  int accepted_ = 0;
  std::vector<int> fillers_;
  std::thread thread_;
  std::vector<std::thread> served_;
};

}  // namespace edge::test
