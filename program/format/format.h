// The routing program: the one place where compiler and runtime meet. docs/program-format.md draws it.
//
//   FileHeader | SectionEntry[section_count] | SignatureBlock | sections, each aligned to 64 bytes
//
// All records are fixed-width and little-endian. Offsets inside a section count from the section's first byte; an
// ArrayRef's elements are aligned to their own alignment. Readers take any bytes without harm (read.h). A section's
// bytes depend on its own content alone, so an edit of one host leaves every other section, and its hash, as it was.
// Not in a program: endpoints, certificates, secrets. Their names are, the values travel beside it (endpoints.h).
#pragma once

#include "program/format/backends.h"
#include "program/format/file.h"
#include "program/format/host.h"
#include "program/format/listeners.h"
#include "program/format/policies.h"
#include "program/format/settings.h"
#include "program/format/treatments.h"
