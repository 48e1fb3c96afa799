// A request to the admin port of an agent or the controller, and its response.
#pragma once

#include <string>

namespace edge::controller {

struct AgentQuestion {
  std::string method = "GET";  ///< `GET`, `POST` or `PUT`
  std::string target;          ///< `/debug/access-log?tail=10`
  /// Of the controller's own pages: whose certificate asks, and from where; for logs and events.
  std::string asker{};
};

struct AgentAnswer {
  int status = 0;  ///< as in HTTP: 404 for a page that does not exist
  std::string content_type;
  std::string body;
};

}  // namespace edge::controller
