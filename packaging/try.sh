#!/usr/bin/env bash
# Tries a Debian package without touching the system: installs it in an empty root, runs the command
# there, where there is no library that it could load, removes the package, and looks for files that
# it has left. Needs root, for `chroot`.
#
#   packaging/try.sh PACKAGE.deb
set -euo pipefail
package=$(realpath "$1")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/tmp"
touch "$root/var/lib/dpkg/status" "$root/var/lib/dpkg/available"

dpkg --root="$root" --install "$package" >/dev/null
for path in usr/bin/felis usr/share/man/man1/felis.1.gz usr/share/bash-completion/completions/felis \
    usr/share/zsh/vendor-completions/_felis usr/share/fish/vendor_completions.d/felis.fish usr/share/doc/felis/copyright; do
    test -s "$root/$path" || { echo "packaging/try.sh: /$path is missing" >&2; exit 1; }
done
echo 'println (sum [1, 2, 3]);' >"$root/tmp/sum.flx"
printed=$(chroot "$root" /usr/bin/felis run /tmp/sum.flx)
test "$printed" = 6 || { echo "packaging/try.sh: the program has printed \`$printed\`" >&2; exit 1; }
chroot "$root" /usr/bin/felis --version

dpkg --root="$root" --remove felis >/dev/null
if test -e "$root/usr"; then
    echo "packaging/try.sh: the package has left files:" >&2
    find "$root/usr" >&2
    exit 1
fi
echo "installed, run and removed: $package"
