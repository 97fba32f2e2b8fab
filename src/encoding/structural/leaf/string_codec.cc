#include "encoding/structural/leaf/string_codec.h"

#include <span>
#include <variant>

#include "encoding/codec/block.h"

namespace glaive::encoding {

arrow::Result<StringCodec> StringCodec::Validate(const wire::CompressiveEncoding& encoding,
                                                 Location where) {
  const wire::CompressiveEncoding* layout = &encoding;
  std::optional<FsstTable> table;
  if (const auto* fsst = std::get_if<wire::FsstEncoding>(&encoding.kind)) {
    const auto bytes = std::as_bytes(std::span(fsst->symbol_table));
    ARROW_ASSIGN_OR_RAISE(const FsstTable read, FsstTable::Validate(bytes, where));
    if (read.compresses()) table = read;
    layout = fsst->values.get();
  }
  const auto* variable = std::get_if<wire::VariableEncoding>(&layout->kind);
  if (variable == nullptr) return Unsupported(where, "{} encoding of strings", NameOf(*layout));
  ARROW_ASSIGN_OR_RAISE(const auto description, VariableDescription::Validate(*variable, where));
  return StringCodec{description, table};
}

}  // namespace glaive::encoding
