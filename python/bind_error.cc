#include "bind_error.h"

#include <string>
#include <string_view>

#include <arrow/util/io_util.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "glaive/error.h"
#include "glaive/staged_columns.h"

#include "bindings.h"

namespace glaive::python {
namespace {

// The class's name in glaive.errors, which is `kind` as Python sees it too.
const char* ClassName(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidInput: return "InvalidInput";
    case ErrorKind::kNotFound: return "NotFound";
    case ErrorKind::kFileNotFound: return "FileNotFound";
    case ErrorKind::kAlreadyExists: return "AlreadyExists";
    case ErrorKind::kIO: return "IO";
    case ErrorKind::kCorrupt: return "Corrupt";
    case ErrorKind::kCommitUnknown: return "CommitUnknown";
    case ErrorKind::kCommitConflict: return "LostRaceError";
    case ErrorKind::kUnsupported: return "Unsupported";
    case ErrorKind::kCancelled: return "Cancelled";
    case ErrorKind::kOutOfMemory: return "OutOfMemory";
    case ErrorKind::kInternal: return "Internal";
  }
  return "Internal";
}

// Clients tell errors by these words, pylance's.
std::string Text(ErrorKind kind, std::string text) {
  constexpr std::string_view kIO = "LanceError(IO)";
  constexpr std::string_view kConflict = "Commit conflict for version";
  const auto lacks = [&](std::string_view words) { return text.find(words) == std::string::npos; };
  if (kind == ErrorKind::kIO && lacks(kIO)) return std::string(kIO) + ": " + text;
  if (kind == ErrorKind::kCommitConflict && lacks(kConflict)) {
    return std::string(kConflict) + ": " + text;
  }
  return text;
}

// Names and texts out of damaged files need not be UTF-8.
nb::object ToUnicode(std::string_view text) {
  PyObject* const object =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace");
  if (object == nullptr) throw nb::python_error();
  return nb::steal(object);
}

nb::dict ColumnOf(const BackingColumn& column) {
  nb::dict dict;
  dict["path"] = ToUnicode(column.path);
  dict["base_id"] = column.base_id ? nb::cast(*column.base_id) : nb::none();
  dict["file_major_version"] = column.file_major_version;
  dict["file_minor_version"] = column.file_minor_version;
  dict["column_index"] = column.column_index;
  return dict;
}

nb::dict WitnessOf(const FieldWitness& witness) {
  nb::list overlays;
  for (const BackingOverlay& overlay : witness.overlays) {
    nb::dict dict = ColumnOf(overlay.column);
    dict["committed_version"] = overlay.committed_version;
    dict["coverage"] = overlay.coverage;
    overlays.append(dict);
  }
  nb::dict dict;
  dict["base"] = witness.base ? nb::object(ColumnOf(*witness.base)) : nb::none();
  dict["overlays"] = overlays;
  return dict;
}

void Describe(const ColumnWriteConflict& conflict, const nb::object& error) {
  if (conflict.fragment_id()) error.attr("fragment_id") = *conflict.fragment_id();
  if (!conflict.field().empty()) error.attr("field") = ToUnicode(conflict.field());
  error.attr("staged") = WitnessOf(conflict.staged());
  error.attr("current") = WitnessOf(conflict.current());
}

// The system's number, which an error of a store has as its last cause; 0 where there is none.
int ErrnoOf(const arrow::Status& status) {
  const ErrorDetail* const detail = ErrorDetail::Of(status);
  if (detail == nullptr) return arrow::internal::ErrnoFromStatus(status);
  return detail->cause() == nullptr ? 0 : ErrnoOf(*detail->cause());
}

nb::object ExceptionOf(const arrow::Status& status) {
  const ErrorKind kind = KindOf(status);
  const ColumnWriteConflict* const conflict = ColumnWriteConflict::Of(status);
  const char* const name = conflict != nullptr ? "ColumnWriteConflict" : ClassName(kind);
  const nb::object type = nb::module_::import_("glaive.errors").attr(name);
  nb::object error = type(ToUnicode(Text(kind, status.message())));
  if (const ErrorDetail* detail = ErrorDetail::Of(status); detail != nullptr) {
    error.attr("retryable") = detail->retryable();
    if (!detail->path().empty()) error.attr("path") = ToUnicode(detail->path());
    if (detail->offset().has_value()) error.attr("offset") = *detail->offset();
    if (const int number = ErrnoOf(status);
        number != 0 && PyObject_HasAttrString(error.ptr(), "errno")) {
      error.attr("errno") = number;
    }
    if (detail->cause() != nullptr && ErrorDetail::Of(*detail->cause()) != nullptr) {
      PyException_SetCause(error.ptr(), ExceptionOf(*detail->cause()).release().ptr());
    }
  }
  if (conflict != nullptr) Describe(*conflict, error);
  return error;
}

}  // namespace

void RaiseStatus(const arrow::Status& status) {
  const nb::object error = ExceptionOf(status);
  PyErr_SetObject(error.type().ptr(), error.ptr());
  throw nb::python_error();
}

}  // namespace glaive::python
