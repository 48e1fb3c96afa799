// The pages under /debug of a daemon, as one table: what is asked finds its page here, and /debug/ lists them. They
// tell of the inside, and some change it: they are for whoever is on this machine, never for a page in a browser there.
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
  std::string summary;  ///< a line for the index, with the parameters that it takes
  AdminHandler answer;
};

class DebugPages {
 public:
  /// A path may have a page a verb. Before anything is asked.
  void add(DebugPage page) { pages_.push_back(std::move(page)); }
  /// nullopt: nothing under /debug was asked for. From any thread, as far as the pages allow.
  std::optional<AdminReply> answer(const AdminRequest& request) const;

 private:
  AdminReply index() const;
  std::vector<DebugPage> pages_;
};

/// Whether the path is one of those that `foreign` is to be asked about.
bool is_debug_path(std::string_view path);

/// The refusal of what came from a page in a browser: by a name that somebody else's DNS gave this machine's address
/// (the Host is neither an address nor `localhost`), or across sites (Origin, Sec-Fetch-Site). nullopt: none of these.
std::optional<AdminReply> foreign(const AdminRequest& request);

/// First value of a parameter, percent-decoded; nullopt when it is not there. Without a `=` it is empty.
std::optional<std::string> parameter(std::string_view query, std::string_view name);
/// The same as a number up to `most`; `fallback` where it is not there; nullopt for what is none.
std::optional<std::uint64_t> number_parameter(std::string_view query, std::string_view name, std::uint64_t fallback,
                                              std::uint64_t most);

}  // namespace edge::daemon
