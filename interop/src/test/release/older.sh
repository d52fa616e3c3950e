#!/bin/sh
# Makes an earlier version of the package, with its configuration and scripts but without the program. Arguments: the directory of the
# source tree, the file to make.
set -eu
package=$(mktemp -d)
trap 'rm -rf "$package"' EXIT
chmod 755 "$package"
mkdir -p "$package/DEBIAN" "$package/etc/parley"
cp "$1/deploy/debian/parley.yaml" "$package/etc/parley"
for script in postinst prerm postrm; do
    install -m 755 "$1/deploy/debian/$script" "$package/DEBIAN"
done
echo /etc/parley/parley.yaml >"$package/DEBIAN/conffiles"
cat >"$package/DEBIAN/control" <<END
Package: parley
Version: 0.0.1
Architecture: amd64
Maintainer: nobody <nobody@example.com>
Description: earlier version
END
dpkg-deb --build --root-owner-group "$package" "$2" >/dev/null
