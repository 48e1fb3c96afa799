#include "edgectl/web/server/page.h"

#include <algorithm>
#include <string>
#include <utility>

#include "edgectl/web/server/asset.h"
#include "net/server/gzip.h"

namespace edge::edgectl::web {
namespace {

using net::server::Reply;

constexpr std::string_view kHashedFolder = "/assets/";
constexpr std::size_t kMostAsset = std::size_t{8} << 20;

constexpr std::string_view kPolicy =
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

const Asset* find(std::string_view path) {
  const auto all = assets();
  const auto found = std::ranges::lower_bound(all, path, {}, &Asset::path);
  return found != all.end() && found->path == path ? &*found : nullptr;
}

}  // namespace

Reply page_reply(const net::server::Request& request) {
  if (request.method != "GET" && request.method != "HEAD") {
    return {.status = 405,
            .content_type = "text/plain; charset=utf-8",
            .body = "only GET and HEAD\n",
            .fields = {{"Allow", "GET, HEAD"}}};
  }
  const Asset* asset = find(request.path);
  // A name with a hash is another name for another content.
  const bool hashed = request.path.starts_with(kHashedFolder);
  if (asset == nullptr && hashed)
    return {.status = 404, .content_type = "text/plain; charset=utf-8", .body = "not found\n"};
  if (asset == nullptr) asset = find("/index.html");
  Reply reply{.content_type = std::string(asset->content_type)};
  reply.fields.emplace_back("Cache-Control", hashed ? "public, max-age=31536000, immutable" : "no-cache");
  reply.fields.emplace_back("ETag", asset->etag);
  reply.fields.emplace_back("Vary", "Accept-Encoding");
  if (request.field("if-none-match") == asset->etag) {
    reply.status = 304;
    return reply;
  }
  if (net::server::takes_gzip(request.field("accept-encoding"))) {
    reply.fields.emplace_back("Content-Encoding", "gzip");
    reply.body = asset->gzip;
    return reply;
  }
  auto plain = net::server::decompress(asset->gzip, kMostAsset);
  if (plain) reply.body = std::move(*plain);
  return reply;
}

void add_confinement(Reply& reply) {
  const bool own =
      std::ranges::any_of(reply.fields, [](const auto& one) { return one.first == "Content-Security-Policy"; });
  if (!own) reply.fields.emplace_back("Content-Security-Policy", kPolicy);
  reply.fields.emplace_back("X-Content-Type-Options", "nosniff");
  reply.fields.emplace_back("Referrer-Policy", "no-referrer");
  reply.fields.emplace_back("Cross-Origin-Opener-Policy", "same-origin");
  reply.fields.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
}

}  // namespace edge::edgectl::web
