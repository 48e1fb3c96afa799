#include <cstring>

#include "base/ip.h"
#include "program/claim_field.h"
#include "program/dump/dump.h"
#include "program/evaluate/abi.h"

namespace edge::program {
namespace {

/// A hostile program may name one long string many times.
constexpr std::size_t kMaxText = std::size_t{1} << 20;

/// How tightly an operator binds: NOT over AND over OR (rule D5).
enum Binding : int { kOrBinding = 0, kAndBinding = 1, kNotBinding = 2 };

class Printer {
 public:
  explicit Printer(const SectionView& host) : host_(host), header_(host.header<HostHeader>()) {}

  void print(std::uint32_t index, int outer) {
    if (text_.size() > kMaxText) return;
    const NodeRecord& node = host_.array(header_.nodes)[index];
    switch (node.op) {
      case Op::kAnd:
        return print_list(node, kAndBinding, outer, " AND ", "true");
      case Op::kOr:
        return print_list(node, kOrBinding, outer, " OR ", "false");
      case Op::kNot:
        return print_not(node);
      case Op::kPresent:
        return print_subject(node.slot, " present");
      case Op::kEquals:
        return print_comparison(node, node.slot == kSlotPath ? " exact " : " == ");
      case Op::kPathPrefix:
        return print_comparison(node, " prefix ");
      case Op::kContains:
        return print_comparison(node, " contains ");
      case Op::kSourceIn:
        return print_source(node);
      case Op::kRegex: {
        const RegexRecord& regex = host_.array(header_.regexes)[node.a];
        print_subject(regex.slot, " matches ");
        return quote(host_.string(regex.pattern));
      }
      case Op::kFalse:
        text_ += "false";
        return;
    }
  }

  std::string take() && {
    if (text_.size() > kMaxText) text_.append(" ...");
    return std::move(text_);
  }

 private:
  void print_list(const NodeRecord& node, int binding, int outer, const char* separator, const char* empty) {
    if (node.b == 0) {
      text_ += empty;
      return;
    }
    const bool parenthesised = node.b > 1 && binding < outer;
    if (parenthesised) text_ += '(';
    bool first = true;
    for (const std::uint32_t operand : host_.array(header_.operands).subspan(node.a, node.b)) {
      if (!first) text_ += separator;
      print(operand, node.b > 1 ? binding : outer);
      first = false;
    }
    if (parenthesised) text_ += ')';
  }

  void print_not(const NodeRecord& node) {
    const NodeRecord& inner = host_.array(header_.nodes)[node.a];
    if (inner.op == Op::kEquals && inner.slot != kSlotPath) return print_comparison(inner, " != ");
    text_ += "NOT ";
    print(node.a, kNotBinding);
  }

  void print_comparison(const NodeRecord& node, const char* comparison) {
    print_subject(node.slot, comparison);
    quote(host_.string(node.a, node.b));
  }

  void print_source(const NodeRecord& node) {
    const CidrRecord& record = host_.array(header_.cidrs)[node.a];
    Cidr cidr;
    std::memcpy(cidr.address.bytes.data(), record.address, sizeof record.address);
    cidr.prefix_length = record.prefix_length;
    text_ += "source_ip in ";
    quote(to_string(cidr));
  }

  void print_subject(std::uint32_t slot, const char* suffix) {
    if (slot == kSlotMethod) {
      text_ += "method";
    } else if (slot == kSlotPath) {
      text_ += "path";
    } else {
      const SlotRecord& record = host_.array(header_.slots)[slot - kFirstHostSlot];
      const std::string_view name = host_.string(record.name).substr(0, kMaxText);
      if (record.kind == SlotKind::kHeader && is_claim_field(name)) return print_claim(name, suffix);
      text_ += record.kind == SlotKind::kHeader ? "header:" : "query:";
      text_ += name;
    }
    text_ += suffix;
  }

  void print_claim(std::string_view name, std::string_view suffix) {
    const auto claim = read_claim_field(name);
    text_ += field_text(name);
    if (!claim || !claim->item) text_ += suffix;
  }

  void quote(std::string_view value) {
    static constexpr char kDigits[] = "0123456789abcdef";
    text_ += '"';
    for (const char c : value.substr(0, kMaxText)) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        text_ += '\\';
        text_ += c;
      } else if (byte < 0x20 || byte == 0x7f) {
        text_ += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
      } else {
        text_ += c;
      }
    }
    text_ += '"';
  }

  const SectionView& host_;
  const HostHeader& header_;
  std::string text_;
};

}  // namespace

std::string predicate_text(const SectionView& host, std::uint32_t node) {
  if (node == kNone) return "true";
  Printer printer(host);
  printer.print(node, kOrBinding);
  return std::move(printer).take();
}

}  // namespace edge::program
