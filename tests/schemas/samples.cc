#include "tests/schemas/samples.h"

#include <algorithm>
#include <array>
#include <functional>

namespace edge::test {
namespace {

using schemas::Field;
using schemas::Format;
using schemas::Kind;
using schemas::Object;
using schemas::Type;
using Pointer = Json::json_pointer;

struct Texts {
  Format format;
  const char* first;
  const char* second;
  const char* wrong;  ///< null: nothing is wrong
};
constexpr Texts kTexts[] = {
    {Format::kNone, "a", "b", nullptr},
    {Format::kName, "a.b-c", "d", "A_b"},
    {Format::kNamespace, "ns", "other", "a.b"},
    {Format::kNamespacedName, "ns/a.b", "c", "a/b/c"},
    {Format::kLabel, "a-b", "c", "-a"},
    {Format::kLabelValue, "eu-1.A_b", "c", "a b"},
    {Format::kHostname, "a.example.com", "b.example.com", "*a.example"},
    {Format::kCidr, "10.1.0.0/16", "fd00::/8", "10.0.0.0/33"},
    {Format::kIp, "192.0.2.1", "192.0.2.2", "300.0.0.1"},
    {Format::kDuration, "1h30m", "1.5s", "5 s"},
    {Format::kSize, "10Mi", "1024", "10mi"},
    {Format::kTimestamp, "2026-01-31T12:00:00Z", "2026-01-31T12:00:00+01:00", "yesterday"},
    {Format::kUrl, "https://a.example/x?y=1", "http://b.example", "ftp://a.example"},
    {Format::kPath, "/a", "/b", "a"},
    {Format::kHeaderName, "X-A", "X-B", "X A"},
    {Format::kHeaderValue, "a b", "c", " a"},
    {Format::kMethod, "GET", "PUT", "G T"},
    {Format::kRateLimitKey, "header:X-A", "query:b", "header:"},
    {Format::kPercent, "0.5%", "100%", "101%"},
    {Format::kCountOrPercent, "10%", "20%", "1.5%"},
    {Format::kHostPort, "a.example:9090", "[::1]:1", "a.example"},
    {Format::kEndpointAddress, "a_b.example:9090", "_http._tcp.example.org", "a.example"},
    {Format::kWireGuardKey,
     "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "AAAA="},
    {Format::kFilePath, "/a/..b/.c", "/...", "/a/../b"},
    {Format::kBgpCommunity, "64512:100", "64512:1:2", "64512"},
    {Format::kCountry, "DE", "FR", "de"},
    {Format::kErrorStatus, "404", "5xx", "304"},
    // Of a page its length alone can be wrong.
    {Format::kPage, "<p>a</p>", "b", nullptr},
    {Format::kUri, "spiffe://example.org/ns/shop", "urn:a:b", "//example.org"},
    {Format::kUriPrefix, "spiffe://example.org/", "urn:a:", "spiffe://example.org"},
    {Format::kEmail, "a@example.org", "b@example.org", "a@b@c"},
    {Format::kPattern, "(?i)a+b", "c", "(a\x01"},
    {Format::kMediaRange, "application/json", "text/*", "json"},
    {Format::kSha256, "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF",
     "00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99:aa:bb:cc:dd:ee:ff",
     "00112233445566778899aabbccddeeff"},
    {Format::kBgpPassword, "secret", "another one", "a\"b"},
};

/// Where a value is bound by more than its table, so that a resource of first values is right.
struct Hint {
  const char* position;
  const char* first;
  const char* second;
};
constexpr Hint kHints[] = {
    {"ProxyVIP spec.address", "10.0.0.1/24", "10.0.0.2/24"},
    {"ProxyVIP spec.pool", "10.0.0.0/24", "10.0.1.0/24"},
    {"ProxyVIP spec.mode", "L2ARP", "L2"},
    {"ProxyVIP spec.bgp.holdTime", "9s", "1m"},
    {"ProxyVIP spec.bgp.keepaliveTime", "3s", "20s"},
    {"ProxyVIP spec.bgp.connectRetryTime", "1s", "20s"},
    {"ProxyVIP spec.bgp.bfdInterval", "50ms", "1s"},
    {"ProxyVIP spec.bgp.gracefulRestartTime", "30s", "1m"},
    {"ProxyVIP spec.bgp.peers.address", "10.0.0.1", "10.0.0.2"},
    {"ProxyVIP spec.bgp.peers.sourceAddress", "10.0.0.3", "10.0.0.4"},
    {"ProxyVIP spec.bgp.routerID", "10.0.0.1", "10.0.0.2"},
    {"ProxyGateway spec.listeners.protocol", "HTTPS", "TLS"},
    {"ProxyGateway spec.compression.algorithms", "br", "gzip"},
    {"ProxyRoute spec.parentRefs.kind", "ProxyGateway", "Service"},
    {"ProxyRoute spec.rules.backendRef.kind", "ProxyBackend", "Service"},
    {"ProxyRoute spec.rules.backendRefs.kind", "ProxyBackend", "Service"},
    {"ProxyRoute spec.rules.matches.path.value", "/a", "/b"},
    {"ProxyRoute spec.rules.filters.urlRewrite.path.replacePrefixMatch", "/a", "/b"},
    {"ProxyRoute spec.rules.filters.urlRewrite.path.replaceFullPath", "/a", "/b"},
    {"ProxyRoute spec.rules.filters.requestRedirect.path.replacePrefixMatch", "/a", "/b"},
    {"ProxyRoute spec.rules.filters.requestRedirect.path.replaceFullPath", "/a", "/b"},
    {"ProxyRoute spec.rules.filters.requestMirror.fraction.denominator", "2147483647", "2147483646"},
    {"ProxyRoute spec.rules.sessionPersistence.cookieConfig.path", "/a", "/b"},
    {"ProxyBackend spec.url", "https://a.example", "https://b.example:8443"},
    {"ProxyBackend spec.endpoints.address", "192.0.2.1:80", "[2001:db8::1]:80"},
    {"ProxyBackend spec.clusterRefs.gateways", "198.51.100.7:15443", "198.51.100.8:15443"},
    {"ProxyPolicy spec.concurrencyLimit.statusCode", "429", "503"},
    {"ProxyPolicy spec.requestFilter.inspectedBodySize", "16Ki", "1024"},
    {"ProxyPolicy spec.rateLimit.limits.requests", "1000", "1001"},
    {"ProxyPolicy spec.jwt.jwks", R"({"keys":[{"kty":"EC"}]})", R"({"keys":[{"kty":"RSA"}]})"},
    {"ProxyPolicy spec.targetRef.group", EDGE_API_GROUP, "networking.k8s.io"},
    {"ProxyPolicy spec.targetRefs.group", EDGE_API_GROUP, "networking.k8s.io"},
    {"EdgeRemoteCluster spec.heartbeat.timeout", "3h", "4h"},
};

/// Of these fields one is given, in turn.
struct Alternatives {
  const char* kind;
  std::array<std::string_view, 3> fields;  ///< the last may be empty
};
constexpr Alternatives kAlternatives[] = {
    {"ProxyBackend", {"spec.serviceRef", "spec.endpoints", "spec.url"}},
    {"ProxyBackend", {"spec.clusterRefs", "spec.proxyProtocol"}},
    {"ProxyBackend", {"spec.failover", "-"}},
    {"ProxyGateway", {"spec.listeners.tls.secretRef", "spec.listeners.tls.certFile", "spec.listeners.tls.acme"}},
    {"ProxyGateway", {"spec.listeners.tls.certificateRefs", "spec.listeners.tls.keyFile", "-"}},
    {"ProxyGateway", {"spec.listeners.tls.acme.email", "spec.listeners.tls.acme.issuer"}},
    {"ProxyGateway", {"spec.listeners.tls.acme.directoryURL", "-"}},
    {"ProxyGateway", {"spec.listeners.tls.acme.keyType", "-"}},
    {"ProxyGateway", {"spec.listeners.tls.acme.challenges", "-"}},
    {"ProxyPolicy", {"spec.forwardAuth.address", "spec.forwardAuth.backendRef"}},
    {"ProxyPolicy", {"", "spec.forwardAuth.path"}},
    {"ProxyPolicy", {"spec.rateLimit.requestsPerSecond", "spec.rateLimit.limits"}},
    {"ProxyPolicy", {"spec.rateLimit.burst", "-"}},
    {"ProxyPolicy", {"spec.jwt.jwksUri", "spec.jwt.jwks", "spec.jwt.jwksSecretRef"}},
    {"ProxyPolicy", {"spec.ipAccess.allowLists.configMapRef", "spec.ipAccess.allowLists.file"}},
    {"ProxyPolicy", {"spec.ipAccess.denyLists.configMapRef", "spec.ipAccess.denyLists.file"}},
    {"ProxyPolicy", {"spec.maintenance.body", "spec.maintenance.configMapRef"}},
    {"ProxyPolicy", {"spec.fixedResponse.body", "spec.fixedResponse.configMapRef"}},
    {"ProxyPolicy", {"spec.errorPages.pages.body", "spec.errorPages.pages.configMapRef"}},
    {"ProxyRoute", {"spec.rules.filters.requestMirror.percent", "spec.rules.filters.requestMirror.fraction"}},
    {"EdgeCluster", {"spec.controller.env.value", "spec.controller.env.secretKeyRef"}},
    {"EdgeCluster", {"spec.agents.env.value", "spec.agents.env.secretKeyRef"}},
    {"ProxyVIP", {"spec.address", "spec.pool"}},
    {"ProxyVIP", {"spec.bgp.peers.password", "spec.bgp.peers.passwordSecretRef"}},
};

/// Of a gateway for other clusters, whose listeners have neither names nor certificates of their own: no resource has
/// all fields (tests/golden/backends/what-is-exported-is-served-to-clusters-alone).
/// Nor are several issuers of tokens named beside one, or a shared secret beside algorithms of public keys
/// (tests/golden/policies/keys-of-issuers-and-clients).
constexpr std::string_view kLeftOut[] = {"ProxyGateway spec.clusters", "ProxyPolicy spec.jwt.issuers",
                                         "ProxyPolicy spec.jwt.secretRef"};

/// Where one of several fields is required: the one that the least resource has.
constexpr const char* kOneOfSeveral[] = {"ProxyGateway spec.listeners.tls.acme.onDemand.allow",
                                         "ProxyPolicy spec.ipAccess.allow",
                                         "ProxyPolicy spec.requestFilter.maxHeaders",
                                         "ProxyPolicy spec.targetRef",
                                         "ProxyPolicy spec.jwt.issuer",
                                         "ProxyPolicy spec.jwt.jwksUri",
                                         "ProxyPolicy spec.jwt.allowedAlgorithms",
                                         "ProxyPolicy spec.apiKey.header",
                                         "ProxyPolicy spec.apiKey.cookie",
                                         "ProxyPolicy spec.errorPages.pages.body",
                                         "ProxyVIP spec.address"};

constexpr int kRounds = 3;

const Texts& texts_of(Format format) { return *std::ranges::find(kTexts, format, &Texts::format); }

std::vector<const Field*> bound_fields(const Object& object) {
  std::vector<const Field*> bound;
  for (const Field& field : object.fields) {
    if (!field.goes_with.empty()) bound.push_back(&field);
  }
  return bound;
}

class Maker {
 public:
  Maker(const Kind& kind, int variant, bool least) : kind_(kind), variant_(variant), least_(least) {}

  Json resource() {
    Json out;
    out["apiVersion"] = std::string(kind_.api_version);
    out["kind"] = std::string(kind_.kind);
    out["metadata"] = {{"name", "a"}, {"namespace", "ns"}};
    out.update(object(*kind_.body, ""));
    return out;
  }

  Json scalar(const Field& field, Type type, const std::string& path, bool second) const {
    const std::string position = std::string(kind_.kind) + " " + path;
    for (const Hint& hint : kHints) {
      if (position != hint.position) continue;
      const char* const hinted = second ? hint.second : hint.first;
      return type == Type::kInteger ? Json(std::stoll(hinted)) : Json(hinted);
    }
    const std::size_t count = field.values.size();
    switch (type) {
      case Type::kInteger:
        if (count > 0) return std::stoll(std::string(field.values[second ? 1 % count : 0]));
        return number(field) + (second ? 1 : 0);
      case Type::kBoolean:
        return !second;
      case Type::kIntOrString:
        return number(field) + (second ? 1 : 0);
      case Type::kStringMap:
        return {{"a", second ? "c" : "b"}};
      default:
        break;
    }
    if (count > 0) return std::string(field.values[second ? 1 % count : 0]);
    return second ? texts_of(field.format).second : texts_of(field.format).first;
  }

  /// Whether the field is in this variant's resource.
  bool wanted(const Object& object, const Field& field, const std::string& path) const {
    if (field.type == Type::kAny) return false;
    const std::string position = std::string(kind_.kind) + " " + path;
    if (is_left_out(kind_, path)) return false;
    if (!field.goes_with.empty()) return &field == variant_field(object);
    for (const Alternatives& one : kAlternatives) {
      const auto found = std::ranges::find(one.fields, path);
      if (kind_.kind != one.kind || found == one.fields.end()) continue;
      const std::size_t count = one.fields.back().empty() ? 2 : 3;
      const bool chosen = alternative() % count == static_cast<std::size_t>(found - one.fields.begin());
      if (!chosen || field.other_form.empty()) return chosen;
    }
    if (least_) return field.required || std::ranges::find(kOneOfSeveral, position) != std::end(kOneOfSeveral);
    if (field.other_form.empty()) return true;
    return (path < field.other_form) == (variant_ % 2 == 0);
  }

 private:
  static std::int64_t number(const Field& field) {
    const std::int64_t low = field.minimum == schemas::kNoMinimum ? 0 : field.minimum;
    return std::min(low + 1, field.maximum - 1);
  }

  /// Another in each round of the variants, where each type comes again.
  std::size_t alternative() const {
    const int round = variants_of(kind_) / kRounds;
    return static_cast<std::size_t>(variant_ / round + variant_ % round);
  }

  const Field* variant_field(const Object& object) const {
    const auto bound = bound_fields(object);
    return bound.empty() ? nullptr : bound[static_cast<std::size_t>(variant_) % bound.size()];
  }

  Json object(const Object& object, const std::string& path) {
    Json out = Json::object();
    const Field* variant = variant_field(object);
    for (const Field& field : object.fields) {
      const std::string here = (path.empty() ? "" : path + ".") + std::string(field.name);
      if (!wanted(object, field, here)) continue;
      Json value = value_of(field, here);
      if (variant != nullptr && field.name == "type") value = std::string(variant->goes_with);
      out[std::string(field.name)] = std::move(value);
    }
    return out;
  }

  Json value_of(const Field& field, const std::string& path) {
    if (field.type == Type::kObject) return object(*field.object, path);
    if (field.type != Type::kList) return scalar(field, field.type, path, false);
    if (field.item == Type::kObject) return Json::array({object(*field.object, path)});
    return Json::array({scalar(field, field.item, path, false)});
  }

  const Kind& kind_;
  int variant_;
  bool least_;
};

/// Calls `each` for every field of a resource and of its table together.
struct FieldPosition {
  const Object* object;
  const Field* field;
  Pointer pointer;
  std::string path;
};
void walk(const Json& node, const Object& object, const Pointer& at, const std::string& path,
          const std::function<void(const FieldPosition&)>& each) {
  for (const Field& field : object.fields) {
    const std::string name(field.name);
    if (!node.contains(name)) continue;
    const Pointer here = at / name;
    const std::string below = (path.empty() ? "" : path + ".") + name;
    each({&object, &field, here, below});
    const Json& value = node[name];
    if (field.type == Type::kObject) walk(value, *field.object, here, below, each);
    if (field.type == Type::kList && field.item == Type::kObject) walk(value[0], *field.object, here / 0, below, each);
  }
}

class Spoiler {
 public:
  Spoiler(const Kind& kind, int variant, std::vector<Sample>& out)
      : kind_(kind), variant_(variant), whole_(full_resource(kind, variant)), out_(out) {}

  void run() {
    walk(whole_, *kind_.body, Pointer(), "", [&](const FieldPosition& position) { spoil(position); });
  }

 private:
  void add(const FieldPosition& position, const char* what, bool valid, const Pointer& pointer, Json value) {
    Json resource = whole_;
    resource[pointer] = std::move(value);
    out_.push_back({valid, std::string(kind_.kind) + " " + position.path + ": " + what, std::move(resource)});
  }
  void wrong(const FieldPosition& position, const char* what, Json value) {
    add(position, what, false, position.pointer, std::move(value));
  }

  void spoil(const FieldPosition& position) {
    const Field& field = *position.field;
    if (field.required) remove(position);
    switch (field.type) {
      case Type::kObject:
        wrong(position, "a string for an object", "x");
        add(position, "an unknown field", false, position.pointer / "noSuchField", 1);
        spoil_variant(position);
        return;
      case Type::kList:
        wrong(position, "an object for a list", Json::object());
        if (field.most <= 64) wrong(position, "too long a list", Json(field.most + 1, whole_[position.pointer][0]));
        if (field.item == Type::kObject) {
          add(position, "an unknown field", false, position.pointer / 0 / "noSuchField", 1);
          spoil_variant({position.object, position.field, position.pointer / 0, position.path});
        } else {
          spoil_scalar({position.object, position.field, position.pointer / 0, position.path}, field.item);
        }
        return;
      case Type::kStringMap:
        wrong(position, "a number for a string of a map", {{"a", 1}});
        return;
      default:
        spoil_scalar(position, field.type);
    }
  }

  void remove(const FieldPosition& position) {
    Json resource = whole_;
    resource[position.pointer.parent_pointer()].erase(std::string(position.field->name));
    out_.push_back({false, std::string(kind_.kind) + " " + position.path + ": missing", std::move(resource)});
  }

  /// A field that goes with another `type` than the one given.
  void spoil_variant(const FieldPosition& position) {
    const Object& object = *position.field->object;
    const auto bound = bound_fields(object);
    if (bound.size() < 2) return;
    const Field* other = bound[static_cast<std::size_t>(variant_ + 1) % bound.size()];
    const Json next = full_resource(kind_, variant_ + 1);
    const Pointer at = position.pointer / std::string(other->name);
    if (next.contains(at)) add(position, "a field of another type", false, at, next[at]);
  }

  void spoil_scalar(const FieldPosition& position, Type type) {
    const Field& field = *position.field;
    if (type == Type::kBoolean) return wrong(position, "a string for a boolean", "true");
    if (!field.values.empty()) {
      return wrong(position, "a value that is not one of those taken",
                   type == Type::kInteger ? Json(304) : Json("NoSuchValue"));
    }
    if (type == Type::kInteger || type == Type::kIntOrString) {
      if (type == Type::kInteger) wrong(position, "a string for a number", "1");
      if (field.minimum != schemas::kNoMinimum) {
        add(position, "the least number", true, position.pointer, field.minimum);
        wrong(position, "below the minimum", field.minimum - 1);
      }
      if (field.maximum != schemas::kNoMaximum) {
        add(position, "the greatest number", true, position.pointer, field.maximum);
        wrong(position, "above the maximum", field.maximum + 1);
      }
      wrong(position, "an object for a number", Json::object());
      return;
    }
    // A number is no string, save of a size.
    if (field.format == Format::kSize) {
      add(position, "a number of bytes", true, position.pointer, 4096);
      wrong(position, "a negative size", -1);
    } else {
      wrong(position, "a number for a string", 7);
    }
    if (const char* text = texts_of(field.format).wrong) wrong(position, "a text of another format", text);
  }

  const Kind& kind_;
  int variant_;
  Json whole_;
  std::vector<Sample>& out_;
};

/// The most fields of one object that go with different types: so many variants, and two for settings with two forms.
int most_variants(const Object& object) {
  int most = static_cast<int>(std::max<std::size_t>(bound_fields(object).size(), 2));
  for (const Field& field : object.fields) {
    if (field.object != nullptr) most = std::max(most, most_variants(*field.object));
  }
  return most;
}

}  // namespace

bool is_left_out(const Kind& kind, std::string_view path) {
  const std::string position = std::string(kind.kind) + " " + std::string(path);
  return std::ranges::any_of(
      kLeftOut, [&](std::string_view one) { return position == one || position.starts_with(std::string(one) + "."); });
}

// In rounds, so that each type meets each of three alternatives.
int variants_of(const Kind& kind) {
  int most = most_variants(*kind.body);
  for (const Alternatives& one : kAlternatives) {
    if (kind.kind != one.kind) continue;
    most = std::max(most, static_cast<int>(one.fields.size()));
    // Alternatives within one of three: each has to meet each.
    if (one.fields[0].ends_with("acme.email")) most = std::max(most, 6);
  }
  return kRounds * most;
}
Json full_resource(const Kind& kind, int variant) { return Maker(kind, variant, false).resource(); }
Json least_resource(const Kind& kind, int variant) { return Maker(kind, variant, true).resource(); }

std::vector<Sample> changed(const Kind& kind, int variant) {
  std::vector<Sample> out;
  const Json whole = full_resource(kind, variant);
  const Maker maker(kind, variant, false);
  walk(whole, *kind.body, Pointer(), "", [&](const FieldPosition& position) {
    const Field& field = *position.field;
    const bool list = field.type == Type::kList;
    const Type type = list ? field.item : field.type;
    if (type == Type::kObject) return;
    const Json other = maker.scalar(field, type, position.path, true);
    Json resource = whole;
    Json& value = resource[position.pointer];
    if ((list ? value[0] : value) == other) return;  // the only value that is taken
    (list ? value[0] : value) = other;
    out.push_back({true, std::string(kind.kind) + " " + position.path, std::move(resource)});
  });
  return out;
}

std::vector<Sample> left_empty(const Kind& kind, int variant) {
  std::vector<Sample> out;
  const Json whole = full_resource(kind, variant);
  walk(whole, *kind.body, Pointer(), "", [&](const FieldPosition& position) {
    if (!position.field->narrows) return;
    const auto add = [&](const char* what, Json value) {
      Json resource = whole;
      resource[position.pointer] = std::move(value);
      out.push_back({false, std::string(kind.kind) + " " + position.path + ": " + what, std::move(resource)});
    };
    add("null", nullptr);
    if (position.field->type == Type::kList) add("an empty list", Json::array());
  });
  return out;
}

std::vector<Sample> all_samples() {
  std::vector<Sample> out;
  for (const Kind& kind : schemas::kinds()) {
    if (kind.manifest == nullptr) continue;
    for (int variant = 0; variant < variants_of(kind); ++variant) {
      const std::string name = std::string(kind.kind) + " variant " + std::to_string(variant);
      out.push_back({true, name + " with every field", full_resource(kind, variant)});
      out.push_back({true, name + " with what is required", least_resource(kind, variant)});
      Spoiler(kind, variant, out).run();
    }
  }
  return out;
}

}  // namespace edge::test
