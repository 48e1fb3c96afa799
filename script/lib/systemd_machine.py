"""A systemd as the first process of new namespaces (processes, mounts, network, names of hosts): what it mounts, listens on and
writes is seen by nobody else, and goes with it. For script/check-systemd and script/check-packages."""
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

PATIENCE = 120  # seconds

# The first process of the namespaces. /etc, /usr/bin and /var are covered, the units come from one directory alone: what
# this machine would start is not started. cgroups are a hierarchy without controllers.
FIRST = r"""
set -e
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/units /run/etc /run/etc-work
mount -t overlay overlay -o lowerdir=/etc,upperdir=/run/etc,workdir=/run/etc-work /etc
mount -t overlay overlay -o lowerdir="$1":/usr/bin /usr/bin
for place in /var/lib /var/cache /var/log /var/tmp /tmp; do mount -t tmpfs -o mode=755 tmpfs "$place"; done
chmod 1777 /tmp /var/tmp
if [ ! -e /sys/fs/cgroup/cgroup.controllers ]; then
  mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup
  mkdir /sys/fs/cgroup/systemd
  mount -t cgroup -o none,name=systemd,xattr cgroup /sys/fs/cgroup/systemd
fi
# As systemd expects of who starts it in a container: what its helpers mount is to be seen by its services.
mount --make-rshared /
ip link set lo up
for target in sysinit basic multi-user shutdown umount network-online nss-lookup; do
  printf '[Unit]\nDefaultDependencies=no\n' >"/run/units/$target.target"
done
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin container=edge SYSTEMD_UNIT_PATH=/run/units /lib/systemd/systemd \
  --system --unit=multi-user.target --show-status=0 --log-target=console --log-level=notice
"""

NAME = Path(sys.argv[0]).name


def skip(why):
    print(f"{NAME}: skipped: {why}")
    sys.exit(0)


def require(*tools):
    if os.geteuid() != 0:
        skip("it needs root")
    for tool in ("/lib/systemd/systemd", "unshare", "nsenter", "ip", "curl", *tools):
        if not Path(tool).exists() and shutil.which(tool) is None:
            skip(f"there is no {tool}")


class Machine:
    """Namespaces with a systemd in them."""

    def __init__(self, programs, log, first=FIRST):
        self.log = log
        self.children = []
        with open(log, "wb") as out:
            self.outer = subprocess.Popen(
                ["unshare", "--pid", "--mount", "--net", "--uts", "--ipc", "--fork", "--kill-child", "--mount-proc",
                 "bash", "-c", first, "first", programs], stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        self.first = None
        if not self.comes(self.booted):
            text = log.read_text(errors="replace")
            self.close()
            skip(f"no systemd may run here: {text.strip()[-300:]}")

    def booted(self):
        children = Path(f"/proc/{self.outer.pid}/task/{self.outer.pid}/children")
        if self.outer.poll() is not None or not children.exists() or not children.read_text().split():
            return False
        self.first = children.read_text().split()[0]
        return self.run("systemctl", "is-system-running").stdout.strip() in ("running", "degraded")

    def comes(self, holds, patience=PATIENCE):
        until = time.monotonic() + patience
        while time.monotonic() < until:
            if holds():
                return True
            if self.outer.poll() is not None:
                return False
            time.sleep(0.1)
        return False

    def inside(self, *words):
        return ["nsenter", "-t", self.first, "-m", "-p", "-n", "-u", "-i", *map(str, words)]

    def run(self, *words):
        return subprocess.run(self.inside(*words), capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)

    def begin(self, *words):
        child = subprocess.Popen(self.inside(*words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.children.append(child)
        return child

    def write(self, path, text):
        done = subprocess.run(self.inside("install", "-D", "-m", "644", "/dev/stdin", path), input=text, text=True,
                              capture_output=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{NAME}: {path}: {done.stderr}")

    def property(self, unit, name):
        return self.run("systemctl", "show", "--value", "-p", name, unit).stdout.strip()

    def answer(self, path="/"):
        done = self.run("curl", "-s", "-m", "10", "-o", "/dev/null", "-w", "%{http_code}", f"http://127.0.0.1{path}")
        return done.stdout

    def close(self):
        for child in self.children:
            child.kill()
        self.outer.kill()
        self.outer.wait()
