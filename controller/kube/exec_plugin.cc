#include "controller/kube/exec_plugin.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/text/base64.h"
#include "base/text/json.h"
#include "base/units.h"
#include "net/child_process.h"

namespace edge::kube {
namespace {

std::vector<std::string> environment_of(const ExecPlugin& plugin, std::string info) {
  std::vector<std::string> all = net::current_environment();
  // The first of a name is the one that programs find.
  std::erase_if(all, [&](std::string_view text) {
    const std::string_view name = text.substr(0, text.find('='));
    bool replaced = name == "KUBERNETES_EXEC_INFO";
    for (const auto& [key, value] : plugin.environment) replaced |= key == name;
    return replaced;
  });
  for (const auto& [key, value] : plugin.environment) all.push_back(key + "=" + value);
  all.push_back("KUBERNETES_EXEC_INFO=" + std::move(info));
  return all;
}

std::string why_not_started(const ExecPlugin& plugin, int error) {
  std::string text = "the command " + plugin.command + " cannot be run: " + std::strerror(error);
  if (error == ENOENT && !plugin.install_hint.empty()) text += "; " + plugin.install_hint.substr(0, 1024);
  return text;
}

ExecOutcome failed(std::string error) { return {.error = std::move(error)}; }

ExecOutcome outcome_of(const ExecPlugin& plugin, const net::ProgramOutcome& outcome) {
  const std::string command = "the command " + plugin.command;
  switch (outcome.end) {
    case net::ProgramEnd::kCancelled:
      return {.error = "cancelled", .cancelled = true};
    case net::ProgramEnd::kTimeout:
      return failed(command + " gave no credentials in time, and was killed");
    case net::ProgramEnd::kTooMuchOutput:
      return failed(command + " writes more than any credential is");
    case net::ProgramEnd::kNotStarted:
      return failed(why_not_started(plugin, outcome.number));
    case net::ProgramEnd::kSignal:
      return failed(command + " was ended by signal " + std::to_string(outcome.number));
    case net::ProgramEnd::kExited:
      break;
  }
  if (outcome.number != 0) return failed(command + " ended with status " + std::to_string(outcome.number));
  Result<ExecCredential> credential = read_exec_credential(outcome.output, plugin.api_version);
  if (!credential.ok()) return failed(command + ": " + credential.error().text);
  return {.credential = std::move(*credential)};
}

}  // namespace

std::string exec_info(const ExecPlugin& plugin, const Cluster& cluster, bool terminal) {
  nlohmann::json spec = {{"interactive", terminal}};
  if (plugin.provide_cluster_info) {
    std::string server = cluster.server.origin() + cluster.server.target;
    nlohmann::json reported = {{"server", std::move(server)}};
    if (!cluster.server_name.empty()) reported["tls-server-name"] = cluster.server_name;
    if (cluster.unverified) reported["insecure-skip-tls-verify"] = true;
    if (!cluster.authorities.empty()) reported["certificate-authority-data"] = to_base64(cluster.authorities);
    spec["cluster"] = std::move(reported);
  }
  const nlohmann::json info = {
      {"apiVersion", plugin.api_version}, {"kind", "ExecCredential"}, {"spec", std::move(spec)}};
  return json_line(info);
}

Result<ExecCredential> read_exec_credential(std::string_view text, std::string_view api_version) {
  const nlohmann::json answer = parse_json(text);
  if (text_in(answer, "kind") != "ExecCredential" || text_in(answer, "apiVersion") != api_version) {
    return Error{ErrorCode::kInvalidArgument, "its output is no ExecCredential of " + std::string(api_version)};
  }
  const nlohmann::json& status = member_in(answer, "status");
  ExecCredential credential{.token = text_in(status, "token"),
                            .certificate = text_in(status, "clientCertificateData"),
                            .key = text_in(status, "clientKeyData"),
                            .expires = {}};
  if (credential.token.empty() && credential.certificate.empty()) {
    return Error{ErrorCode::kInvalidArgument, "its output has neither token nor certificate"};
  }
  if (credential.certificate.empty() != credential.key.empty()) {
    return Error{ErrorCode::kInvalidArgument, "its output has a certificate without its key, or the key alone"};
  }
  for (const char c : credential.token) {
    if (c <= ' ' || c >= 0x7f) return Error{ErrorCode::kInvalidArgument, "its token has a character that no token has"};
  }
  const std::string expires = text_in(status, "expirationTimestamp");
  if (expires.empty()) return credential;
  const std::optional<std::int64_t> seconds = parse_timestamp(expires);
  if (!seconds) return Error{ErrorCode::kInvalidArgument, "its expirationTimestamp is no time"};
  // The clock counts nanoseconds in 64 bits: what lies beyond them is long over, or never comes.
  using Clock = std::chrono::system_clock;
  constexpr std::int64_t kLast =
      std::chrono::floor<std::chrono::seconds>(Clock::time_point::max()).time_since_epoch().count();
  credential.expires = Clock::time_point(std::chrono::seconds(std::clamp<std::int64_t>(*seconds, 0, kLast)));
  return credential;
}

net::Task<ExecOutcome> run_plugin(net::Loop& loop, net::Waiter& waiter, ExecPlugin plugin, std::string info,
                                  bool terminal, net::Time until) {
  if (plugin.needs_terminal && !terminal) {
    co_return failed("the command " + plugin.command + " wants to ask somebody, and nobody is there");
  }
  net::ProgramCall call{.words = {plugin.command}, .environment = environment_of(plugin, std::move(info))};
  call.words.insert(call.words.end(), plugin.arguments.begin(), plugin.arguments.end());
  call.input = terminal ? net::ProgramInput::kTerminal : net::ProgramInput::kNone;
  call.until = until;
  call.max_output = kMaxExecOutput;
  const net::ProgramOutcome outcome = co_await net::run_program(loop, waiter, std::move(call));
  co_return outcome_of(plugin, outcome);
}

}  // namespace edge::kube
