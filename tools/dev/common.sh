# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by ./dev: messages, set-up, and the one way Bazel is called.

say() { printf 'dev: %s\n' "$*" >&2; }

die() {
  printf 'dev: error: %s\n' "$*" >&2
  exit 1
}

# ensure_setup [ARGUMENTS...]: of setup.sh.
ensure_setup() {
  [[ "${HEDDLE_NO_SETUP:-0}" == 1 ]] || tools/setup/setup.sh "$@"
}

# The folder that @shared shows; "" when there is none. Handing the result to Bazel makes the
# repository notice when the folder comes or goes.
shared_folder() {
  if [[ -n "${HEDDLE_SHARED:-}" ]]; then
    (cd "$HEDDLE_CALLER_DIR" && cd "$HEDDLE_SHARED" && pwd) ||
      die "HEDDLE_SHARED is '$HEDDLE_SHARED', which is not a folder"
  elif [[ -d ../shared ]]; then
    (cd ../shared && pwd)
  fi
}

# The folder of the guest kernel (tools/setup/guest_kernel.sh), or another one that a command or the
# user has chosen; "" when there is none.
guest_kernel_folder() {
  if [[ -n "${HEDDLE_GUEST_KERNEL_DIR:-}" ]]; then
    printf '%s\n' "$HEDDLE_GUEST_KERNEL_DIR"
    return
  fi
  local cache="${XDG_CACHE_HOME:-${HOME:-}/.cache}/heddle/guest"
  readlink -e "$cache/${HEDDLE_GUEST_KERNEL:-current}" || true
}

# Sets bazel_startup. Bazel wants a user and a writable home; a chroot, a
# container or a service account may have neither.
bazel_startup=()
set_bazel_startup() {
  export USER="${USER:-$(id -un 2>/dev/null || echo builder)}"
  export HOME="${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}"
  if [[ -n "${HEDDLE_OUTPUT_BASE:-}" ]]; then
    bazel_startup=("--output_base=$HEDDLE_OUTPUT_BASE")
  elif [[ ! -w "${HOME:-/nonexistent}" ]]; then
    HOME="${TMPDIR:-/tmp}/heddle-build-$UID"
    mkdir -p "$HOME"
    chmod 700 "$HOME"
    [[ -O "$HOME" ]] || die "$HOME belongs to somebody else; set HOME or HEDDLE_OUTPUT_BASE"
    bazel_startup=("--output_user_root=$HOME/bazel")
  fi
}

# Bazel looks for the gold linker with `-o /dev/null` when it first sees a compiler. Run by root, gold takes the right
# to write to /dev/null from everybody else, until the next boot: apt, sudo, every other user's shell.
restore_dev_null() {
  if [[ "$UID" == 0 && -c /dev/null && "$(stat -c %a /dev/null)" != 666 ]]; then
    chmod 666 /dev/null || true
  fi
}

# Whether headers that are parsed once (tools/bazel/precompiled.bzl) fit what Bazel is asked for.
uses_precompiled() {
  local argument
  [[ "${HEDDLE_PRECOMPILED:-1}" == 1 ]] || return 1
  case "$1" in
    build | info | run | test) shift ;;
    *) return 1 ;;
  esac
  for argument in "$@"; do
    case "$argument" in
      --) break ;;
      --config=profiled) ;;
      # Other compilers and options of theirs.
      --config=* | -c | --compilation_mode* | --copt=* | --cxxopt=* | --cpu=* | --crosstool_top=*) return 1 ;;
    esac
  done
}

# The versions of what is parsed, and of what parses it.
header_packages() {
  # shellcheck disable=SC2016  # fields of dpkg's
  dpkg-query -W -f='${Package}=${Version};' clang-14 libabsl-dev libc6-dev libclang-common-14-dev libgtest-dev \
    libstdc++-12-dev linux-libc-dev 2>/dev/null || true
}

# set_bazel_options VERB ARGUMENTS...: sets bazel_startup, and bazel_options to what such commands share.
bazel_options=()
set_bazel_options() {
  local shared guest
  guest="$(guest_kernel_folder)" # before HOME may change
  set_bazel_startup
  shared="$(shared_folder)"
  bazel_options=("--symlink_prefix=/" "--jobs=$(nproc)" "--repo_env=HEDDLE_SHARED=$shared"
    "--repo_env=HEDDLE_GUEST_KERNEL_DIR=$guest")
  if [[ -n "${CI:-}" || ! -t 2 ]]; then
    bazel_options+=("--config=ci")
  fi
  if uses_precompiled "$@"; then
    bazel_options+=("--config=precompiled" "--repo_env=HEDDLE_HEADER_PACKAGES=$(header_packages)")
  fi
}

# run_bazel COMMAND ARGUMENTS...: Bazel with these.
run_bazel() {
  local verb="$1"
  shift
  set_bazel_options "$verb" "$@"
  # The look at the compiler first, so that the tests that follow it find /dev/null as it was.
  if [[ "$UID" == 0 ]] && ! compiler_is_known; then
    bazel "${bazel_startup[@]}" build --nobuild "${bazel_options[@]}" @local_config_cc//:toolchain </dev/null || true
    restore_dev_null
  fi
  local status=0
  bazel "${bazel_startup[@]}" "$verb" "${bazel_options[@]}" "$@" </dev/null || status=$?
  restore_dev_null
  return "$status"
}

compiler_is_known() {
  local base
  # (Without waiting for another command, which nobody would see; the build does that, and says so.)
  base="$(bazel "${bazel_startup[@]}" --noblock_for_lock info output_base 2>/dev/null </dev/null)" &&
    [[ -e "$base/external/@local_config_cc.marker" ]]
}

# list_entries FILE: the lines of a list in tools/dev/, without comments and blanks.
list_entries() {
  sed -e 's/[[:space:]]*#.*$//' -e '/^[[:space:]]*$/d' "$1"
}

# A scratch folder that goes away with the command.
make_scratch() {
  HEDDLE_SCRATCH="$(mktemp -d "${TMPDIR:-/tmp}/dev.XXXXXX")"
  trap 'rm -rf "$HEDDLE_SCRATCH"' EXIT
}

# run_entry NAME KIND WORDS...: one line of bench.txt or nightly.txt.
run_entry() {
  local name="$1" kind="$2"
  shift 2
  say "$name"
  case "$kind" in
    script) "$@" ;;
    run) run_bazel run "$@" ;;
    # A run of tools/long-runs/runs.toml, and its options.
    # It calls Bazel with the options of every other command, or all would be built again.
    pieces)
      set_bazel_options build
      HEDDLE_BAZEL="$(printf '%q ' bazel "${bazel_startup[@]}")" \
        HEDDLE_BAZEL_OPTIONS="$(printf '%q ' "${bazel_options[@]}")" \
        HEDDLE_SHARED_DIR="$(shared_folder)" python3 tools/long-runs/run.py "$@"
      ;;
    # Labels, then Bazel options. Nightly targets are tagged so that plain runs leave them out.
    test)
      run_bazel test --test_tag_filters= --build_tag_filters= --test_output=errors \
        --test_timeout=3600,7200,14400,28800 "$@"
      ;;
    *) die "tools/dev: entry '$name' has kind '$kind'; use script, run, pieces or test" ;;
  esac
}

# run_list FILE NAME [ARGUMENTS...]: the entry called NAME, or every entry when NAME is "all".
run_list() {
  local file="$1" wanted="$2" found=0 failed=() name words
  shift 2
  while IFS='|' read -r name words _; do
    read -r name <<<"$name"
    [[ "$wanted" == all || "$wanted" == "$name" ]] || continue
    found=1
    # shellcheck disable=SC2086  # words is a list
    run_entry "$name" $words "$@" </dev/null || failed+=("$name")
  done < <(list_entries "$file")
  if [[ "$found" == 0 ]]; then
    [[ "$wanted" == all ]] && die "$file has no entry"
    show_list "$file" >&2
    die "'$wanted' is not one of these names"
  fi
  if [[ "${#failed[@]}" -gt 0 ]]; then
    die "failed: ${failed[*]}"
  fi
}

show_list() {
  list_entries "$1" | while IFS='|' read -r name _ text; do
    read -r name <<<"$name"
    read -r text <<<"$text"
    printf '  %-20s %s\n' "$name" "$text"
  done
}
