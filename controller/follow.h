// Follows configuration files: whenever they change they are compiled, and what can be served is handed on.
//
// A document that did not change is not read again, and what does not depend on one that did is not compiled again
// (compiler/workspace.h).
//
// A fault never takes away what worked: a file with errors is replaced by its last version without, and the rest of the
// configuration is compiled as it is now.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "base/file_watch.h"
#include "base/result.h"
#include "base/source.h"
#include "compiler/compile.h"
#include "compiler/workspace.h"
#include "controller/followed_documents.h"
#include "program/endpoints.h"
#include "program/secrets.h"

namespace edge::controller {

/// What the files stand for.
enum class FollowScope : std::uint8_t {
  kWhole,  ///< all there is: what they refer to has to be in them
  kPart,   ///< of what a cluster has: a reference that leads nowhere in them is told, and is no fault
};

/// What one reading of the files led to.
struct Update {
  /// Null when nothing could be compiled: what runs should go on.
  std::shared_ptr<const std::vector<std::byte>> program;
  program::EndpointSet endpoints;
  program::SecretSet secrets{};
  /// The files as they are in force: those at fault as they last were sound, or as they are where they never were.
  Texts texts{};
  std::set<std::string> at_fault{};
  /// Where errors stand in files that never were sound: byte places by file.
  std::map<std::string, std::vector<std::uint32_t>> errors{};
  /// Whether all of the configuration is in `program`, as it is on disk now.
  bool clean = false;
  /// What the user should know, as text for stderr. Empty when there is nothing new to tell.
  std::string report;
};

/// One thread calls `next`; any other may call `stop`.
class Follower {
 public:
  /// `paths` as Compiler takes them. The Error says what is not there or cannot be watched.
  static Result<std::unique_ptr<Follower>> create(std::vector<std::string> paths, compiler::CompileOptions options,
                                                  Colour colour, FollowScope scope = FollowScope::kWhole);

  /// The first call gives the files as they are; later ones block until something changed. nullopt after `stop`.
  std::optional<Update> next();
  void stop() { watch_->stop(); }

 private:
  struct Attempt;

  Follower(std::vector<std::string> paths, compiler::CompileOptions options, Colour colour, FollowScope scope);
  bool is_fault(const Diagnostic& diagnostic) const;
  void find_faults(const Attempt& attempt, Update& update) const;
  std::optional<Texts> read(std::string& fault);
  Attempt compile(const Texts& texts);
  Update build(const Texts& texts);
  std::string told_once(std::string report);

  std::vector<std::string> paths_;
  Colour colour_;
  FollowScope scope_;
  compiler::Workspace workspace_;
  FollowedDocuments documents_;
  std::unique_ptr<FileWatch> watch_;
  bool started_ = false;
  std::optional<Texts> seen_;  ///< what the last update was made from
  Texts sound_;                ///< the last version of each file that had no errors
  std::string told_;
};

}  // namespace edge::controller
