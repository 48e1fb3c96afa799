// The compiler: the list of its stages.
//
//   SourceText -> ResourceSet -> LinkedConfig -> MatchIr -> Program
//
// Texts become a linked configuration at once (read_config), or document by document (workspace.h) by the same stages.
// A Compiler makes programs of it, and keeps what it learned: it runs the stages over all hosts the first time, later
// over those that are made from something else now.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/source.h"
#include "compiler/cache/disk_cache.h"
#include "compiler/cache/regex_sets.h"
#include "compiler/compile_stats.h"
#include "compiler/link/linked_config.h"
#include "compiler/model/resource_set.h"
#include "program/format/format.h"
#include "program/read.h"
#include "program/sign.h"
#include "program/values/endpoints.h"

namespace edge::compiler {

namespace translate {
struct KeptTranslation;
}  // namespace translate

/// read, decode, translate, lint, link. Always gives a configuration: what was at fault is left out of it and reported.
/// `controller_class`: whose gateways are served (rule D8); empty: the default class's. `certificate_directories` as
/// CompileOptions has them.
LinkedConfig read_config(const SourceMap& sources, Diagnostics& diagnostics, std::string_view controller_class = {},
                         std::optional<std::vector<std::string>> certificate_directories = std::nullopt);
/// translate, link, less what travels beside a program (add_values). `kept` as translate() takes it.
LinkedConfig link_resources(model::ResourceSet resources, Diagnostics& diagnostics, translate::KeptTranslation& kept);
/// What travels beside it, of a configuration whose parts were linked at different times (link/values.h).
void add_values(const model::ResourceSet& resources, LinkedConfig& config, Diagnostics& diagnostics);
/// lint, of resources that were not translated yet.
void lint_resources(const model::ResourceSet& resources, Diagnostics& diagnostics);

struct CompileOptions {
  program::Target target = program::Target::kX8664V2;
  /// Signs when given.
  const program::SigningKey* key = nullptr;
  /// Proves every program on itself before it is returned. Off only in benchmarks of single stages.
  bool prove = true;
  /// Program of the regex worker; empty: `edge-regexc` beside the running executable.
  std::string regex_worker = {};
  /// Where databases and code are kept from one run to the next (cache/disk_cache.h); empty: nowhere.
  std::string cache_dir = {};
  std::uint64_t cache_bytes = DiskCache::kDefaultBytes;
  /// When databases of patterns are made. Whatever lacks one is decided by the patterns themselves, with the same
  /// outcome.
  DatabaseTime databases = DatabaseTime::kBefore;
  /// Called on another thread while databases are made that a program lacks; once they all are, the next compile gives
  /// the program that has them. May be empty.
  std::function<void(const DatabaseProgress&)> databases_progressed = {};
  /// Below which files of certificates may be, of a Workspace; nullopt: whoever serves the program says so.
  std::optional<std::vector<std::string>> certificate_directories = std::nullopt;
};

struct Artifact {
  std::shared_ptr<const std::vector<std::byte>> bytes;
  program::Hash hash{};
  /// Of the program's sets of patterns some have no database yet: another program with them follows.
  bool lacks_databases = false;
  CompileStats stats;
  /// Conditions that only a whole program tells (`Shadowed`, and `Accepted` of routes that no program can hold), for
  /// sort_and_merge with the linker's.
  std::vector<ResourceStatus> statuses;
};

class Compiler {
 public:
  explicit Compiler(CompileOptions options);
  ~Compiler();
  Compiler(Compiler&&) noexcept;
  Compiler& operator=(Compiler&&) noexcept;

  /// Compiles a whole configuration. Hosts whose inputs are what they were are taken from the last call. Routes at
  /// fault are left out and reported; the others are served. nullopt only when nothing can be vouched for (a failed
  /// proof, an internal fault): then `diagnostics` says why.
  std::optional<Artifact> compile(const LinkedConfig& config, Diagnostics& diagnostics);

  /// The same after `routes` alone were replaced, or added at the end (and backends, whatever of them changed):
  /// looks at the old and new hosts of these routes only. A route that is gone leaves an empty LinkedRoute in its
  /// place, so that the others keep their numbers. What was said of other routes and hosts is said again as it was.
  std::optional<Artifact> recompile(const LinkedConfig& config, const std::vector<std::uint32_t>& routes,
                                    Diagnostics& diagnostics);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace edge::compiler
