#!/bin/sh
# Installs the edge proxy on Debian 12 from the packages beside this script, and says how to go on.
#   install.sh [standalone | agent | controller | client]     default: standalone
#   install.sh operator                                       edge-operator, for outside of a cluster
#   install.sh --try                                          standalone, and starts the quick start, until Ctrl-C
set -eu
here=$(cd "$(dirname "$0")" && pwd)
what=${1:-standalone}
others=""
case "$what" in
  standalone) packages="edge-common edgectl edge-standalone" ;;
  # The quick start is a script, and its samples are curl commands.
  --try)
    packages="edge-common edgectl edge-standalone"
    # What is there stays as it is: apt would bring the newest.
    for other in python3 curl; do command -v $other >/dev/null || others="$others $other"; done
    ;;
  agent) packages="edge-common edge-agent" ;;
  controller) packages="edge-common edgectl edge-controller" ;;
  operator) packages="edge-operator" ;;
  client) packages="edge-common edgectl" ;;
  *)
    echo "usage: install.sh [standalone | agent | controller | operator | client | --try]" >&2
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
# Dependencies come from Debian. Not what is recommended: bird2 would start a routing daemon, and only virtual addresses of
# mode BGP need its program. As root: apt warns of files that its own user cannot read, and those in /root are such.
install_all() {
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends -o APT::Sandbox::User=root $files $others </dev/null
}
# A new machine or a container has no lists of packages yet.
install_all || { echo "install: again, with new lists of packages" >&2 && apt-get update -qq && install_all; } || {
  echo "install: apt could not install the packages; the reason is above" >&2
  exit 1
}
case "$what" in
  --try) exec python3 /usr/share/doc/edge-standalone/examples/quick-start/run.py ;;
  standalone) echo "install: put files into /etc/edge/conf.d, then: systemctl enable --now edge-standalone" ;;
  agent) echo "install: set the flags in /etc/edge/agent.env, then: systemctl enable --now edge-agent" ;;
  controller) echo "install: set the flags in /etc/edge/controller.env, then: systemctl enable --now edge-controller" ;;
  operator) echo "install: edge-operator --kubeconfig FILE; edge-operator --help" ;;
  client) echo "install: edgectl --help" ;;
esac
