// Answers that depend on what kinds there are and on nothing else: discovery, OpenAPI, version, health. Made when first
// asked for, kept until the kinds change, known by their ETag (RFC 9110 §8.8.3).
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
  /// `registry` must outlive it.
  explicit Documents(const Registry& registry) : registry_(registry) {}

  /// `server`: `host:port` of the API.
  void set_server(std::string server) { server_ = std::move(server); }
  /// nullopt: none of these paths. `path` is decoded. Answers GET and HEAD; others with 405.
  std::optional<net::server::Reply> answer(const net::server::Request& request, const std::string& path);

 private:
  /// The form in which a document is asked for.
  struct Form {
    std::string content_type;
    std::string name;  ///< tells the forms of one path apart
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
