#!/bin/sh
# Runs an image as a container does, in its unpacked root file system and a network of its own: with its user, its variables and its
# commands. To be run in name spaces of its own for mounts, processes and network. Arguments: the root file system, user:group, and in
# lines the variables, the command of the image, and its health check.
set -eu
root=$1
user=$2
variables=$3
command=$4
health=$5
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
chroot "$root" /bin/busybox ifconfig lo 127.0.0.1 up

# Runs a command, which is lines, in the image.
inside() {
    (
        IFS='
'
        set -f
        # shellcheck disable=SC2086 # lines are words here
        exec chroot --userspec="$user" "$root" /usr/bin/env -i $variables $1
    )
}
lines() { printf '%s\n' "$@"; }

mkfifo "$root/tmp/log"
inside "$command" >"$root/tmp/log" 2>&1 &
exec 3<"$root/tmp/log"
read -r line <&3
test "$line" = 'URL: http://127.0.0.1:7420'

inside "$health"
answer=$(inside "$(lines /opt/parley/bin/parley send -a http://127.0.0.1:7420/agents/echo 'hello from the image')")
case $answer in *'hello from the image'*) ;; *) exit 1 ;; esac
test "$(stat -c '%u:%g' "$root/data/.parley")" = "$user"
for process in $(chroot "$root" /bin/busybox pidof java); do
    test "$(stat -c '%u:%g' "$root/proc/$process")" = "$user"
    kill -TERM "$process"
done
cat <&3 >/dev/null
if inside "$health" 2>/dev/null; then
    echo 'the health check passes without a hub'
    exit 1
fi
test "$(inside "$(lines /opt/parley/bin/parley --version)")" = "$6"
echo 'all as expected'
