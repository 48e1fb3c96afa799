// A question to an agent, or to the controller, in the form of its admin port, and what was said to it.
#pragma once

#include <string>

namespace edge::controller {

struct AgentQuestion {
  std::string method = "GET";  ///< `GET`, `POST` or `PUT`
  std::string target;          ///< `/debug/access-log?tail=10`
};

struct AgentAnswer {
  int status = 0;  ///< as HTTP has them: 404 is a page that is not there
  std::string content_type;
  std::string body;
};

}  // namespace edge::controller
