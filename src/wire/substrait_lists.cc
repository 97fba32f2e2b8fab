#include "wire/substrait_lists.h"

#include <utility>

#include <protozero/pbf_writer.hpp>

#include "core/error.h"
#include "wire/message.h"

namespace glaive::wire {
namespace {

// As deep as protobuf itself reads a message.
constexpr int kMaxDepth = 100;

// Which fields of a message are, or lead to, expressions.
enum class Kind { kExpression, kFunction, kArgument, kCast, kIfThen, kIfClause, kList };

struct Step {
  Kind kind;
  uint32_t field;
  Kind to;
};
constexpr Step kSteps[] = {
    {Kind::kExpression, 3, Kind::kFunction}, {Kind::kExpression, 6, Kind::kIfThen},
    {Kind::kExpression, 8, Kind::kList},     {Kind::kExpression, 11, Kind::kCast},
    {Kind::kFunction, 2, Kind::kExpression}, {Kind::kFunction, 4, Kind::kArgument},
    {Kind::kArgument, 3, Kind::kExpression}, {Kind::kCast, 2, Kind::kExpression},
    {Kind::kIfThen, 1, Kind::kIfClause},     {Kind::kIfThen, 2, Kind::kExpression},
    {Kind::kIfClause, 1, Kind::kExpression}, {Kind::kIfClause, 2, Kind::kExpression},
    {Kind::kList, 1, Kind::kExpression},     {Kind::kList, 2, Kind::kExpression},
};

constexpr uint32_t kListValue = 1;
constexpr uint32_t kListOptions = 2;

class ListTaker {
 public:
  ListTaker(int num_columns, size_t most) : num_columns_(num_columns), most_(most) {}

  std::string Rewrite(std::string_view message, Kind kind, int depth) {
    std::string out;
    FieldReader reader{protozero::data_view(message.data(), message.size())};
    while (reader.next()) {
      const uint32_t number = reader.tag();
      const Step* step = nullptr;
      for (const Step& known : kSteps) {
        if (known.kind == kind && known.field == number) step = &known;
      }
      if (step == nullptr || reader.wire_type() != kLengthDelimited || depth > kMaxDepth) {
        out.append(reader.SkipRaw());
        continue;
      }
      const auto view = reader.get_view();
      const std::string_view inner(view.data(), view.size());
      if (step->to == Kind::kList && CountOptions(inner) > most_) {
        Take(inner, depth);
        out.append(Column(num_columns_ + static_cast<int>(sizes_.size()) - 1));
      } else {
        protozero::pbf_writer(out).add_bytes(number, Rewrite(inner, step->to, depth + 1));
      }
    }
    return out;
  }

  std::string TakeExpressions() { return std::move(expressions_); }
  std::vector<size_t> TakeSizes() { return std::move(sizes_); }

 private:
  static size_t CountOptions(std::string_view list) {
    size_t count = 0;
    protozero::pbf_reader reader(list.data(), list.size());
    for (; reader.next(); reader.skip()) count += reader.tag() == kListOptions ? 1 : 0;
    return count;
  }

  void Take(std::string_view list, int depth) {
    std::string value;
    std::string options;
    size_t count = 0;
    protozero::pbf_reader reader(list.data(), list.size());
    while (reader.next()) {
      const uint32_t number = reader.tag();
      if (number != kListValue && number != kListOptions) {
        reader.skip();
        continue;
      }
      const auto view = reader.get_view();
      const std::string_view inner(view.data(), view.size());
      if (number == kListValue) {
        value = Rewrite(inner, Kind::kExpression, depth + 1);
      } else {
        AddExpression(inner, &options);
        ++count;
      }
    }
    // Behind the lists within what is looked for.
    AddExpression(value, &expressions_);
    expressions_.append(options);
    sizes_.push_back(count);
  }

  static void AddExpression(std::string_view expression, std::string* out) {
    std::string reference;
    protozero::pbf_writer fields(reference);
    fields.add_bytes(1, expression.data(), expression.size());
    fields.add_string(3, "value");
    protozero::pbf_writer(*out).add_bytes(3, reference);
  }

  // selection { direct_reference { struct_field { field } } root_reference {} }
  static std::string Column(int number) {
    std::string field;
    protozero::pbf_writer(field).add_int32(1, number);
    std::string segment;
    protozero::pbf_writer(segment).add_bytes(2, field);
    std::string reference;
    protozero::pbf_writer(reference).add_bytes(1, segment);
    protozero::pbf_writer(reference).add_bytes(4, "");
    std::string selection;
    protozero::pbf_writer(selection).add_bytes(2, reference);
    return selection;
  }

  int num_columns_;
  size_t most_;
  std::string expressions_;
  std::vector<size_t> sizes_;
};

std::string_view View(protozero::pbf_reader& reader) {
  const auto view = reader.get_view();
  return {view.data(), view.size()};
}

// base_schema { names, struct { types } }
int CountColumns(std::string_view schema) {
  int count = 0;
  protozero::pbf_reader reader(schema.data(), schema.size());
  while (reader.next(2)) {
    const std::string_view types = View(reader);
    protozero::pbf_reader fields(types.data(), types.size());
    for (; fields.next(1); fields.skip()) ++count;
  }
  return count;
}

// With so many columns of booleans behind those that there are.
std::string WithColumns(std::string_view schema, size_t count) {
  std::string out;
  FieldReader reader{protozero::data_view(schema.data(), schema.size())};
  while (reader.next()) {
    if (reader.tag() != 2) {
      out.append(reader.SkipRaw());
      continue;
    }
    std::string types(View(reader));
    std::string boolean;
    protozero::pbf_writer(boolean).add_bytes(1, "");
    for (size_t i = 0; i < count; ++i) protozero::pbf_writer(types).add_bytes(1, boolean);
    protozero::pbf_writer(out).add_bytes(2, types);
  }
  for (size_t i = 0; i < count; ++i) {
    protozero::pbf_writer(out).add_string(1, "list " + std::to_string(i));
  }
  return out;
}

SubstraitLists Take(std::string_view message, size_t most) {
  constexpr uint32_t kExpression = 3;
  constexpr uint32_t kSchema = 4;
  SubstraitLists lists;
  std::string_view schema;
  protozero::pbf_reader look(message.data(), message.size());
  while (look.next(kSchema)) schema = View(look);
  lists.num_columns = CountColumns(schema);
  ListTaker taker(lists.num_columns, most);
  FieldReader reader{protozero::data_view(message.data(), message.size())};
  while (reader.next()) {
    if (reader.tag() == kSchema) {
      reader.skip();
    } else if (reader.tag() == kExpression) {
      // expression_reference { expression, output_names }
      const std::string_view reference = View(reader);
      std::string rewritten;
      FieldReader parts{protozero::data_view(reference.data(), reference.size())};
      while (parts.next()) {
        if (parts.tag() == 1) {
          protozero::pbf_writer(rewritten).add_bytes(
              1, taker.Rewrite(View(parts), Kind::kExpression, 0));
        } else {
          rewritten.append(parts.SkipRaw());
        }
      }
      protozero::pbf_writer(lists.message).add_bytes(kExpression, rewritten);
    } else {
      lists.message.append(reader.SkipRaw());
    }
  }
  lists.sizes = taker.TakeSizes();
  protozero::pbf_writer(lists.message).add_bytes(kSchema, WithColumns(schema, lists.sizes.size()));
  lists.message.append(taker.TakeExpressions());
  return lists;
}

}  // namespace

arrow::Result<SubstraitLists> TakeLongLists(std::string_view message, size_t most) {
  try {
    return Take(message, most);
  } catch (const protozero::exception& error) {
    return InvalidInput("the filter is not a valid Substrait message: {}", error.what());
  }
}

}  // namespace glaive::wire
