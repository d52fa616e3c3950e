#!/bin/sh
# Installs, upgrades, uses, removes and purges the package for Debian: to be run in the root file system of a Debian without systemd,
# with /package.deb and /older.deb, an earlier version of it. The argument is the version of the package.
set -eu

dpkg --install /older.deb
getent passwd parley >/dev/null
test "$(stat -c '%U %a' /var/lib/parley)" = 'parley 700'
printf 'kept\n' >/var/lib/parley/kept
sed -i 's/^port: .*/port: 0/; s/^no-demo: .*/no-demo: false/' /etc/parley/parley.yaml

# Notes what the scripts of the package ask of systemd, and says that the hub runs.
mkdir -p /run/systemd/system
printf '#!/bin/sh\necho "$@" >>/tmp/systemctl.log\n' >/usr/bin/systemctl
chmod 755 /usr/bin/systemctl
asked() {
    test "$(grep -v daemon-reload /tmp/systemctl.log | tr '\n' ',')" = "$1"
    rm /tmp/systemctl.log
}

dpkg --install /package.deb
asked 'is-active --quiet parley.service,stop parley.service,start parley.service,'
test "$(parley --version)" = "parley $1"
grep -q '^port: 0$' /etc/parley/parley.yaml
test "$(cat /var/lib/parley/kept)" = kept
for file in man/man1/parley.1.gz bash-completion/completions/parley zsh/vendor-completions/_parley \
    fish/vendor_completions.d/parley.fish doc/parley/copyright; do
    # The root file system may be set up to leave out manuals.
    grep -qs "^path-exclude.*/man/" /etc/dpkg/dpkg.cfg.d/* && continue
    test -s "/usr/share/$file"
done

# As parley.service starts it.
mkfifo /tmp/log
runuser -u parley -- /usr/bin/env HOME=/var/lib/parley \
    /usr/bin/parley up --config /etc/parley/parley.yaml --data /var/lib/parley >/tmp/log 2>&1 &
hub=$!
read -r line </tmp/log
test "$(parley send -a "${line#URL: }/agents/echo" 'hello from the package' | grep -c 'hello from the package')" -gt 0
kill "$hub"
wait "$hub" || true

dpkg --remove parley
asked 'disable --quiet parley.service,stop parley.service,'
test ! -e /usr/bin/parley
test ! -e /usr/lib/parley
test -f /etc/parley/parley.yaml
test -f /var/lib/parley/kept

dpkg --purge parley
test ! -e /etc/parley
test ! -e /var/lib/parley
echo 'all as expected'
