// The kinds of the Multi-Cluster Services API (KEP-1645) that are read. Open: other fields are ignored.
#include "schemas/schema.h"

namespace edge::schemas {
namespace {

constexpr Field kExportFields[] = {
    anything("spec", "Labels and annotations of the export; not used."),
    anything("status", "Observed state."),
};
constexpr Field kPortFields[] = {
    string("name", "Name of the port."),
    integer("port", "Port of the service.").within(1, 65535).needed(),
    string("protocol", "TCP, UDP or SCTP.").defaults_to("TCP"),
    string("appProtocol", "What is spoken there."),
};
constexpr Object kPort{kPortFields, true};
constexpr Field kImportSpecFields[] = {
    objects("ports", kPort, "Ports of the service."),
    string("type", "ClusterSetIP or Headless; both are called alike."),
};
constexpr Object kImportSpec{kImportSpecFields, true};
constexpr Field kImportFields[] = {
    object("spec", kImportSpec, "Desired state."),
    anything("status", "Observed state."),
};

}  // namespace

const Object kServiceExport{kExportFields, true};
const Object kServiceImport{kImportFields, true};

}  // namespace edge::schemas
