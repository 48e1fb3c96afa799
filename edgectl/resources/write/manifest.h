// The objects named by `-f`, ready to send: each with its position in the file, so that server errors can be shown
// there.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
#include "base/source.h"
#include "compiler/yaml/document.h"
#include "controller/kube/failure.h"

namespace edge::edgectl {

struct ManifestObject {
  std::string text;                                 ///< JSON
  std::string api_version, kind, name, name_space;  ///< empty where absent
  compiler::yaml::Node node;                        ///< its position

  /// `ProxyRoute shop/api`
  std::string title() const;
};

struct Manifest {
  SourceMap sources;
  std::deque<compiler::yaml::Document> documents;  ///< which nodes point into
  std::vector<ManifestObject> objects;

  Manifest() = default;
  Manifest(const Manifest&) = delete;
  Manifest& operator=(const Manifest&) = delete;
};

/// Reads files, directories and `-`; splits Lists. Errors (invalid YAML; no apiVersion, kind or name) are diagnostics;
/// an Error means that a path could not be read. `generate_name`: metadata.generateName counts as a name.
Status read_manifest(const std::vector<std::string>& paths, bool generate_name, Manifest& manifest,
                     Diagnostics& diagnostics);

/// Validates all fields of known kinds against their schemas; references are not checked, because their targets may be
/// in the cluster.
void check_fields(const Manifest& manifest, Diagnostics& diagnostics);

/// Order of creation: Namespaces, CustomResourceDefinitions and referenced kinds before those that refer to them;
/// otherwise in the order of the files. Deletion is in reverse.
std::size_t creation_rank(std::string_view kind);
void sort_for_creation(std::vector<ManifestObject>& objects);

/// Finds the node of `spec.rules[0].matches[1].path.value` below `root`, or of the nearest existing parent.
compiler::yaml::Node find_field(compiler::yaml::Node root, std::string_view path);

/// Adds the server's errors of an object: each cause at the field that it names.
void add_refusal(const ManifestObject& object, const kube::Failure& failure, Diagnostics& diagnostics);

}  // namespace edge::edgectl
