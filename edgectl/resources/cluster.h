// The cluster that commands ask: a Kubernetes API, the embedded one by the same code, the namespace that is meant, and
// the kinds by the words that people use for them.
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

/// Who writes, in managed fields.
inline constexpr std::string_view kFieldManager = "edgectl";

/// A kind as a word named it.
struct Type {
  kube::Resource resource;
  const schemas::Kind* own = nullptr;  ///< of this project's kinds: its table

  /// `proxyroute`, as it stands before a name: `proxyroute/shop`.
  std::string singular() const;
  /// `proxyroute.edgeproxy.io/shop`, as `-o name` prints it.
  std::string qualified(const std::string& name) const;
};

/// The kind of the tables as a resource, without asking anybody. Precondition: kind.own.
kube::Resource resource_of(const schemas::Kind& kind);

class Cluster {
 public:
  /// By the flags of target_flags(). Reads files; asks nobody yet. `most` bounds the time of each call further.
  static Result<std::unique_ptr<Cluster>> open(const cli::Arguments& arguments,
                                               std::optional<std::chrono::milliseconds> most = std::nullopt);

  kube::BlockingClient& api() { return *api_; }
  /// That the command means.
  const std::string& name_space() const { return name_space_; }
  const Target& target() const { return target_; }

  struct Found {
    kube::Failure failure{};
    std::optional<Type> type{};  ///< none and no failure: nothing is served under this name
  };
  /// Own kinds by any of their names need no question; every other word is asked of the server.
  Found find(const std::string& word);
  Found find_kind(const std::string& api_version, const std::string& kind);

 private:
  Cluster(Target target, std::unique_ptr<kube::BlockingClient> api, std::string name_space);

  Target target_;
  std::unique_ptr<kube::BlockingClient> api_;
  std::string name_space_;
};

/// `--request-timeout`. Checked when the cluster was opened.
std::chrono::milliseconds request_timeout(const cli::Arguments& arguments);

/// Opens the cluster for a command; where that cannot be, says why on stderr and gives the exit code in `exit`.
std::unique_ptr<Cluster> open_cluster(std::string_view command, const cli::Arguments& arguments, int& exit);

/// 3 where nobody answered or nobody was let in, 1 where what was asked for was refused (decisions.md, "The command
/// line").
int exit_code_of(const kube::Failure& failure);
/// Says it on stderr and gives the exit code. `about` goes before it: `proxyroute/shop`.
int tell(std::string_view command, const kube::Failure& failure, std::string_view about = {});
void tell_warnings(const std::vector<std::string>& warnings);
/// An unknown word for a kind, with the nearest one.
int tell_unknown_type(std::string_view command, const std::string& word);

}  // namespace edge::edgectl
