// Resources in, programs out, one change after the other: what a controller keeps.
//
//   documents -> ResourceSet -> LinkedConfig -> Compiler -> Artifact
//
// Every stage keeps what it made, and a change passes through it alone: a document is decoded once; a ProxyRoute is
// linked anew when it changes, or a policy on it, or something that it refers to; a host is lowered when what it is
// made from changed; a document that no program depends on makes none. What comes out, programs and diagnostics, is
// what a compile of the same documents from nothing gives, byte for byte.
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

/// A document that is new, has another text or, without a text, is gone.
struct DocumentEdit {
  /// Names the document from one edit to the next: a resource's kind, namespace and name, or a place in a file.
  std::string document;
  std::optional<std::string> text;
};

/// Where endpoints, and the values of secrets, are kept.
enum class ValuesSource : std::uint8_t {
  kDocuments,  ///< in the documents, as in files
  kElsewhere,  ///< whoever asks for programs has them (controller/endpoints): nothing is said of backends without any
};

/// What the last apply() did.
struct WorkspaceStats {
  std::size_t documents_decoded = 0;
  /// Something of a program may be another, so that it was put together anew.
  bool compiled = false;
  std::size_t routes_linked = 0;
  /// All routes were linked: something changed that each of them may depend on.
  bool linked_whole = false;
  std::chrono::nanoseconds decode{0}, link{0};
};

/// What the agents of one group run.
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

  /// Makes the program of what there is now: that of all agents whose group no gateway names. nullopt when nothing can
  /// be vouched for; diagnostics() says why, and the next call starts from nothing. Where the last program lacks
  /// databases, a call without edits gives the one that has those that were made since.
  std::optional<Artifact> apply(const std::vector<DocumentEdit>& edits);

  /// Programs of the groups of agents that gateways name, by group. Made with the one that `apply` returned; each is
  /// compiled as a whole, of which what did not change is taken from the last time.
  const std::map<std::string, GroupProgram>& group_programs() const;
  const WorkspaceStats& stats() const;
  /// Of the last program, where the documents have them.
  const program::EndpointSet& endpoints() const;
  /// Values of the secrets that the program names, where the documents have them.
  const program::SecretSet& secrets() const;
  const LinkedConfig& config() const;
  /// Of every resource that is not plainly fine, and every gateway.
  std::vector<ResourceStatus> statuses() const;
  /// Everything that there is to say of what there is now. Linear in all resources, so not part of apply(): a program
  /// waits for no lint. A span's source is the number of a document, and it counts from the document's first byte.
  Diagnostics diagnostics();
  /// Of them, what translating and linking said: nothing is looked at anew for it.
  Diagnostics diagnostics_of_linking() const;
  const std::string& document(std::uint32_t number) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace edge::compiler
