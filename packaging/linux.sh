#!/usr/bin/env bash
# Makes what is installed on Linux without Rust, in a folder (default: target/packages):
#
#   felis-VERSION-TARGET            the command, statically linked: it runs on any Linux of this processor
#   felis_VERSION_ARCHITECTURE.deb  a package for Debian and Ubuntu: command, manual page, completions
#   completions/                    what completes the command's words in bash, zsh and fish
#
#   packaging/linux.sh [FOLDER]
#
# The target with musl is used if the toolchain has it (`rustup target add x86_64-unknown-linux-musl`, and a C compiler
# for it, `musl-gcc`), else the toolchain's own with a static C library, which Debian has in `libc6-dev`. The package
# is made by `dpkg-deb`; without it the rest is made. `packaging/try.sh` tries the package.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-target/packages}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

host=$(rustc -vV | sed -n 's/^host: //p')
musl=${host/-gnu/-musl}
target=$host
if [ "$(rustc --print target-libdir --target "$musl" 2>/dev/null | xargs -r ls 2>/dev/null | head -c 1)" ] &&
    command -v musl-gcc >/dev/null; then
    target=$musl
fi

# With a target named, build scripts and procedural macros are not linked statically.
RUSTFLAGS="${RUSTFLAGS:-} -C target-feature=+crt-static" cargo build --release --locked --target "$target"
built=${CARGO_TARGET_DIR:-target}/$target/release/felis
version=$("$built" --version | awk '{ print $2 }')
if command -v ldd >/dev/null && ldd "$built" >/dev/null 2>&1 && ! ldd "$built" | grep -q "statically linked"; then
    echo "packaging/linux.sh: $built is not linked statically" >&2
    exit 1
fi

command=$folder/felis-$version-$target
install -m 755 "$built" "$command"
strip "$command" 2>/dev/null || true
mkdir -p "$folder/completions"
for shell in bash zsh fish; do
    "$command" completions "$shell" >"$folder/completions/felis.$shell"
done
echo "$command"
echo "$folder/completions"

command -v dpkg-deb >/dev/null || exit 0
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
share=$root/usr/share
install -D -m 755 "$command" "$root/usr/bin/felis"
install -D -m 644 "$folder/completions/felis.bash" "$share/bash-completion/completions/felis"
install -D -m 644 "$folder/completions/felis.zsh" "$share/zsh/vendor-completions/_felis"
install -D -m 644 "$folder/completions/felis.fish" "$share/fish/vendor_completions.d/felis.fish"
install -D -m 644 LICENSE "$share/doc/felis/copyright"
mkdir -p "$share/man/man1"
"$command" man | gzip -9n >"$share/man/man1/felis.1.gz"
chmod 644 "$share/man/man1/felis.1.gz"
architecture=$(dpkg --print-architecture)
mkdir "$root/DEBIAN"
cat >"$root/DEBIAN/control" <<END
Package: felis
Version: $version
Section: devel
Priority: optional
Architecture: $architecture
Installed-Size: $(du -sk "$root/usr" | cut -f 1)
Maintainer: The authors of Felis <felis@localhost>
Description: Statically typed array language
 Shapes are types, and types are numbers: no index is out of range, and a
 reshape is a law of algebra that the checker proves. Interpreter, compiler,
 session and language server in one command.
END
find "$root" -type d -exec chmod 755 {} +
package=$folder/felis_${version}_$architecture.deb
dpkg-deb --root-owner-group --build "$root" "$package" >/dev/null
echo "$package"
