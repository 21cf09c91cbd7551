#!/bin/bash -eu
# The build for OSS-Fuzz and its kin: uses $CC, $CFLAGS, $LIB_FUZZING_ENGINE and $OUT only. Run anywhere; it goes to its repository.
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The generator of seeds runs here and now: it must not carry the fuzzer's flags.
$CC -O1 fuzz/seeds.c -o "$work/seeds"
sh fuzz/corpus.sh "$work/seeds" "$work/corpus"
for source in fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    # shellcheck disable=SC2086
    $CC $CFLAGS -I. -Itests "$source" $LIB_FUZZING_ENGINE -o "$OUT/$name"
    if [ -f "fuzz/dict/$name.dict" ]; then cp "fuzz/dict/$name.dict" "$OUT/"; fi
    if command -v zip >/dev/null && [ -n "$(ls "$work/corpus/$name" 2>/dev/null)" ]; then
        (cd "$work/corpus/$name" && find . -type f | zip -q -@ "$OUT/${name}_seed_corpus.zip")
    fi
done
