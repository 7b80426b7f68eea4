# raddle: two commands for a fresh machine, `make demo` and `make test`; both do all set-up.

CARGO ?= cargo
PACKAGES = gcc g++ make libgtest-dev catch2 doctest-dev libjemalloc-dev libgoogle-perftools-dev \
	clang-19 lld-19 cmake ninja-build ccache autoconf libtool

.PHONY: all build demo test test-fast check-all deny msrv bench bench-against conformance soak million soak-packages papers bars docs check setup clean install uninstall deb test-install

all: build

# What the build and the tests need beyond Rust. Quiet when it is all there.
setup:
	@command -v dpkg >/dev/null || { echo "not a Debian machine: needed are $(PACKAGES)"; exit 0; }; \
	missing=""; for p in $(PACKAGES); do dpkg -s $$p >/dev/null 2>&1 || missing="$$missing $$p"; done; \
	if [ -n "$$missing" ]; then \
	  echo "installing$$missing"; \
	  sudo=""; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	  DEBIAN_FRONTEND=noninteractive; export DEBIAN_FRONTEND; \
	  $$sudo apt-get update -qq && $$sudo apt-get install -y -qq $$missing >/dev/null; \
	fi

build:
	$(CARGO) build --release

# Where `make install` puts things, and a folder to put in front of that, for those who make packages.
PREFIX ?= /usr/local
DESTDIR ?=
BINARIES = $(or $(CARGO_TARGET_DIR),target)/release
INSTALL = BINARIES="$(BINARIES)" packaging/install

# Installs what `make build` made, without building it again: root need not have a cargo.
install: | $(BINARIES)/raddle $(BINARIES)/cargo-raddle
	$(INSTALL) "$(PREFIX)" "$(DESTDIR)"

uninstall:
	$(INSTALL) --uninstall "$(PREFIX)" "$(DESTDIR)"

$(BINARIES)/raddle $(BINARIES)/cargo-raddle &:
	$(MAKE) build

# A Debian package, target/debian/raddle_*.deb, of the files that would be installed. What is in it and what it needs
# stands in crates/raddle-cli/Cargo.toml.
TOOLS = $(CURDIR)/target/tools
deb: build
	@PATH="$(TOOLS)/bin:$$PATH" command -v cargo-deb >/dev/null || $(CARGO) install --locked cargo-deb --version "^3" --root "$(TOOLS)"
	rm -rf target/debian
	$(INSTALL) --no-manifest /usr "$(CURDIR)/target/debian/root"
	PATH="$(TOOLS)/bin:$$PATH" $(CARGO) deb -p raddle-cli --no-build --no-strip --output target/debian/

# Installs raddle in all its ways, each time where nothing of this folder can be seen. Needs root.
test-install: deb
	packaging/test-install

demo: setup build
	./demo/run

# All tests, in stages whose times are listed at the end.
test: setup build
	tools/stages format clippy doc unit verify programs

# What one runs while working: format, clippy, the tests that need no program, and ten seeds of the suite.
test-fast: build
	tools/stages format clippy unit seeds

# Everything that must hold before a release: the tests, the crates that we use, and the oldest Rust.
check-all: setup build
	tools/stages format clippy doc deny msrv unit verify programs

# Which crates we use, under which licences, and where they come from: deny.toml. The first time it builds cargo-deny.
deny:
	tools/stages deny

# Builds everything with the oldest Rust that we promise.
msrv:
	tools/stages msrv

bench: setup build
	$(CARGO) bench -p raddle-cli --bench speed

# Another build of raddle against this one, in turns: make bench-against OLD=PATH/raddle. Takes a quarter of an hour.
bench-against: setup build
	$(CARGO) bench -p raddle-cli --bench builds -- $(OLD)

# Every call of POSIX threads, semaphores, signals, timers and cancellation, and of C11's threads, with its attributes and
# errors: what it does natively and under three policies on both back-ends, compared. Takes less than ten minutes.
conformance: setup build
	$(CARGO) test --release -p raddle-cli --test conformance -- --include-ignored --nocapture --test-threads=1

# Ten million runs in one process and a million forked ones: nothing may grow. Takes minutes.
soak: setup build
	$(CARGO) test --release -p raddle-cli --test soak -- --ignored --nocapture --test-threads=1

# A million runs of the programs that must pass, over all policies, levels, back-ends and jobs. Takes most of an hour.
million: setup build
	$(CARGO) test --release -p raddle-cli --test million -- --ignored --nocapture

# Forty packaged programs under three policies, and the page of the docs that shows them. Installs the programs; takes half
# an hour.
soak-packages: setup build
	@sudo=""; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq --no-install-recommends $$(target/release/raddle-lab packages-needed) >/dev/null
	target/release/raddle-lab packages --seed 1 --run-timeout 120 --markdown docs/src/packages.md

# The pages of the docs with our tables next to the papers', and with what we promise. LIMIT is the time in seconds for
# one policy on one program. With 2 the papers' take an hour, with 60 a day; what we promise takes an hour and a half with
# 80, which is enough for all runs of the guarantee.
LIMIT ?= 60
LAB = target/release/raddle-lab --seed 1 --jobs $$(nproc) --limit $(LIMIT)
papers: setup build
	$(LAB) papers --markdown docs/src/papers.md
bars: setup build
	$(LAB) ours --markdown docs/src/bars.md

docs:
	mdbook build docs

clean:
	$(CARGO) clean
