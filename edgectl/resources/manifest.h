// What `-f` names, as objects to be sent: each with the place that it was read from, so that what a server says of a
// field can be shown where the user wrote it.
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
  std::string api_version, kind, name, name_space;  ///< empty where they are not given
  compiler::yaml::Node node;                        ///< where it stands

  /// `ProxyRoute shop/api`
  std::string title() const;
};

struct Manifest {
  SourceMap sources;
  std::deque<compiler::yaml::Document> documents;  ///< that nodes point into
  std::vector<ManifestObject> objects;

  Manifest() = default;
  Manifest(const Manifest&) = delete;
  Manifest& operator=(const Manifest&) = delete;
};

/// Reads files, directories and `-`; takes Lists apart. Faults (no YAML; no apiVersion, kind or name) are diagnostics;
/// an Error means that a path could not be read. `generate_name`: metadata.generateName is a name too.
Status read_manifest(const std::vector<std::string>& paths, bool generate_name, Manifest& manifest,
                     Diagnostics& diagnostics);

/// Every field of the kinds that are known here against its schema; references are not looked at, as what they lead to
/// may be in the cluster.
void check_fields(const Manifest& manifest, Diagnostics& diagnostics);

/// Namespaces, CustomResourceDefinitions and what others refer to before those that refer to it; otherwise as they
/// stand in the files. Removal goes the other way around.
std::size_t creation_rank(std::string_view kind);
void sort_for_creation(std::vector<ManifestObject>& objects);

/// The node of `spec.rules[0].matches[1].path.value` below `root`, or of the nearest field above it that is there.
compiler::yaml::Node find_field(compiler::yaml::Node root, std::string_view path);

/// What the server said of an object: each cause at the field that it names.
void add_refusal(const ManifestObject& object, const kube::Failure& failure, Diagnostics& diagnostics);

}  // namespace edge::edgectl
