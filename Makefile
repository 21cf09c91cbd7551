# agent.h: GNU make; `make`, `make demo`, `make test`, `make examples` and `make agent.h` need a C compiler and nothing else.
#
#   make agent.h    join agent_impl/ into agent.h            make check    the rules of the house (tests/check.sh)
#   make examples   build examples/ into build/              make conform  recorded answers and suites of $(SHARED), if there
#   make demo       the main job, offline                    make fuzz     libFuzzer, FUZZ_SECONDS for each target (clang)
#   make test       all tests, offline, C only
#   make chat-tls   the terminal agent with TLS (needs mbedTLS's headers)
#   make interop    real peers from the package registries, over sockets (GROUPS='torture nginx': some of tests/interop/)
#   make soak       the random walk of tests/test_walk.c, twenty million steps (WALK_STEPS, WALK_SEED)
#   make bench      a race against the peers that are installed; it says which are not (BENCH_ARGS='--csv --only openai')
#
# New files in tests/ (test_*.c, test_*.sh, conform_*.c), tests/clients/, examples/ and fuzz/ are picked up by their names.
# CC, CFLAGS, LDFLAGS, B (output), SHARED, JOBS, RUN (a prefix for test programs, as valgrind) may be set; V=1 shows commands.
# WHOLE: the programs that compile the whole header, as users do; the others have its code from a few objects (tests/parts.c).
CFLAGS ?= -O1 -g
# The helpers in tests/*.h are not all used by everyone; `make check` is stricter where it matters.
WARN ?= -Wall -Wextra -Wno-unused-function
B ?= build
SHARED ?= ../shared
JOBS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
PROMPT ?= What is in this directory, and what is the project about?
FUZZ_CC ?= clang
FUZZ_SECONDS ?= 20
FUZZ_SEED ?= 0
FUZZ_MAX_LEN ?= 4096
FUZZ_FLAGS ?= -g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
RUN ?=
AMALGAMATE_FLAGS ?=
# The same for all in the race: without -march simdjson's on-demand parser does without SIMD.
BENCH_CFLAGS ?= -O3 -march=native
BENCH_ARGS ?=

Q := $(if $(V),,@)
compile = $(CC) $(CPPFLAGS) $(CFLAGS) $(WARN) -I. -Itests
# The tests run side by side also when make was not told so.
parallel = $(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS))

PARTS := agent_impl/MANIFEST $(filter-out agent_impl/amalgamate.c agent_impl/agent.c,$(wildcard agent_impl/*.c agent_impl/*.h))
HEADERS := $(wildcard tests/*.h examples/*.h fuzz/*.h)

dashed = $(subst _,-,$(1))
CURL_SOURCES := $(wildcard examples/curl*.c)
EXAMPLE_SOURCES := $(filter-out $(CURL_SOURCES),$(wildcard examples/*.c))
EXAMPLES := $(foreach s,$(EXAMPLE_SOURCES),$(B)/$(call dashed,$(basename $(notdir $(s)))))
CURL_EXAMPLES := $(foreach s,$(CURL_SOURCES),$(B)/$(call dashed,$(basename $(notdir $(s)))))
TOOLS := $(if $(wildcard tests/run_cases.c),$(B)/run-cases) $(if $(wildcard tests/run_transcripts.c),$(B)/run-transcripts)

TESTS := $(patsubst tests/%.c,%,$(wildcard tests/test_*.c))
SCRIPTS := $(patsubst tests/%.sh,%,$(wildcard tests/test_*.sh))
CONFORM := $(patsubst tests/%.c,%,$(wildcard tests/conform_*.c))
CLIENTS := $(patsubst tests/clients/%.c,client_%,$(filter-out tests/clients/curl%,$(wildcard tests/clients/*.c)))
FUZZ := $(patsubst fuzz/%.c,%,$(wildcard fuzz/fuzz_*.c))
CASES := $(wildcard tests/cases/*.json)
TRANSCRIPTS := $(notdir $(wildcard tests/transcripts/*))

# One unit each, as the header is meant to be used: the examples, the clients and a handful of tests. WHOLE= leaves the time for others.
WHOLE ?= $(notdir $(EXAMPLES)) $(CLIENTS) interop-drive run-transcripts test_cost test_session
PROGRAMS := $(EXAMPLES) $(TOOLS) $(patsubst %,$(B)/%,$(TESTS) $(CONFORM) $(CLIENTS) $(FUZZ) interop-drive)

.PHONY: all test test-run soak bench interop examples examples-curl chat-tls demo check conform conform-run fuzz fuzz-build fuzz-run corpus clean FORCE
.DELETE_ON_ERROR:
.SUFFIXES:

all: examples $(TOOLS)

# ---- the header --------------------------------------------------------------------------------------------------
$(B)/amalgamate: agent_impl/amalgamate.c
	@mkdir -p $(@D)
	@echo "cc $@"
	$(Q)$(CC) $(CFLAGS) $(WARN) $< -o $@

# The same bytes stay as old as they are: a new build folder does not make the others build again.
agent.h: $(B)/amalgamate $(PARTS)
	$(Q)$(B)/amalgamate $(AMALGAMATE_FLAGS) agent_impl > $(B)/agent.h.new
	$(Q)if cmp -s $(B)/agent.h.new $@; then rm -f $(B)/agent.h.new; else echo "amalgamate $@"; mv $(B)/agent.h.new $@; fi

# ---- the code in a few objects, each with a share of the parts, for programs that are compiled with the declarations alone ------------
SHARES := 0 1 2 3 4 5
OBJECTS := $(SHARES:%=$(B)/parts_%.o)
FUZZ_OBJECTS := $(SHARES:%=$(B)/fuzz/parts_%.o)
share = -DAGENTI_SPLIT $$($(B)/amalgamate --list agent_impl | awk 'NR % $(words $(SHARES)) == $* { print "-DAGENTI_PART_" $$1 }')
parts = -DAGENTI_SPLIT $(OBJECTS)
$(WHOLE:%=$(B)/%): parts =
$(filter-out $(WHOLE:%=$(B)/%),$(PROGRAMS)): $(OBJECTS)
$(OBJECTS): $(B)/parts_%.o: tests/parts.c agent.h $(B)/amalgamate
	@echo "cc $@"
	$(Q)$(compile) $(share) -c $< -o $@
$(FUZZ_OBJECTS): $(B)/fuzz/parts_%.o: tests/parts.c agent.h $(B)/amalgamate
	@mkdir -p $(@D)
	@echo "$(FUZZ_CC) $@"
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -I. $(share) -c $< -o $@

# ---- examples ----------------------------------------------------------------------------------------------------
define example_rule
$(B)/$(call dashed,$(basename $(notdir $(1)))): $(1) agent.h $$(HEADERS)
	@mkdir -p $$(@D)
	@echo "cc $$@"
	$$(Q)$$(compile) $$< $(3) -o $$@ $$(LDFLAGS) $(2)
endef
$(foreach s,$(EXAMPLE_SOURCES),$(eval $(call example_rule,$(s),$(if $(findstring threads,$(s)),-pthread),$$(parts))))
$(foreach s,$(CURL_SOURCES),$(eval $(call example_rule,$(s),-lcurl)))

examples: $(EXAMPLES)

HAVE_CURL = $(shell printf '\043include <curl/curl.h>\n' | $(CC) -E -xc - >/dev/null 2>&1 && echo yes)
examples-curl:
	$(if $(HAVE_CURL),@$(MAKE) --no-print-directory $(CURL_EXAMPLES),@echo "examples-curl: skipped, libcurl's headers are not installed")

# The terminal agent with TLS: needs mbedTLS's headers (Debian: libmbedtls-dev).
HAVE_MBEDTLS = $(shell printf '\043include <mbedtls/ssl.h>\n' | $(CC) -E -xc - >/dev/null 2>&1 && echo yes)
MBEDTLS_LIBS ?= -lmbedtls -lmbedx509 -lmbedcrypto
chat-tls:
	$(if $(HAVE_MBEDTLS),@$(MAKE) --no-print-directory $(B)/chat-tls $(B)/scripted-model,@echo "chat-tls: mbedTLS's headers are not installed (Debian: apt-get install libmbedtls-dev)"; exit 1)
$(B)/chat-tls: examples/chat.c agent.h $(HEADERS)
	@mkdir -p $(@D)
	@echo "cc $@"
	$(Q)$(compile) -DAGENT_MBEDTLS $< -o $@ $(LDFLAGS) $(MBEDTLS_LIBS)
demo: $(filter $(B)/chat $(B)/scripted-model,$(EXAMPLES))
	$(B)/chat --yes --prompt '$(PROMPT)'

# ---- tests: each program ends with `name: N passed, M failed[, K skipped]` -----------------------------------------------
$(B)/test_%: tests/test_%.c agent.h $(HEADERS)
	@mkdir -p $(@D)
	@echo "cc $@"
	$(Q)$(compile) $< $(parts) -o $@ $(LDFLAGS) -pthread
$(B)/conform_%: tests/conform_%.c agent.h $(HEADERS)
	@mkdir -p $(@D)
	@echo "cc $@"
	$(Q)$(compile) $< $(parts) -o $@ $(LDFLAGS) -pthread
$(B)/client_%: tests/clients/%.c agent.h $(HEADERS)
	@mkdir -p $(@D)
	@echo "cc $@"
	$(Q)$(compile) $< $(parts) -o $@ $(LDFLAGS) -pthread
$(B)/run-cases: tests/run_cases.c agent.h $(HEADERS)
	@mkdir -p $(@D)
	@echo "cc $@"
	$(Q)$(compile) $< $(parts) -o $@ $(LDFLAGS)
$(B)/run-transcripts: tests/run_transcripts.c agent.h $(HEADERS)
	@mkdir -p $(@D)
	@echo "cc $@"
	$(Q)$(compile) $< $(parts) -o $@ $(LDFLAGS)
$(B)/seeds: fuzz/seeds.c
	@mkdir -p $(@D)
	@echo "cc $@"
	$(Q)$(compile) $< -o $@ $(LDFLAGS)
$(B)/fuzz_%: fuzz/fuzz_%.c fuzz/standalone.c agent.h $(HEADERS)
	@mkdir -p $(@D)
	@echo "cc $@"
	$(Q)$(compile) -DFUZZ_NAME='"fuzz_$*"' $< fuzz/standalone.c $(parts) -o $@ $(LDFLAGS)

# A log for each program; tests/run.sh counts a crash as a failure and never fails itself, tests/sum.sh does.
run = @B='$(B)' CC='$(CC)' CFLAGS='$(CFLAGS)' SHARED='$(SHARED)' sh tests/run.sh $(B)/log
# Those that take long come first.
LOGS = $(if $(wildcard tests/run_cases.c),$(if $(CASES),run-cases)) $(TRANSCRIPTS:%=transcripts_%) $(SCRIPTS) $(TESTS) $(CLIENTS) $(FUZZ)

$(TESTS:%=$(B)/log/%.sum): $(B)/log/%.sum: $(B)/% FORCE
	$(run) $* $(RUN) $(B)/$*
$(SCRIPTS:%=$(B)/log/%.sum): $(B)/log/%.sum: tests/%.sh $(EXAMPLES) $(TOOLS) FORCE
	$(run) $* sh tests/$*.sh
$(CLIENTS:%=$(B)/log/%.sum): $(B)/log/%.sum: $(B)/% $(EXAMPLES) FORCE
	$(run) $* $(RUN) $(B)/$*
$(FUZZ:%=$(B)/log/%.sum): $(B)/log/%.sum: $(B)/% corpus FORCE
	$(run) $* $(RUN) $(B)/$* $(B)/corpus/$* $(wildcard fuzz/found/$*)
$(B)/log/run-cases.sum: $(B)/run-cases FORCE
	$(run) run-cases $(RUN) $(B)/run-cases $(CASES)
$(TRANSCRIPTS:%=$(B)/log/transcripts_%.sum): $(B)/log/transcripts_%.sum: $(B)/run-transcripts FORCE
	$(run) transcripts_$* $(RUN) $(B)/run-transcripts $(wildcard tests/transcripts/$*/*.md)

test-run: $(LOGS:%=$(B)/log/%.sum)
test:
	@$(parallel) -k test-run || true
	@sh tests/sum.sh $(B)/log $(LOGS)

WALK_STEPS ?= 20000000
soak: $(B)/test_walk
	@WALK_STEPS=$(WALK_STEPS) $(RUN) $(B)/test_walk

# ---- the race: a peer is built in when a program with its header and library compiles and links --------------------------
# $(call peer,NAME,header,library): NAME, or nothing
peer = $(shell mkdir -p $(B) && printf '\043include <cstddef>\n\043include <$(2)>\nint main() { return 0; }\n' | \
    $(CXX) -std=c++17 -w -xc++ - -o $(B)/peer.probe -l$(3) 2>/dev/null && echo $(1))
peer_list = $(strip $(call peer,SIMDJSON,simdjson.h,simdjson) $(call peer,YAJL,yajl/yajl_parse.h,yajl) \
    $(call peer,JANSSON,jansson.h,jansson) $(call peer,CJSON,cjson/cJSON.h,cjson))
# Asked once, and only when the bench is built.
PEERS = $(eval PEERS := $(if $(call peer,yes,http_parser.h,http_parser),$(peer_list)))$(PEERS)
PEER_LIBS = $(if $(PEERS),-lhttp_parser $(patsubst %,-l%,$(shell echo $(PEERS) | tr A-Z a-z)))
BENCH_OBJECTS := $(patsubst bench/%.c,$(B)/bench_%.o,$(wildcard bench/*.c))

# What was found when the objects were built.
$(B)/bench.peers: FORCE
	@mkdir -p $(@D)
	@echo '$(PEERS)' | cmp -s - $@ || echo '$(PEERS)' > $@
$(B)/bench_%.o: bench/%.c bench/bench.h agent.h $(B)/bench.peers
	@echo "cc $@"
	$(Q)$(CC) -std=c99 $(CPPFLAGS) $(BENCH_CFLAGS) $(WARN) -I. $(if $(PEERS),-DBENCH_PEERS) -c $< -o $@
# Without peers: an object with nothing in it.
$(B)/bench_peers.o: bench/peers.cc bench/bench.h $(B)/bench.peers
	@echo "cc $@"
	$(Q)$(if $(PEERS),$(CXX) -std=c++17 $(BENCH_CFLAGS) $(WARN) $(PEERS:%=-DPEER_%) -c $< -o $@,printf 'typedef int none;\n' | $(CC) -xc -c - -o $@)
$(B)/bench: $(BENCH_OBJECTS) $(B)/bench_peers.o
	@echo "link $@"
	$(Q)$(if $(PEERS),$(CXX),$(CC)) $^ -o $@ $(LDFLAGS) $(PEER_LIBS)
bench: $(B)/bench
	$(B)/bench $(BENCH_ARGS)

# ---- house rules, conformance -----------------------------------------------------------------------------------------
check: $(B)/amalgamate
	@B='$(B)' CC='$(CC)' JOBS='$(JOBS)' sh tests/check.sh $(GATES)

$(CONFORM:%=$(B)/log/%.sum): $(B)/log/%.sum: $(B)/% FORCE
	$(run) $* $(RUN) $(B)/$* $(SHARED)
$(B)/log/conform.sum: tests/conform.sh $(EXAMPLES) $(TOOLS) FORCE
	$(run) conform sh tests/conform.sh $(SHARED)
CONFORM_LOGS = $(CONFORM) $(if $(wildcard tests/conform.sh),conform)
conform-run: $(CONFORM_LOGS:%=$(B)/log/%.sum)
conform:
	@$(parallel) -k conform-run || true
	@sh tests/sum.sh $(B)/log $(CONFORM_LOGS)

# ---- real peers ---------------------------------------------------------------------------------------------------------
$(B)/interop-drive: tests/interop/drive.c agent.h $(HEADERS)
	@mkdir -p $(@D)
	@echo "cc $@"
	$(Q)$(compile) $< $(parts) -o $@ $(LDFLAGS)
$(B)/interop-schema: tests/interop/schema.c agent.h
	@mkdir -p $(@D)
	@echo "cc $@"
	$(Q)$(compile) $< -o $@ $(LDFLAGS)
interop: $(B)/chat $(B)/interop-drive $(B)/interop-schema
	@B='$(B)' SHARED='$(SHARED)' sh tests/interop/run.sh $(GROUPS)
$(B)/interop-tls-inside: tests/interop/tls_inside.c agent.h $(HEADERS)
	@mkdir -p $(@D)
	@echo "cc $@"
	$(Q)$(compile) $< -o $@ $(LDFLAGS) $(MBEDTLS_LIBS)

# ---- fuzzing: see fuzz/README.md ----------------------------------------------------------------------------------------
corpus: $(if $(FUZZ),$(B)/seeds)
	@if [ -x $(B)/seeds ]; then sh fuzz/corpus.sh $(abspath $(B))/seeds $(abspath $(B))/corpus $(SHARED); fi

$(FUZZ:%=$(B)/fuzz/%): $(B)/fuzz/%: fuzz/%.c agent.h $(HEADERS) $(FUZZ_OBJECTS)
	@mkdir -p $(@D)
	@echo "$(FUZZ_CC) $@"
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer -DAGENTI_SPLIT -I. -Itests $< $(FUZZ_OBJECTS) -o $@
$(FUZZ:%=$(B)/log/libfuzzer_%.sum): $(B)/log/libfuzzer_%.sum: $(B)/fuzz/% corpus FORCE
	@mkdir -p $(B)/fuzz/grown_$* $(B)/corpus/$*
	$(run) libfuzzer_$* $(B)/fuzz/$* -max_total_time=$(FUZZ_SECONDS) -seed=$(FUZZ_SEED) -max_len=$(FUZZ_MAX_LEN) -timeout=10 -print_final_stats=1 \
	  -artifact_prefix=$(B)/fuzz/$*- $(if $(wildcard fuzz/dict/$*.dict),-dict=fuzz/dict/$*.dict) \
	  $(B)/fuzz/grown_$* $(B)/corpus/$* $(wildcard fuzz/found/$*)
fuzz-build: $(FUZZ:%=$(B)/fuzz/%)
fuzz-run: $(FUZZ:%=$(B)/log/libfuzzer_%.sum)
fuzz:
	@$(parallel) -k fuzz-build fuzz-run || true
	@sh tests/sum.sh $(B)/log $(FUZZ:%=libfuzzer_%)

clean:
	rm -rf $(B)
