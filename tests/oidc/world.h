// Everything a login takes: a provider (a real one, or one that lies), agents, and a backend that says what it was
// told.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/session/server.h"
#include "tests/cli/process.h"
#include "tests/support/proxy.h"

namespace edge::test {

/// A script of this folder under Node, on a port of its own.
class Provider {
 public:
  explicit Provider(const std::vector<std::string>& script_and_arguments);
  std::uint16_t port() const { return port_; }
  /// On a host of its own, so that its cookies are not the site's.
  std::string issuer() const { return "http://localhost:" + std::to_string(port_); }

 private:
  test::Process process_;
  std::uint16_t port_ = 0;
};

/// Node is installed, and what the provider is made of (`npm ci --prefix tests/oidc`).
bool provider_installed();

/// Answers each request with its head.
class EchoBackend {
 public:
  EchoBackend();
  ~EchoBackend();
  EchoBackend(const EchoBackend&) = delete;
  EchoBackend& operator=(const EchoBackend&) = delete;
  std::uint16_t port() const { return port_; }

 private:
  void serve(int fd);
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> over_{false};
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

struct AgentSettings {
  std::string issuer;
  std::uint16_t backend = 0;
  Over over = Over::kPlain;
  /// Further lines of the policy's `oidc`, indented by four.
  std::string oidc{};
  std::string session_secret = "0123456789abcdef0123456789abcdef";
  std::string previous_secret{};
  /// Of the route's rule.
  std::string rule{};
  /// Empty: on the agent's own host and port.
  std::string redirect_url{};
  unsigned threads = 2;
};

/// Waits until somebody does.
bool listens_on(std::uint16_t port);

class Agent {
 public:
  explicit Agent(AgentSettings settings);
  /// With this configuration in place of a policy of its own (`expand_config`).
  Agent(const std::string& configuration, const std::map<std::string, std::uint16_t>& ports);
  /// Installs the same with other settings, on the same port.
  void configure(AgentSettings settings);
  std::uint16_t port() const { return port_; }
  /// `http://127.0.0.1:PORT`, or `https://example.com:PORT`.
  std::string origin() const;
  const std::string& fault() const { return fault_; }
  /// How often logins came to nothing for this.
  std::uint64_t count(runtime::auth::LoginFault fault) const {
    return server_->stats().login_faults[static_cast<std::size_t>(fault)];
  }
  /// What whoever runs the agent read, line by line.
  std::string log() const;

 private:
  struct Lines {
    std::mutex mutex;
    std::string text;
  };
  void start(unsigned threads);
  void install(const std::string& yaml);
  void install(const AgentSettings& settings, const std::string& redirect_url);
  Over over_;
  std::shared_ptr<Lines> lines_ = std::make_shared<Lines>();
  std::unique_ptr<runtime::Server> server_;
  std::uint16_t port_ = 0;
  std::string fault_;
};

}  // namespace edge::test
