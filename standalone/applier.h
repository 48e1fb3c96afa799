// Brings files to the API as a GitOps user would: server-side apply under the manager `edge-files`, and what is in no
// file any more is deleted. Which objects came from files is kept on disk, so that a restart prunes, too.
//
// A file is applied whole or not at all: what the API would refuse is found out before anything is written. Of a file
// that never was sound what is good is applied, and what it was to protect is denied (denials.h, decision 0083).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "controller/controller.h"
#include "controller/follow.h"
#include "controller/kube/blocking_client.h"
#include "standalone/denials.h"
#include "standalone/file_objects.h"

namespace edge::standalone {

/// Not thread-safe, but for `lost`.
class Applier {
 public:
  /// `inventory`: path of the file that says what came from files; one that cannot be read is set aside with a line in
  /// `log`. `controller_class`: rule D8.
  static Result<std::unique_ptr<Applier>> create(kube::Config config, std::string inventory,
                                                 std::string controller_class, const Logger& log);
  ~Applier();

  /// No file of the run before was left half applied, and there was one: what the API has is what it was to have.
  bool complete();
  /// A run before had files.
  bool had_files() const { return !files_.empty(); }
  /// What the run before denied, for the programs that are made until the files are looked at again.
  std::vector<controller::ExtraDocument> denials() const;
  /// For FollowOptions. Of a directory: all that was below it.
  bool kept(const std::string& file) const;
  /// From any thread: the API has it no longer, and not by this. \returns whether a file declares it, or what is in
  /// that namespace: then the next check() finds it missing, and apply() makes it again.
  bool lost(const ResourceId& key);
  controller::OtherDocuments others(const controller::Texts& texts);

  /// What the API has against the files, asked without a write but of the kinds and namespaces that they define. To be
  /// called with each update until it has nothing new to tell, and then apply().
  controller::Refusals check(const controller::Update& update);

  struct ApplyResult {
    std::size_t applied = 0;
    std::size_t pruned = 0;
    /// One line each: file, line, object and what the API has against it, or what is denied for its sake. Only what is
    /// new since the last update.
    std::vector<std::string> faults;
    /// One line each: what was deleted, and is made again as a file declares it.
    std::vector<std::string> restored;
    /// All that is wrong still.
    bool clean = true;
    std::vector<controller::WrittenObject> writes;
    std::vector<controller::ExtraDocument> denials;
  };
  /// An object of a file at fault is never pruned, for it may be what cannot be read; a document at fault is not
  /// applied. The API wins nothing back from others: fields that another manager took are taken again.
  ApplyResult apply(const controller::Update& update);

 private:
  struct Applied {
    std::string api_version, kind, name_space, name, file;
    std::uint64_t hash = 0;     ///< of what was applied, and is in the API for all that is known; 0: nothing yet
    std::string denied_for;     ///< the file for whose fault it is denied
    std::uint64_t content = 0;  ///< content_hash of what the API had when that was applied
  };
  using Inventory = std::map<std::string, Applied>;
  struct Refusal {
    std::uint64_t hash = 0;  ///< of the text that was refused
    std::string why;
    bool tried = false;  ///< only asked about
  };

  Applier(std::unique_ptr<kube::BlockingClient> client, std::string path, std::string controller_class)
      : client_(std::move(client)), path_(std::move(path)), controller_class_(std::move(controller_class)) {}
  Status read_inventory(const Logger& log);
  Status write_inventory();
  void note(ApplyResult& apply_result);
  void confirm();
  void declare(const Applied& object);
  void withdraw(const Applied& object);
  void look_for_missing();
  void take_lost();
  void lose(const std::string& key);
  /// nullopt: not served, which the files may contain for others.
  std::optional<kube::Resource> resource_of(const std::string& api_version, const std::string& kind,
                                            std::string& fault);
  std::set<std::string> untouched(const controller::Update& update) const;
  std::vector<FileObject> objects_of(const controller::Update& update, const std::set<std::string>& skip,
                                     ApplyResult& apply_result, bool& all_known);
  bool want(const FileObject& object, std::set<std::string>& fresh);
  void apply_definitions(const std::vector<FileObject>& objects, ApplyResult& apply_result);
  void ensure_namespaces(const std::vector<FileObject>& objects, ApplyResult& apply_result);
  void try_all(const std::vector<FileObject>& objects);
  void apply_all(const std::vector<FileObject>& objects, ApplyResult& apply_result);
  bool is_refused(const FileObject& object) const;
  std::string in_api(const FileObject& object);
  std::map<std::string, FaultyDocuments> faulty_documents(const controller::Update& update);
  void note_files(const controller::Update& update, const std::vector<FileObject>& changed);
  /// \returns whether what is to be kept on disk has changed.
  bool deny_what_is_unprotected(const controller::Update& update,
                                const std::map<std::string, FaultyDocuments>& faulty_files,
                                const std::vector<FileObject>& objects, const std::set<std::string>& fresh,
                                ApplyResult& apply_result);
  void prune(const controller::Update& update, const std::set<std::string>& wanted,
             const std::set<std::string>& untouched, ApplyResult& apply_result);
  void tell_restored(const std::vector<FileObject>& changed, ApplyResult& apply_result);
  void tell(std::set<std::string> faults, ApplyResult& apply_result);

  std::unique_ptr<kube::BlockingClient> client_;
  std::string path_;
  std::string controller_class_;
  FileReader reader_;
  Inventory inventory_;                     ///< by FileObject::key()
  Inventory before_;                        ///< what the run before applied, until the API is looked at
  std::size_t unnoted_ = 0;                 ///< objects that were applied since the inventory was written
  std::map<std::string, bool> files_;       ///< whether the API has all of a sound version of it
  std::map<std::string, Refusal> refused_;  ///< by FileObject::key()
  std::map<std::string, kube::Resource> resources_;
  controller::Texts applied_;  ///< texts all of whose documents were applied in this run
  /// Versions and kinds that are not served, with the files that have objects of them.
  std::map<std::pair<std::string, std::string>, std::set<std::string>> unserved_;
  std::set<std::string> told_;
  std::set<std::string> missing_;  ///< by FileObject::key(): deleted by others, and not made again yet

  std::mutex lost_mutex_;
  std::map<std::string, std::string> declared_;  ///< namespace, by FileObject::text(); guarded by lost_mutex_
  std::vector<ResourceId> lost_;                 ///< guarded by lost_mutex_
};

}  // namespace edge::standalone
