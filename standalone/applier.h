// Applies files to the API like a GitOps client: server-side apply with the manager `edge-files`, and deletion of
// objects that are not in the files any more. The objects from files are recorded on disk, so that a restart prunes
// too.
//
// A file is applied completely or not at all: errors of the API are determined before anything is written. Of a file
// that never was valid the valid objects are applied, and what invalid ones should protect is denied (denials.h,
// decision 0083).
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

/// Not thread-safe, except `lost`.
class Applier {
 public:
  /// `inventory`: path of the file that says what came from files; one that cannot be read is set aside with a line in
  /// `log`. `controller_class`: rule D8.
  /// `loop`: as of BlockingClient.
  static Result<std::unique_ptr<Applier>> create(kube::Config config, net::Loop* loop, std::string inventory,
                                                 std::string controller_class, const Logger& log);
  ~Applier();

  /// Returns whether the previous run had files and applied all of them: the API has the intended state.
  bool complete();
  /// Returns whether a previous run had files.
  bool had_files() const { return !files_.empty(); }
  /// Returns the denials of the previous run, for programs that are made before the files are processed.
  std::vector<controller::ExtraDocument> denials() const;
  /// For FollowOptions. For a directory: all files that were below it.
  bool kept(const std::string& file) const;
  /// Called, from any thread, when the API has lost an object that this class did not delete. \returns whether a file
  /// declares it, or an object in that namespace: then the next check() finds it missing, and apply() creates it again.
  bool lost(const ResourceId& key);
  controller::OtherDocuments others(const controller::Texts& texts);

  /// Returns the API's errors for the files, by dry runs, except for the kinds and namespaces that they define. To be
  /// called with each update until there are no new errors, and then apply().
  controller::Refusals check(const controller::Update& update);

  struct ApplyResult {
    std::size_t applied = 0;
    std::size_t pruned = 0;
    /// One line each: file, line, object and the API's error, or what is denied because of it. Only new ones since the
    /// last update.
    std::vector<std::string> faults;
    /// One line each: objects that were deleted, and are created again because a file declares them.
    std::vector<std::string> restored;
    /// Whether no errors remain.
    bool clean = true;
    std::vector<controller::WrittenObject> writes;
    std::vector<controller::ExtraDocument> denials;
  };
  /// Applies an update. Objects of an invalid file are never pruned, because they may be in its unreadable part;
  /// invalid documents are not applied. Fields taken by another manager are taken back.
  ApplyResult apply(const controller::Update& update);

 private:
  struct Applied {
    std::string api_version, kind, name_space, name, file;
    std::uint64_t hash = 0;     ///< of the text that was applied and is in the API as far as known; 0: none yet
    std::string denied_for;     ///< the file whose errors cause its denial
    std::uint64_t content = 0;  ///< content_hash of the API's object after applying
  };
  using Inventory = std::map<std::string, Applied>;
  struct Refusal {
    std::uint64_t hash = 0;  ///< of the refused text
    std::string why;
    bool tried = false;  ///< only tested by a dry run
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
  /// nullopt: not served; files may contain kinds for other systems.
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
  void note_files(const controller::Update& update, const std::vector<FileObject>& changed,
                  const std::vector<Inventory::iterator>& leaving);
  /// \returns whether the state to be stored has changed.
  bool deny_what_is_unprotected(const controller::Update& update,
                                const std::map<std::string, FaultyDocuments>& faulty_files,
                                const std::vector<FileObject>& objects, const std::set<std::string>& fresh,
                                ApplyResult& apply_result);
  /// Returns what came from files and is in none any more.
  std::vector<Inventory::iterator> unwanted(const controller::Update& update, const std::set<std::string>& wanted,
                                            const std::set<std::string>& untouched);
  void prune(const std::vector<Inventory::iterator>& unwanted, ApplyResult& apply_result);
  void tell_restored(const std::vector<FileObject>& changed, ApplyResult& apply_result);
  /// Returns a line for each object that the API refuses, or that is denied for want of what protects it.
  std::set<std::string> what_is_wrong(const std::vector<FileObject>& changed,
                                      const std::map<std::string, FaultyDocuments>& faulty_files) const;
  void tell(std::set<std::string> faults, ApplyResult& apply_result);

  std::unique_ptr<kube::BlockingClient> client_;
  std::string path_;
  std::string controller_class_;
  FileReader reader_;
  Inventory inventory_;                     ///< by FileObject::key()
  Inventory before_;                        ///< applied by the previous run, until the API is checked
  std::size_t unnoted_ = 0;                 ///< objects applied since the inventory was written
  std::map<std::string, bool> files_;       ///< whether the API has all objects of a valid version
  std::map<std::string, Refusal> refused_;  ///< by FileObject::key()
  std::map<std::string, kube::Resource> resources_;
  controller::Texts applied_;  ///< texts that were completely applied in this run
  /// Versions and kinds that are not served, with the files that contain objects of them.
  std::map<std::pair<std::string, std::string>, std::set<std::string>> unserved_;
  std::set<std::string> told_;
  std::set<std::string> missing_;  ///< by FileObject::key(): deleted by others, and not created again yet

  std::mutex lost_mutex_;
  std::map<std::string, std::string> declared_;  ///< namespace, by FileObject::text(); guarded by lost_mutex_
  std::vector<ResourceId> lost_;                 ///< guarded by lost_mutex_
};

}  // namespace edge::standalone
