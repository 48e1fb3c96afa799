// Follows configuration files: whenever they change they are compiled, and what can be served is handed on.
//
// A document that did not change is not read again, and what does not depend on one that did is not compiled again
// (compiler/workspace.h).
//
// A fault never takes away what worked: a file with errors is replaced by its last version without, and the rest of the
// configuration is compiled as it is now.
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

/// What the files stand for.
enum class FollowScope : std::uint8_t {
  kWhole,  ///< all there is: what they refer to has to be in them
  kPart,   ///< of what a cluster has: what they refer to has to be in them or there (FollowOptions::others)
};

/// What a cluster has beside the files, as the compiler reads it, by ResourceId::text().
using OtherDocuments = std::map<std::string, std::string>;

struct FollowOptions {
  FollowScope scope = FollowScope::kWhole;
  /// Of kPart: asked when a reference leads nowhere in the files, which are given as they are in force.
  std::function<OtherDocuments(const Texts&)> others{};
  /// Of kPart: whether the cluster has the last version without errors of a file that this follower never saw sound.
  /// Such a file then has no text in force: what was in it is among the others.
  std::function<bool(const std::string& file)> kept{};
};

/// A file that is not sound as it is now, or a file or directory that cannot be read.
struct FaultyFile {
  std::string text;
  /// Byte places in it, but of references that lead nowhere: who has such a document serves of it what can be served.
  std::vector<std::uint32_t> errors{};
  bool held = false;  ///< its last version without errors is in force
  bool seen = false;  ///< of the follower
};

/// What one reading of the files led to.
struct Update {
  /// Null when nothing could be compiled: what runs should go on.
  std::shared_ptr<const std::vector<std::byte>> program;
  program::EndpointSet endpoints;
  program::SecretSet secrets{};
  /// The files as they are in force: those at fault as they last were sound, or as they are where they never were.
  Texts texts{};
  std::map<std::string, FaultyFile> at_fault{};
  /// A file is at fault for a reference that leads nowhere: what it refers to may come.
  bool dangling = false;
  /// Whether all of the configuration is in `program`, as it is on disk now.
  bool clean = false;
  /// What the user should know, as text for stderr. Each thing once, until it is no longer so.
  std::string report;
  /// Whether an error is in it.
  bool report_of_errors = false;
  /// What was at fault in the update before and is not any more: a sentence each.
  std::vector<std::string> mended{};
};

/// Faults that somebody else found in the files as they are now: byte places by file.
using Refusals = std::map<std::string, std::vector<std::uint32_t>>;

/// One thread calls `next`, `refuse` and `accept`; any other may call `stop` and `look_again`.
class Follower {
 public:
  /// `paths` as Compiler takes them. The Error says what is not there or cannot be watched.
  static Result<std::unique_ptr<Follower>> create(std::vector<std::string> paths, compiler::CompileOptions options,
                                                  Colour colour, FollowOptions follow = {});

  /// The first call gives the files as they are; later ones block until something changed. nullopt after `stop`.
  /// What it gives is taken to be in force with the next call, unless refuse() comes before.
  std::optional<Update> next();
  /// The update before, less what is refused of it.
  Update refuse(const Refusals& refusals);
  void stop() { watch_->stop(); }
  /// What the files refer to may have come: the next update is made though no file changed.
  void look_again();

 private:
  struct Attempt;
  using Unreadable = std::map<std::string, std::string>;  ///< why, by path
  struct Reading {
    Texts texts;
    Unreadable unreadable;
    friend bool operator==(const Reading&, const Reading&) = default;
  };
  /// What is said of the files, each an item that ends its last line.
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
  Texts sound_;                  ///< the last version of each file that had no errors
  Texts tentative_;              ///< the same with the last update, which may be refused still
  Refusals refused_;             ///< of what was seen
  OtherDocuments others_;        ///< beside the files in the workspace
  std::atomic<bool> again_ = false;
  std::set<std::string> told_;
  std::set<std::string> told_before_;  ///< the last update
  std::set<std::string> faulty_;       ///< paths at fault
  std::set<std::string> faulty_before_;
  bool unread_ = false;  ///< there was nothing the last time, or it could not be read
};

}  // namespace edge::controller
