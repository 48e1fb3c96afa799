#include "program/check_section.h"

#include "program/section_checker.h"

namespace edge::program {

std::string check_section(const Section& section) {
  Checker check(section);
  switch (section.kind) {
    case SectionKind::kListeners:
      check_listeners(check);
      break;
    case SectionKind::kHost:
      check_host(check);
      break;
    case SectionKind::kBackends:
      check_backends(check);
      break;
    case SectionKind::kPolicies:
      check_policies(check);
      break;
    // Opaque here: machine code is trusted by its signature, databases by Hyperscan's own checks after it.
    case SectionKind::kNative:
    case SectionKind::kRegex:
      break;
    default:
      return "kind";
  }
  return std::move(check).fault();
}

}  // namespace edge::program
