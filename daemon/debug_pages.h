// The table of a daemon's pages under /debug: requests are dispatched by it, and /debug/ lists them. They expose
// internals, and some change them: they are for users of this machine, never for web pages in a browser there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/admin.h"

namespace edge::daemon {

struct DebugPage {
  std::string path;     ///< `/debug/log-level`
  std::string verb;     ///< `GET` (HEAD goes with it), `POST` or `PUT`
  std::string summary;  ///< a line for the index, with its parameters
  AdminHandler answer;
};

class DebugPages {
 public:
  /// Adds a page; one per path and verb. Before the first request.
  void add(DebugPage page) { pages_.push_back(std::move(page)); }
  /// nullopt: not under /debug. Any thread, if the pages allow it.
  std::optional<AdminReply> answer(const AdminRequest& request) const;

 private:
  AdminReply index() const;
  std::vector<DebugPage> pages_;
};

/// Returns whether `foreign` must be called for a path.
bool is_debug_path(std::string_view path);

/// Rejects a request from a web page in a browser: under a name that somebody else's DNS resolves to this machine (the
/// Host is neither an address nor `localhost`), or cross-site (Origin, Sec-Fetch-Site). nullopt: neither of these.
std::optional<AdminReply> foreign(const AdminRequest& request);

/// Returns the first value of a parameter, percent-decoded; nullopt when it is absent. Without a `=` it is empty.
std::optional<std::string> parameter(std::string_view query, std::string_view name);
/// The same as a number up to `most`; `fallback` when it is absent; nullopt when it is invalid.
std::optional<std::uint64_t> number_parameter(std::string_view query, std::string_view name, std::uint64_t fallback,
                                              std::uint64_t most);

}  // namespace edge::daemon
