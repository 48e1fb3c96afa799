// Brings files to the API as a GitOps user would: server-side apply under the manager `edge-files`, and what is in no
// file any more is deleted. Which objects came from files is kept on disk, so that a restart prunes, too.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "controller/follow.h"
#include "controller/kube/blocking_client.h"
#include "standalone/file_objects.h"

namespace edge::standalone {

/// Not thread-safe.
class Applier {
 public:
  /// `inventory`: path of the file that says what came from files.
  static Result<std::unique_ptr<Applier>> create(kube::Config config, std::string inventory);

  struct Outcome {
    std::size_t applied = 0;
    std::size_t pruned = 0;
    /// One line each: file, line, object and what the API has against it.
    std::vector<std::string> faults;
  };
  /// An object of a file at fault is never pruned, for it may be what cannot be read; nor is it replaced by a document
  /// at fault. One that is new is applied as it is: the controller serves of it what it can. The API wins nothing back
  /// from others: fields that another manager took are taken again.
  Outcome apply(const controller::Update& update);

 private:
  struct Applied {
    std::string api_version, kind, name_space, name, file;
    std::uint64_t hash = 0;  ///< of what was applied in this run; 0: nothing yet
  };
  using Inventory = std::map<std::string, Applied>;

  Applier(std::unique_ptr<kube::BlockingClient> client, std::string path)
      : client_(std::move(client)), path_(std::move(path)) {}
  Status read_inventory();
  Status write_inventory() const;
  /// nullopt: not served, which the files may contain for others.
  std::optional<kube::Resource> resource_of(const std::string& api_version, const std::string& kind,
                                            std::string& fault);
  /// \returns true when kinds have come to be served by it: there is more to be applied.
  bool apply_once(const controller::Update& update, Outcome& outcome);
  bool learn(const std::set<std::pair<std::string, std::string>>& kinds);
  void ensure_namespaces(const std::vector<FileObject>& objects, Outcome& outcome);
  void apply_all(std::vector<FileObject> objects, Outcome& outcome);
  void prune(const controller::Update& update, const Inventory& wanted, Outcome& outcome);

  std::unique_ptr<kube::BlockingClient> client_;
  std::string path_;
  Inventory inventory_;  ///< by text of the object, with its group
  std::map<std::string, kube::Resource> resources_;
};

}  // namespace edge::standalone
