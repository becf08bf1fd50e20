// A structure with a field table, read from YAML. Throws yaml::Wrong; to be called within
// read_yaml.
#pragma once

#include "spec/fields.h"
#include "spec/yaml_reader.h"

namespace atl::spec {

void read_fields(const Shape& shape, void* object, const yaml::Node& node);
void read_field(const Field& field, void* object, const yaml::Node& value);

// Any value as JSON.
std::string json_of(const yaml::Node& value);

template <class T>
void read_fields(T& object, const yaml::Node& node) {
  read_fields(shape_of<T>(), &object, node);
}

}  // namespace atl::spec
