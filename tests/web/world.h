// A running edge-standalone with a site behind it, and `edgectl web` in front of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/cli/process.h"
#include "tests/cli/proxy_process.h"

namespace edge::test {

/// What no reply may contain: the value of a Secret, and of a header in a route.
inline constexpr const char* kPlanted = "c3RyaWN0bHktcGxhbnRlZA-41";

struct HttpReply {
  int status = 0;
  std::string head;
  std::string body;
};

class WebWorld {
 public:
  /// `flags`: further ones of edge-standalone. `more`: further documents of its configuration.
  explicit WebWorld(std::vector<std::string> flags = {}, const std::string& more = {});
  /// Starts `edgectl web` with further flags. \returns what it says instead of its address, empty when it serves.
  std::string serve(const std::vector<std::string>& flags = {});

  Finished edgectl(const std::string& words) const;
  /// A request by curl with further options.
  HttpReply ask(const std::string& path, const std::vector<std::string>& options = {}) const;
  HttpReply post(const std::string& path, const std::string& body, const std::vector<std::string>& options = {}) const;

  const std::string& url() const { return url_; }
  ProxyProcess& proxy() { return *proxy_; }
  const TempDir& dir() const { return dir_; }
  /// The program under test.
  Process& process() { return *web_; }

 private:
  TempDir dir_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<ProxyProcess> proxy_;
  std::unique_ptr<Process> web_;
  std::string url_;
};

}  // namespace edge::test
