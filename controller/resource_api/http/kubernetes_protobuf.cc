#include "controller/resource_api/http/kubernetes_protobuf.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/text/base64.h"
#include "base/text/json.h"
#include "base/text/protobuf_reader.h"
#include "controller/resource_api/objects/read.h"

namespace edge::resource_api::http {
namespace {

using objects::Json;

constexpr std::string_view kMagic("k8s\0", 4);
/// Far deeper than any of the messages goes.
constexpr int kMaxDepth = 64;
/// Values in one body: a byte of it may stand for an empty message.
constexpr std::size_t kMaxValues = 1'000'000;

constexpr std::string_view kMessages =
#include "controller/resource_api/http/kubernetes_messages.def"
    ;

// ---- The table ----------------------------------------------------------------------------------------------------

struct Message;

struct Type {
  enum class Kind : std::uint8_t {
    kString,
    kBytes,
    kBool,
    kInt,
    kTime,
    kMicroTime,
    kIntOrString,
    kQuantity,
    kRaw,
    kMessage,
    kList,
    kMap
  };
  Kind kind = Kind::kString;
  const Message* message = nullptr;     ///< kMessage
  std::unique_ptr<const Type> element;  ///< kList, kMap
};

struct Member {
  std::string name;
  Type type;
  bool embedded = false;
  bool omit_empty = false;
};

struct Message {
  std::map<std::uint32_t, Member> members;
};

class Table {
 public:
  Table() {
    std::string_view text = kMessages;
    std::string definition;
    const auto finish = [&] {
      if (!definition.empty()) define(definition);
      definition.clear();
    };
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (!line.starts_with(' ')) finish();
      definition += line;
    }
    finish();
  }

  const Message* find(std::string_view name) const {
    const auto found = messages_.find(name);
    // A name that is only referred to has no members, and is no kind.
    return found == messages_.end() ? nullptr : &found->second;
  }

 private:
  static std::string_view word(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view found = text.substr(0, end);
    text.remove_prefix(end);
    return found;
  }

  void define(std::string_view definition) {
    const std::size_t colon = definition.find(':');
    Message& message = messages_[std::string(definition.substr(0, colon))];
    definition.remove_prefix(colon + 1);
    while (!definition.empty()) {
      const std::size_t end = std::min(definition.find(';'), definition.size());
      std::string_view part = definition.substr(0, end);
      definition.remove_prefix(std::min(end + 1, definition.size()));
      const std::string_view digits = word(part);
      if (digits.empty()) continue;
      std::uint32_t number = 0;
      std::from_chars(digits.data(), digits.data() + digits.size(), number);
      Member member;
      member.name = word(part);
      member.embedded = member.name == "+";
      std::string_view type = word(part);
      member.omit_empty = type.ends_with('?');
      if (member.omit_empty) type.remove_suffix(1);
      member.type = type_of(type);
      message.members.emplace(number, std::move(member));
    }
  }

  Type type_of(std::string_view text) {
    static constexpr std::pair<std::string_view, Type::Kind> kNames[] = {
        {"string", Type::Kind::kString},     {"bytes", Type::Kind::kBytes},
        {"bool", Type::Kind::kBool},         {"int", Type::Kind::kInt},
        {"Time", Type::Kind::kTime},         {"MicroTime", Type::Kind::kMicroTime},
        {"Quantity", Type::Kind::kQuantity}, {"IntOrString", Type::Kind::kIntOrString},
        {"Raw", Type::Kind::kRaw},
    };
    Type type;
    if (text.starts_with('[') || text.starts_with('{')) {
      type.kind = text.front() == '[' ? Type::Kind::kList : Type::Kind::kMap;
      type.element = std::make_unique<const Type>(type_of(text.substr(1, text.size() - 2)));
      return type;
    }
    for (const auto& [name, kind] : kNames) {
      if (name == text) {
        type.kind = kind;
        return type;
      }
    }
    type.kind = Type::Kind::kMessage;
    type.message = &messages_[std::string(text)];
    return type;
  }

  std::map<std::string, Message, std::less<>> messages_;
};

const Table& table() {
  static const Table made;
  return made;
}

// ---- Values -------------------------------------------------------------------------------------------------------

class Decoder {
 public:
  bool failed() const { return failed_; }

  void message(std::string_view bytes, const Message& shape, Json& into, int depth) {
    if (depth > kMaxDepth) return fail();
    ProtobufReader reader(bytes);
    while (const std::optional<ProtobufField> field = reader.next()) {
      const auto found = shape.members.find(field->number);
      if (found == shape.members.end()) continue;  // of a newer client
      member(*field, found->second, into, depth);
      if (failed_) return;
    }
    if (reader.malformed()) fail();
  }

 private:
  void fail() { failed_ = true; }

  void member(const ProtobufField& field, const Member& member, Json& into, int depth) {
    using Kind = Type::Kind;
    if (++values_ > kMaxValues) return fail();
    const Type& type = member.type;
    if (member.embedded) {
      if (!field.is_bytes || type.kind != Kind::kMessage) return fail();
      return message(field.bytes, *type.message, into, depth + 1);
    }
    if (type.kind == Kind::kList) {
      Json& list = into[member.name];
      if (list.is_null()) list = Json::array();
      list.push_back(value(field, *type.element, depth));
      return;
    }
    if (type.kind == Kind::kMap) return map_entry(field, *type.element, into[member.name], depth);
    Json one = value(field, type, depth);
    const bool empty = one.is_null() || (member.omit_empty && (one == "" || one == 0 || one == false));
    if (!empty) into[member.name] = std::move(one);
  }

  void map_entry(const ProtobufField& field, const Type& type, Json& map, int depth) {
    if (map.is_null()) map = Json::object();
    if (!field.is_bytes) return fail();
    std::string key;
    ProtobufField content{.number = 2, .is_bytes = type.kind != Type::Kind::kInt && type.kind != Type::Kind::kBool};
    ProtobufReader reader(field.bytes);
    while (const std::optional<ProtobufField> part = reader.next()) {
      if (part->number == 1) key = part->bytes;
      if (part->number == 2) content = *part;
    }
    if (reader.malformed()) return fail();
    map[key] =
        type.kind == Type::Kind::kList ? wrapped_list(content, *type.element, depth) : value(content, type, depth);
  }

  /// A list cannot be a map's value, so there it is a message that has one.
  Json wrapped_list(const ProtobufField& field, const Type& type, int depth) {
    Json list = Json::array();
    ProtobufReader reader(field.bytes);
    while (const std::optional<ProtobufField> part = reader.next()) {
      if (part->number == 1) list.push_back(value(*part, type, depth + 1));
    }
    if (reader.malformed()) fail();
    return list;
  }

  Json value(const ProtobufField& field, const Type& type, int depth) {
    using Kind = Type::Kind;
    const bool number = type.kind == Kind::kBool || type.kind == Kind::kInt;
    if (number == field.is_bytes) {
      fail();
      return nullptr;
    }
    switch (type.kind) {
      case Kind::kString:
        return std::string(field.bytes);
      case Kind::kBytes:
        return to_base64(field.bytes);
      case Kind::kBool:
        return field.value != 0;
      case Kind::kInt:
        return static_cast<std::int64_t>(field.value);
      case Kind::kTime:
        return time(field.bytes, false);
      case Kind::kMicroTime:
        return time(field.bytes, true);
      case Kind::kIntOrString:
        return int_or_string(field.bytes);
      case Kind::kQuantity:
        return text_within(field.bytes);
      case Kind::kRaw:
        return raw(field.bytes);
      case Kind::kMessage: {
        Json object = Json::object();
        message(field.bytes, *type.message, object, depth + 1);
        return object;
      }
      case Kind::kList:
      case Kind::kMap:
        break;
    }
    fail();
    return nullptr;
  }

  /// A message whose first field is the text.
  Json text_within(std::string_view bytes) {
    std::string text;
    ProtobufReader reader(bytes);
    while (const std::optional<ProtobufField> part = reader.next()) {
      if (part->number == 1) text = part->bytes;
    }
    if (reader.malformed()) fail();
    return text;
  }

  /// Seconds and nanoseconds since 1970; nothing at all is no time.
  Json time(std::string_view bytes, bool micro) {
    if (bytes.empty()) return nullptr;
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;
    ProtobufReader reader(bytes);
    while (const std::optional<ProtobufField> part = reader.next()) {
      if (part->number == 1) seconds = static_cast<std::int64_t>(part->value);
      if (part->number == 2) nanoseconds = static_cast<std::int32_t>(part->value);
    }
    std::tm utc{};
    const std::time_t when = seconds;
    constexpr std::int64_t kLatest = 253402300799;  // 9999-12-31T23:59:59Z, the last of RFC 3339
    if (reader.malformed() || seconds < -62135596800 || seconds > kLatest || nanoseconds < 0 ||
        nanoseconds > 999'999'999 || ::gmtime_r(&when, &utc) == nullptr) {
      fail();
      return nullptr;
    }
    char text[64];
    std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    if (micro)
      size += static_cast<std::size_t>(
          std::snprintf(text + size, sizeof text - size, ".%06d", static_cast<int>(nanoseconds / 1000)));
    return std::string(text, size) + "Z";
  }

  Json int_or_string(std::string_view bytes) {
    bool is_text = false;
    std::int64_t number = 0;
    std::string text;
    ProtobufReader reader(bytes);
    while (const std::optional<ProtobufField> part = reader.next()) {
      if (part->number == 1) is_text = part->value != 0;
      if (part->number == 2) number = static_cast<std::int32_t>(part->value);
      if (part->number == 3) text = part->bytes;
    }
    if (reader.malformed()) fail();
    if (is_text) return text;
    return number;
  }

  /// JSON within protobuf.
  Json raw(std::string_view bytes) {
    const Json text = text_within(bytes);
    if (failed_ || text == "") return nullptr;
    objects::Answer<Json> parsed = objects::read_json(text.get_ref<const std::string&>());
    if (parsed) return std::move(*parsed);
    fail();
    return nullptr;
  }

  std::size_t values_ = 0;
  bool failed_ = false;
};

/// The wrapper of every object: runtime.Unknown.
struct Envelope {
  std::string api_version;
  std::string kind;
  std::string_view raw;
};

std::optional<Envelope> open(std::string_view body) {
  if (!body.starts_with(kMagic)) return std::nullopt;
  Envelope envelope;
  ProtobufReader reader(body.substr(kMagic.size()));
  while (const std::optional<ProtobufField> field = reader.next()) {
    if (field->number == 2) envelope.raw = field->bytes;
    if (field->number == 3 && !field->bytes.empty()) return std::nullopt;  // compressed, which no client does
    if (field->number != 1) continue;
    ProtobufReader meta(field->bytes);
    while (const std::optional<ProtobufField> part = meta.next()) {
      if (part->number == 1) envelope.api_version = part->bytes;
      if (part->number == 2) envelope.kind = part->bytes;
    }
    if (meta.malformed()) return std::nullopt;
  }
  if (reader.malformed()) return std::nullopt;
  return envelope;
}

}  // namespace

objects::Answer<std::string> json_of_protobuf(std::string_view body) {
  const std::optional<Envelope> envelope = open(body);
  if (!envelope) return objects::bad_request("the body is not in Kubernetes' protobuf form");
  // Both groups have a kind of this name.
  const bool newer_event = envelope->kind == "Event" && envelope->api_version.starts_with("events.k8s.io/");
  const Message* const shape = table().find(newer_event ? "NewEvent" : envelope->kind);
  if (shape == nullptr) return objects::unsupported_media_type("application/json");
  Json object = Json::object();
  object["apiVersion"] = envelope->api_version;
  object["kind"] = envelope->kind;
  Decoder decoder;
  decoder.message(envelope->raw, *shape, object, 0);
  if (decoder.failed()) return objects::bad_request("the body is malformed protobuf");
  return json_line(object);
}

}  // namespace edge::resource_api::http
