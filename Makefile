# The front door. `make` alone lists what there is.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
# One run of sbt makes both jars; each of its runs uses all cores anyway.
.NOTPARALLEL:

export JAVA_HOME := $(shell project/java-home)
# Spark's workers use this machine's `python3` unless told otherwise.
export PYSPARK_PYTHON := $(CURDIR)/.venv/bin/python
# kinesis-local's launcher looks here for Node where the machine has none that serves.
export PYTHON := $(CURDIR)/.venv/bin/python
# Sessions of tests and demo stay on this machine, whatever its name resolves to.
export SPARK_LOCAL_IP := 127.0.0.1
# They start from .venv's own Spark, whatever the shell has set.
unexport SPARK_HOME SPARK_REMOTE

VERSION := $(shell cat python/src/spark_kinesis/VERSION)
SBT := project/sbt
TOOLS := .venv/stamps/tools
INSTALLED := .venv/stamps/installed
DOCS_TOOLS := .venv/stamps/docs
# Amazon's DynamoDB Local, for the example of log processing.
DYNAMODB := target/dynamodb-local/.built
# Applications of the Kinesis Client Library, for tests of `spark-kinesis migrate`.
KCL := target/kcl-3/.built
JARS := $(patsubst %,target/%_2.13-$(VERSION).jar,spark-kinesis spark-kinesis-simulator)
JAR_212 := target/spark-kinesis_2.12-$(VERSION).jar
# The wheel of tests and demo has no jar for Spark 3.5, whose build takes minutes. A release has it.
WHEEL := python/dist/spark_kinesis-$(VERSION)-py3-none-any.whl
RELEASE := target/release/spark_kinesis-$(VERSION)-py3-none-any.whl
TOML := python/pyproject.toml
PYTHON_CODE := python tests examples localstack

# pip shows its progress in a terminal, and not in a log.
PIP_INSTALL := -m pip install --disable-pip-version-check --require-hashes $(if $(MAKE_TERMOUT),,--quiet)
UV_COMPILE = $(PYTHON) -m uv --system-certs pip compile --quiet --universal --generate-hashes \
  --no-annotate --no-header --upgrade
# $(call step,NUMBER,WHAT) shows how far a build from an empty clone is.
step = @printf '== Build, step %s of 3: %s\n' $(1) "$(2)"

# Folders are among them: they change when a file of theirs goes.
BUILD_FILES := build.sbt LICENSE python/NOTICE python/publisher.properties python/src/spark_kinesis/VERSION $(wildcard project/*.scala project/*.sbt project/build.properties project/spark-versions)
SCALA_FILES := $(shell find connector-scala/src/main connector-scala/bundle/src/main connector-scala/spark-4.1/src/main localstack/simulator/src/main)
WHEEL_FILES := $(shell find python/src -not -name __pycache__ -not -name '*.pyc') \
  python/hatch_build.py python/publisher.properties python/README.md python/LICENSE python/NOTICE $(TOML)

.PHONY: help setup fmt check test test-all test-spark test-bench mutants campaign size conformance demo demo-logs record-aws jar jar-2.12 wheel dist release lock scan link-check bench docs clean

help: ## this list
	@sed -nE 's/^([a-z0-9.-]+):.*## (.*)/\1|\2/p' Makefile | while IFS='|' read -r name text; do \
	  printf '  make %-12s %s\n' "$$name" "$$text"; done

setup: $(TOOLS) ## the tools, into .venv (first time: a few minutes)

fmt: setup ## format Scala and Python
	$(SBT) scalafmtAll bench/scalafmtAll scalafmtSbt
	$(PYTHON) -m ruff check --config $(TOML) --fix $(PYTHON_CODE)
	$(PYTHON) -m ruff format --config $(TOML) $(PYTHON_CODE)

check: setup ## formatting, linters, types; changes nothing
	$(PYTHON) -m ruff check --config $(TOML) $(PYTHON_CODE)
	$(PYTHON) -m ruff format --config $(TOML) --check $(PYTHON_CODE)
	$(PYTHON) -m mypy --config-file $(TOML) $(PYTHON_CODE)
	$(SBT) scalafmtCheckAll bench/scalafmtCheckAll scalafmtSbtCheck

# `.ci/run` sets the scope `ci`, whose parts build the release and the documentation themselves.
SCOPE := quick
test: wheel $(if $(filter ci,$(SCOPE)),$(DOCS_TOOLS) $(DYNAMODB)) ## proves every promise on one Spark, in about 20 minutes; the last line is the sum
	$(PYTHON) -m tests.run_all $(SCOPE)

test-all: LOCAL := 1
test-all: wheel release docs $(DYNAMODB) $(KCL) ## the rest: all seeds, slow tests, clusters, another Kinesis, other Sparks and Pythons, the documentation
	$(PYTHON) -m tests.run_all rest

# Spark 3.5 takes a jar of its own.
test-spark: wheel $(if $(filter 3.5.%,$(SPARK)),jar-2.12) ## the end-to-end tests on another Spark, SPARK=4.2.1 (430 MB once); writes docs/reference/spark-versions.md
	$(PYTHON) -m tests.spark_versions "$(SPARK)"

test-bench: jar ## the whole benchmark with hardly any data, in five minutes
	$(PYTHON) -m tests.run_all bench

# ONLY=name,name for some of them
mutants: setup ## breaks the core of source and sink, line by line, and shows which test notices each fault
	$(PYTHON) -m tests.mutants $(ONLY)

# PART=histories,soak for some parts; SEED=number repeats one round
PART := all
HOURS := 1
campaign: wheel ## the tests again and again with new seeds, PART=histories HOURS=0.5; writes docs/reference/reliability.md
	$(PYTHON) -m tests.campaign $(PART) --hours $(HOURS) $(if $(SEED),--seed $(SEED))

# SINCE=revision to compare with
size: ## how much there is to know: files, lines, types, variables and locks
	@python3 -m tests.size $(SINCE)

conformance: wheel ## the contract on every server at hand; writes localstack/README.md's table
	rm -f localstack/simulator/target/test-reports/*.xml
	$(SBT) "simulator/testOnly $$($(PYTHON) localstack/conformance.py suites)"
	$(PYTHON) -m tests.run_all quick simulator
	$(PYTHON) localstack/conformance.py

demo: wheel ## see it at work on a local Kinesis: two minutes, once all is built
	@$(PYTHON) -m spark_kinesis demo

demo-logs: wheel $(DYNAMODB) ## log processing with DynamoDB and EventBridge, all on this machine: two minutes, once all is built
	@PYTHONPATH=examples/log-processing $(PYTHON) -m trial

jar: $(JARS) ## the connector's jar and the local Kinesis', into target/

jar-2.12: $(JAR_212) ## the connector's jar for Spark 3.5 (Scala 2.12), into target/

wheel: $(INSTALLED) ## the Python package for Spark 4, into python/dist/ and installed into .venv

dist: $(RELEASE) ## the release: wheel and source package for Spark 3.5 and 4, into target/release/

# It refuses at once while python/publisher.properties lacks addresses. LOCAL=1 tries it on this
# machine.
release: addresses dist ## all that is published: packages for Python, and target/repository for Maven Central
	rm -rf target/repository
	SPARK_KINESIS_LOCAL_RELEASE=$(LOCAL) $(SBT) bundle/publish "++2.12.x" bundle/publish
	$(PYTHON) -m twine check --strict $(dir $(RELEASE))*

.PHONY: addresses
addresses: setup
	SPARK_KINESIS_LOCAL_RELEASE=$(LOCAL) $(SBT) bundle/addresses

# The names and versions of the tools are in requirements*.txt.
lock: setup ## after a change of versions: the checksums of all that is downloaded or bundled
	$(UV_COMPILE) --python-version 3.10 python/requirements-dev.txt -o python/requirements-dev.lock
	$(UV_COMPILE) --python-version 3.11 docs/site/requirements.txt -c python/requirements-dev.lock -o docs/site/requirements.lock
	SPARK_KINESIS_LOCK=1 $(SBT) bundle/assembly

# osv-scanner and pip-audit ask services on the internet. They are programs that you install: the
# workflow `nightly` has their versions.
scan: jar ## known vulnerabilities of what the jar contains and of the tools; needs osv-scanner and pip-audit
	unzip -p target/spark-kinesis_2.13-$(VERSION).jar 'META-INF/sbom/*' > target/spark-kinesis.cdx.json
	osv-scanner scan source --lockfile target/spark-kinesis.cdx.json
	pip-audit --disable-pip --requirement python/requirements-dev.lock \
	  --requirement docs/site/requirements.lock

link-check: jar ## the jar against every supported Spark (downloads 430 MB each, once); writes what it refers to
	$(PYTHON) -m tests.link.check

# ONLY=drain,latency for some scenarios; QUICK=1 for a try without meaning
record-aws: setup ## stores the answers of AWS as test data, REGION=eu-west-1; needs an account, and costs a few cents
	$(SBT) "integration/Test/runMain sparkkinesis.client.aws.AnswerRecorder $(REGION) $(CURDIR)/tests/golden/aws"

bench: setup ## speed against a raw SDK loop, about 50 minutes: docs/reference/benchmarks.md
	$(SBT) "$(strip bench/run $(if $(ONLY),--only $(ONLY)) $(if $(QUICK),--quick))"

docs: $(DOCS_TOOLS) ## the documentation as a site, into target/site; a broken link fails
	NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build --config-file docs/site/mkdocs.yml

clean: ## forget everything that was built, and every .venv
	rm -rf .venv .venv-* target python/dist localstack/kinesis-mock/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name target -type d -prune -exec rm -rf {} +

$(TOOLS): python/requirements-dev.lock
	@[ -n "$(JAVA_HOME)" ] || { echo "spark-kinesis needs a JDK 17 or 21: install one, or set" \
	  "JAVA_HOME (for example: apt-get install openjdk-17-jdk-headless)" >&2; exit 1; }
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
	  || { echo "spark-kinesis needs Python 3.10 or newer as python3" >&2; exit 1; }
	@python3 -c 'import ensurepip, venv' 2>/dev/null \
	  || { echo "python3 has no venv: install it (for example: apt-get install python3-venv)" >&2; exit 1; }
	$(call step,1,installing Spark and the tools into .venv. Spark is a download of 430 MB, once.)
	python3 -m venv .venv
	$(PYTHON) $(PIP_INSTALL) -r $<
	@mkdir -p $(@D) && touch $@

$(DOCS_TOOLS): docs/site/requirements.lock | $(TOOLS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "the documentation site needs Python 3.11 or newer as python3" >&2; exit 1; }
	$(PYTHON) $(PIP_INSTALL) -r $<
	@mkdir -p $(@D) && touch $@

$(DYNAMODB): $(BUILD_FILES) $(wildcard examples/log-processing/dynamodb-local/src/main/java/*/*) | $(TOOLS)
	$(SBT) dynamodbLocal/stage
	@touch $@

$(KCL): $(BUILD_FILES) $(shell find tests/kcl -name '*.java') | $(TOOLS)
	$(SBT) kcl1/stage kcl2/stage kcl3/stage
	@touch $@

# sbt leaves a jar alone that would be the same.
$(JARS): $(BUILD_FILES) $(SCALA_FILES) | $(TOOLS)
	$(call step,2,compiling $(words $(filter %.scala,$(SCALA_FILES))) Scala files into two jars. Downloads sbt and the libraries, once.)
	$(SBT) bundle/assembly simulatorJar/assembly
	@touch $(JARS)

$(JAR_212): $(BUILD_FILES) $(SCALA_FILES) | $(TOOLS)
	$(SBT) "++2.12.x" bundle/assembly
	@touch $@

$(WHEEL): $(JARS) $(WHEEL_FILES) | $(TOOLS)
	$(call step,3,packing the jars into the Python package.)
	rm -rf $(@D)
	SPARK_KINESIS_SCALA=2.13 $(PYTHON) -m pip wheel --quiet --disable-pip-version-check --no-deps \
	  --no-build-isolation --wheel-dir $(@D) ./python

$(RELEASE): $(JARS) $(JAR_212) $(WHEEL_FILES) | $(TOOLS)
	rm -rf $(@D)
	cd python && $(PYTHON) -m hatchling build -d ../$(@D)

$(INSTALLED): $(WHEEL) | $(TOOLS)
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall $<
	@touch $@
