// Determines what must not be served because a document that should protect it is invalid: the routes and gateways, and
// the invalid policies by which the compiler denies them (503, docs/policies.md). Decision 0083. Without API or files.
#pragma once

#include <string>
#include <vector>

#include "controller/controller.h"
#include "standalone/file_objects.h"

namespace edge::standalone {

/// An invalid document that is not applied to the API, or not in this version.
struct RefusedDocument {
  FileObject object;
  bool held = false;   ///< the last valid version of its file is in force, with its protection
  bool fresh = false;  ///< its file is new in this update
  /// The API's object of its name, as JSON, which protects its target itself; empty: none.
  std::string in_api{};
};

/// A file without a valid version, parts of which are unreadable.
struct UnreadableFile {
  std::string file;
  bool fresh = false;  ///< it is new in this update
};

/// A route or gateway in the files.
struct ProtectedObject {
  const FileObject* object = nullptr;
  bool fresh = false;  ///< it was never served
  /// Input: the file whose errors deny it already. Output: the file that denies it now; empty: it is served.
  std::string denied_for{};
};

bool is_route(const std::string& kind);
bool is_gateway(const std::string& kind);

/// Returns the document that denies a route or gateway while it is compiled in addition to the API's objects.
controller::ExtraDocument denial_of(const std::string& kind, const std::string& name_space, const std::string& name);

/// Sets `denied_for` of each, and returns the documents to compile in addition to the API's objects.
///
/// * The target of a refused document is denied; where the document's file is held, only new objects are. A Service has
/// no policy except TLS to its endpoints: requests to it are not forwarded in plain text.
/// * A refused route may have had stricter policies than routes that would match in its place: new routes that may
/// match requests of its hosts and paths are denied.
/// * Unreadable parts may have protected anything: every route that came with them is denied.
std::vector<controller::ExtraDocument> deny(const std::vector<RefusedDocument>& refused,
                                            const std::vector<UnreadableFile>& unreadable,
                                            std::vector<ProtectedObject>& objects);

}  // namespace edge::standalone
