#!/bin/sh
# Installs the edge proxy on Debian 12 from the packages beside this script, and says how to go on.
#   install.sh [standalone | agent | controller | client]     default: standalone
#   install.sh --try                                          standalone, and starts the quick start, until Ctrl-C
set -eu
here=$(cd "$(dirname "$0")" && pwd)
what=${1:-standalone}
case "$what" in
  standalone | --try) packages="edge-common edgectl edge-standalone" ;;
  agent) packages="edge-common edge-agent" ;;
  controller) packages="edge-common edgectl edge-controller" ;;
  client) packages="edge-common edgectl" ;;
  *)
    echo "usage: install.sh [standalone | agent | controller | client | --try]" >&2
    exit 2
    ;;
esac
if ! grep -q '^VERSION_CODENAME=bookworm' /etc/os-release 2>/dev/null; then
  echo "install: this is not Debian 12, which the packages are for; use the images in $here/images" >&2
  exit 1
fi
if [ "$(id -u)" != 0 ]; then
  echo "install: it installs packages, so it has to run as root: sudo $0 $*" >&2
  exit 1
fi
(cd "$here" && sha256sum --quiet -c SHA256SUMS) || {
  echo "install: the files are not what was released" >&2
  exit 1
}
files=""
for package in $packages; do files="$files $(ls "$here/${package}"_*.deb)"; done
# Dependencies come from Debian.
DEBIAN_FRONTEND=noninteractive apt-get install -y -q $files
case "$what" in
  --try) exec python3 /usr/share/doc/edge-standalone/examples/quick-start/run.py ;;
  standalone) echo "install: put files into /etc/edge/conf.d, then: systemctl enable --now edge-standalone" ;;
  agent) echo "install: set the flags in /etc/edge/agent.env, then: systemctl enable --now edge-agent" ;;
  controller) echo "install: set the flags in /etc/edge/controller.env, then: systemctl enable --now edge-controller" ;;
  client) echo "install: edgectl --help" ;;
esac
