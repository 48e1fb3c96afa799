#include "controller/resource_api/objects/cel.h"

#include <nlohmann/json.hpp>

namespace edge::resource_api::objects {

struct CelRule::Node {};
CelRule::CelRule() = default;
CelRule::~CelRule() = default;

std::shared_ptr<const CelRule> CelRule::parse(const Json&) { return nullptr; }

std::unique_ptr<Cause> CelRule::broken_by(const Json&, const Json*, std::string_view) const { return nullptr; }

}  // namespace edge::resource_api::objects
