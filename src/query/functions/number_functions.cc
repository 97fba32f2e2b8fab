#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "core/error.h"
#include "query/cast/coercion.h"
#include "query/functions/functions.h"
#include "query/values/checked_array.h"

namespace glaive::query {
namespace {

using Arguments = std::vector<BoundPtr>;
using TypePtr = std::shared_ptr<arrow::DataType>;

// Computed in floats of 32 bits for columns of these, else in doubles.
arrow::Status TakeFloat(std::string_view function, BoundPtr* argument) {
  const arrow::DataType& type = *(*argument)->type();
  if (type.id() == arrow::Type::FLOAT || type.id() == arrow::Type::DOUBLE) {
    return arrow::Status::OK();
  }
  if (!IsNumber(type) && !IsNull(*argument)) {
    return InvalidInput("Function '{}' expects Numeric but received {}", function, TypeName(type));
  }
  *argument = MakeCast(std::move(*argument), arrow::float64());
  return arrow::Status::OK();
}

template <typename T, typename Map>
arrow::Result<arrow::Datum> MapRows(std::span<const arrow::Datum> values, int64_t num_rows,
                                    const Map& map) {
  using Array = typename arrow::CTypeTraits<T>::ArrayType;
  std::vector<std::shared_ptr<arrow::Array>> arrays;
  for (const arrow::Datum& value : values) {
    ARROW_ASSIGN_OR_RAISE(arrays.emplace_back(), ToArray(value, num_rows));
  }
  typename arrow::CTypeTraits<T>::BuilderType builder;
  ARROW_RETURN_NOT_OK(builder.Reserve(num_rows));
  const auto& first = ArrayAs<Array>(*arrays[0]);
  const auto& second = ArrayAs<Array>(*arrays.back());
  for (int64_t i = 0; i < num_rows; ++i) {
    if (first.IsNull(i) || second.IsNull(i)) {
      builder.UnsafeAppendNull();
    } else {
      builder.UnsafeAppend(map(first.Value(i), second.Value(i)));
    }
  }
  ARROW_ASSIGN_OR_RAISE(auto result, builder.Finish());
  return arrow::Datum(std::move(result));
}

// A kernel of one or two floats; `Op::Apply` is one for both widths.
template <typename Op>
arrow::Result<BoundPtr> BindFloat(std::string_view name, Arguments arguments) {
  TypePtr type = arrow::float32();
  const bool second_is_whole = arguments.size() == 2 && AsLiteral(arguments[1]) != nullptr &&
                               arrow::is_integer(arguments[1]->type()->id());
  for (BoundPtr& argument : arguments) {
    ARROW_RETURN_NOT_OK(TakeFloat(name, &argument));
    if (argument->type()->id() == arrow::Type::DOUBLE) type = argument->type();
  }
  // An integer beside a column of 32 bits does not make it wider.
  if (second_is_whole) type = arguments[0]->type();
  if (arguments.size() == 2 && AsLiteral(arguments[0]) != nullptr) type = arrow::float64();
  if (name == "round" || name == "trunc") type = arguments[0]->type();
  if (arguments.size() == 2 && name == "log") type = arguments[1]->type();
  for (BoundPtr& argument : arguments) argument = MakeCast(std::move(argument), type);
  const bool is_float = type->id() == arrow::Type::FLOAT;
  const Kernel kernel = [is_float](std::span<const arrow::Datum> values, int64_t num_rows) {
    return is_float ? MapRows<float>(values, num_rows, Op::template Apply<float>)
                    : MapRows<double>(values, num_rows, Op::template Apply<double>);
  };
  return MakeKernel(kernel, std::move(arguments), type);
}

// Doubles below zero have none: their NaN is above all numbers in the total order, whatever sign
// the C library gives it. That of floats of 32 bits has the sign that it has.
template <typename T>
bool HasLogarithm(T x) {
  return std::is_same_v<T, float> || !(x < 0);
}
template <typename T>
T Logarithm(T x) {
  return HasLogarithm(x) ? std::log(x) : std::numeric_limits<T>::quiet_NaN();
}

#define GLAIVE_FLOAT_FUNCTION(Name, expression) \
  struct Name {                                 \
    template <typename T>                       \
    static T Apply(T x, [[maybe_unused]] T y) { \
      return static_cast<T>(expression);        \
    }                                           \
  }
GLAIVE_FLOAT_FUNCTION(Sqrt, std::sqrt(x));
// The C library's of doubles is often off by a digit.
GLAIVE_FLOAT_FUNCTION(Cbrt, std::cbrt(static_cast<long double>(x)));
GLAIVE_FLOAT_FUNCTION(Exp, std::exp(x));
GLAIVE_FLOAT_FUNCTION(Ln, Logarithm(x));
GLAIVE_FLOAT_FUNCTION(Log2, HasLogarithm(x) ? std::log2(x) : std::numeric_limits<T>::quiet_NaN());
GLAIVE_FLOAT_FUNCTION(Log10, std::log10(x));
GLAIVE_FLOAT_FUNCTION(Sin, std::sin(x));
GLAIVE_FLOAT_FUNCTION(Cos, std::cos(x));
GLAIVE_FLOAT_FUNCTION(Tan, std::tan(x));
GLAIVE_FLOAT_FUNCTION(Cot, T{1} / std::tan(x));
GLAIVE_FLOAT_FUNCTION(Asin, std::asin(x));
GLAIVE_FLOAT_FUNCTION(Acos, std::acos(x));
GLAIVE_FLOAT_FUNCTION(Atan, std::atan(x));
GLAIVE_FLOAT_FUNCTION(Sinh, std::sinh(x));
GLAIVE_FLOAT_FUNCTION(Cosh, std::cosh(x));
GLAIVE_FLOAT_FUNCTION(Tanh, std::tanh(x));
GLAIVE_FLOAT_FUNCTION(Asinh, std::asinh(x));
GLAIVE_FLOAT_FUNCTION(Acosh, std::acosh(x));
GLAIVE_FLOAT_FUNCTION(Atanh, std::atanh(x));
// Of 32 bits by a factor that was rounded once.
GLAIVE_FLOAT_FUNCTION(Degrees, x* static_cast<T>(180 / std::numbers::pi_v<double>));
GLAIVE_FLOAT_FUNCTION(Radians, x*(std::numbers::pi_v<T> / T{180}));
GLAIVE_FLOAT_FUNCTION(Signum, std::isnan(x) ? std::numeric_limits<T>::quiet_NaN()
                              : x == 0      ? T{0}
                                            : std::copysign(T{1}, x));
GLAIVE_FLOAT_FUNCTION(Atan2, std::atan2(x, y));
#undef GLAIVE_FLOAT_FUNCTION

// log(x) is to the base of ten, log(b, x) to that of b.
struct LogOfTen {
  template <typename T>
  static T Apply(T x, T) {
    return Logarithm(x) / Logarithm(T{10});
  }
};
struct LogOfBase {
  template <typename T>
  static T Apply(T base, T x) {
    return Logarithm(x) / Logarithm(base);
  }
};

// The second value counts where the first is NaN, only.
arrow::Result<BoundPtr> BindNanvl(std::string_view name, Arguments arguments) {
  const auto is_half = [](const BoundPtr& argument) {
    return argument->type()->id() == arrow::Type::HALF_FLOAT;
  };
  const bool of_halves = std::ranges::all_of(arguments, is_half);
  TypePtr type = arrow::float32();
  for (BoundPtr& argument : arguments) {
    const bool was_half = is_half(argument);
    ARROW_RETURN_NOT_OK(TakeFloat(name, &argument));
    if (!was_half && argument->type()->id() == arrow::Type::DOUBLE) type = argument->type();
  }
  for (BoundPtr& argument : arguments) argument = MakeCast(std::move(argument), type);
  BoundPtr is_nan = MakeCall("is_nan", {arguments[0]}, arrow::boolean());
  BoundPtr value = MakeCall(
      "if_else", {std::move(is_nan), std::move(arguments[1]), std::move(arguments[0])}, type);
  return of_halves ? MakeCast(std::move(value), arrow::float16()) : value;
}

arrow::Result<BoundPtr> BindLog(std::string_view name, Arguments arguments) {
  if (arguments.size() == 1) return BindFloat<LogOfTen>(name, std::move(arguments));
  return BindFloat<LogOfBase>(name, std::move(arguments));
}

arrow::Result<BoundPtr> BindPower(std::string_view name, Arguments arguments) {
  for (const BoundPtr& argument : arguments) {
    if (arrow::is_decimal(argument->type()->id())) {
      return Unsupported("{}() of decimals is not built", name);
    }
  }
  for (BoundPtr& argument : arguments) {
    ARROW_RETURN_NOT_OK(TakeFloat(name, &argument));
    argument = MakeCast(std::move(argument), arrow::float64());
  }
  const Kernel kernel = [](std::span<const arrow::Datum> values,
                           int64_t num_rows) -> arrow::Result<arrow::Datum> {
    bool is_defined = true;
    auto powers = MapRows<double>(values, num_rows, [&](double base, double exponent) {
      is_defined = is_defined && !(base == 0 && exponent < 0);
      return std::pow(base, exponent);
    });
    if (!is_defined) return InvalidInput("zero raised to a negative power is undefined");
    return powers;
  };
  return MakeKernel(kernel, std::move(arguments), arrow::float64());
}

arrow::Result<BoundPtr> BindAbs(std::string_view name, Arguments arguments) {
  if (!IsNumber(*arguments[0]->type())) {
    return InvalidInput("Function '{}' expects Numeric but received {}", name,
                        TypeName(*arguments[0]->type()));
  }
  TypePtr type = arguments[0]->type();
  return MakeCall("abs_checked", std::move(arguments), std::move(type));
}

// Decimals stay what they are, all else is a float.
arrow::Result<BoundPtr> BindWhole(std::string_view name, Arguments arguments) {
  // Arrow's kernels make what does not fit a decimal 0.
  if (arrow::is_decimal(arguments[0]->type()->id())) {
    return BindDecimalWhole(std::move(arguments[0]), name == "ceil");
  }
  ARROW_RETURN_NOT_OK(TakeFloat(name, &arguments[0]));
  const TypePtr type = arguments[0]->type();
  BoundPtr whole = MakeCall(std::string(name), std::move(arguments), type);
  return MakeCast(std::move(whole), type);
}

struct Truncate {
  template <typename T>
  static T Apply(T x, T) {
    return x == 0 ? T{0} : std::trunc(x);
  }
};
// To so many digits behind the point; before it where there are less than none.
struct RoundTo {
  template <typename T>
  static T Apply(T x, T digits) {
    if (digits == 0) return std::round(x);
    const T factor = std::pow(T{10}, digits);
    return std::round(x * factor) / factor;
  }
};
struct TruncateTo {
  template <typename T>
  static T Apply(T x, T digits) {
    const T factor = std::pow(T{10}, digits);
    return std::trunc(x * factor) / factor;
  }
};

arrow::Result<BoundPtr> BindRound(std::string_view name, Arguments arguments) {
  if (name == "trunc" && arguments.size() == 1) {
    return BindFloat<Truncate>(name, std::move(arguments));
  }
  if (arguments.size() == 1) arguments.push_back(MakeLiteral(arrow::MakeScalar(int64_t{0})));
  ARROW_RETURN_NOT_OK(TakeInteger(name, &arguments[1]));
  // What trunc() cuts off a decimal is cut off a double.
  if (name == "round" && arrow::is_decimal(arguments[0]->type()->id())) {
    return BindDecimalRounding(std::move(arguments[0]), std::move(arguments[1]));
  }
  return name == "round" ? BindFloat<RoundTo>(name, std::move(arguments))
                         : BindFloat<TruncateTo>(name, std::move(arguments));
}

arrow::Result<BoundPtr> BindTest(std::string_view name, Arguments arguments) {
  ARROW_RETURN_NOT_OK(TakeFloat(name, &arguments[0]));
  if (name == "isnan") return MakeCall("is_nan", std::move(arguments), arrow::boolean());
  BoundPtr zero = MakeCast(MakeLiteral(arrow::MakeScalar(0.0)), arguments[0]->type());
  return MakeCall("equal", {std::move(arguments[0]), std::move(zero)}, arrow::boolean());
}

arrow::Result<BoundPtr> BindDivisor(std::string_view name, Arguments arguments) {
  for (BoundPtr& argument : arguments) ARROW_RETURN_NOT_OK(TakeInteger(name, &argument));
  const bool greatest = name == "gcd";
  const Kernel kernel = [greatest](std::span<const arrow::Datum> values, int64_t num_rows) {
    return MapRows<int64_t>(values, num_rows, [greatest](int64_t a, int64_t b) {
      const auto magnitude = [](int64_t x) {
        return x < 0 ? -static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
      };
      const uint64_t divisor = std::gcd(magnitude(a), magnitude(b));
      if (greatest || divisor == 0) return static_cast<int64_t>(divisor);
      return static_cast<int64_t>(magnitude(a) / divisor * magnitude(b));
    });
  };
  return MakeKernel(kernel, std::move(arguments), arrow::int64());
}

arrow::Result<BoundPtr> BindPi(std::string_view, Arguments) {
  return MakeLiteral(arrow::MakeScalar(std::numbers::pi));
}

constexpr std::array<Function, 37> kFunctions = {{
    {"abs", 1, 1, &BindAbs},
    {"ceil", 1, 1, &BindWhole},
    {"floor", 1, 1, &BindWhole},
    {"round", 1, 2, &BindRound},
    {"trunc", 1, 2, &BindRound},
    {"sqrt", 1, 1, &BindFloat<Sqrt>},
    {"cbrt", 1, 1, &BindFloat<Cbrt>},
    {"power", 2, 2, &BindPower},
    {"pow", 2, 2, &BindPower},
    {"exp", 1, 1, &BindFloat<Exp>},
    {"ln", 1, 1, &BindFloat<Ln>},
    {"log", 1, 2, &BindLog},
    {"log2", 1, 1, &BindFloat<Log2>},
    {"log10", 1, 1, &BindFloat<Log10>},
    {"sin", 1, 1, &BindFloat<Sin>},
    {"cos", 1, 1, &BindFloat<Cos>},
    {"tan", 1, 1, &BindFloat<Tan>},
    {"cot", 1, 1, &BindFloat<Cot>},
    {"asin", 1, 1, &BindFloat<Asin>},
    {"acos", 1, 1, &BindFloat<Acos>},
    {"atan", 1, 1, &BindFloat<Atan>},
    {"sinh", 1, 1, &BindFloat<Sinh>},
    {"cosh", 1, 1, &BindFloat<Cosh>},
    {"tanh", 1, 1, &BindFloat<Tanh>},
    {"asinh", 1, 1, &BindFloat<Asinh>},
    {"acosh", 1, 1, &BindFloat<Acosh>},
    {"atanh", 1, 1, &BindFloat<Atanh>},
    {"atan2", 2, 2, &BindFloat<Atan2>},
    {"degrees", 1, 1, &BindFloat<Degrees>},
    {"radians", 1, 1, &BindFloat<Radians>},
    {"signum", 1, 1, &BindFloat<Signum>},
    {"nanvl", 2, 2, &BindNanvl},
    {"isnan", 1, 1, &BindTest},
    {"iszero", 1, 1, &BindTest},
    {"gcd", 2, 2, &BindDivisor},
    {"lcm", 2, 2, &BindDivisor},
    {"pi", 0, 0, &BindPi},
}};

}  // namespace

std::span<const Function> NumberFunctions() { return kFunctions; }

}  // namespace glaive::query
