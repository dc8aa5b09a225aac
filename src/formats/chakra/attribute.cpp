#include "formats/chakra/attribute.hpp"

#include "core/printed.hpp"
#include "formats/chakra/format.hpp"
#include "photonrail/error.hpp"

#include <protozero/pbf_reader.hpp>

#include <cmath>

namespace photonrail::formats::chakra {

namespace {

using Kind = Attribute::Kind;
using protozero::pbf_wire_type;
using protozero::tag_and_type;

void set_integer(Attribute& a, std::int64_t value) {
  a.kind = value < 0 ? Kind::kNegative : Kind::kNatural;
  a.natural = static_cast<std::uint64_t>(value);
  a.real = static_cast<double>(value);
}

void set_natural(Attribute& a, std::uint64_t value) {
  a.kind = Kind::kNatural;
  a.natural = value;
}

void set_real(Attribute& a, double value) {
  a.kind = Kind::kReal;
  a.real = value;
}

void set_text(Attribute& a, protozero::data_view value) {
  a.kind = Kind::kText;
  a.text = {value.data(), value.size()};
}

// A list, or a field that the format did not have when this was written.
void skip_value(Attribute& a, protozero::pbf_reader& in) {
  const bool is_list = in.tag() % 2 == 0 && in.tag() > field::kAttributeComment && in.tag() <= field::kLastList;
  a.kind = is_list ? Kind::kList : Kind::kUnknown;
  if (in.tag_and_type() != tag_and_type(field::kBoolList, pbf_wire_type::length_delimited)) return in.skip();
  const auto message = in.get_view();
  a.text = {message.data(), message.size()};
}

void read_value(Attribute& a, protozero::pbf_reader& in) {
  switch (in.tag_and_type()) {
    case tag_and_type(field::kDouble, pbf_wire_type::fixed64):
      return set_real(a, in.get_double());
    case tag_and_type(field::kFloat, pbf_wire_type::fixed32):
      return set_real(a, static_cast<double>(in.get_float()));
    case tag_and_type(field::kInt32, pbf_wire_type::varint):
      return set_integer(a, in.get_int32());
    case tag_and_type(field::kInt64, pbf_wire_type::varint):
      return set_integer(a, in.get_int64());
    case tag_and_type(field::kUint32, pbf_wire_type::varint):
      return set_natural(a, in.get_uint32());
    case tag_and_type(field::kUint64, pbf_wire_type::varint):
      return set_natural(a, in.get_uint64());
    case tag_and_type(field::kSint32, pbf_wire_type::varint):
      return set_integer(a, in.get_sint32());
    case tag_and_type(field::kSint64, pbf_wire_type::varint):
      return set_integer(a, in.get_sint64());
    case tag_and_type(field::kFixed32, pbf_wire_type::fixed32):
      return set_natural(a, in.get_fixed32());
    case tag_and_type(field::kFixed64, pbf_wire_type::fixed64):
      return set_natural(a, in.get_fixed64());
    case tag_and_type(field::kSfixed32, pbf_wire_type::fixed32):
      return set_integer(a, in.get_sfixed32());
    case tag_and_type(field::kSfixed64, pbf_wire_type::fixed64):
      return set_integer(a, in.get_sfixed64());
    // Not get_bool(): it looks at the byte before it checks that there is one.
    case tag_and_type(field::kBool, pbf_wire_type::varint):
      return set_natural(a, in.get_uint64() != 0 ? 1 : 0);
    case tag_and_type(field::kString, pbf_wire_type::length_delimited):
    case tag_and_type(field::kBytes, pbf_wire_type::length_delimited):
      return set_text(a, in.get_view());
    default:
      return skip_value(a, in);
  }
}

std::string text_of(double value) { return core::printed("%.17g", value); }

}  // namespace

void Attribute::fail(std::string_view what) const {
  throw ConfigError("attribute " + std::string(name), std::string(what));
}

double Attribute::as_amount() const {
  switch (kind) {
    case Kind::kNatural:
      return static_cast<double>(natural);
    case Kind::kNegative:
      fail("is " + text_of(real) + ", but must not be negative");
    case Kind::kReal:
      if (!(real >= 0.0) || !std::isfinite(real)) fail("is " + text_of(real) + ", but must be a number from 0");
      return real;
    case Kind::kText:
      fail("is text, but must be a number");
    case Kind::kList:
      fail("is a list, but must be a number");
    default:
      fail("is of a kind that Chakra does not have");
  }
}

std::uint64_t Attribute::as_natural() const {
  if (kind == Kind::kNatural) return natural;
  const double value = as_amount();
  constexpr double kEnd = 18446744073709551616.0;  // 2^64
  if (value != std::floor(value) || value >= kEnd) fail("is " + text_of(value) + ", but must be a whole number below 2^64");
  return static_cast<std::uint64_t>(value);
}

std::string Attribute::as_text() const { return kind == Kind::kText ? std::string(text) : std::to_string(as_natural()); }

std::uint32_t Attribute::as_flags() const {
  if (kind != Kind::kList) fail("must be a list of bool");
  std::uint32_t flags = ~0U;
  unsigned count = 0;
  const auto add = [&](bool value) {
    if (count == 32) fail("has more than 32 values");
    if (!value) flags &= ~(1U << count);
    ++count;
  };
  protozero::pbf_reader in(text.data(), text.size());
  while (in.next()) {
    if (in.tag_and_type() == tag_and_type(1, pbf_wire_type::varint)) {
      add(in.get_uint64() != 0);
    } else if (in.tag_and_type() == tag_and_type(1, pbf_wire_type::length_delimited)) {
      for (const auto value : in.get_packed_uint64()) add(value != 0);
    } else {
      in.skip();
    }
  }
  return flags;
}

Attribute parse_attribute(protozero::data_view message) {
  Attribute a;
  protozero::pbf_reader in(message);
  while (in.next()) {
    if (in.tag() == field::kAttributeName && in.has_wire_type(pbf_wire_type::length_delimited)) {
      const auto name = in.get_view();
      a.name = {name.data(), name.size()};
    } else if (in.tag() == field::kAttributeName || in.tag() == field::kAttributeComment) {
      in.skip();
    } else {
      read_value(a, in);
    }
  }
  return a;
}

}  // namespace photonrail::formats::chakra
