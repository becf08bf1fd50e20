# The Debian packages Atoll needs, by purpose. ./run, ./test and bench/run source this file and call need_packages.
# Each line: group | why | packages

atoll_packages() {
  cat <<'TABLE'
build | compiler, linker and build tool | clang-19 lld-19 cmake ninja-build ccache
build | HTTP, JSON and TLS | libboost1.81-dev libboost-json1.81-dev libboost-url1.81-dev libssl-dev
build | storage, YAML, errors, command line, logs, metrics | libsqlite3-dev libyaml-dev libexpected-dev libcli11-dev libspdlog-dev libfmt-dev prometheus-cpp-dev
build | archives that are uploaded | libarchive-dev
build | time zones of schedules | libcctz-dev tzdata
build | the sandbox that jobs run in | bubblewrap
build | hosts behind ssh | openssh-client
build | graphs of workflows and their archives | graphviz libzip-dev
test | unit tests, sanitizers and fuzzers | libgtest-dev libgmock-dev libclang-rt-19-dev llvm-19
test | formatting and static checks | clang-format-19 clang-tidy-19
test | end-to-end tests | python3 python3-venv ca-certificates curl jq openssl tmux sqlite3 iproute2
test | the shells that completion is for | zsh fish
test | the Debian package | dpkg-dev file
test | a Slurm cluster, and another release of it | slurm-wlm munge slurmdbd mariadb-server debootstrap
test | a virtual machine with control groups of version 2 | qemu-system-x86 busybox-static
test | hosts behind ssh: servers, cuts, other shells | openssh-server iptables tcsh busybox-static util-linux procps
bench | measuring tools | libbenchmark-dev wrk hyperfine
bench | the peers to compare with | make parallel slurm-wlm munge redis-server
TABLE
}

# need_packages GROUP...: installs what is missing and says what and why. One dpkg-query when nothing is missing.
need_packages() {
  local group why packages package missing=() lines=() here
  here=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' 2>/dev/null | sed -n 's/^installed //p') || true
  while IFS='|' read -r group why packages; do
    group=${group// /} why=${why# } why=${why% }
    [[ " $* " == *" $group "* ]] || continue
    local absent=()
    for package in $packages; do
      grep -qxF "$package" <<<"$here" || absent+=("$package")
    done
    [[ ${#absent[@]} -eq 0 ]] && continue
    missing+=("${absent[@]}")
    lines+=("  for $why: ${absent[*]}")
  done < <(atoll_packages)
  [[ ${#missing[@]} -eq 0 ]] && return 0

  echo "Installing Debian packages:"
  printf '%s\n' "${lines[@]}"
  atoll_install "${missing[@]}"
}

atoll_install() {
  local as_root=() log unknown=() package started=$SECONDS
  if ! command -v apt-get >/dev/null; then
    echo "error: apt-get is missing. Atoll builds on Debian 12; install the packages above by other means and run again." >&2
    exit 1
  fi
  if [[ $(id -u) -ne 0 ]]; then
    if ! command -v sudo >/dev/null; then
      echo "error: installing needs root and sudo is missing. As root: apt-get install $*" >&2
      exit 1
    fi
    as_root=(sudo)
  fi
  as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300)
  mkdir -p build
  log=build/packages.log
  : >"$log"
  "${as_root[@]}" update >>"$log" 2>&1 || echo "warning: apt-get update failed, going on with the lists on disk (see $log)" >&2
  for package in "$@"; do
    apt-cache show "$package" >/dev/null 2>&1 || unknown+=("$package")
  done
  if [[ ${#unknown[@]} -gt 0 ]]; then
    tail -n 5 "$log" >&2
    echo "error: not in this machine's package lists: ${unknown[*]}" >&2
    echo "  This is $(. /etc/os-release && echo "$PRETTY_NAME"); all of them are in Debian 12 (bookworm) main with its updates." >&2
    echo "  See that /etc/apt/sources.list names bookworm, bookworm-updates and bookworm-security, and that the mirror answers." >&2
    exit 1
  fi
  if ! "${as_root[@]}" install --no-install-recommends "$@" >>"$log" 2>&1; then
    tail -n 30 "$log" >&2
    echo "error: apt-get could not install them; the whole log is in $log" >&2
    exit 1
  fi
  echo "  done in $((SECONDS - started)) s"
}
