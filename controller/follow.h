// Watches configuration files: compiles them on every change, and provides what can be served.
//
// Unchanged documents are not parsed again, and what does not depend on a changed one is not compiled again
// (compiler/workspace.h).
//
// An error never takes away what worked: a file with errors is replaced by its last version without, and the rest of
// the configuration is compiled in its current version.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "base/os/file_watch.h"
#include "base/result.h"
#include "base/source.h"
#include "compiler/compile.h"
#include "compiler/workspace.h"
#include "controller/followed_documents.h"
#include "program/values/endpoints.h"
#include "program/values/secrets.h"

namespace edge::controller {

/// What the files represent.
enum class FollowScope : std::uint8_t {
  kWhole,  ///< the complete configuration: references must be resolved within it
  kPart,   ///< a part of a cluster's configuration: references may be to it (FollowOptions::others)
};

/// The cluster's other documents in the compiler's form, by ResourceId::text().
using OtherDocuments = std::map<std::string, std::string>;

struct FollowOptions {
  FollowScope scope = FollowScope::kWhole;
  /// For kPart: called when a reference is not resolved within the files, with the texts in force.
  std::function<OtherDocuments(const Texts&)> others{};
  /// For kPart: returns whether the cluster has the last valid version of a file that was never valid for this
  /// follower. Such a file has no text in force: its contents are among the others.
  std::function<bool(const std::string& file)> kept{};
};

/// A file with errors, or a file or directory that cannot be read.
struct FaultyFile {
  std::string text;
  /// Byte offsets of errors, except unresolved references: a document with only those can be partly served.
  std::vector<std::uint32_t> errors{};
  bool held = false;  ///< its last valid version is in force
  bool seen = false;  ///< by the follower
};

/// The result of reading the files once.
struct Update {
  /// Null when nothing could be compiled: the running program should stay.
  std::shared_ptr<const std::vector<std::byte>> program;
  program::EndpointSet endpoints;
  program::SecretSet secrets{};
  /// The texts in force: for files with errors the last valid version, or the current one where there never was any.
  Texts texts{};
  std::map<std::string, FaultyFile> at_fault{};
  /// A file has an unresolved reference: its target may appear later.
  bool dangling = false;
  /// Whether `program` has the complete configuration as it is on disk.
  bool clean = false;
  /// Messages for the user, as text for stderr. Each once while it applies.
  std::string report;
  /// Whether `report` has an error.
  bool report_of_errors = false;
  /// Errors of the last update that are fixed: a sentence each.
  std::vector<std::string> mended{};
};

/// Errors found elsewhere in the current files: byte offsets by file.
using Refusals = std::map<std::string, std::vector<std::uint32_t>>;

/// One thread calls `next`, `refuse` and `accept`; any thread may call `stop` and `look_again`.
class Follower {
 public:
  /// `paths` as for Compiler. Fails when a path is missing or cannot be watched.
  static Result<std::unique_ptr<Follower>> create(std::vector<std::string> paths, compiler::CompileOptions options,
                                                  Colour colour, FollowOptions follow = {});

  /// Returns the first update at once; later calls block until something changes. nullopt after `stop`. An update
  /// counts as in force at the next call, unless refuse() is called before.
  std::optional<Update> next();
  /// Returns the last update without what was refused.
  Update refuse(const Refusals& refusals);
  void stop() { watch_->stop(); }
  /// Called when the targets of references may have appeared: makes the next update without a file change.
  void look_again();

 private:
  struct Attempt;
  using Unreadable = std::map<std::string, std::string>;  ///< reasons, by path
  struct Reading {
    Texts texts;
    Unreadable unreadable;
    friend bool operator==(const Reading&, const Reading&) = default;
  };
  /// Messages about the files, each with a final newline.
  struct Report {
    std::vector<std::string> errors, remarks;
  };

  Follower(std::vector<std::string> paths, compiler::CompileOptions options, Colour colour, FollowOptions follow);
  bool is_others(const Diagnostic& diagnostic) const;
  bool find_faults(const Attempt& attempt, const Texts& texts, Update& update) const;
  void change_others(const Texts& texts, std::vector<compiler::DocumentEdit>& edits);
  void run(const std::vector<compiler::DocumentEdit>& edits, Attempt& attempt);
  bool hold(Update& update, Texts& held, Report& report) const;
  bool hold_one(const std::string& path, Texts& held, bool& changed) const;
  void add_faults(const Attempt& attempt, Report& report) const;
  std::optional<Reading> read(std::string& fault);
  Attempt compile(const Texts& texts);
  Update build(const Reading& reading);
  void tell(Report report, Update& update);
  void tell_mended(const Reading& reading, Update& update);

  std::vector<std::string> paths_;
  Colour colour_;
  FollowOptions follow_;
  compiler::Workspace workspace_;
  FollowedDocuments documents_;
  std::unique_ptr<FileWatch> watch_;
  bool started_ = false;
  std::optional<Reading> seen_;  ///< what the last update was made from
  Texts sound_;                  ///< the last valid version of each file
  Texts tentative_;              ///< the same including the last update, which may still be refused
  Refusals refused_;             ///< of seen_
  OtherDocuments others_;        ///< documents in the workspace besides the files
  std::atomic<bool> again_ = false;
  std::set<std::string> told_;
  std::set<std::string> told_before_;  ///< of the last update
  std::set<std::string> faulty_;       ///< paths with errors
  std::set<std::string> faulty_before_;
  bool unread_ = false;  ///< nothing was there the last time, or it could not be read
};

}  // namespace edge::controller
