// The compiler: the list of its stages.
//
//   SourceText -> ResourceSet -> LinkedConfig -> MatchIr -> Program
//
// Texts become a linked configuration at once (read_config), or document by document (workspace.h) by the same stages.
// A Compiler makes programs from it, and keeps results: it runs the stages over all hosts the first time, later over
// those whose inputs have changed.
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

/// Runs read, decode, translate, lint, link. Always returns a configuration: invalid parts are excluded and reported.
/// `controller_class`: the class of gateways to serve (rule D8); empty: the default class. `certificate_directories` as
/// in CompileOptions.
LinkedConfig read_config(const SourceMap& sources, Diagnostics& diagnostics, std::string_view controller_class = {},
                         std::optional<std::vector<std::string>> certificate_directories = std::nullopt);
/// Runs translate and link, without endpoints and secrets (add_values). `kept` as for translate().
LinkedConfig link_resources(model::ResourceSet resources, Diagnostics& diagnostics, translate::KeptTranslation& kept);
/// Adds endpoints and secrets to a configuration whose parts were linked at different times (link/values.h).
void add_values(const model::ResourceSet& resources, LinkedConfig& config, Diagnostics& diagnostics);
/// Runs lint on resources that were not translated yet.
void lint_resources(const model::ResourceSet& resources, Diagnostics& diagnostics);

struct CompileOptions {
  program::Target target = program::Target::kX8664V2;
  /// Signs the program, if given.
  const program::SigningKey* key = nullptr;
  /// Proves every program before it is returned. Off only in benchmarks of single stages.
  bool prove = true;
  /// Path of the regex worker; empty: `edge-regexc` next to the running executable.
  std::string regex_worker = {};
  /// Directory of the disk cache of databases and code (cache/disk_cache.h); empty: none.
  std::string cache_dir = {};
  std::uint64_t cache_bytes = DiskCache::kDefaultBytes;
  /// When databases of patterns are made. Without a database the patterns are evaluated one by one, with the same
  /// results.
  DatabaseTime databases = DatabaseTime::kBefore;
  /// Called on another thread while missing databases are made; once all are, the next compile returns the program with
  /// them. May be empty.
  std::function<void(const DatabaseProgress&)> databases_progressed = {};
  /// Directories in which certificate files may be, for a Workspace; nullopt: determined by whoever serves the program.
  std::optional<std::vector<std::string>> certificate_directories = std::nullopt;
};

struct Artifact {
  std::shared_ptr<const std::vector<std::byte>> bytes;
  program::Hash hash{};
  /// Some of the program's pattern sets have no database yet: another program with them follows.
  bool lacks_databases = false;
  CompileStats stats;
  /// Conditions that depend on the whole program (`Shadowed`, and `Accepted` of routes that no program can contain), to
  /// be merged with the linker's by sort_and_merge.
  std::vector<ResourceStatus> statuses;
};

class Compiler {
 public:
  explicit Compiler(CompileOptions options);
  ~Compiler();
  Compiler(Compiler&&) noexcept;
  Compiler& operator=(Compiler&&) noexcept;

  /// Compiles a whole configuration. Hosts with unchanged inputs are reused from the last call. Invalid routes are
  /// excluded and reported; the others are served. nullopt only when no program can be verified (a failed proof, an
  /// internal error): then `diagnostics` says why.
  std::optional<Artifact> compile(const LinkedConfig& config, Diagnostics& diagnostics);

  /// The same after `routes` were replaced, or added at the end (and any backends changed): processes only the old and
  /// new hosts of these routes. A removed route leaves an empty LinkedRoute in its place, so that the others keep their
  /// indices. Diagnostics of other routes and hosts are repeated unchanged.
  std::optional<Artifact> recompile(const LinkedConfig& config, const std::vector<std::uint32_t>& routes,
                                    Diagnostics& diagnostics);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace edge::compiler
