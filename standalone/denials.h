// What is not to be served because a document that was to protect it is at fault: which routes and gateways, and the
// policies at fault by which the compiler denies them (503, docs/policies.md). Decision 0083. No API, no files.
#pragma once

#include <string>
#include <vector>

#include "controller/controller.h"
#include "standalone/file_objects.h"

namespace edge::standalone {

/// A document at fault that the API does not get, or not in this version.
struct RefusedDocument {
  FileObject object;
  bool held = false;   ///< the last version of its file stands: what that protected is protected
  bool fresh = false;  ///< its file came with this update
  /// What the API has under its name, as JSON, which protects what it names by itself; empty: nothing.
  std::string in_api{};
};

/// A file without a sound version, of which some cannot be read at all.
struct UnreadableFile {
  std::string file;
  bool fresh = false;  ///< it came with this update
};

/// A route or gateway of the files.
struct ProtectedObject {
  const FileObject* object = nullptr;
  bool fresh = false;  ///< it was never served
  /// In: the file for whose fault it is denied already. Out: for whose it is now; empty: it is served.
  std::string denied_for{};
};

bool is_route(const std::string& kind);
bool is_gateway(const std::string& kind);

/// What denies the route or gateway of that name as long as it is compiled beside what the API has.
controller::ExtraDocument denial_of(const std::string& kind, const std::string& name_space, const std::string& name);

/// Sets `denied_for` of each, and tells the documents to be compiled beside what the API has.
///
/// * What a refused document names as its target is denied; where the document's file is held, only what is fresh is.
///   A Service has no policy but of TLS to its endpoints: requests for it are not sent on in plain text.
/// * A refused route may have had stricter policies than the ones that would answer in its place: fresh routes that
///   may take a request of its hosts and paths are denied.
/// * What cannot be read may have protected anything: every route that came with it is denied.
std::vector<controller::ExtraDocument> deny(const std::vector<RefusedDocument>& refused,
                                            const std::vector<UnreadableFile>& unreadable,
                                            std::vector<ProtectedObject>& objects);

}  // namespace edge::standalone
