// Typed values and where they come from: env, params, args, input and output of tasks.
#pragma once

#include "spec/tapis/pipeline.h"
#include "spec/tapis/reader.h"

namespace atl::spec::tapis {

IoType read_type(const At& at);
const char* to_string(IoType type);

// Whether the value is of the type; what is wrong is thrown.
void check_type(const At& value, IoType type);

enum class Sources { literal_or_secret, any };
// {type, required, value | value_from, description}
Variable read_variable(const At& at, Sources allowed);
// Keys are names of files and of variables.
Variables read_variables(const At& at, Sources allowed);

}  // namespace atl::spec::tapis
