// Incremental compilation for a controller: resources in, programs out, one change after the other.
//
//   documents -> ResourceSet -> LinkedConfig -> Compiler -> Artifact
//
// Every stage keeps its results, and processes only changes: a document is decoded once; a ProxyRoute is linked again
// when it changes, or a policy on it, or something that it refers to; a host is lowered when its inputs changed; a
// document that no program depends on causes no compile. Programs and diagnostics equal those of a full compile of the
// same documents, byte for byte.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "compiler/compile.h"
#include "compiler/link/conditions.h"
#include "program/values/endpoints.h"
#include "program/values/secrets.h"

namespace edge::compiler {

/// A document that is new, changed or, without a text, removed.
struct DocumentEdit {
  /// Identifies the document across edits: a resource's kind, namespace and name, or a position in a file.
  std::string document;
  std::optional<std::string> text;
};

/// Where endpoints, and the values of secrets, come from.
enum class ValuesSource : std::uint8_t {
  kDocuments,  ///< from the documents, as with files
  kElsewhere,  ///< from the caller (controller/endpoints): backends without endpoints are not reported
};

/// Statistics of the last apply().
struct WorkspaceStats {
  std::size_t documents_decoded = 0;
  /// A program may have changed, so that it was assembled again.
  bool compiled = false;
  std::size_t routes_linked = 0;
  /// All routes were linked: something changed that any of them may depend on.
  bool linked_whole = false;
  std::chrono::nanoseconds decode{0}, link{0};
};

/// The program of the agents of one group.
struct GroupProgram {
  std::shared_ptr<const std::vector<std::byte>> bytes;
  program::Hash hash{};
};

/// Not thread-safe.
class Workspace {
 public:
  explicit Workspace(CompileOptions options, ValuesSource values = ValuesSource::kDocuments);
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;

  /// Applies edits and makes the program for all agents whose group no gateway names. nullopt when no program can be
  /// verified; diagnostics() says why, and the next call starts from scratch. Where the last program lacks databases, a
  /// call without edits returns the program with those made since.
  std::optional<Artifact> apply(const std::vector<DocumentEdit>& edits);

  /// Returns the programs of the groups of agents in gateways, by group. Made together with the one that `apply`
  /// returned; each is compiled as a whole, reusing unchanged parts.
  const std::map<std::string, GroupProgram>& group_programs() const;
  const WorkspaceStats& stats() const;
  /// For the last program, where the documents have them.
  const program::EndpointSet& endpoints() const;
  /// Returns the values of the secrets that the program refers to, where the documents have them.
  const program::SecretSet& secrets() const;
  const LinkedConfig& config() const;
  /// Returns the status of every resource with errors, and of every gateway.
  std::vector<ResourceStatus> statuses() const;
  /// Returns all diagnostics of the current documents. Linear in all resources, so not part of apply(): a program does
  /// not wait for lints. A span's source is the number of a document, and it counts from the document's first byte.
  Diagnostics diagnostics();
  /// Returns only those of translation and linking, without checking anything again.
  Diagnostics diagnostics_of_linking() const;
  const std::string& document(std::uint32_t number) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace edge::compiler
