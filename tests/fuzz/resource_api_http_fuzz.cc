// Any bytes as what reaches the resource API before its engine: paths and queries, forms that are asked for, bodies in
// Kubernetes' protobuf form, reviews. Whatever they are, there is an answer, and a refusal is a metav1.Status.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "controller/resource_api/http/access.h"
#include "controller/resource_api/http/documents.h"
#include "controller/resource_api/http/front.h"
#include "controller/resource_api/http/kubernetes_protobuf.h"
#include "controller/resource_api/http/reviews.h"
#include "controller/resource_api/objects/status.h"
#include "controller/resource_api/registry.h"
#include "tests/fuzz/require.h"

namespace {

using namespace edge::resource_api;
using namespace edge::resource_api::http;
using edge::resource_api::objects::Json;

bool is_status(const std::string& body) {
  const Json json = Json::parse(body, nullptr, false);
  return json.is_object() && json.value("kind", "") == "Status" && json.contains("code");
}

void check_protobuf(std::string_view bytes) {
  const auto json = json_of_protobuf(bytes);
  if (json) {
    require(Json::parse(*json, nullptr, false).is_object());
  } else {
    require(is_status(json.error().text()));
  }
}

/// `path?query`, then a line for what is accepted, then a body.
void check_request(std::string_view text) {
  static const Registry registry;
  static Documents documents(registry);
  const auto line = [&text] {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view one = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return one;
  };
  const std::string_view target = line();
  const std::string_view accept = line();
  const std::size_t mark = std::min(target.find('?'), target.size());
  const auto path = decode_path(target.substr(0, mark));
  const auto query = decode_query(target.substr(std::min(mark + 1, target.size())));
  if (!path || !query) return;
  const Attributes what = attributes_of("POST", *path, *query);
  // Nobody may what nobody may, however the path is written.
  require(!allowed({"nobody", {}}, what));
  edge::net::server::Request request;
  request.method = "GET";
  request.path = *path;
  request.fields = {{"Accept", std::string(accept)}};
  if (const auto reply = documents.answer(request, *path)) require(!reply->body.empty());
  ApiRequest asked;
  asked.method = "POST";
  asked.path = *path;
  asked.body = text;
  asked.user = {"someone", {"system:authenticated"}};
  if (const auto reply = answer_review(asked, what)) require(reply->status == 201 || is_status(reply->body));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with("k8s")) {
    check_protobuf(bytes);
  } else {
    check_request(bytes);
  }
  return 0;
}
