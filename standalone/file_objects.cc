#include "standalone/file_objects.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/diagnostics.h"
#include "base/hash.h"
#include "base/source.h"
#include "base/text/json.h"
#include "compiler/model/node_json.h"
#include "compiler/yaml/read.h"
#include "compiler/yaml/split.h"

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

/// Of a text by itself: without a file, in lines and bytes of the text.
std::vector<FileObject> objects_in(std::string_view text) {
  SourceMap sources;
  const std::uint32_t id = sources.add({}, std::string(text));
  // What is wrong with it the follower has told.
  Diagnostics unheard;
  std::vector<FileObject> objects;
  compiler::yaml::read_documents(sources, id, unheard, {}, [&](const compiler::yaml::Document& document) {
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
    drop_observed(json);
    object.json = json_line(json);
    object.hash = hash_bytes(1, object.json) | 1;
    object.begin = std::min<std::uint32_t>(root.data().begin, static_cast<std::uint32_t>(text.size()));
    object.end = root.data().end;
    object.line = sources[id].position(object.begin).line;
    objects.push_back(std::move(object));
  });
  return objects;
}

bool points_into(const FileObject& object, const std::vector<std::uint32_t>& errors) {
  return std::ranges::any_of(errors, [&](std::uint32_t entry) { return entry >= object.begin && entry <= object.end; });
}

}  // namespace

/// Of an object of the API, without what the API itself counts and tells; never 0.
std::uint64_t content_hash(const std::string& text) {
  Json json = parse_json(text);
  if (json.is_object()) json.erase("status");
  if (member_in(json, "metadata").is_object()) {
    for (const char* name : {"generation", "managedFields", "resourceVersion"}) json["metadata"].erase(name);
  }
  return hash_bytes(2, json_line(json)) | 1;
}

/// In the directory, or in one below it.
bool is_below(std::string_view path, std::string_view directory) {
  return path.size() > directory.size() && path.starts_with(directory) && path[directory.size()] == '/';
}

std::string FileObject::group() const {
  const std::size_t slash = api_version.find('/');
  return slash == std::string::npos ? "" : api_version.substr(0, slash);
}

std::vector<FileObject> FileReader::read(const controller::Update& update, const std::set<std::string>& skip) {
  std::erase_if(known_, [&](const auto& file) { return !update.texts.contains(file.first); });
  std::vector<FileObject> objects;
  for (const auto& [file, text] : update.texts) {
    if (skip.contains(file)) continue;
    Known& before = known_[file];
    Known known;
    const auto faulty = update.at_fault.find(file);
    const bool as_it_is = faulty != update.at_fault.end() && !faulty->second.held;
    std::uint32_t line = 0;
    std::size_t counted = 0;
    for (const compiler::yaml::Piece piece : compiler::yaml::readable_pieces(text)) {
      line += static_cast<std::uint32_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(counted),
                                                    text.begin() + static_cast<std::ptrdiff_t>(piece.begin), '\n'));
      counted = piece.begin;
      std::string content = text.substr(piece.begin, piece.end - piece.begin);
      auto now = known.find(content);
      if (now == known.end()) {
        auto read_before = before.extract(content);
        if (read_before) {
          now = known.insert(std::move(read_before)).position;
        } else {
          std::vector<FileObject> read = objects_in(content);
          now = known.emplace(std::move(content), std::move(read)).first;
        }
      }
      for (FileObject object : now->second) {
        object.file = file;
        object.line += line;
        object.begin += piece.begin;
        object.end += piece.begin;
        object.at_fault = as_it_is && points_into(object, faulty->second.errors);
        objects.push_back(std::move(object));
      }
    }
    before = std::move(known);
  }
  std::ranges::stable_sort(objects, {}, &FileObject::rank);
  return objects;
}

FaultyDocuments FileReader::read_faulty(const std::string& file, const controller::FaultyFile& faulty) {
  FaultyDocuments documents;
  std::vector<FileObject> objects = objects_in(faulty.text);
  documents.unreadable = std::ranges::any_of(faulty.errors, [&](std::uint32_t entry) {
    return std::ranges::none_of(objects, [&](const FileObject& object) { return points_into(object, {entry}); });
  });
  for (FileObject& object : objects) {
    if (!points_into(object, faulty.errors)) continue;
    object.file = file;
    object.at_fault = true;
    documents.at_fault.push_back(std::move(object));
  }
  return documents;
}

}  // namespace edge::standalone
