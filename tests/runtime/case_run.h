// Runs one case file: compiles its configuration, starts its upstreams and the server, plays its clients.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "net/clock.h"
#include "tests/support/actor.h"
#include "tests/support/case_file.h"
#include "tests/support/http2_bridge.h"
#include "tests/support/proxy.h"
#include "tests/support/upstream.h"

namespace edge::test {

class CaseRun;

/// A server's time where a case has the option `clock manual`: it passes when the client says so.
class CaseClock final : public net::Clock {
 public:
  net::Time now() const override { return net::Time(net::Duration(passed_.load())) + std::chrono::hours(1); }
  void advance(net::Duration by) { passed_ += by.count(); }

 private:
  std::atomic<net::Duration::rep> passed_{0};
};

/// What the clients of a run speak with the proxy; their scripts are of HTTP/1.1 either way.
enum class Spoken { kHttp1, kHttp2 };
/// Whether a case has the section `== over http2`.
bool goes_over_http2(const CaseFile& file);
/// The words that its clients find in X-Edge-Reason, once each time.
std::vector<std::string> reasons_of(const CaseFile& file);

/// The client's own commands: connections to the proxy, and what an operator does to it meanwhile.
class Client : public Actor {
 public:
  Client(Stage& stage, CaseRun& run) : Actor(stage), run_(run) {}

 private:
  Status run_own(const Command& command) override;
  Status connect(const std::string& argument, bool tls);
  Status tally(const std::string& argument);
  Status pipeline(const std::string& argument);
  Status count_answer(Connection& connection);
  Status share(const std::string& argument);
  Status stat(const std::string& argument);
  Status answers(const std::string& argument);
  Status endpoint(const std::string& argument);
  Status circuit(const std::string& argument);
  Status pass(const std::string& argument);
  Status logged(const std::string& argument);
  Status await(const std::string& wanted, const std::function<std::string()>& ask);

  CaseRun& run_;
  int connected_ = 0;
  std::map<std::string, int> bodies_;
};

class CaseRun {
 public:
  explicit CaseRun(const CaseFile& file, Spoken spoken = Spoken::kHttp1, Over over = Over::kPlain)
      : file_(file), spoken_(spoken), over_(over), stage_(std::chrono::seconds(120)) {}
  ~CaseRun();

  /// Empty: the case holds.
  std::string run();

  Status install(const std::string& config_name);
  /// The secret is gone, until the next `install`.
  Status forget(const std::string& secret);
  /// `list NAME [TEXT]`, `countries [NETWORK=CODE ...]`, `systems [NETWORK=NUMBER ...]`: what the agent has for
  /// IPAccess policies; `networks CONFIGMAP TEXT`: the next version of a ConfigMap. Nothing is compiled.
  Status set_access(const Command& command);
  Result<std::uint16_t> port(const std::string& listener) const;
  /// A client's connection to that port, for text of HTTP/1.1; over TLS to `host`, where it is given.
  Status dial(std::uint16_t port, const std::string& host, const std::function<Status(int, const TlsSide*)>& adopt);
  runtime::Server& server() { return *server_; }
  CaseClock& clock() { return clock_; }
  Over over() const { return over_; }
  Upstream* upstream(const std::string& name) const;
  /// Drains on a thread of its own; `drained` is signalled after. `cut_after`: what is under way then is cut off.
  void drain(std::optional<net::Duration> cut_after);
  /// Takes the oldest line of the access log that has all of `fields` (`name=value`, `name=-` for one that is absent)
  /// and was not taken before. False: there is none yet.
  bool take_line(const std::vector<std::string>& fields);
  /// Lines that were not taken.
  std::string lines();

 private:
  void start_upstreams();
  Status start_server();
  void play();
  void play_client(const Section& section);
  void play_refusal(const Section& section);
  void expect_reasons();
  void read_log();
  const Section* find(const std::string& kind, const std::string& argument) const;

  const CaseFile& file_;
  const Spoken spoken_;
  const Over over_;
  Stage stage_;
  CaseClock clock_;
  std::vector<std::unique_ptr<Upstream>> upstreams_;
  std::map<std::string, std::uint16_t> ports_;
  program::SecretSet secrets_;
  runtime::AccessFiles access_files_;
  std::shared_ptr<runtime::AccessLog> log_;
  std::vector<std::string> lines_;
  std::map<std::string, int> logged_reasons_;
  std::uint64_t next_line_ = 0;
  std::unique_ptr<runtime::Server> server_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<std::unique_ptr<Http2Bridge>> bridges_;
  std::thread drainer_;
};

}  // namespace edge::test
