// Responses that depend only on the kinds: discovery, OpenAPI, version, health. Made at the first request, cached until
// the kinds change, identified by ETag (RFC 9110 §8.8.3).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "controller/resource_api/registry.h"
#include "net/server/message.h"

namespace edge::resource_api::http {

inline constexpr std::string_view kJsonType = "application/json";

class Documents {
 public:
  /// `registry` must outlive this object.
  explicit Documents(const Registry& registry) : registry_(registry) {}

  /// `server`: `host:port` of the API.
  void set_server(std::string server) { server_ = std::move(server); }
  /// Answers GET and HEAD of these paths; other methods with 405. nullopt: another path. `path` is decoded.
  std::optional<net::server::Reply> answer(const net::server::Request& request, const std::string& path);

 private:
  /// The requested form of a document.
  struct Form {
    std::string content_type;
    std::string name;  ///< distinguishes the forms of one path
  };
  struct Document {
    std::string content_type;
    std::string body;
    std::string etag;
  };

  const Document* find(const std::string& asked, std::string_view accept);
  std::optional<Document> make(const std::string& path, const Form& form) const;

  const Registry& registry_;
  std::string server_;
  std::uint64_t generation_ = 0;
  std::map<std::string, Document> made_;
};

}  // namespace edge::resource_api::http
