#!/bin/sh
# The newest Python, for which not every dependency has a wheel: the built wheel is installed there and checked.
#
#     sh tests/newest.sh FOLDER WHEEL
#
# FOLDER gets a virtual environment. A Debian machine without this Python gets Debian's next release into FOLDER too, from
# the mirror that it takes its packages from; what runs there sees FOLDER as / and the checkout as /checkout.
set -eu
python=python3.14
checkout=$(realpath "$(dirname "$0")/..")
folder=$1
wheel=$2

checks='
python=$1 folder=$2 checkout=$3 wheel=$4
"$python" -m venv --clear "$folder/venv"
"$folder/venv/bin/pip" install -q --no-compile "$wheel[picture,openspiel]" pytest pytest-timeout
mkdir -p "$folder/elsewhere"
cd "$folder/elsewhere"
export BIDZOO_COMPILE=now
"$folder/venv/bin/python" "$checkout/tests/smoke.py" all
"$folder/venv/bin/python" -m pytest -p no:cacheprovider -c "$checkout/pyproject.toml" --rootdir "$checkout" \
    "$checkout/tests/envs/test_contract.py"
# types of the newest NumPy, which the oldest Python of ours has none of; what is not installed there has none
"$folder/venv/bin/pip" install -q --no-compile mypy ipython
cd "$checkout"
"$folder/venv/bin/mypy" --cache-dir "$folder/types" bidzoo experiments tests/typed.py
'

if command -v $python > /dev/null; then
    mkdir -p "$folder"
    exec sh -euc "$checks" checks $python "$(realpath "$folder")" "$checkout" "$(realpath "$wheel")"
fi
if ! command -v apt-get > /dev/null || [ "$(id -u)" != 0 ]; then
    echo "no $python, and no Debian to take one from as root" >&2
    exit 1
fi
if [ ! -e "$folder/ready" ]; then
    rm -rf "$folder"
    apt-get update -q
    apt-get install -y -q --no-install-recommends debootstrap
    mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | head -n 1)
    debootstrap --variant=minbase --include=$python,python3-venv,ca-certificates testing "$folder" "$mirror" \
        /usr/share/debootstrap/scripts/sid
    mkdir "$folder/checkout"
    touch "$folder/ready"
fi
cp /etc/resolv.conf /etc/hosts "$folder/etc"
cp /etc/ssl/certs/ca-certificates.crt "$folder/etc/ssl/certs"
cp "$wheel" "$folder/tmp"
# mounts of this process alone: they are gone when it ends
folder=$folder checkout=$checkout unshare --mount sh -euc '
    mount --bind "$checkout" "$folder/checkout"
    mount --bind /proc "$folder/proc"
    mkdir -p "$folder/dev/shm"
    mount -t tmpfs shm "$folder/dev/shm"
    HOME=/root exec chroot "$folder" "$@"
' enter sh -euc "$checks" checks $python /root /checkout "/tmp/$(basename "$wheel")"
