// A session with a controller in this process: no connection, no thread of its own, and no copy of a program's bytes.
#include <chrono>
#include <utility>

#include "agent/sync/questions.h"
#include "agent/sync/reporter.h"
#include "agent/sync/session.h"
#include "schemas/agent.pb.h"

namespace edge::agent {
namespace {

class LocalSession final : public SyncSession {
 public:
  explicit LocalSession(ReportSource reports) : reports_(std::move(reports)), reporter_(reports_) {}

  Status open(const ConnectLocally& connect, const AgentWords& words, SyncInbox& inbox) {
    v1::Hello hello;
    write_hello(words, reports_.unbound(), hello);
    FromLocalController from;
    from.program = [&inbox](ProgramBytes bytes, const program::Hash& program, std::uint64_t values) {
      inbox.put(ReceivedProgram{std::move(bytes), program, values});
    };
    from.values = [&inbox](const program::ValueSet& values, std::uint64_t version, const program::Hash& program) {
      ReceivedValues received;
      received.version = version;
      received.program = program;
      received.endpoints = program::endpoints_of(values);
      received.secrets = program::secrets_of(values);
      inbox.put(std::move(received));
    };
    from.addresses = [&inbox](std::string message) { inbox.put_addresses(std::move(message)); };
    from.links = [&inbox](std::string message) { inbox.put_links(std::move(message)); };
    from.ended = [&inbox](const Error& why) { inbox.end(why); };
    from.answer = [answer = reports_.answer](const std::string& method, const std::string& target) {
      return reply_to(method, target, answer);
    };
    auto connected = connect(hello.SerializeAsString(), std::move(from));
    if (!connected) return connected.error();
    controller_ = std::move(*connected);
    return {};
  }

  void applied(const program::Hash& program, ProgramBytes) override {
    v1::Applied applied;
    write_applied(program, reports_.unbound(), applied);
    controller_.applied(applied.SerializeAsString());
  }
  void refused(const program::Hash& program, const std::string& reason) override {
    controller_.refused(program, reason);
  }
  void values_applied(std::uint64_t version) override { controller_.values_applied(version); }

  void tick() override {
    const auto now = std::chrono::steady_clock::now();
    if (controller_.report_links && reports_.links_report) {
      if (const std::string links = reports_.links_report(); !links.empty()) controller_.report_links(links);
    }
    if (now < next_report_) return;
    v1::Report report;
    if (reporter_.fill(report)) controller_.report(report.SerializeAsString());
    next_report_ = now + reporter_.pause();
  }

  Result<Identity> renew(const std::string&) override {
    return Error{ErrorCode::kUnimplemented, "there are no certificates within a process"};
  }

 private:
  const ReportSource reports_;
  Reporter reporter_;
  ToLocalController controller_;
  std::chrono::steady_clock::time_point next_report_{};
};

}  // namespace

Result<std::unique_ptr<SyncSession>> open_local_session(const ConnectLocally& connect, AgentWords words,
                                                        ReportSource reports, SyncInbox& inbox) {
  auto session = std::make_unique<LocalSession>(std::move(reports));
  if (Status status = session->open(connect, words, inbox); !status) return status.error();
  return std::unique_ptr<SyncSession>(std::move(session));
}

}  // namespace edge::agent
