// POST /cloudmesh/workflow: a workflow comes in as a file, an archive, or a directory that an
// administrator has put on the server's machine.
#include <filesystem>
#include <fstream>

#include "api/cloudmesh.h"
#include "api/cloudmesh_archive.h"
#include "api/handlers.h"
#include "base/text.h"
#include "http/multipart.h"

namespace atl::api {
namespace {

namespace fs = std::filesystem;

// What was sent, from the address and the body together. Texts lie in the body.
struct Upload {
  std::string body;
  std::optional<std::string_view> yaml;
  std::optional<std::string_view> archive;
  std::string file_name;  // of either
  std::string directory;
  std::string name;
  std::string run_directory;
};

Result<void> take_part(const http::Part& part, Upload& upload) {
  if (part.name == "yaml" || part.name == "archive") {
    auto& slot = part.name == "yaml" ? upload.yaml : upload.archive;
    if (part.body.empty() && part.file_name.empty()) return {};
    if (slot) return fail(ErrorCode::invalid, part.name + " may be given once", part.name);
    slot = part.body;
    upload.file_name = part.file_name;
  } else if (part.name == "directory") {
    upload.directory = part.body;
  } else if (part.name == "workflow_name") {
    upload.name = part.body;
  } else if (part.name == "run_directory") {
    upload.run_directory = part.body;
  } else {
    return fail(ErrorCode::invalid,
                "there is no field " + quote(part.name) +
                    "; write yaml, archive, directory, workflow_name or run_directory",
                part.name.substr(0, 64));
  }
  return {};
}

Result<void> read_upload(const CallPtr& call, Upload& upload) {
  const http::Request& request = call->request();
  upload.directory = request.query_param("directory").value_or("");
  upload.name = request.query_param("workflow_name").value_or("");
  upload.run_directory = request.query_param("run_directory").value_or("");
  const std::string type(request.headers.get("Content-Type"));
  upload.body = call->exchange->take_body();
  if (!http::is_multipart(type)) {
    if (!upload.body.empty()) upload.yaml = upload.body;
    return {};
  }
  const auto parts = http::parse_multipart(type, upload.body);
  if (!parts) return tl::unexpected(parts.error());
  for (const http::Part& part : *parts) {
    if (auto ok = take_part(part, upload); !ok) return ok;
  }
  return {};
}

// The file's name up to its first dot, as cc has it.
std::string name_of_file(const std::string& path) {
  const std::string file = path.substr(path.rfind('/') + 1);
  return file.substr(0, file.find('.'));
}

Result<std::string> read_small(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(path, error)))
    return fail(ErrorCode::invalid, "there is no file " + path.filename().string(), "yaml");
  if (fs::file_size(path, error) > kDefinitionBytesMax)
    return fail(ErrorCode::too_large, path.filename().string() + " is larger than 16Mi", "yaml");
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// NAME.yaml of a directory, else the only one there is.
Result<std::string> yaml_within(const fs::path& directory, const std::string& name) {
  std::error_code error;
  if (fs::exists(directory / (name + ".yaml"), error))
    return read_small(directory / (name + ".yaml"));
  std::vector<fs::path> found;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    const std::string ending = at->path().extension().string();
    if (ending == ".yaml" || ending == ".yml") found.push_back(at->path());
  }
  if (found.size() == 1) return read_small(found.front());
  return fail(ErrorCode::invalid,
              "there is no " + name + ".yaml in it, and not one other file that ends in .yaml",
              "workflow_name");
}

Result<Definition> from_yaml(const CloudmeshStore& store, const Upload& upload) {
  // A directory of the store ends with the workflow that came with it.
  if (store.is_tree(upload.run_directory))
    return fail(ErrorCode::invalid, "run_directory cannot be among the server's own files",
                "run_directory");
  return Definition{std::string(*upload.yaml), upload.run_directory};
}

// The nodes run where the archive was unpacked: in its one folder, if there is nothing beside it.
Result<Definition> from_archive(CloudmeshStore& store, const DefinitionsOf& of,
                                const Upload& upload) {
  const auto tree = store.new_tree(of, upload.name);
  if (!tree) return tl::unexpected(tree.error());
  const auto give_up = [&](const Error& error) {
    store.drop_tree(*tree);
    return tl::unexpected(error);
  };
  if (auto ok = unpack(*upload.archive, *tree); !ok) return give_up(ok.error());
  std::vector<fs::directory_entry> top;
  std::error_code error;
  for (fs::directory_iterator at(*tree, error), end; !error && at != end; at.increment(error))
    top.push_back(*at);
  const bool folded = top.size() == 1 && top.front().is_directory(error);
  const std::string directory = folded ? top.front().path().string() : *tree;
  auto yaml = yaml_within(directory, upload.name);
  if (!yaml) return give_up(yaml.error());
  return Definition{std::move(*yaml), directory};
}

// Only what an administrator has put into the directory for it: a path in a request must not read
// the rest of the machine.
Result<Definition> from_directory(const CallPtr& call, const Upload& upload) {
  const auto table = call->context.directory.table();
  if (auto ok = core::require_platform_admin(*table, call->actor); !ok)
    return fail(ErrorCode::forbidden,
                "directory is a path on the server's machine, which is for platform "
                "administrators; send the workflow as yaml or archive",
                "directory");
  std::error_code error;
  const fs::path root = fs::weakly_canonical(call->context.cloudmesh.upload_directory(), error);
  const fs::path asked = fs::weakly_canonical(
      upload.directory.starts_with('/') ? fs::path(upload.directory) : root / upload.directory,
      error);
  const auto [end, rest] = std::mismatch(root.begin(), root.end(), asked.begin(), asked.end());
  if (error || end != root.end() || rest == asked.end())
    return fail(ErrorCode::invalid, "directory must be below " + root.string(), "directory");
  if (!fs::is_directory(asked, error))
    return fail(ErrorCode::invalid, asked.string() + " is not a valid dir path", "directory");
  auto yaml = yaml_within(asked, upload.name);
  if (!yaml) return tl::unexpected(yaml.error());
  return Definition{std::move(*yaml), asked.string()};
}

void keep_upload(const CallPtr& call, const DefinitionsOf& of, const Upload& upload) {
  CloudmeshStore& store = call->context.cloudmesh;
  if (auto ok = check_definition_name(upload.name); !ok) return call->refuse(ok.error());
  if (auto ok = may_replace(call, of, upload.name); !ok) return call->refuse(ok.error());
  auto made = upload.yaml      ? from_yaml(store, upload)
              : upload.archive ? from_archive(store, of, upload)
                               : from_directory(call, upload);
  if (!made) return call->refuse(made.error());
  const auto give_up = [&](const Error& error) {
    if (upload.archive) store.drop_tree(made->directory);
    call->refuse(error);
  };
  const auto parsed = spec::cc::parse_cc(made->yaml, upload.name + ".yaml");
  if (!parsed) return give_up({parsed.error().code, parsed.error().message, "yaml"});
  if (auto ok = store.save(of, upload.name, *made); !ok) return give_up(ok.error());
  std::string body;
  spec::JsonWriter json(body);
  const std::string what = upload.file_name.empty()   ? upload.name
                           : upload.yaml              ? upload.file_name
                           : upload.directory.empty() ? upload.file_name
                                                      : upload.name + " dir";
  json.begin_object().member("message", "Successfully uploaded " + what);
  json.member("workflow", upload.name).member("warnings", parsed->warnings).end_object();
  call->respond_json(std::move(body));
}

}  // namespace

Result<void> may_replace(const CallPtr& call, const DefinitionsOf& of, const std::string& name) {
  const auto before = call->context.cloudmesh.load(of, name);
  if (!before || !call->context.cloudmesh.is_tree(before->directory)) return {};
  const auto run = newest_run(call->context.history, of.id, name);
  if (!run) return tl::unexpected(run.error());
  if (!*run || (*run)->ended) return {};
  return fail(ErrorCode::conflict,
              "workflow " + to_string((*run)->id) + " runs in the files that came with " + name +
                  "; wait for it, or cancel it first",
              "workflow_name");
}

void upload_definition(const CallPtr& call) {
  auto upload = std::make_shared<Upload>();
  if (auto ok = read_upload(call, *upload); !ok) return call->refuse(ok.error());
  const int options =
      (upload->yaml ? 1 : 0) + (upload->archive ? 1 : 0) + (upload->directory.empty() ? 0 : 1);
  run_on(call->context.slow, call, [call, upload, options] {
    const auto of = definitions_of(call, core::Role::member);
    if (!of) return call->refuse(of.error());
    if (options > 1) return answer_message(call, "Only one upload option can be chosen.");
    if (options == 0)
      return call->refuse({ErrorCode::invalid,
                           "send one of yaml, archive and directory: curl -F yaml=@flood.yaml",
                           "yaml"});
    if (upload->name.empty()) {
      std::string path = upload->directory.empty() ? upload->file_name : upload->directory;
      while (path.size() > 1 && path.ends_with('/')) path.pop_back();
      upload->name = name_of_file(path);
    }
    if (upload->name.empty())
      return call->refuse({ErrorCode::invalid,
                           "workflow_name is missing: the workflow came without a file's name",
                           "workflow_name"});
    keep_upload(call, *of, *upload);
  });
}

}  // namespace atl::api
