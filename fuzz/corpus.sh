#!/bin/sh
# corpus.sh SEEDS OUT_DIR [SHARED]: makes OUT_DIR/<target>/ for all targets out of what the tests, and SHARED if it is there, have.
cd "$(dirname "$0")/.." || exit 1
seeds=$1 out=$2 shared=${3:-}
rm -rf "$out"
mkdir -p "$out"
{
    for d in tests/cases tests/transcripts tests/requests tests/saves tests/schemas tests/records; do [ -d "$d" ] && find "$d" -type f; done
    if [ -n "$shared" ]; then
        for d in cases suites/json suites/sse suites/http suites/utf8 suites/partial fixtures/openai-chat \
            fixtures/anthropic-messages fixtures/bedrock-converse fixtures/bedrock-invoke fixtures/openai-responses fixtures/ollama fixtures/cohere-v2 \
            fixtures/_requests/openai-chat fixtures/_requests/openai-responses fixtures/_requests/anthropic-messages fixtures/_requests/gemini; do
            [ -d "$shared/$d" ] && find "$shared/$d" -type f -size -32k
        done
        [ -d "$shared/suites" ] && find "$shared/suites" -name '*_cases.json' -o -name '*_vectors.json' -o -name 'llhttp_response.json' -o -name '*.http'
    fi
} | LC_ALL=C sort -u | "$seeds" "$out" fuzz/fuzz_*.c
