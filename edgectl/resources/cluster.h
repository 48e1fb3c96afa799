// The cluster that commands access: a Kubernetes API or the embedded one, the selected namespace, and kinds by their
// names.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/flags.h"
#include "controller/kube/blocking_client.h"
#include "edgectl/resources/target.h"
#include "schemas/schema.h"

namespace edge::edgectl {

/// The field manager of edgectl's writes.
inline constexpr std::string_view kFieldManager = "edgectl";

/// A kind found by a word.
struct Type {
  kube::Resource resource;
  const schemas::Kind* own = nullptr;  ///< for this project's kinds: its table

  /// Returns `proxyroute`, the prefix of a name: `proxyroute/shop`.
  std::string singular() const;
  /// Returns `proxyroute.edgeproxy.io/shop`, as printed by `-o name`.
  std::string qualified(const std::string& name) const;
};

/// Returns a kind of the tables as a resource, without contacting the server. Precondition: kind.own.
kube::Resource resource_of(const schemas::Kind& kind);

class Cluster {
 public:
  /// Opens as target_flags() say. Reads files; does not connect yet. `most` further limits the time of each call.
  static Result<std::unique_ptr<Cluster>> open(const cli::Arguments& arguments,
                                               std::optional<std::chrono::milliseconds> most = std::nullopt);

  kube::BlockingClient& api() { return *api_; }
  /// Returns the namespace of the command.
  const std::string& name_space() const { return name_space_; }
  const Target& target() const { return target_; }

  struct Found {
    kube::Failure failure{};
    std::optional<Type> type{};  ///< none and no failure: the name is not served
  };
  /// Finds a kind: own kinds by any of their names without a request; other words on the server.
  Found find(const std::string& word);
  Found find_kind(const std::string& api_version, const std::string& kind);

 private:
  Cluster(Target target, std::unique_ptr<kube::BlockingClient> api, std::string name_space);

  Target target_;
  std::unique_ptr<kube::BlockingClient> api_;
  std::string name_space_;
};

/// Returns `--request-timeout`. Validated when the cluster was opened.
std::chrono::milliseconds request_timeout(const cli::Arguments& arguments);

/// Opens the cluster for a command; on failure reports it on stderr and sets `exit`.
std::unique_ptr<Cluster> open_cluster(std::string_view command, const cli::Arguments& arguments, int& exit);

/// Returns 3 where the server was unreachable or rejected the credentials, 1 where it rejected the request
/// (decisions.md, "The command line").
int exit_code_of(const kube::Failure& failure);
/// Reports the failure on stderr and returns the exit code. `about` precedes it: `proxyroute/shop`.
int tell(std::string_view command, const kube::Failure& failure, std::string_view about = {});
void tell_warnings(const std::vector<std::string>& warnings);
/// Reports an unknown word for a kind, with the most similar one.
int tell_unknown_type(std::string_view command, const std::string& word);

}  // namespace edge::edgectl
