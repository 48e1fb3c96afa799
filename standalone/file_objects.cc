#include "standalone/file_objects.h"

#include <algorithm>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/diagnostics.h"
#include "base/json.h"
#include "base/source.h"
#include "compiler/model/node_json.h"
#include "compiler/yaml/read.h"

namespace edge::standalone {
namespace {

using Json = nlohmann::json;

int rank_of(const std::string& kind) {
  constexpr std::string_view kFirst[] = {"Namespace", "CustomResourceDefinition", "Secret", "ConfigMap", "Service"};
  return static_cast<int>(std::ranges::find(kFirst, kind) - std::begin(kFirst));
}

/// What a server says of an object, and nobody else.
void drop_observed(Json& object) {
  object.erase("status");
  const auto metadata = object.find("metadata");
  if (metadata == object.end() || !metadata->is_object()) return;
  for (const char* name : {"creationTimestamp", "generation", "managedFields", "resourceVersion", "uid"}) {
    metadata->erase(name);
  }
}

class Reader {
 public:
  explicit Reader(const controller::Update& update) : update_(update) {}

  std::vector<FileObject> read() {
    SourceMap sources;
    for (const auto& [file, content] : update_.texts) sources.add(file, content);
    for (std::uint32_t id = 0; id < sources.size(); ++id) {
      // What is wrong with it the follower has told.
      Diagnostics unheard;
      compiler::yaml::read_documents(sources, id, unheard, {},
                                     [&](const compiler::yaml::Document& document) { add(sources[id], document); });
    }
    std::ranges::stable_sort(objects_, {}, &FileObject::rank);
    return std::move(objects_);
  }

 private:
  bool at_fault(const std::string& file, const compiler::yaml::Node& root) const {
    const auto errors = update_.errors.find(file);
    if (errors == update_.errors.end()) return false;
    return std::ranges::any_of(
        errors->second, [&](std::uint32_t place) { return place >= root.data().begin && place <= root.data().end; });
  }

  void add(const SourceText& source, const compiler::yaml::Document& document) {
    const std::string& file = source.name();
    const compiler::yaml::Node root = document.root();
    Json json = compiler::model::json_of(root);
    if (!json.is_object()) return;
    FileObject object;
    object.api_version = text_in(json, "apiVersion");
    object.kind = text_in(json, "kind");
    const auto metadata = json.find("metadata");
    if (metadata == json.end()) return;
    object.name = text_in(*metadata, "name");
    object.name_space = text_in(*metadata, "namespace");
    if (object.api_version.empty() || object.kind.empty() || object.name.empty()) return;
    object.rank = rank_of(object.kind);
    object.at_fault = at_fault(file, root);
    drop_observed(json);
    object.json = json_line(json);
    object.file = file;
    const std::size_t begin = std::min<std::size_t>(root.data().begin, source.text().size());
    object.line = source.position(static_cast<std::uint32_t>(begin)).line;
    objects_.push_back(std::move(object));
  }

  const controller::Update& update_;
  std::vector<FileObject> objects_;
};

}  // namespace

std::vector<FileObject> objects_of(const controller::Update& update) { return Reader(update).read(); }

}  // namespace edge::standalone
